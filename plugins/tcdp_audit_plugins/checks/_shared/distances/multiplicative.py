"""The multiplicative distance: by what factor a value is more, or less, frequent in a class than in the reference."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.check import Histogram, Ratios, ReferenceDistribution
from tcdp_audit.plugin.measure import cached_on_histogram
from tcdp_audit_plugins.checks._shared.frequency_ratios import greatest_ratio, least_ratio

CLEAR = 1e-9


def multiplicative_distance(histogram: Histogram, marginal: ReferenceDistribution) -> Ratios:
    """max_i max(p_i/q_i, q_i/p_i); a value that neither has is left out, one that only one of them has is infinite.

    Relabelling values does not change it. It is not an earth mover's distance.

    Args:
        histogram: counts of values in every class.
        marginal: the reference distribution.

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
    """Which classes lack a value that the reference has. Shape (classes,). O(pairs)."""
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
    finite = np.isfinite(one.values) & np.isfinite(other.values)
    close = np.flatnonzero(finite)[
        np.abs(one.values[finite] - other.values[finite]) <= CLEAR * np.abs(one.values[finite])
    ]
    left = one.numerator[close].astype(object) * other.denominator[close].astype(object)
    right = other.numerator[close].astype(object) * one.denominator[close].astype(object)
    second[close] = right > left
    return Ratios(
        np.where(second, other.numerator, one.numerator), np.where(second, other.denominator, one.denominator)
    )
