"""The least and the greatest of every class, without a loop over classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def extremes(low: Integers, high: Integers, classes: Integers, count: int) -> tuple[Integers, Integers]:
    """The least of `low` and the greatest of `high` in each class; the greater first where a class has no record.

    Args:
        low: a number of at least 0 for each record.
        high: likewise.
        classes: class number of each record.
        count: how many classes there are.

    Returns:
        Two int64 arrays of shape (count,).
    """
    least = np.full(count, np.iinfo(np.int64).max)
    greatest = np.full(count, -1)
    np.minimum.at(least, classes, low)
    np.maximum.at(greatest, classes, high)
    return least, greatest


def distinct_pairs(first: Integers, last: Integers) -> tuple[Integers, Integers, Integers]:
    """The different pairs of ends among the classes that have any, and which of them each class has."""
    filled = first <= last
    radix = int(last.max(initial=0)) + 1
    pairs, which = np.unique(first[filled] * radix + last[filled], return_inverse=True)
    chosen = np.zeros(len(first), dtype=np.int64)
    chosen[filled] = which
    return pairs // radix, pairs % radix, chosen
