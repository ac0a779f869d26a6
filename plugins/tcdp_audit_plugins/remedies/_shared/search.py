"""Searches for the largest or the smallest number at which something holds, with few trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import checkpoint
from tcdp_audit.plugin.remedy import Demands, MergedDemands, RemedyError, RemedyView, Treatment, failing_demands
from tcdp_audit.plugin.sentences import Outcome, figure, listing

Holds = Callable[[int], object]  # whether something holds at a number


def largest(holds: Holds, least: int, top: int) -> int | None:
    """Go down from `top` in steps that double until something holds, then halve the last step.

    Return the largest number at which it holds, wherever it then holds at all smaller ones; else one at which it holds
    while it does not at the next. None if no step met one.

    Cost: O(log (top - least)) trials.

    Example:
        >>> largest(lambda number: number <= 37, 1, 100), largest(lambda number: False, 1, 100)
        (37, None)
    """
    failing = top + 1
    for power in range((top - least + 1).bit_length() + 1):
        checkpoint()
        number = max(top + 1 - (1 << power), least)
        if number < failing and holds(number):
            return last_before(holds, number, failing)
        failing = number
    return None


def smallest(holds: Holds, least: int, top: int, *, growth: float = 2.0) -> int | None:
    """Go up from `least`, each time to `growth` times the number, until something holds, then halve the last step.

    A larger `growth`, above 1, takes fewer trials and tries larger numbers; `least` is at least 0. Return the smallest
    number at which it holds, wherever it then holds at all larger ones; else one at which it holds while it does not at
    the one before. None if it does not hold at `top` either.

    Cost: O(log (top - least)) trials.

    Example:
        >>> smallest(lambda number: number >= 37, 1, 100), smallest(lambda number: False, 1, 100)
        (37, None)
    """
    failing, number = least - 1, least
    while not holds(number):
        checkpoint()
        if number >= top:
            return None
        failing, number = number, min(max(number + 1, int(number * growth)), top)
    return last_before(holds, number, failing)


def last_before(holds: Holds, number: int, failing: int) -> int:
    """The last number at which something holds, on the way from one at which it holds to one at which it does not.

    It holds at `number`; at `failing`, larger or smaller, it does not hold or is not asked.

    Cost: O(log |failing - number|) trials.

    Example:
        >>> last_before(lambda number: number < 5, 0, 9), last_before(lambda number: number > 5, 9, 0)
        (4, 6)
    """
    while abs(failing - number) > 1:
        checkpoint()
        middle = number + (failing - number) // 2 if failing < number else failing - (failing - number) // 2
        number, failing = (middle, failing) if holds(middle) else (number, middle)
    return number


def smallest_near(holds: Holds, start: int, least: int, top: int) -> int | None:
    """Like `smallest`, from a number that is thought to be near: in steps that double, down or up, then halved.

    Returns:
        As `smallest`: the smallest number at which it holds, wherever it then holds at all larger ones.

    Cost: O(log |answer - start|) trials.

    Example:
        >>> [smallest_near(lambda number: number >= 37, start, 1, 100) for start in (30, 40)]
        [37, 37]
        >>> smallest_near(lambda number: False, 30, 1, 100) is None
        True
    """
    step, number = 1, start
    if holds(number):
        while number > least:
            below = max(number - step, least)
            if not holds(below):
                return last_before(holds, number, below)
            number, step = below, 2 * step
        return number
    while number < top:
        above = min(number + step, top)
        if holds(above):
            return last_before(holds, above, number)
        number, step = above, 2 * step
    return None


ClassSize = Annotated[
    int | None, Field(ge=1, description="The least number of records in a class, in addition to the policy's demands.")
]


def sufficient_size(view: RemedyView, outcomes: tuple[Outcome, ...], treat: Callable[[int], Treatment]) -> int | None:
    """The least size of those that are tried after which nothing fails any more.

    Return a size; where none suffices the largest after which fewest demands fail. None where no failing demand depends
    on the size of classes, or the remedy cannot make classes of the first one.

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


def failed_as_one_class(demands: Demands) -> list[str]:
    """The titles of the demands that all records fail as one class, in the policy's order. Cost: one judgement."""
    records = len(next(iter(demands.columns.values())))
    return MergedDemands(demands, np.zeros(records, dtype=np.int64), 1).failed(np.zeros(1, dtype=np.int64), 1)


def refused_as_one_class(titles: Sequence[str], demands: Demands) -> str:
    """Part of a sentence that says why no grouping of the records can help, and what would be attainable.

    `titles` name what all records fail as one class, at least one demand. The figures of that class are what is
    attainable, where merging classes never does harm. Cost: one judgement.
    """
    figures = "; ".join(dict.fromkeys(attainable(demands)))
    nearest = f". Attainable by that class: {figures}" if figures else ""
    return f"{listing(titles)} would fail even if all records were one class{nearest}"


def attainable(demands: Demands) -> list[str]:
    """Say what all records attain as one class of demands that they fail: `k-anonymity 6, where >= 9 is demanded`."""
    return [
        f"{task.expectation.check.title}{'' if task.target.name is None else f' of {task.target.name!r}'} "
        f"{figure(observed, demanded)}, where {comparison} {figure(float(demanded))} is demanded"
        for task, observed, demanded, comparison in demands.attained_as_one_class()
    ]
