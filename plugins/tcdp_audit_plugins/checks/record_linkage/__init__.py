"""Record linkage: how many released records an intruder who holds the original attributes links to their own."""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.record_linkage import (
    assignment_record_linkage,
    closest_record,
    distance_record_linkage,
    epsilon_identifiability,
    exact_match_rate,
    probabilistic_record_linkage,
)
from tcdp_audit_plugins.checks.record_linkage.supervised import supervised_record_linkage

CHECKS: list[Check] = [
    *distance_record_linkage.CHECKS,
    *assignment_record_linkage.CHECKS,
    *probabilistic_record_linkage.CHECKS,
    *supervised_record_linkage.CHECKS,
    *exact_match_rate.CHECKS,
    *closest_record.CHECKS,
    *epsilon_identifiability.CHECKS,
]
