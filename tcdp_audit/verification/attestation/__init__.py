"""A result that somebody signs for a release, and whoever holds the public key can demand.

keys        private and public keys in PEM files
envelope    a DSSE envelope: signed bytes of a declared type
statement   an in-toto statement: a release by its digest, and the result of its audit
signature   a result becomes a signed statement
demand      a signed statement, checked offline
"""

from __future__ import annotations

from tcdp_audit.verification.attestation.demand import verify_attestation
from tcdp_audit.verification.attestation.signature import attest

__all__ = ["attest", "verify_attestation"]
