"""Record linkage: how many released records an intruder who holds the original attributes links to their own."""

from __future__ import annotations

from tcdp_audit.check import Check
from tcdp_audit_plugins.checks.record_linkage import probabilistic_record_linkage

CHECKS: list[Check] = [*probabilistic_record_linkage.CHECKS]
