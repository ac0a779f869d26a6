"""The built-in reporters. They know the audit's words and no check by name."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit import Reporter, hookimpl
from tcdp_audit.results import Audit


def _json(audit: Audit) -> str:
    return audit.to_json()


@hookimpl
def tcdp_audit_reporters() -> Iterator[Reporter]:
    """JSON."""
    yield Reporter(name="json", title="JSON result", suffix=".json", render=_json)
