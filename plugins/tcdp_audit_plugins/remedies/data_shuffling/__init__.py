"""Data shuffling: values move to other records so that distributions and correlations stay.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy from a view to columns in another order;
- `copula`: normal scores that are drawn anew.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.data_shuffling.apply import shuffle_data
from tcdp_audit_plugins.remedies.data_shuffling.parameters import (
    DataShufflingParameters,
    faults,
    plans,
    why_not_applicable,
)

__all__ = ["DATA_SHUFFLING", "DataShufflingParameters", "shuffle_data"]
DATA_SHUFFLING = Remedy(
    name="data_shuffling",
    title="Data shuffling",
    summary="Puts the values of attributes in another order, so that their distributions and rank correlations stay.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("data_shuffling.md")),
    parameters=DataShufflingParameters,
    apply=shuffle_data,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
    once=True,
)
