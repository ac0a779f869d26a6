"""Distances between a class's distribution and the reference, as exact fractions of integers.

With counts c of a class of n records and weights w of a reference with total W, p - q has the numerator
c W - w n over n W. Sums of such numerators are integers, so no rounding depends on order, shard or engine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit import Ratios
from tcdp_audit.check import Marginal
from tcdp_audit.exact import LIMIT
from tcdp_audit.histogram import Histogram


def equal_distance(histogram: Histogram, marginal: Marginal) -> Ratios:
    """Variational distance, 1/2 sum_i |p_i - q_i| = sum_i max(p_i - q_i, 0).

    Returns:
        Fractions from 0 to 1, shape (classes,).

    Cost: O(pairs of class and value).

    Source: Li et al. (2007), section 4.2, equal distance.
    """
    total = marginal.total
    counts, size = _roomy(histogram, 2 * total)
    excess = counts * total - marginal.weights[histogram.values] * histogram.spread(size)
    return Ratios(histogram.sum(np.maximum(excess, 0)), size * total)


def ordered_distance(histogram: Histogram, marginal: Marginal) -> Ratios:
    """Earth mover's distance by rank, 1/(m-1) sum_i |sum_{j<=i} (p_j - q_j)| over a domain of m values in order.

    The class's cumulative distribution is constant between two of its own values, and the table's only grows, so
    each such stretch is split at one point where the difference changes its sign. Prefix sums of the table's
    cumulative weights give both parts at once.

    Returns:
        Fractions from 0 to 1, shape (classes,); 0 where the domain has a single value.

    Cost: O(pairs of class and value x log m), never classes x m.

    Source: Li et al. (2007), section 4.1, ordered distance.
    """
    m, total = marginal.size, marginal.total
    if m == 1:
        return Ratios.whole(np.zeros(len(histogram), dtype=np.int64))
    counts, size = _roomy(histogram, 2 * m * total)
    cumulative = np.cumsum(marginal.weights)
    prefix = np.concatenate([[0], np.cumsum(cumulative)])  # prefix[j] = sum of cumulative[:j]
    if counts.dtype == object:
        prefix = prefix.astype(object)
    first, last = histogram.offsets[:-1], histogram.offsets[1:] - 1
    start, end = histogram.values, np.empty_like(histogram.values)
    end[:-1] = histogram.values[1:]
    end[last] = m - 1
    level, spread = _running(histogram, counts), histogram.spread(size)
    # cumulative[j] / total >= level / size from `turn` on
    turn = np.searchsorted(cumulative, -(-(level * total) // spread)).clip(start, end)
    table_low, table_high = prefix[turn] - prefix[start], prefix[end] - prefix[turn]
    moved = (2 * turn - start - end) * (level * total) + (table_high - table_low) * spread
    numerator = histogram.sum(moved) + prefix[start[first]] * size
    return Ratios(numerator, size * total * (m - 1))


def _running(histogram: Histogram, counts: NDArray[Any]) -> NDArray[Any]:
    """Cumulative counts within every class."""
    running = np.cumsum(counts)
    before = np.concatenate([[0], running])[histogram.offsets[:-1]]
    return running - histogram.spread(before)


def _roomy(histogram: Histogram, factor: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Counts and class totals, as Python integers where products with `factor` would leave 62 bits."""
    size = histogram.total
    if int(size.max(initial=0)) * factor < LIMIT:
        return histogram.counts, size
    return histogram.counts.astype(object), size.astype(object)
