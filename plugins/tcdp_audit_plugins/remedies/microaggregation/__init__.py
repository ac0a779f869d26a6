"""Microaggregation: clusters of at least k records near each other, all of which get their cluster's centroid.

- `points`: the records of a release as points, how far they are apart, and the cell that a cluster gets;
- `mdav`: clusters of k around extreme records;
- `exchange`: the local search: neighbouring clusters swap records, or give one away;
- `refined`: an optimal cut of a good path through the records, and local search, in turn;
- `merging`: the policy's demands on clusters: those that fail are merged, or clusters take records of every quantile;
- `apply`: the parameters, and the remedy from a view to columns in which all records of a cluster agree.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.microaggregation.apply import (
    MicroaggregationParameters,
    faults,
    microaggregate,
    suggest_parameters,
    why_not_applicable,
)

__all__ = ["MICROAGGREGATION", "MicroaggregationParameters", "microaggregate"]
MICROAGGREGATION = Remedy(
    name="microaggregation",
    title="Microaggregation",
    summary=(
        "Clusters at least k records that are near each other and gives all of them their cluster's means, medians and "
        "modes as quasi-identifiers."
    ),
    guide=RemedyGuide.from_file(Path(__file__).with_name("microaggregation.md")),
    parameters=MicroaggregationParameters,
    apply=microaggregate,
    validate=faults,
    suggest_parameters=suggest_parameters,
    why_not_applicable=why_not_applicable,
)
