"""When generalization is worth trying, and with which limits of suppression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tcdp_audit.outcome import Outcome
from tcdp_audit.remedy_view import RemedyView
from tcdp_audit_plugins.remedies.failing import failing_on_classes

LIMITS = (0.01, 0.05)


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Parameters to try, where a demand on classes fails and a quasi-identifier has a hierarchy.

    Args:
        view: the release.
        outcomes: what stands against it.
    """
    if not failing_on_classes(view, outcomes) or all(one.hierarchy is None for one in view.quasi_identifiers):
        return
    yield {}
    if not view.policy.document.rows_aligned:
        yield from ({"suppression": limit} for limit in LIMITS)
