"""Distances by ratios: the multiplicative one, and Kullback-Leibler and Jensen-Shannon in nats.

Both divergences are for information only: Li et al. set no threshold for them.
"""

from __future__ import annotations

from math import inf, log

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, cached_on_histogram
from tcdp_audit.plugin.check import Histogram, Ratios, ReferenceDistribution
from tcdp_audit_plugins.checks._shared.frequency_ratios import greatest_ratio, least_ratio, ratios

CLEAR = 1e-9

HUGE = 1e300  # replaces infinity where 0 times it must be 0


def multiplicative_distance(histogram: Histogram, marginal: ReferenceDistribution) -> Ratios:
    """max_i max(p_i/q_i, q_i/p_i); a value that neither has is left out, one that only one of them has is infinite.

    Relabelling values does not change it. It is not an earth mover's distance.

    Returns:
        Fractions from 1 up, shape (classes,); infinite for a class that lacks a value of the reference.

    Cost: O(pairs of class and value).

    Source: Domingo-Ferrer, Soria-Comas (2015), definition 4 and proposition 2.

    Example:
        >>> classes = Histogram(np.array([0, 3, 4]), np.array([0, 1, 2, 0]), np.array([2, 1, 1, 4]))
        >>> multiplicative_distance(classes, ReferenceDistribution(np.array([4, 4, 4]))).values.tolist()
        [1.5, inf]
    """
    infinite = lacks_value(histogram, marginal)
    if not infinite.any():
        return _largest(histogram, marginal)
    finite = np.flatnonzero(~infinite)
    ratios = _largest(histogram.take(finite), marginal)
    numerator = np.ones(len(infinite), dtype=ratios.numerator.dtype)
    denominator = np.zeros(len(infinite), dtype=ratios.denominator.dtype)
    numerator[finite], denominator[finite] = ratios.numerator, ratios.denominator
    return Ratios(numerator, denominator)


def _largest(histogram: Histogram, marginal: ReferenceDistribution) -> Ratios:
    """The same for classes that have every value of the reference."""
    return larger(greatest_ratio(histogram, marginal), largest_loss(histogram, marginal))


@cached_on_histogram
def lacks_value(histogram: Histogram, marginal: ReferenceDistribution) -> NDArray[np.bool_]:
    """The classes that lack a value of the reference, as a mask. Shape (classes,). O(pairs)."""
    lacks = histogram.distinct < np.count_nonzero(marginal.weights)
    if lacks.all():
        return np.asarray(lacks)
    present = histogram.sum((marginal.weights_of(histogram) > 0).astype(np.int64))
    return np.asarray(present < np.count_nonzero(marginal.weights))


def largest_loss(histogram: Histogram, marginal: ReferenceDistribution) -> Ratios:
    """max_i q_i/p_i over the values that a class has. O(pairs)."""
    least = least_ratio(histogram, marginal)
    return Ratios(least.denominator, least.numerator)


def larger(one: Ratios, other: Ratios) -> Ratios:
    """The larger of two fractions for every class, compared exactly where floats do not distinguish them."""
    second = other.values > one.values
    with np.errstate(invalid="ignore"):
        apart = np.abs(one.values - other.values)  # infinite where one of them is, NaN where both are
    close = np.flatnonzero((apart <= CLEAR * np.abs(one.values)) & (apart < inf))
    left = one.numerator[close].astype(object) * other.denominator[close].astype(object)
    right = other.numerator[close].astype(object) * one.denominator[close].astype(object)
    second[close] = right > left
    return Ratios(
        np.where(second, other.numerator, one.numerator), np.where(second, other.denominator, one.denominator)
    )


def kullback_leibler(histogram: Histogram, marginal: ReferenceDistribution) -> Floats:
    """KL(p || q) = sum_i p_i ln(p_i/q_i), in nats; a value that the class lacks adds nothing.

    Relabelling values does not change it.

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
