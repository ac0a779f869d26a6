"""The bridge between t-closeness and differential privacy; docs/differential-privacy.md has the arguments."""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.differential_privacy import from_epsilon, implied_epsilon, stochastic_t_closeness

CHECKS: list[Check] = [
    *implied_epsilon.CHECKS,
    *from_epsilon.CHECKS,
    *stochastic_t_closeness.CHECKS,
]
