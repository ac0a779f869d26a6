"""A written audit is confirmed, or what differs is named: everything is computed again and compared.

points        what was compared, and what came of it
digests       SHA-256 of what a call names
values        differences between two JSON values
wording       those of a result in sentences, without a cell
again         the audit of a written result, made again
page          the text of a report beside the one that the audit made again gives
confirmation  all of these together
"""

from __future__ import annotations

from tcdp_audit.verification.confirmation import verify
from tcdp_audit.verification.points import Point, State, Verification

__all__ = ["Point", "State", "Verification", "verify"]
