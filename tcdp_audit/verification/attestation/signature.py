"""A result becomes a signed statement about the release that it was computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tcdp_audit.api import Plugins, ResultError
from tcdp_audit.core.results.conditions import Kind
from tcdp_audit.core.results.written import WrittenAudit
from tcdp_audit.core.results.written_verdict import conditions_in, contradictions
from tcdp_audit.plugin.engine import TcdpAuditError, redact_errors
from tcdp_audit.plugin.sentences import listing
from tcdp_audit.verification.attestation.envelope import sealed
from tcdp_audit.verification.attestation.statement import PAYLOAD, statement_of
from tcdp_audit.verification.digests import digest_of, shown

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner


class AnotherReleaseError(TcdpAuditError):
    """The result is not about the release that is to be attested."""

    exit_code = 1


@redact_errors()
def attest(written: WrittenAudit, release: Any, signer: CryptoSigner, plugins: Plugins) -> str:
    """A DSSE envelope with an in-toto statement: a release by its SHA-256, and the result of its audit.

    Args:
        written: the result; nothing is computed again, so verify it first.
        release: the table that it is about.
        signer: who signs.
        plugins: those whose engines may open the release.

    Returns:
        The envelope as JSON text.

    Raises:
        AnotherReleaseError: the result is about another release.
        ResultError: the result has no digest, names cells, contradicts itself,
            or calls its file fit only once a step is done.
    """
    digest = digest_of(release, plugins)
    _require_attestable(written)
    if digest != written.release.sha256 or digest is None:
        raise AnotherReleaseError(
            f"{written.path}: is about another release: SHA-256 {shown(written.release.sha256)}, "
            f"and {release} has {shown(digest)}; nothing was signed"
        )
    return sealed(statement_of(written, digest), PAYLOAD, signer)


def _require_attestable(written: WrittenAudit) -> None:
    if written.release.sha256 is None or written.release.in_memory:
        kind = "a table in memory" if written.release.in_memory else "a table without a digest"
        raise ResultError(f"{written.path}: is about {kind}; audit the file that is to be published")
    if written.names_cells:
        raise ResultError(f"{written.path}: names cells of the release (--show-values); attest a result that does not")
    for sentence in contradictions(written.result):
        raise ResultError(f"{written.path}: contradicts itself: {sentence}; verify it before you sign it")
    steps = [one.words for one in conditions_in(written.result) if one.kind is Kind.ONCE]
    if written.verdict == "passed" and steps:
        raise ResultError(
            f"{written.path}: the file is not fit as it is, but once {listing(steps)}; nothing was signed. Attest the "
            "file that `fix` writes, with its result"
        )
