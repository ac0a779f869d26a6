"""Releases: what this release and earlier ones of the same people, or two tables of one, reveal together."""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.releases import (
    composition_attack,
    m_invariance,
    release_differencing,
    subset_differencing,
)

CHECKS: list[Check] = [
    *composition_attack.CHECKS,
    *release_differencing.CHECKS,
    *m_invariance.CHECKS,
    *subset_differencing.CHECKS,
]
