"""The largest number at which something is attained, with few trials."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable


def most(attained: Callable[[int], object], least: int, top: int) -> int | None:
    """Go down from `top` in steps that double until something is attained, then halve the last step.

    Args:
        attained: whether it is, at a number.
        least: the smallest number to try.
        top: the largest.

    Returns:
        The largest number at which it is attained, wherever smaller numbers never attain less; else one at which it
        is attained while the next one fails. None if no step attained it.

    Cost: O(log (top - least)) trials.

    Example:
        >>> most(lambda number: number <= 37, 1, 100), most(lambda number: False, 1, 100)
        (37, None)
    """
    failing = top + 1
    for power in range((top - least + 1).bit_length() + 1):
        number = max(top + 1 - (1 << power), least)
        if number < failing and attained(number):
            between = range(number + 1, failing)
            return number + bisect_left(between, 1, key=lambda one: int(not attained(one)))
        failing = number
    return None
