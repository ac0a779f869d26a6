"""Kullback-Leibler and Jensen-Shannon: what a class reveals in nats. Information only; Li et al. set no threshold."""

from __future__ import annotations

from math import log

import numpy as np

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import Histogram, ReferenceDistribution
from tcdp_audit.plugin.measure import cached_on_histogram
from tcdp_audit_plugins.checks._shared.frequency_ratios import ratios

HUGE = 1e300  # stands for infinity where 0 times it must be 0


def kullback_leibler(histogram: Histogram, marginal: ReferenceDistribution) -> Floats:
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
        >>> kullback_leibler(classes, ReferenceDistribution(np.array([1, 1]))).round(6).tolist()
        [0.693147]
    """
    return np.asarray(np.maximum(histogram.sum(_shares(histogram) * _log_ratios(histogram, marginal)), 0))


def jensen_shannon(histogram: Histogram, marginal: ReferenceDistribution) -> Floats:
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
        >>> jensen_shannon(classes, ReferenceDistribution(np.array([1, 1]))).round(6).tolist()
        [0.215762]
    """
    weights = marginal.weights_of(histogram)
    theirs = -np.log((1 + np.minimum(ratios(histogram, marginal), HUGE)) / 2)  # ln(2 q / (p + q))
    ours = np.where(weights > 0, _log_ratios(histogram, marginal) + theirs, log(2))  # ln(2 p / (p + q))
    within = histogram.sum(_shares(histogram) * ours + weights / marginal.total * theirs)
    lacking = (marginal.total - histogram.sum(weights)) / marginal.total
    return np.asarray(np.clip((within + lacking * log(2)) / 2, 0, log(2)))


@cached_on_histogram
def _log_ratios(histogram: Histogram, marginal: ReferenceDistribution) -> Floats:
    """ln(p_i/q_i) of every pair of class and value. Shape (pairs,)."""
    return np.asarray(np.log(ratios(histogram, marginal)))


@cached_on_histogram
def _shares(histogram: Histogram) -> Floats:
    """p_i of every pair of class and value. Shape (pairs,)."""
    return np.asarray(histogram.counts / histogram.spread(histogram.total))
