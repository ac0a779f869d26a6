"""Ratios of a value's share in a class to its share in the reference, p_i / q_i as exact fractions.

With count c in a class of n records and weight w in a reference of total W, p/q = c W / (n w).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import Histogram, Ratios, ReferenceDistribution
from tcdp_audit.plugin.measure import LIMIT, Signs, cached_on_histogram

DISTINGUISHED = 2**51  # quotients of integers whose products stay below this differ as float64 where they differ at all
SHIFT = 130  # enough binary places to tell apart any two fractions of 62-bit integers


def greatest_ratio(
    histogram: Histogram, marginal: ReferenceDistribution, among: NDArray[np.bool_] | None = None
) -> Ratios:
    """The largest p_i / q_i of every class.

    Args:
        histogram: counts of the classes.
        marginal: the reference distribution.
        among: the codes that matter, shape (domain,); all of them by default.

    Returns:
        Exact fractions, shape (classes,): 0 where the class has none of the values that matter, infinite where it
        has one to which the reference gives no weight.

    Cost: O(pairs of class and value).
    """
    if among is None:
        return _ratio_at(histogram, marginal, furthest(histogram, marginal)[0])
    order = np.where(among[histogram.values], _in_order(histogram, marginal), -1)
    largest = histogram.max(order)
    ratio = _ratio_at(histogram, marginal, _first(histogram, order == histogram.spread(largest)))
    none = largest < 0
    return Ratios(np.where(none, 0, ratio.numerator), np.where(none, 1, ratio.denominator))


def least_ratio(histogram: Histogram, marginal: ReferenceDistribution) -> Ratios:
    """The smallest p_i / q_i of every class, over the values that it has: exact fractions, shape (classes,)."""
    return _ratio_at(histogram, marginal, furthest(histogram, marginal)[1])


@cached_on_histogram
def furthest(histogram: Histogram, marginal: ReferenceDistribution) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For every class the first pair with its largest p_i / q_i, and that with the smallest. O(pairs)."""
    order = _in_order(histogram, marginal)
    high, low = histogram.spread(histogram.max(order)), histogram.spread(histogram.min(order))
    return _first(histogram, order == high), _first(histogram, order == low)


@cached_on_histogram
def ratios(histogram: Histogram, marginal: ReferenceDistribution) -> Floats:
    """p_i / q_i of every pair of class and value, infinite where q_i = 0. Shape (pairs,)."""
    above = histogram.counts.astype(np.float64) * marginal.total
    below = histogram.spread(histogram.total) * marginal.weights_of(histogram).astype(np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(above / below)


def decided_once(
    histogram: Histogram,
    marginal: ReferenceDistribution,
    pairs: NDArray[np.intp],
    decide: Callable[[Fraction, Fraction], int],
) -> Signs:
    """What an exact decision says of some pairs, asked once for pairs with equal p_i and q_i.

    Args:
        histogram: counts of the classes.
        marginal: the reference distribution.
        pairs: positions of the pairs; none of their q_i is 0.
        decide: from p_i and q_i to -1, 0 or 1.
    """
    sizes, weights = histogram.spread(histogram.total)[pairs], marginal.weights_of(histogram)[pairs]
    cases = np.stack([histogram.counts[pairs], sizes, weights], axis=1)
    distinct, which = np.unique(cases, axis=0, return_inverse=True)
    signs = [decide(Fraction(c, n), Fraction(w, marginal.total)) for c, n, w in distinct.tolist()]
    return np.array(signs, dtype=np.int8)[which.reshape(-1)]


def _ratio_at(histogram: Histogram, marginal: ReferenceDistribution, pairs: NDArray[np.intp]) -> Ratios:
    """p_i / q_i at one pair of every class."""
    counts, weights, sizes = histogram.counts[pairs], marginal.weights_of(histogram)[pairs], histogram.total
    most = int(sizes.max(initial=0))  # no count exceeds it, and no weight the total
    if most * marginal.total >= LIMIT:
        counts, weights, sizes = counts.astype(object), weights.astype(object), sizes.astype(object)
    return Ratios(counts * marginal.total, sizes * weights)


def _in_order(histogram: Histogram, marginal: ReferenceDistribution) -> NDArray[Any]:
    """A number for each pair, in the order of p_i / q_i within a class, equal only where those are equal."""
    counts, weights = histogram.counts, marginal.weights_of(histogram)
    if int(counts.max(initial=0)) * int(weights.max(initial=0)) < DISTINGUISHED:
        with np.errstate(divide="ignore"):
            return np.asarray(counts / weights)
    scaled = (counts.astype(object) << SHIFT) // np.maximum(weights, 1)
    return np.where(weights == 0, 1 << 3 * SHIFT, scaled)


def _first(histogram: Histogram, marked: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The first marked pair of every class; each has one."""
    pairs = np.flatnonzero(marked)
    return pairs[np.searchsorted(pairs, histogram.offsets[:-1])]
