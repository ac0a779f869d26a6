"""Kullback-Leibler and Jensen-Shannon: what a class tells in nats. Information only; Li et al. set no threshold."""

from __future__ import annotations

import numpy as np

from tcdp_audit.check import Marginal
from tcdp_audit.exact import Floats
from tcdp_audit.histogram import Histogram


def kullback_leibler(histogram: Histogram, marginal: Marginal) -> Floats:
    """KL(p || q) = sum_i p_i ln(p_i/q_i), in nats; a value that the class lacks adds nothing.

    Relabelling values does not change it.

    Args:
        histogram: counts of values in every class.
        marginal: the reference distribution.

    Returns:
        float64 from 0 up, shape (classes,); infinite for a class with a value that the reference lacks, which cannot
        happen where the reference is the release itself.

    Cost: O(pairs of class and value).

    Source: Kullback, Leibler (1951), section 2.

    Example:
        >>> classes = Histogram(np.array([0, 1]), np.array([0]), np.array([3]))
        >>> kullback_leibler(classes, Marginal(np.array([1, 1]))).round(6).tolist()
        [0.693147]
    """
    counts, weights, size = _floats(histogram, marginal)
    ratio = np.full(len(counts), np.inf)
    np.divide(counts * marginal.total, weights * size, out=ratio, where=weights > 0)
    return np.asarray(np.maximum(histogram.sum(counts / size * np.log(ratio)), 0))


def jensen_shannon(histogram: Histogram, marginal: Marginal) -> Floats:
    """JS(p, q) = 1/2 KL(p || (p+q)/2) + 1/2 KL(q || (p+q)/2), in nats.

    Relabelling values does not change it.

    Args:
        histogram: counts of values in every class.
        marginal: the reference distribution.

    Returns:
        float64 from 0 to ln 2, shape (classes,); never infinite.

    Cost: O(pairs of class and value): the values that a class lacks add ln 2 times half their share of the reference.

    Source: Lin (1991), definition of the Jensen-Shannon divergence with equal weights.

    Example:
        >>> classes = Histogram(np.array([0, 1]), np.array([0]), np.array([3]))
        >>> jensen_shannon(classes, Marginal(np.array([1, 1]))).round(6).tolist()
        [0.215762]
    """
    counts, weights, size = _floats(histogram, marginal)
    ours, theirs = counts * marginal.total, weights * size
    both = ours + theirs
    logarithm = np.zeros(len(counts))
    np.log(2 * theirs / both, out=logarithm, where=theirs > 0)
    shares = counts / size * np.log(2 * ours / both) + weights / marginal.total * logarithm
    lacking = (marginal.total - histogram.sum(marginal.weights[histogram.values])) / marginal.total
    return np.asarray(np.clip((histogram.sum(shares) + lacking * np.log(2)) / 2, 0, np.log(2)))


def _floats(histogram: Histogram, marginal: Marginal) -> tuple[Floats, Floats, Floats]:
    """Counts, weights and class totals of every pair."""
    weights = marginal.weights[histogram.values].astype(np.float64)
    return histogram.counts.astype(np.float64), weights, histogram.spread(histogram.total).astype(np.float64)
