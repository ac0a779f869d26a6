"""When mondrian is worth trying."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tcdp_audit.check import ClassCheck, VictimCheck
from tcdp_audit.outcome import Outcome, Status
from tcdp_audit.remedy_view import RemedyView


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Parameters to try, where a demand on classes fails.

    Args:
        view: the release.
        outcomes: what stands against it.
    """
    of_classes = {one.check.name for one in view.policy.expectations if isinstance(one.check, ClassCheck | VictimCheck)}
    if any(one.status is Status.FAILED and one.check in of_classes for one in outcomes):
        yield {}
