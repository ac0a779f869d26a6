"""Histories: what an intruder who knows a few events of a person learns of the others."""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.histories import known_events, unicity

CHECKS: list[Check] = [*known_events.CHECKS, *unicity.CHECKS]
