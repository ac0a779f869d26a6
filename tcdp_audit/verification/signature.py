"""A result becomes a signed statement about the release that it was computed from."""

from __future__ import annotations

import json
from base64 import standard_b64decode, standard_b64encode, urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tcdp_audit.api import Plugins, ResultError
from tcdp_audit.core.results.conditions import Kind
from tcdp_audit.core.results.strict_json import parsed
from tcdp_audit.core.results.written import SCHEMA_VERSION, WrittenAudit
from tcdp_audit.core.results.written_verdict import conditions_in, contradictions
from tcdp_audit.plugin.engine import TcdpAuditError, UsageError, redact_errors
from tcdp_audit.plugin.sentences import listing
from tcdp_audit.verification.digests import digest_of, digests_of_tables, files_of_release, name_of, shown

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner, SSlibKey


class AnotherReleaseError(TcdpAuditError):
    """The result is not about the release that is to be attested."""

    exit_code = 1


@redact_errors()
def attest(written: WrittenAudit, release: Any, signer: CryptoSigner, plugins: Plugins) -> str:
    """A DSSE envelope with an in-toto statement: a release by its SHA-256, and the result of its audit.

    Args:
        written: the result; nothing is computed again, so verify it first.
        release: the table that it is about; of several linked tables a mapping by name, their folder, or None for the
            files that the result names.
        signer: the signing key.
        plugins: the plugins whose engines may open the release.

    Returns:
        The envelope as JSON text.

    Raises:
        AnotherReleaseError: the result is about another release.
        ResultError: the result has no digest, names cells, contradicts itself, or calls its file fit only once a step
            is done.
    """
    release = files_of_release(release, written)
    _require_attestable(written)
    if written.figures:
        _require_tables(written, release, plugins)
        return sign_envelope(statement_of(written, digests_of_tables(written)), PAYLOAD, signer)
    digest = digest_of(release, plugins)
    if digest != written.release.sha256 or digest is None:
        name = written.release.name if written.release.tables else name_of(release)
        raise AnotherReleaseError(
            f"{written.path}: is about another release: SHA-256 {shown(written.release.sha256)}, "
            f"and {name} has {shown(digest)}; nothing was signed"
        )
    return sign_envelope(statement_of(written, [(written.release.name, digest)]), PAYLOAD, signer)


def _require_tables(written: WrittenAudit, release: Mapping[str, Any], plugins: Plugins) -> None:
    """Require every table of a release with records and tables of figures, each by its own digest."""
    missing = [name for name in written.figures if name not in release]
    if missing:
        raise UsageError(f"{written.path}: is about the table {missing[0]} as well; name each table with --table")
    if any(one.sha256 is None or one.in_memory for one in written.figures.values()):
        raise ResultError(f"{written.path}: is about tables of figures in memory; audit the files to be published")
    digests = sorted(str(digest_of(one, plugins)) for one in release.values())
    if digests != sorted(str(digest) for _, digest in digests_of_tables(written)):
        raise AnotherReleaseError(f"{written.path}: is about other tables than these; nothing was signed")


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


PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = f"urn:tcdp-audit:result:{SCHEMA_VERSION}"  # the identifier of the result's schema


def statement_of(written: WrittenAudit, digests: Sequence[tuple[str, str | None]]) -> bytes:
    """The statement as JSON, with a subject for each digest by the name of its file.

    Its predicate is the unchanged result, so whole numbers stay whole.
    """
    statement = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": one}} for name, one in digests],
        "predicateType": PREDICATE,
        "predicate": written.result,
    }
    return json.dumps(statement, allow_nan=False).encode("ascii")


def read_statement(payload: bytes, name: str) -> Mapping[str, Any]:
    """The JSON object in an envelope, with any content; a ResultError where there is none."""
    try:
        statement = parsed(payload.decode("utf-8"), name)
    except UnicodeDecodeError:
        raise ResultError(f"{name}: its payload is no UTF-8 text") from None
    if not isinstance(statement, Mapping):
        raise ResultError(f"{name}: its payload is no JSON object")
    return statement


