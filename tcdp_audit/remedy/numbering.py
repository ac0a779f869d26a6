"""Keys numbered from 0 in ascending order, by counting where that is quicker than sorting."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.encoding.keys import Keys

ROOM = 16  # with at most so many possible keys for each that is there, marking them is quicker than sorting


def numbered(keys: Keys) -> tuple[NDArray[np.int64], int]:
    """The number of each key among the different ones in ascending order, and how many different ones there are.

    Cost: O(keys) where few keys are possible, else a sort of them.

    Example:
        >>> from tcdp_audit.encoding.keys import fold
        >>> numbers, count = numbered(fold([np.array([7, 2, 7])], [9]))
        >>> numbers.tolist(), count
        ([1, 0, 1], 2)
    """
    if keys.span > ROOM * len(keys.values):
        distinct, numbers = np.unique(keys.values, return_inverse=True)
        return numbers.astype(np.int64, copy=False), len(distinct)
    seen = np.zeros(keys.span, dtype=bool)
    seen[keys.values] = True
    present = np.flatnonzero(seen)
    number = np.empty(keys.span, dtype=np.int64)
    number[present] = np.arange(len(present))
    return number[keys.values], len(present)
