"""Rank swapping: values of an attribute change places with values of nearby ranks.

- `apply`: the parameters, pairs of nearby ranks, and the columns in which their values have changed places.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.rank_swapping.apply import (
    MASKING,
    RankSwappingParameters,
    swap_ranks,
)

__all__ = ["RANK_SWAPPING", "RankSwappingParameters", "swap_ranks"]
RANK_SWAPPING = Remedy(
    name="rank_swapping",
    title="Rank swapping",
    summary="Lets values of an attribute change places with values of nearby ranks, so that columns stay as they are.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("rank_swapping.md")),
    parameters=RankSwappingParameters,
    apply=swap_ranks,
    validate=MASKING.faults,
    suggest_parameters=MASKING.suggest_parameters,
    why_not_applicable=MASKING.why_not_applicable,
    once=True,
)
