"""Transparency attacks: what an intruder finds who knows how the release was masked."""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.transparency import microaggregation_attack, rank_swap_attack

CHECKS: list[Check] = [*rank_swap_attack.CHECKS, *microaggregation_attack.CHECKS]
