"""Points on a line, and masses whose weight decays exponentially with distance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import Histogram


@dataclass(frozen=True)
class Line:
    """The values of an attribute, and the scale that distances between them are counted in."""

    values: NDArray[Any]  # ascending, int64 or float64
    scale: float  # more than 0

    @cached_property
    def _from_first(self) -> NDArray[Any]:
        """Distances from the first value, exact where they fit into 64 bits."""
        if self.values.dtype.kind == "i" and int(self.values[-1]) - int(self.values[0]) >= 2**63:
            return np.asarray(self.values.astype(np.float64) - float(self.values[0]))
        return np.asarray(self.values - self.values[0])

    @cached_property
    def position(self) -> Floats:
        """Positions in scales, with the middle at 0; no finer than floating point is at the ends."""
        scaled = np.asarray(self._from_first / self.scale)
        return np.asarray(scaled - scaled[-1] / 2)

    @property
    def length(self) -> float:
        """From the first to the last value, in scales."""
        return float(self._from_first[-1] / self.scale)

    def distance(self, one: NDArray[Any], other: NDArray[Any]) -> Floats:
        """From the values with some codes to those with others, in scales; negative to the left."""
        return np.asarray((self._from_first.take(other) - self._from_first.take(one)) / self.scale)

    def decay(self, one: NDArray[Any], other: NDArray[Any]) -> Floats:
        """e^-distance between values, the second not before the first."""
        return np.asarray(np.exp(-self.distance(one, other)))

    def decays(self, codes: NDArray[Any]) -> Floats:
        """e^-distance from each value to the one after it."""
        return np.asarray(np.exp(-(np.diff(self._from_first.take(codes)) / self.scale)))


def decayed_sums(mass: Floats, decay: Floats) -> Floats:
    """s[i] = mass[i] + decay[i] s[i - 1], for many rows at once: where a row begins, its decay is 0.

    A scan by doubling: after k passes each sum reaches 2^k masses back. What a row gets does not depend on others.

    Masses are at least 0, decays from 0 to 1; both have the shape (n,).

    Cost: O(n log(longest row)).

    Example:
        >>> decayed_sums(np.array([1.0, 1.0, 1.0, 5.0]), np.array([0.0, 0.5, 0.5, 0.0])).tolist()
        [1.0, 1.5, 1.75, 5.0]
    """
    sums, carry, spare, step = mass.copy(), decay.copy(), np.empty_like(decay), 1
    while carry[step:].max(initial=0.0) > 0:
        sums[step:] += np.multiply(carry[step:], sums[:-step], out=spare[step:])
        np.multiply(carry[step:], carry[:-step], out=spare[step:])
        spare[:step] = 0.0  # the first row has nothing before it
        carry, spare, step = spare, carry, 2 * step
    return sums


def reversed_sums(mass: Floats, decay: Floats) -> Floats:
    """s[i] = mass[i] + decay[i + 1] s[i + 1]: the same from right to left, with the decays of `decayed_sums`."""
    return decayed_sums(mass[::-1], np.append(decay[1:], 0.0)[::-1])[::-1]


FIRST_DIGITS = 50


@dataclass(frozen=True)
class ExactMixtures:
    """A table's values and weights, and the scale of the noise.

    Args:
        values: ascending; a float denotes its binary number.
        weights: integers, at least 0.
        scale: more than 0.
    """

    values: Sequence[int | float]
    weights: Sequence[int]
    scale: Fraction
    _tables: dict[int, tuple[list[Decimal], list[Decimal]]] = field(default_factory=dict)

    def sign(self, codes: Sequence[int], counts: Sequence[int], threshold: Fraction) -> int:
        """Sign of the supremum minus a threshold above 1, for a class with these counts at these values.

        Both ratios are compared at every data point. Cost: O(domain) operations on decimals.
        """
        digits = FIRST_DIGITS
        while True:
            sign = self._sign(dict(zip(codes, counts, strict=True)), threshold, digits)
            if sign:
                return sign
            digits *= 2

    def _sign(self, counts: dict[int, int], threshold: Fraction, digits: int) -> int:
        """1 if a ratio exceeds the threshold somewhere, -1 if none does anywhere, 0 if the digits do not decide."""
        with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)):
            decay, table = self._table(digits)
            own = densities([counts.get(code, 0) for code in range(len(self.values))], decay)
            low = Decimal(threshold.denominator)
            class_share, table_share = low * sum(self.weights), low * sum(counts.values())
            class_limit = Decimal(threshold.numerator) * sum(self.weights)
            table_limit = Decimal(threshold.numerator) * sum(counts.values())
            error, undecided = self._error(digits), False
            for f_class, f_table in zip(own, table, strict=True):
                for over, under in (
                    (f_class * class_share, f_table * table_limit),
                    (f_table * table_share, f_class * class_limit),
                ):
                    difference, bound = over - under, (over + under) * error
                    if difference > bound:
                        return 1
                    undecided |= difference >= -bound and over > 0
        return 0 if undecided else -1

    def _table(self, digits: int) -> tuple[list[Decimal], list[Decimal]]:
        """The decay over each gap, and the table's density at each value, to so many digits."""
        if digits not in self._tables:
            decay = [self._decay(*pair) for pair in zip(self.values, self.values[1:], strict=False)]
            self._tables[digits] = decay, densities(self.weights, decay)
        return self._tables[digits]

    def _decay(self, one: float, other: float) -> Decimal:
        gap = (Fraction(other) - Fraction(one)) / self.scale
        return (-Decimal(gap.numerator) / Decimal(gap.denominator)).exp()

    def _error(self, digits: int) -> Decimal:
        """A bound on the relative error of a density: each step rounds a few times, each exponent once."""
        length = (Fraction(self.values[-1]) - Fraction(self.values[0])) / self.scale
        return Decimal(int(length) + 8 * len(self.values) + 100).scaleb(1 - digits)


def densities(masses: Sequence[int], decay: Sequence[Decimal]) -> list[Decimal]:
    """sum_j mass_j e^-distance at each point, up to a constant, in the current decimal context."""
    left = _sums(masses, decay)
    right = _sums(masses[::-1], decay[::-1])[::-1]
    beyond = [step * mass for step, mass in zip(decay, right[1:], strict=True)]
    return [one + other for one, other in zip(left, [*beyond, Decimal(0)], strict=True)]


def _sums(masses: Sequence[int], decay: Sequence[Decimal]) -> list[Decimal]:
    sums = [Decimal(masses[0])]
    for mass, step in zip(masses[1:], decay, strict=True):
        sums.append(sums[-1] * step + mass)
    return sums


def distinct_rows(
    histogram: Histogram, classes: NDArray[np.intp]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], NDArray[np.intp]]]:
    """The different rows among some classes: codes, counts, and the positions in `classes` that have them."""
    rows = histogram.take(classes)
    for length in np.unique(rows.distinct).tolist():
        here = np.flatnonzero(rows.distinct == length)
        pairs = rows.offsets[here][:, None] + np.arange(length)
        table = np.concatenate([rows.values[pairs], rows.counts[pairs]], axis=1)
        distinct, which = np.unique(table, axis=0, return_inverse=True)
        order = np.argsort(which.reshape(-1), kind="stable")
        ends = np.cumsum(np.bincount(which.reshape(-1), minlength=len(distinct)))[:-1]
        for row, positions in zip(distinct.tolist(), np.split(here[order], ends), strict=True):
            yield tuple(row[:length]), tuple(row[length:]), positions
