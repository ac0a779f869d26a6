"""When mondrian is worth trying."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tcdp_audit.outcome import Outcome
from tcdp_audit.remedy_view import RemedyView
from tcdp_audit_plugins.remedies.failing import failing_on_classes


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Parameters to try, where a demand on classes fails.

    Args:
        view: the release.
        outcomes: what stands against it.
    """
    if failing_on_classes(view, outcomes):
        yield {}
