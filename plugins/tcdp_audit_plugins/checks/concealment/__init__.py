"""Concealment: how many records of a generalised release a person of the original may be."""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.concealment import k_concealment, kk_anonymity

CHECKS: list[Check] = [*k_concealment.CHECKS, *kk_anonymity.CHECKS]
