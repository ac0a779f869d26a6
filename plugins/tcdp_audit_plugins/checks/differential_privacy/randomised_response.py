"""Randomised response over k values: the exact distance between a class's answers and the table's.

A record keeps its value with probability r and otherwise answers any of the m values, each equally likely. With
r = a/d, a class with c of its n records at a value answers it with probability (a m c + (d - a) n) / (d n m); the
table with weight w of W there, (a m w + (d - a) W) / (d W m). So everything is a fraction of integers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tcdp_audit.plugin._internal import LIMIT, Counts, cached_on_reference
from tcdp_audit.plugin.check import Histogram, Ratios, ReferenceDistribution
from tcdp_audit_plugins.checks.differential_privacy.extremes import extremes, maximum, product


def response_distance(histogram: Histogram, marginal: ReferenceDistribution, retention: Fraction) -> Ratios:
    """Multiplicative distance max_o max(f_E(o) / f_T(o), f_T(o) / f_E(o)) between the answers of class and table.

    Args:
        histogram: the true values of each class.
        marginal: the table's; its size m is the domain of the mechanism.
        retention: the probability r of the true answer, from 0 to 1. At 1 this is the multiplicative distance of the
            distributions themselves, with 0/0 ignored.

    Returns:
        Exact fractions of at least 1, shape (classes,); infinite only where r is 1 and one side lacks a value of
        the other.

    Cost: O(pairs of class and value), and a sort of the domain.

    Source: Domingo-Ferrer, Soria-Comas (2015), definitions 3 and 4; Warner (1965) for two values.
    """
    a, blank = retention.numerator, retention.denominator - retention.numerator
    scale, total, size = a * marginal.size, marginal.total, histogram.total
    overflows = retention.denominator * marginal.size * max(int(size.max(initial=0)), total) >= LIMIT
    kind = object if overflows else np.int64
    own = scale * histogram.counts.astype(kind, copy=False) + blank * histogram.spread(size).astype(kind, copy=False)
    table = (scale * marginal.weights.astype(kind, copy=False) + blank * total).take(histogram.values)
    above, below = extremes(histogram, own, table)
    return maximum(
        Ratios(product(total, own[above]), product(size, table[above])),
        Ratios(product(size, table[below]), product(total, own[below])),
        _lacked(histogram, marginal, scale, blank),
    )


def _lacked(histogram: Histogram, marginal: ReferenceDistribution, scale: int, blank: int) -> Ratios:
    """f_T / f_E at the most frequent value that the class lacks: 1 + a m w / ((d - a) W), whatever the class is."""
    weight = heaviest_lacked(histogram, marginal)
    if not blank:  # without noise, a value that the class lacks is infinitely less likely there
        return Ratios(np.ones(len(weight), dtype=np.int64), (weight == 0).astype(np.int64))
    added, denominator = product(scale, weight), np.asarray(product(blank, marginal.total))
    return Ratios(added + denominator, np.full(len(weight), denominator))


def heaviest_lacked(histogram: Histogram, marginal: ReferenceDistribution) -> Counts:
    """The largest weight among the values that a class does not have; 0 where it has all of them.

    With the domain ranked by descending weight, it is the weight at the first rank that the class lacks. That is one
    of its first `distinct` + 1 ranks, so marking those takes no more space than the pairs do.

    Cost: O(pairs + classes), and a sort of the domain.
    """
    weights, rank = _by_weight(marginal)
    ranks = rank.take(histogram.values)
    start = histogram.offsets + np.arange(len(histogram.offsets))  # of each class's first `distinct` + 1 ranks
    lacks = np.ones(start[-1], dtype=bool)
    within = np.flatnonzero(ranks <= histogram.spread(histogram.distinct))
    lacks[start.take(histogram.rows[within]) + ranks[within]] = False
    lacked = np.flatnonzero(lacks)
    first = lacked[np.searchsorted(lacked, start[:-1])] - start[:-1]
    return np.asarray(weights[first])


@cached_on_reference
def _by_weight(marginal: ReferenceDistribution) -> tuple[Counts, Counts]:
    """The weights in descending order, 0 last, and the rank of each value among them."""
    order = np.argsort(-marginal.weights, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.append(marginal.weights[order], 0), rank
