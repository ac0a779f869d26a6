"""When generalization is worth trying, and with which limits of suppression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tcdp_audit.check import ClassCheck, VictimCheck
from tcdp_audit.outcome import Outcome, Status
from tcdp_audit.remedy_view import RemedyView

LIMITS = (0.01, 0.05)


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Parameters to try, where a demand on classes fails and a quasi-identifier has a hierarchy.

    Args:
        view: the release.
        outcomes: what stands against it.
    """
    of_classes = {one.check.name for one in view.policy.expectations if isinstance(one.check, ClassCheck | VictimCheck)}
    failing = any(one.status is Status.FAILED and one.check in of_classes for one in outcomes)
    if not failing or all(one.hierarchy is None for one in view.quasi_identifiers):
        return
    yield {}
    if not view.policy.document.rows_aligned:
        yield from ({"suppression": limit} for limit in LIMITS)
