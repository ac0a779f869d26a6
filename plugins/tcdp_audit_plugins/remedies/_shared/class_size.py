"""Demands that are not on classes, but kept by larger ones: which size of a class is enough for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin._internal import failing_demands
from tcdp_audit.plugin.remedy import RemedyError, RemedyView, Treatment
from tcdp_audit.plugin.sentences import Outcome

ClassSize = Annotated[
    int | None, Field(ge=1, description="The least number of records in a class, besides what the policy demands.")
]


def sufficient_size(view: RemedyView, outcomes: tuple[Outcome, ...], treat: Callable[[int], Treatment]) -> int | None:
    """The least size of those that are tried after which nothing fails any more.

    Args:
        view: the release.
        outcomes: what stands against it.
        treat: the remedy for classes of so many records at least.

    Returns:
        A size; where none suffices the largest after which fewest demands fail. None where no failing demand depends on
        the size of classes, or the remedy cannot make classes of the first one.

    Cost: the remedy, and the audit of what fails, for each size.
    """
    failing, best, fewest = frozenset(one.check for one in outcomes), None, len(outcomes) + 1
    for size in view.class_sizes(outcomes):
        try:
            left = len(failing_demands(view.outcomes_of(failing, treat(size))))
        except RemedyError:
            break  # so large classes are not to be had, or cost more than another remedy
        if left <= fewest:
            best, fewest = size, left
        if not left:
            break
    return best
