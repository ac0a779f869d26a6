"""Searches for the largest or the smallest number at which something holds, with few trials."""

from __future__ import annotations

from collections.abc import Callable

Holds = Callable[[int], object]  # whether something holds at a number


def largest(holds: Holds, least: int, top: int) -> int | None:
    """Go down from `top` in steps that double until something holds, then halve the last step.

    Args:
        holds: whether it does, at a number.
        least: the smallest number to try.
        top: the largest.

    Returns:
        The largest number at which it holds, wherever it then holds at all smaller ones; else one at which it holds
        while it does not at the next. None if no step met one.

    Cost: O(log (top - least)) trials.

    Example:
        >>> largest(lambda number: number <= 37, 1, 100), largest(lambda number: False, 1, 100)
        (37, None)
    """
    failing = top + 1
    for power in range((top - least + 1).bit_length() + 1):
        number = max(top + 1 - (1 << power), least)
        if number < failing and holds(number):
            return last_before(holds, number, failing)
        failing = number
    return None


def smallest(holds: Holds, least: int, top: int, *, growth: float = 2.0) -> int | None:
    """Go up from `least`, each time to `growth` times the number, until something holds, then halve the last step.

    Args:
        holds: whether it does, at a number.
        least: the smallest number to try, at least 0.
        top: the largest.
        growth: above 1; the larger, the fewer trials, and the larger are the numbers that are tried.

    Returns:
        The smallest number at which it holds, wherever it then holds at all larger ones; else one at which it holds
        while it does not at the one before. None if it does not hold at `top` either.

    Cost: O(log (top - least)) trials.

    Example:
        >>> smallest(lambda number: number >= 37, 1, 100), smallest(lambda number: False, 1, 100)
        (37, None)
    """
    failing, number = least - 1, least
    while not holds(number):
        if number >= top:
            return None
        failing, number = number, min(max(number + 1, int(number * growth)), top)
    return last_before(holds, number, failing)


def last_before(holds: Holds, number: int, failing: int) -> int:
    """The last number at which something holds, on the way from one at which it holds to one at which it does not.

    Args:
        holds: whether it does, at a number.
        number: one at which it holds.
        failing: one at which it does not, or where it is not asked; larger or smaller.

    Cost: O(log |failing - number|) trials.

    Example:
        >>> last_before(lambda number: number < 5, 0, 9), last_before(lambda number: number > 5, 9, 0)
        (4, 6)
    """
    while abs(failing - number) > 1:
        middle = number + (failing - number) // 2 if failing < number else failing - (failing - number) // 2
        number, failing = (middle, failing) if holds(middle) else (number, middle)
    return number


def smallest_near(holds: Holds, start: int, least: int, top: int) -> int | None:
    """Like `smallest`, from a number that is thought to be near: in steps that double, down or up, then halved.

    Args:
        holds: whether it does, at a number.
        start: where to begin, from least to top.
        least: the smallest number to try.
        top: the largest.

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
