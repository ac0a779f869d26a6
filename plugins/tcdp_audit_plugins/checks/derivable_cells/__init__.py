"""Disclosure by several figures together: hidden cells given back, differences, rounding that totals undo."""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.derivable_cells.differences import TABLE_DIFFERENCING
from tcdp_audit_plugins.checks.derivable_cells.insiders import INSIDER_INTERVALS
from tcdp_audit_plugins.checks.derivable_cells.intervals import FEASIBILITY_INTERVAL
from tcdp_audit_plugins.checks.derivable_cells.reconstruction import RECONSTRUCTION
from tcdp_audit_plugins.checks.derivable_cells.rounded import PERTURBATION_BOUNDS, ROUNDING_UNPICKED
from tcdp_audit_plugins.checks.derivable_cells.small_counts import DERIVABLE_SMALL_COUNT

CHECKS: list[Check] = [
    DERIVABLE_SMALL_COUNT,
    FEASIBILITY_INTERVAL,
    TABLE_DIFFERENCING,
    ROUNDING_UNPICKED,
    PERTURBATION_BOUNDS,
    RECONSTRUCTION,
    INSIDER_INTERVALS,
]
