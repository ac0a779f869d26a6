"""Confirm a written audit or name what differs; sign a result for a release, and demand that signature.

digests       points of a comparison; SHA-256 of the files that a call names; differences between two JSON values
wording       differences between two results in sentences, without a cell
again         makes the audit of a written result again
confirmation  `verify`: all of these together, and the text of a report compared with that of the new audit
keys          private and public keys in PEM files
signature     turns a result into an in-toto statement in a signed DSSE envelope
demand        checks a signed statement offline
"""

from __future__ import annotations

from tcdp_audit.verification.confirmation import verify
from tcdp_audit.verification.digests import Point, State, Verification

__all__ = ["Point", "State", "Verification", "verify"]
