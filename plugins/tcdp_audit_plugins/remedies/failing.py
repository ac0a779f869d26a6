"""Which of the outcomes against a release are about its equivalence classes, for plans."""

from __future__ import annotations

from tcdp_audit.check import ClassCheck, VictimCheck
from tcdp_audit.outcome import Outcome, Status
from tcdp_audit.remedy_view import RemedyView


def failing_on_classes(view: RemedyView, outcomes: tuple[Outcome, ...]) -> list[Outcome]:
    """The demands on classes that fail: what grouping records in another way can mend.

    Args:
        view: the release.
        outcomes: what stands against it.

    Cost: O(expectations).
    """
    of_classes = {one.check.name for one in view.policy.expectations if isinstance(one.check, ClassCheck | VictimCheck)}
    return [one for one in outcomes if one.status is Status.FAILED and one.check in of_classes]
