"""Microaggregation: clusters of at least k records near each other, all of which get their cluster's centroid.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy from a view to columns in which all records of a cluster agree, or why there are none;
- `points`: the records of a release as points, and how far they are apart;
- `centroids`: the cell that is released for a cluster;
- `mdav`: clusters of k around extreme records;
- `refined`: an optimal cut of a good path through the records, and local search, in turn;
- `exchange` and `moves`: the local search: neighbouring clusters swap records, or give one away;
- `cluster_demands`: the policy's demands, asked about clusters;
- `merging`: clusters that fail are merged, and halved again where both halves keep the demands;
- `quantiles`: clusters of one record of every quantile of a confidential attribute.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.microaggregation.apply import microaggregate
from tcdp_audit_plugins.remedies.microaggregation.parameters import (
    MicroaggregationParameters,
    faults,
    plans,
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
    plan=plans,
    why_not_applicable=why_not_applicable,
)
