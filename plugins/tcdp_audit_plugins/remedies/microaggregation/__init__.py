"""Microaggregation: clusters of at least k records near each other, all of which get their cluster's centroid."""

from __future__ import annotations

from tcdp_audit.remedy import Remedy
from tcdp_audit_plugins.remedies.microaggregation.apply import microaggregated
from tcdp_audit_plugins.remedies.microaggregation.guide import GUIDE
from tcdp_audit_plugins.remedies.microaggregation.parameters import MicroaggregationParameters, faults
from tcdp_audit_plugins.remedies.microaggregation.plan import plans

__all__ = ["MICROAGGREGATION", "MicroaggregationParameters", "microaggregated"]

MICROAGGREGATION = Remedy(
    name="microaggregation",
    title="Microaggregation",
    summary=(
        "Clusters at least k records that are near each other and gives all of them their cluster's means, medians and "
        "modes as quasi-identifiers."
    ),
    guide=GUIDE,
    parameters=MicroaggregationParameters,
    apply=microaggregated,
    validate=faults,
    plan=plans,
)
