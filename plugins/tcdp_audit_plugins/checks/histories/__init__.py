"""Histories: what an intruder who knows a few events of a person learns of the others.

known_events, unicity       the checks
reading, events, sensitive  their parameters, and rows of units as events and sensitive values
combinations, nearby        combinations of events, each once, and the units that fit them within a tolerance
knowledge, windows, sample  figures of known_events: of any few events, of windows of time, of a sample
chances                     figures of unicity
"""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.histories import known_events, unicity

CHECKS: list[Check] = [*known_events.CHECKS, *unicity.CHECKS]
