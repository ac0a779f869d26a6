"""Exact comparison of a class's supremum with a rational threshold, by decimals of as many digits as it takes.

At every data point, f_E - t f_T is a combination of powers e^(-distance/b) with rational coefficients and rational
exponents. By the theorem of Lindemann and Weierstrass such powers are linearly independent over the rationals, so it
is zero only if all coefficients are; these add up to 1 - t. So for t other than 1 it never is, and the search ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.check import Histogram

FIRST_DIGITS = 50


@dataclass(frozen=True)
class ExactMixtures:
    """A table's values and weights, and the scale of the noise.

    Args:
        values: ascending; a float stands for the binary number that it is.
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
