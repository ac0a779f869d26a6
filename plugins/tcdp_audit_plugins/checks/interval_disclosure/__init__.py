"""Interval disclosure: how often the original value lies in an interval around the masked one."""

from __future__ import annotations

from tcdp_audit_plugins.checks.interval_disclosure.checks import CHECKS

__all__ = ["CHECKS"]
