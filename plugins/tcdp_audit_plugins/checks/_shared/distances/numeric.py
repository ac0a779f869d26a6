"""The numeric distance: the earth mover's distance by the difference of values."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import LIMIT, Floats, Integers, cached_on_reference
from tcdp_audit.plugin.check import Histogram, Measured, Ratios, ReferenceDistribution
from tcdp_audit_plugins.checks._shared.distances.line import estimated_distance, line_distance

EXACT_DECIMAL = 1e15  # a decimal of up to 15 digits is the shortest text of the float nearest to it
MOST_DECIMALS = 22  # powers of ten up to this one are exact floats
COARSE = 1e-12  # floats further apart than this, relative to their range, are subtracted as decimals


def numeric_distance(histogram: Histogram, marginal: ReferenceDistribution, values: NDArray[Any]) -> Measured:
    """Earth mover's distance where moving from v_i to v_j costs |v_i - v_j| / (max v - min v).

    An extra that Li et al. do not define: unlike by rank, a gap between neighbouring values matters. Shifting all
    values, or multiplying them by a number other than 0, keeps it.

    Args:
        histogram: counts of values in every class.
        marginal: the reference distribution, shape (m,).
        values: the domain in ascending order, int64 or float64, shape (m,). A float stands for the decimal that it is
            written as.

    Returns:
        From 0 to 1, shape (classes,); 0 where the domain has a single value. Fractions where integers of 62 bits
        suffice, otherwise floats of which the borderline ones are decided in exact arithmetic.

    Cost: O(pairs of class and value x log m).

    Source: the ordered distance of Li et al. (2007), section 4.1, with the ground distance of values.

    Example:
        >>> classes = Histogram(np.array([0, 2]), np.array([0, 1]), np.array([1, 1]))
        >>> reference = ReferenceDistribution(np.array([1, 1, 1]))
        >>> numeric_distance(classes, reference, np.array([0, 1, 100])).numerator.tolist()
        [199]
    """
    if marginal.size == 1:
        return Ratios.whole(np.zeros(len(histogram), dtype=np.int64))
    positions = _positions(marginal, values)
    if positions is not None:
        return line_distance(histogram, marginal, positions)
    return estimated_distance(histogram, marginal, _scale(marginal, values), lambda: _decimal(values))


@cached_on_reference
def _positions(_: ReferenceDistribution, values: NDArray[Any]) -> NDArray[np.int64] | None:
    """Where values are from the smallest on, in the largest unit in which all are integers; None if there is none."""
    whole = _whole(values)
    if whole is None:
        return None
    positions = whole - whole[0]
    return np.asarray(positions // np.gcd.reduce(positions))


@cached_on_reference
def _scale(_: ReferenceDistribution, values: NDArray[Any]) -> Floats:
    return _scaled(values)


def _whole(values: NDArray[Any]) -> NDArray[np.int64] | None:
    """Values in a unit in which all are integers, or None where 62 bits are too few or the floats too long."""
    if values.dtype.kind != "f":
        return values.astype(np.int64) if int(values[-1]) - int(values[0]) < LIMIT else None
    largest = float(np.abs(values).max())
    for decimals in range(MOST_DECIMALS + 1):
        unit = 10.0**decimals
        if largest * unit >= EXACT_DECIMAL:
            return None
        scaled = np.rint(values * unit)
        if np.array_equal(scaled / unit, values):
            return np.asarray(scaled, dtype=np.int64)
    return None


def _scaled(values: NDArray[Any]) -> Floats:
    """Where the values are between the smallest (0) and the largest (1)."""
    near_one = np.ldexp(values.astype(np.float64), -int(np.frexp(np.abs(values).max())[1]))
    span = near_one[-1] - near_one[0]
    if np.finfo(np.float64).eps > COARSE * span:
        exact = _decimal(values)
        return np.asarray(exact / exact[-1], dtype=np.float64)
    return np.asarray((near_one - near_one[0]) / span, dtype=np.float64)


def _decimal(values: NDArray[Any]) -> Integers:
    """Differences to the smallest value as Python integers, in the largest unit that makes them whole."""
    decimals = [Fraction(repr(value)) for value in values.tolist()]
    unit = lcm(*(one.denominator for one in decimals))
    return np.array([int((one - decimals[0]) * unit) for one in decimals], dtype=object)