def subjects(statement: Mapping[str, Any]) -> list[str | None]:
    """The SHA-256 of each subject of a statement; None for one without."""
    listed = statement.get("subject")
    entries = listed if isinstance(listed, list) else []
    digests = [one.get("digest") if isinstance(one, Mapping) else None for one in entries]
    return [_text(one.get("sha256")) if isinstance(one, Mapping) else None for one in digests]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


KEYS = ("payload", "payloadType", "signatures")
MOST_SIGNATURES = 100  # each is tried, which takes up to a millisecond
CODINGS = ((standard_b64decode, standard_b64encode), (urlsafe_b64decode, urlsafe_b64encode))


@dataclass(frozen=True)
class Envelope:
    """A signed payload."""

    payload: bytes  # the bytes that are signed
    payload_type: str  # their type, which is signed as well
    signatures: tuple[tuple[str, bytes], ...]  # each with the identifier of its key, or an empty text

    def is_signed_by(self, key: SSlibKey) -> bool:
        """Whether one of the signatures is this key's. One that names another key is not tried."""
        from securesystemslib.exceptions import UnverifiedSignatureError  # noqa: PLC0415 - of an extra
        from securesystemslib.signer import Signature  # noqa: PLC0415 - likewise

        content = _signed_content(self.payload, self.payload_type)
        for keyid, signature in self.signatures:
            if keyid in ("", key.keyid):
                try:
                    key.verify_signature(Signature(key.keyid, signature.hex()), content)
                except UnverifiedSignatureError:
                    continue
                return True
        return False

    def names(self, key: SSlibKey) -> bool:
        """Whether one of the signatures claims to be this key's."""
        return any(keyid in ("", key.keyid) for keyid, _ in self.signatures)


def sign_envelope(payload: bytes, payload_type: str, signer: CryptoSigner) -> str:
    """The JSON text of an envelope with one signature."""
    from securesystemslib.dsse import Envelope as Dsse  # noqa: PLC0415 - of an extra

    envelope = Dsse(payload, payload_type, {})
    envelope.sign(signer)
    return json.dumps(envelope.to_dict(), indent=1) + "\n"


def is_envelope(value: Any) -> bool:
    """Whether a JSON value has the keys of an envelope."""
    return isinstance(value, Mapping) and all(key in value for key in KEYS)


def opened(value: Mapping[str, Any], name: str) -> Envelope:
    """The envelope in a JSON value; messages call it `name`.

    Raises:
        ResultError: it is none, or its base64 could be written in another way.
    """
    signatures = value["signatures"]
    if not isinstance(value["payloadType"], str) or not isinstance(signatures, list) or not signatures:
        raise ResultError(f"{name}: no DSSE envelope: payloadType must be a text, signatures a list that is not empty")
    if len(signatures) > MOST_SIGNATURES:
        raise ResultError(f"{name}: has more than {MOST_SIGNATURES} signatures")
    payload = _decoded(value["payload"], f"{name}: payload")
    return Envelope(payload, value["payloadType"], tuple(_signature(one, name) for one in signatures))


def _signature(value: Any, name: str) -> tuple[str, bytes]:
    keyid = value.get("keyid") or "" if isinstance(value, Mapping) else None
    if not isinstance(keyid, str) or not isinstance(value, Mapping):
        raise ResultError(f"{name}: no DSSE envelope: a signature must be a mapping with sig, and a text as keyid")
    return keyid, _decoded(value.get("sig"), f"{name}: sig")


def _decoded(text: Any, name: str) -> bytes:
    """The bytes of a base64 text, in its standard or its URL-safe alphabet."""
    for decode, encode in CODINGS:
        try:
            content = decode(text)
        except (Error, ValueError, TypeError):
            continue
        if encode(content).decode() == text:
            return content
    raise ResultError(f"{name}: is no base64, or not as base64 is written")


def _signed_content(payload: bytes, payload_type: str) -> bytes:
    """The signed bytes: the payload and its type, so that neither can be taken for something else."""
    from securesystemslib.dsse import Envelope as Dsse  # noqa: PLC0415 - of an extra

    return Dsse(payload, payload_type, {}).pae()
