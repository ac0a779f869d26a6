"""A DSSE envelope: bytes, what they are, and signatures of both (github.com/secure-systems-lab/dsse, version 1)."""

from __future__ import annotations

import json
from base64 import standard_b64decode, standard_b64encode, urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tcdp_audit.api import ResultError

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner, SSlibKey

KEYS = ("payload", "payloadType", "signatures")
MOST_SIGNATURES = 100  # each is tried, which takes up to a millisecond
CODINGS = ((standard_b64decode, standard_b64encode), (urlsafe_b64decode, urlsafe_b64encode))


@dataclass(frozen=True)
class Envelope:
    """A signed payload.

    Args:
        payload: the bytes that are signed.
        payload_type: what they are, which is signed as well.
        signatures: each with the identifier of its key, or nothing.
    """

    payload: bytes
    payload_type: str
    signatures: tuple[tuple[str, bytes], ...]

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


def sealed(payload: bytes, payload_type: str, signer: CryptoSigner) -> str:
    """The JSON text of an envelope with one signature."""
    from securesystemslib.dsse import Envelope as Dsse  # noqa: PLC0415 - of an extra

    envelope = Dsse(payload, payload_type, {})
    envelope.sign(signer)
    return json.dumps(envelope.to_dict(), indent=1) + "\n"


def is_envelope(value: Any) -> bool:
    """Whether a JSON value is one, whatever it holds."""
    return isinstance(value, Mapping) and all(key in value for key in KEYS)


def opened(value: Mapping[str, Any], name: str) -> Envelope:
    """The envelope that a JSON value is.

    Args:
        value: it.
        name: what messages call it.

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
    """What a signature is of: the payload and its type, so that neither can stand for something else."""
    from securesystemslib.dsse import Envelope as Dsse  # noqa: PLC0415 - of an extra

    return Dsse(payload, payload_type, {}).pae()
