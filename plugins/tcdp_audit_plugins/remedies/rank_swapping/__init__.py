"""Rank swapping: values of an attribute change places with values of nearby ranks.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy from a view to columns in which values have changed places;
- `pairing`: who changes places with whom.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.rank_swapping.apply import swap_ranks
from tcdp_audit_plugins.remedies.rank_swapping.parameters import (
    RankSwappingParameters,
    faults,
    plans,
    why_not_applicable,
)

__all__ = ["RANK_SWAPPING", "RankSwappingParameters", "swap_ranks"]
RANK_SWAPPING = Remedy(
    name="rank_swapping",
    title="Rank swapping",
    summary="Lets values of an attribute change places with values of nearby ranks, so that columns stay as they are.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("rank_swapping.md")),
    parameters=RankSwappingParameters,
    apply=swap_ranks,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
    once=True,
)
