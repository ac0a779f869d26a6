"""Bins of numbers: intervals of one width, half-open, the last one closed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any

from tcdp_audit.generalised import interval_label


def binned(values: Sequence[Any], width: Fraction) -> list[str]:
    """The label of the bin of each number. Bins begin at multiples of the width, so those of a multiple are coarser.

    The last bin is closed, and holds the greatest value where that is a multiple itself. A number stands for the
    decimal that it prints as.

    Args:
        values: finite numbers.
        width: above 0.

    Cost: O(values), in rational arithmetic.

    Example:
        >>> binned([17, 20, 34, 60], Fraction(20))
        ['[0, 20)', '[20, 40)', '[20, 40)', '[40, 60]']
    """
    quotients = [Fraction(str(value)) / width for value in values]
    if not quotients:
        return []
    last = max(ceil(max(quotients)) - 1, floor(min(quotients)))
    return [_label(min(floor(one), last), last, width) for one in quotients]


def _label(number: int, last: int, width: Fraction) -> str:
    return interval_label(float(number * width), float((number + 1) * width), open_end=number < last)
