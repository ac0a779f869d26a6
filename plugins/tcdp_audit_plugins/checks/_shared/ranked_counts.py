"""The counts of every class in descending order, for models that look at the r-th most frequent value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Histogram, Ratios
from tcdp_audit.plugin.measure import LIMIT

FEW = 3  # most frequent values that are sooner found one by one than by sorting


def ratio_to_tail(histogram: Histogram, l: int, dont_care: NDArray[np.bool_]) -> Ratios:
    """r_y over its tail, where r_y is the count of the most frequent value that matters.

    The tail of r_y is r_l + ... + r_m if y < l, and r_(l-1) + ... + r_m without r_y itself otherwise. With no
    value of no concern, y = 1 and the figure is r_1 / (r_l + ... + r_m).

    Args:
        histogram: counts of the classes.
        l: at least 2.
        dont_care: the codes of no concern, shape (domain,).

    Returns:
        Exact fractions, shape (classes,): 0 where no value matters, infinite where the tail is empty.

    Cost: O(pairs of class and value) for l up to 4, otherwise a sort of the pairs.
    """
    if l - 1 <= FEW and not dont_care.any():
        return _top_to_tail(histogram, l)
    counts, harmless = _ranked(histogram, dont_care[histogram.values])
    rank = np.arange(len(counts)) - histogram.spread(histogram.offsets[:-1])  # 0 is the most frequent
    y = histogram.min(np.where(harmless, len(counts), rank))
    none, y = y == len(counts), histogram.spread(y)
    first = np.where(y < l - 1, l - 1, l - 2)
    top = histogram.sum(np.where(rank == y, counts, 0))
    tail = histogram.sum(np.where((rank >= first) & (rank != y), counts, 0))
    return Ratios(top, np.where(none, 1, tail))


def _top_to_tail(histogram: Histogram, l: int) -> Ratios:
    """r_1 / (r_l + ... + r_m), the l - 1 most frequent values found one by one. O(pairs x l)."""
    counts, top, tail = histogram.counts, histogram.max(histogram.counts), histogram.total
    largest = top
    for rank in range(1, l):
        tail = tail - largest
        if rank < l - 1:
            counts = _without_first(histogram, counts, largest)
            largest = histogram.max(counts)
    return Ratios(top, tail)


def _without_first(histogram: Histogram, counts: Counts, largest: Counts) -> Counts:
    """Counts with the first of the largest ones of each class taken as 0."""
    pairs = np.flatnonzero(counts == histogram.spread(largest))
    rest = counts.copy()
    rest[pairs[np.searchsorted(pairs, histogram.offsets[:-1])]] = 0
    return rest


def _ranked(histogram: Histogram, harmless: NDArray[np.bool_]) -> tuple[Counts, NDArray[np.bool_]]:
    """Counts in descending order within every class, and which are of no concern (the last among equals)."""
    radix = int(histogram.counts.max(initial=0)) + 1  # a shard may have no class with a value
    if 2 * radix * len(histogram) >= LIMIT:
        order = np.lexsort((harmless, -histogram.counts, histogram.rows))
        return histogram.counts[order], harmless[order]
    # One number for a class, a count and a flag: numbers sort much faster than an index does.
    key = ((histogram.rows * radix + (radix - 1 - histogram.counts)) << 1) | harmless
    key.sort()
    return radix - 1 - (key >> 1) % radix, (key & 1).astype(bool)
