"""Measures that compare exactly with a threshold: fractions of integers, and logarithms decided when it is close."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.arrays import Floats, Integers
from tcdp_audit.core.base.errors import CheckError

Signs = NDArray[np.int8]
"""Comparisons with a threshold, one for each class: -1 below it, 0 equal to it, 1 above it."""

BORDERLINE = 1e-9  # nearer to the threshold than this (relative above 1), floating point does not decide
LIMIT = 2**62  # integer products stay below this, or are taken in Python integers


@dataclass(frozen=True)
class Ratios:
    """One exact fraction per class.

    Args:
        numerator: integers, shape (classes,).
        denominator: integers of the same shape, at least 0; 0 stands for infinity.
    """

    numerator: Integers
    denominator: Integers

    @cached_property
    def values(self) -> Floats:
        """The fractions as float64, infinite where the denominator is 0."""
        whole = self.denominator != 0
        values = np.full(len(self.numerator), np.inf)
        values[whole] = _quotients(self.numerator[whole], self.denominator[whole])
        return values

    def compare(self, threshold: Fraction) -> Signs:
        """Sign of value minus threshold, exact. O(classes)."""
        signs, close = _clear_signs(self.values, threshold)
        difference = self.numerator[close].astype(object) * threshold.denominator
        difference -= self.denominator[close].astype(object) * threshold.numerator
        signs[close] = (difference > 0).astype(np.int8) - (difference < 0).astype(np.int8)
        return signs

    @classmethod
    def whole(cls, numbers: Integers) -> Ratios:
        """Integers as fractions."""
        return cls(numbers, np.ones(len(numbers), dtype=np.int64))


@dataclass(frozen=True)
class ApproximateFigure:
    """One float per class, and a function that decides the borderline ones exactly.

    Args:
        values: float64, shape (classes,), never NaN.
        decide: given indices of classes and the threshold, the exact sign of value minus threshold of each.
    """

    values: Floats
    decide: Callable[[NDArray[np.intp], Fraction], Signs]

    def compare(self, threshold: Fraction) -> Signs:
        """Sign of value minus threshold; `decide` is asked where they differ by less than 1e-9."""
        signs, close = _clear_signs(self.values, threshold)
        if len(close):
            signs[close] = self.decide(close, threshold)
        return signs


Measured = Ratios | ApproximateFigure
"""Figures of classes, one each, that can be compared with a threshold exactly."""


def _quotients(numerator: Integers, denominator: Integers) -> Floats:
    """Quotients as float64, to the last digit the same for 64-bit and for Python integers."""
    try:
        return numerator.astype(np.float64) / denominator.astype(np.float64)
    except OverflowError:  # Python integers above 1e308, whose own division copes
        return (numerator / denominator).astype(np.float64)


def _clear_signs(values: Floats, threshold: Fraction) -> tuple[Signs, NDArray[np.intp]]:
    """Signs as floating point sees them, and the indices where it must not decide."""
    # Floats decide wherever they cannot be wrong. A figure is computed to some ulps, far within 1e-9 of its size, so
    # beyond that distance from the threshold its sign is certain. The few classes within it are decided by exact
    # arithmetic. The margin only decides how often that happens, not what comes of it: a wider one costs time and
    # changes no verdict.
    limit = float(threshold)
    difference = values - limit
    close = np.flatnonzero(np.abs(difference) <= BORDERLINE * max(1.0, abs(limit)))
    return np.sign(difference).astype(np.int8), close


def _require_numbers(*arrays: NDArray[Any]) -> None:
    """Refuse figures that have no order: complex numbers above all, whose imaginary part would be dropped."""
    for array in arrays:
        if np.asarray(array).dtype.kind not in "iubfO":
            raise CheckError(
                f"the check gave figures of type {np.asarray(array).dtype}; a figure must be a real number"
            )


def as_measured(values: Measured | NDArray[Any]) -> Measured:
    """A check's answer as something comparable: arrays are taken at their exact value."""
    if isinstance(values, Ratios):
        _require_numbers(values.numerator, values.denominator)
        return values
    if isinstance(values, ApproximateFigure):
        _require_numbers(values.values)
        return values
    array = np.asarray(values)
    _require_numbers(array)
    if array.dtype.kind in "iub":
        return Ratios.whole(array.astype(np.int64))
    floats = array.astype(np.float64)

    def exactly(indices: NDArray[np.intp], threshold: Fraction) -> Signs:
        exact = [Fraction(value) for value in floats[indices].tolist()]
        return np.array([(value > threshold) - (value < threshold) for value in exact], dtype=np.int8)

    return ApproximateFigure(floats, exactly)
