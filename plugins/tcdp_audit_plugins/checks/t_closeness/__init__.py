"""Closeness: how far the sensitive attribute of a class is from that of everyone, or of a larger group around it."""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.t_closeness import nt_closeness, t_closeness

CHECKS: list[Check] = [*t_closeness.CHECKS, *nt_closeness.CHECKS]
