"""Two written audits beside each other: what became better, what worse, and what was asked otherwise.

matching   which outcome of one is which of the other
demand     how a demand was changed, and how a figure moved
change     one expectation in both audits
facts      what else two audits have: release, policy, columns, people
audits     the comparison of two audits
"""

from __future__ import annotations

from tcdp_audit.core.results.comparison.audits import AuditComparison, compare
from tcdp_audit.core.results.comparison.change import Change
from tcdp_audit.core.results.comparison.facts import Fact

__all__ = ["AuditComparison", "Change", "Fact", "compare"]
