"""Data shuffling: values move to other records so that distributions and correlations stay.

- `apply`: the parameters, normal scores that are drawn anew, and the columns in another order.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.data_shuffling.apply import (
    MASKING,
    DataShufflingParameters,
    shuffle_data,
)

__all__ = ["DATA_SHUFFLING", "DataShufflingParameters", "shuffle_data"]
DATA_SHUFFLING = Remedy(
    name="data_shuffling",
    title="Data shuffling",
    summary="Puts the values of attributes in another order, so that their distributions and rank correlations stay.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("data_shuffling.md")),
    parameters=DataShufflingParameters,
    apply=shuffle_data,
    validate=MASKING.faults,
    suggest_parameters=MASKING.suggest_parameters,
    why_not_applicable=MASKING.why_not_applicable,
    once=True,
)
