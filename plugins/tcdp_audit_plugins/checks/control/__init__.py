"""Attacks with a control set: what succeeds on the original, beyond what succeeds on people who had no part in it."""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.control import (
    attribute_inference,
    closest_record_share,
    linkability,
    membership_inference,
    singling_out,
)

CHECKS: list[Check] = [
    *singling_out.CHECKS,
    *linkability.CHECKS,
    *attribute_inference.CHECKS,
    *membership_inference.CHECKS,
    *closest_record_share.CHECKS,
]
