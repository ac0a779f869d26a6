"""Disclosure by single published cells: counts of few people, groups that are alike, counts that figures imply."""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.published_cells.cell_frequency import CELL_FREQUENCY
from tcdp_audit_plugins.checks.published_cells.few_contributors import FEW_CONTRIBUTORS
from tcdp_audit_plugins.checks.published_cells.group_disclosure import GROUP_DISCLOSURE
from tcdp_audit_plugins.checks.published_cells.implied_counts import IMPLIED_COUNTS

CHECKS: list[Check] = [CELL_FREQUENCY, GROUP_DISCLOSURE, IMPLIED_COUNTS, FEW_CONTRIBUTORS]
