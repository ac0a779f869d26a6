"""How far a value was moved among the released ones, and which released values one may have become.

Equal values share their ranks: each stands on all positions from the first of them to the last in the sorted column. A
displacement is counted between the nearest ends, so that no answer depends on how ties are sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts

Ranges = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class Ranks:
    """The positions of one attribute's values in its sorted released column.

    Args:
        counts: released records with each value of the domain, ascending; 1 for each value that occurs where the
            distinct values are ranked and not the records. Shape (domain,).

    Example:
        >>> ranks = Ranks(np.array([1, 2, 0, 1]))  # the values stand on 0, on 1 to 2, between 2 and 3, on 3
        >>> ranks.displacement(np.array([0, 0, 2, 1]), np.array([1, 3, 3, 1])).tolist()
        [1, 3, 1, 0]
        >>> [bound.tolist() for bound in ranks.ranges(1)]
        [[0, 0, 1, 1], [1, 2, 2, 2]]
    """

    counts: Counts

    @cached_property
    def low(self) -> Counts:
        """The first position of each value. Shape (domain,)."""
        return self.high + 1 - self.counts

    @cached_property
    def high(self) -> Counts:
        """The last position of each value; one before the first where no record has it. Shape (domain,)."""
        return np.cumsum(self.counts) - 1

    @cached_property
    def place(self) -> Counts:
        """The place of each value among those that occur. Shape (domain,)."""
        return np.cumsum(self.counts > 0) - 1

    def displacement(self, known: Counts, released: Counts) -> Counts:
        """max(lo_x - hi_y, lo_y - hi_x, 0) of known values x and released values y, as codes."""
        below, above = self.low[known] - self.high[released], self.low[released] - self.high[known]
        return np.maximum(np.maximum(below, above), 0)

    def ranges(self, displacement: int) -> Ranges:
        """The places of the first and the last released value that each value may have become, both inclusive.

        The last is before the first where there is none. Shape (domain,) each. O(domain log domain).
        """
        occurs = self.counts > 0
        first = np.searchsorted(self.high[occurs], self.low - displacement, side="left")
        last = np.searchsorted(self.low[occurs], self.high + displacement, side="right") - 1
        return first, last
