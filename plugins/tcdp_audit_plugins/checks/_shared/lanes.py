"""Places on eight axes in one 64-bit word, so that a point is held against all sides of a box at once.

Each axis has a byte: seven bits for the place, the lowest ones of long axes left out, and one that a difference leaves
set where it is not negative. Only what passes is compared exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

LANES, BITS = 8, 7
GUARDS = np.uint64(0x8080808080808080)


def shifts_of(*corners: NDArray[np.int32]) -> NDArray[np.int64]:
    """For each axis how many bits its places have too many. Shape (axes,)."""
    largest = np.max([one.max(axis=1) for one in corners], axis=0)
    return np.array([max(int(one).bit_length() - BITS, 0) for one in largest.tolist()])


def packed(places: NDArray[np.int32], shifts: NDArray[np.int64]) -> Words:
    """Places, none of them negative, as words. Shape (words, points), from (axes, points)."""
    words = np.zeros((-(-len(places) // LANES), places.shape[1]), dtype=np.uint64)
    for axis, shift in enumerate(shifts.tolist()):
        words[axis // LANES] |= (places[axis] >> shift).astype(np.uint64) << np.uint64(8 * (axis % LANES))
    return words


def may_reach(low: Words, high: Words) -> NDArray[np.bool_]:
    """Whether no place among `low` is clearly above that among `high`; both of the same shape (words,)."""
    return np.asarray(((high | GUARDS) - low) & GUARDS == GUARDS)
