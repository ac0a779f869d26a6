"""Attacks by likelihood: an intruder who knows with which probability a value was released as another."""

from __future__ import annotations

from tcdp_audit.plugin import Check
from tcdp_audit_plugins.checks.likelihood_attacks import pram_attack

CHECKS: list[Check] = [*pram_attack.CHECKS]
