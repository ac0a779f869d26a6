"""Attacks by likelihood: an intruder who knows with which probability a value was released as another."""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.likelihood_attacks import noise_attack, pram_attack

CHECKS: list[Check] = [*pram_attack.CHECKS, *noise_attack.CHECKS]
