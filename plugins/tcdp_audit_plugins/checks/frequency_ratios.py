"""How much more frequent a value is in a class than in the reference: p_i / q_i as exact fractions.

With count c in a class of n records and weight w in a reference of total W, p/q = c W / (n w).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit import Ratios
from tcdp_audit.check import Marginal
from tcdp_audit.exact import LIMIT, Floats, Signs
from tcdp_audit.histogram import Counts, Histogram

DISTINGUISHED = 2**51  # quotients of integers whose products stay below this differ as float64 where they differ at all
SHIFT = 130  # enough binary places to tell apart any two fractions of 62-bit integers


def greatest_ratio(histogram: Histogram, marginal: Marginal, among: NDArray[np.bool_] | None = None) -> Ratios:
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
    weights = marginal.weights[histogram.values]
    order = _ordered(histogram.counts, weights)
    if among is not None:
        order = np.where(among[histogram.values], order, -1)
    largest = histogram.max(order)
    where = _first(histogram, order == histogram.spread(largest))
    counts, sizes, total = histogram.counts[where], histogram.total, marginal.total
    weights = weights[where]
    if max(int(sizes.max()) * int(weights.max()), int(counts.max()) * total) >= LIMIT:
        counts, weights, sizes = counts.astype(object), weights.astype(object), sizes.astype(object)
    none = largest < 0
    return Ratios(np.where(none, 0, counts * total), np.where(none, 1, sizes * weights))


def ratios(histogram: Histogram, marginal: Marginal) -> Floats:
    """p_i / q_i of every pair of class and value, infinite where q_i = 0. Shape (pairs,)."""
    above = histogram.counts.astype(np.float64) * marginal.total
    below = histogram.spread(histogram.total.astype(np.float64)) * marginal.weights[histogram.values]
    with np.errstate(divide="ignore"):
        return np.asarray(above / below)


def decided_once(
    histogram: Histogram, marginal: Marginal, pairs: NDArray[np.intp], decide: Callable[[Fraction, Fraction], int]
) -> Signs:
    """What an exact decision says of some pairs, asked once for pairs with equal p_i and q_i.

    Args:
        histogram: counts of the classes.
        marginal: the reference distribution.
        pairs: positions of the pairs; none of their q_i is 0.
        decide: from p_i and q_i to -1, 0 or 1.
    """
    sizes, weights = histogram.spread(histogram.total)[pairs], marginal.weights[histogram.values[pairs]]
    cases = np.stack([histogram.counts[pairs], sizes, weights], axis=1)
    distinct, which = np.unique(cases, axis=0, return_inverse=True)
    signs = [decide(Fraction(c, n), Fraction(w, marginal.total)) for c, n, w in distinct.tolist()]
    return np.array(signs, dtype=np.int8)[which.reshape(-1)]


def _ordered(counts: Counts, weights: Counts) -> NDArray[Any]:
    """Numbers in the same order as the fractions counts / weights, equal only where those are equal."""
    if int(counts.max()) * int(weights.max()) < DISTINGUISHED:
        with np.errstate(divide="ignore"):
            return np.asarray(counts / weights)
    scaled = (counts.astype(object) << SHIFT) // np.maximum(weights, 1)
    return np.where(weights == 0, 1 << 3 * SHIFT, scaled)


def _first(histogram: Histogram, marked: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The first marked pair of every class; each has one."""
    pairs = np.flatnonzero(marked)
    return pairs[np.searchsorted(pairs, histogram.offsets[:-1])]
