"""Interval disclosure: how often the original value lies in an interval around the masked one."""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.interval_disclosure.rank_check import CHECKS as BY_RANK
from tcdp_audit_plugins.checks.interval_disclosure.sd_check import CHECKS as BY_STANDARD_DEVIATION

CHECKS: list[Check] = [*BY_RANK, *BY_STANDARD_DEVIATION]
