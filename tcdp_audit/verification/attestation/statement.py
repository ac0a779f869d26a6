"""An in-toto statement, version 1: of the release with this digest, an audit gave this result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tcdp_audit.api import ResultError
from tcdp_audit.core.results.strict_json import parsed
from tcdp_audit.core.results.written import SCHEMA_VERSION, WrittenAudit

PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = f"urn:tcdp-audit:result:{SCHEMA_VERSION}"  # the identifier of the result's schema


def statement_of(written: WrittenAudit, digest: str) -> bytes:
    """The statement as JSON. Its predicate is the result to the letter, so whole numbers stay whole.

    Args:
        written: the result.
        digest: SHA-256 of the release.
    """
    statement = {
        "_type": STATEMENT,
        "subject": [{"name": written.release.name, "digest": {"sha256": digest}}],
        "predicateType": PREDICATE,
        "predicate": written.result,
    }
    return json.dumps(statement, allow_nan=False).encode("ascii")


def read_statement(payload: bytes, name: str) -> Mapping[str, Any]:
    """The JSON object in an envelope, whatever it states.

    Raises:
        ResultError: it is none.
    """
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
