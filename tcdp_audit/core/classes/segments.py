"""Groups as segments of arrays: where they start, and the positions that they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def starts_of(lengths: Integers) -> Integers:
    """The position at which each of some segments begins that follow one another.

    Example:
        >>> starts_of(np.array([2, 0, 3])).tolist()
        [0, 2, 2]
    """
    return np.cumsum(lengths) - lengths


def positions_of(starts: Integers, lengths: Integers) -> Integers:
    """The positions that some segments hold, one segment after the other.

    Args:
        starts: the first position of each segment; segments may overlap.
        lengths: how many positions each has.

    Returns:
        int64, shape (sum of lengths,). O(segments + positions).

    Example:
        >>> positions_of(np.array([5, 0]), np.array([2, 3])).tolist()
        [5, 6, 0, 1, 2]
    """
    return np.arange(int(lengths.sum())) + np.repeat(starts - starts_of(lengths), lengths)
