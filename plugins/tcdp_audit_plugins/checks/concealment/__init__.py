"""Concealment: how many records of a generalised release a person of the original may be."""

from __future__ import annotations

from tcdp_audit_plugins.checks.concealment.checks import CHECKS

__all__ = ["CHECKS"]
