"""The bridge between t-closeness and differential privacy; docs/differential-privacy.md has the arguments."""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.differential_privacy import (
    expected_t_closeness,
    implied_epsilon,
    stochastic_t_closeness,
    t_from_epsilon,
)

CHECKS: list[Check] = [
    *implied_epsilon.CHECKS,
    *t_from_epsilon.CHECKS,
    *expected_t_closeness.CHECKS,
    *stochastic_t_closeness.CHECKS,
]
