"""Laplace noise: the exact supremum of the density ratio between a class's noisy values and the table's.

With scale b, a mixture has the density f(x) = sum_i p_i e^(-|x - x_i| / b) / 2b. The argument that the supremum of a
ratio of two such mixtures is attained at data points, and at which of them, is in docs/differential-privacy.md.

Mixtures are carried from point to point: what lies to the left of a point, seen from it, is its own mass and the
neighbour's sum, decayed over the gap. These sums stay between 0 and 1, so nothing overflows however small b is, and
nothing is subtracted, so nothing cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit import CheckError, Transcendental
from tcdp_audit.check import Marginal
from tcdp_audit.exact import Floats, Signs
from tcdp_audit.histogram import Histogram
from tcdp_audit_plugins.checks.differential_privacy.extremes import product
from tcdp_audit_plugins.checks.differential_privacy.laplace_exact import ExactMixtures, distinct_rows
from tcdp_audit_plugins.checks.differential_privacy.line import Line, decayed_sums, reversed_sums

LONGEST = 1e12  # scales from the first to the last value
COARSE = 1e4  # from this many scales on, positions on the line are too coarse to find a stretch's maximum at once


def laplace_distance(histogram: Histogram, marginal: Marginal, values: NDArray[Any], scale: Fraction) -> Transcendental:
    """Supremum over all outputs x of max(f_E(x) / f_T(x), f_T(x) / f_E(x)).

    The two-sided geometric mechanism with alpha = e^(-1/b) on whole numbers has the same figure: its ratio is that
    of the densities at whole numbers, and the supremum is attained at data points.

    Args:
        histogram: the true values of each class.
        marginal: the table's.
        values: the domain as numbers in ascending order, int64 or float64, shape (domain,).
        scale: b, more than 0, in units of the attribute.

    Returns:
        float64 of at least 1, shape (classes,), to a relative error of about 1e-12; infinite where it exceeds what
        float64 holds. Close to a threshold, decimals of growing precision decide. Equality with a rational threshold
        is possible only at 1, where class and table have the same distribution (theorem of Lindemann and Weierstrass).

    Raises:
        CheckError: the range is longer than 1e12 scales.

    Cost: O(pairs log(longest row) + pairs log m), never classes x m.

    Source: Domingo-Ferrer, Soria-Comas (2015), definition 3.
    """
    line = Line(values, float(scale))
    if line.length > LONGEST:
        raise CheckError("the noise is too small beside the attribute's range to be computed with; declare more")
    mixtures = _Mixtures(histogram, Marginal(marginal.weights[: len(values)]), line)
    ratio = mixtures.supremum()
    same = _proportional(histogram, marginal)
    ratio[same] = 1.0

    def decide(classes: NDArray[np.intp], threshold: Fraction) -> Signs:
        if threshold <= 1:
            return np.where(same[classes] & (threshold == 1), 0, 1).astype(np.int8)
        signs = np.zeros(len(classes), dtype=np.int8)
        exact = ExactMixtures(values.tolist(), mixtures.marginal.weights.tolist(), scale)
        for codes, counts, positions in distinct_rows(histogram, classes):
            signs[positions] = exact.sign(codes, counts, threshold)
        return signs

    return Transcendental(ratio, decide)


@dataclass(frozen=True)
class _Mixtures:
    """The noisy values of all classes and of the table, up to the constant 2b that ratios lose."""

    histogram: Histogram
    marginal: Marginal
    line: Line

    def supremum(self) -> Floats:
        """Of both ratios over all outputs. Shape (classes,)."""
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            class_over_table = self.class_density / self.table_density[self.histogram.values]
            largest = self.histogram.max(np.maximum(class_over_table, self._between()))
            return np.asarray(np.maximum(np.maximum(largest, self._before()), 1.0))

    @cached_property
    def _table(self) -> tuple[Floats, Floats, Floats]:
        """The table's mass at, to the left of, and to the right of each value, itself included."""
        mass = self.marginal.weights / self.marginal.total
        decay = self.line.decay(np.arange(len(mass) - 1), np.arange(1, len(mass)))
        before = np.concatenate([[0.0], decay])
        return mass, decayed_sums(mass, before), reversed_sums(mass, before)

    @cached_property
    def table_density(self) -> Floats:
        """Shape (domain,)."""
        mass, left, right = self._table
        return left + (right - mass)

    @cached_property
    def _classes(self) -> tuple[Floats, Floats, Floats]:
        """Each class's mass at, to the left of, and to the right of each of its values, itself included."""
        codes, first = self.histogram.values, self.histogram.offsets[:-1]
        mass = self.histogram.counts / self.histogram.spread(self.histogram.total)
        before = np.zeros(len(codes))
        before[1:] = self.line.decay(codes[:-1], codes[1:])
        before[first] = 0.0
        return mass, decayed_sums(mass, before), reversed_sums(mass, before)

    @cached_property
    def class_density(self) -> Floats:
        """At each of the class's own values. Shape (pairs,)."""
        mass, left, right = self._classes
        return left + (right - mass)

    @cached_property
    def _stretches(self) -> tuple[NDArray[Any], NDArray[Any], Floats, Floats]:
        """For each pair the stretch to the class's next value, or to the end of the domain.

        Codes of both ends, the class's mass to the left seen from the one, and to the right seen from the other.
        """
        _, left, right = self._classes
        last = self.histogram.offsets[1:] - 1
        end, beyond = np.roll(self.histogram.values, -1), np.roll(right, -1)
        end[last], beyond[last] = self.marginal.size - 1, 0.0
        return self.histogram.values, end, left, beyond

    def _between(self) -> Floats:
        """Largest f_T / f_E on the stretch after each pair. Shape (pairs,)."""
        start, end, left, right = self._stretches
        at = self._turns().clip(start, end)
        density = left * self.line.decay(start, at) + right * self.line.decay(at, end)
        return np.asarray(self.table_density[at] / density)

    def _before(self) -> Floats:
        """f_T / f_E at the table's first value, where it is largest to the left of a class. Shape (classes,)."""
        first = self.histogram.offsets[:-1]
        own = self.histogram.values[first]
        at = np.minimum(self._points[0], own)
        density = self._classes[2][first] * self.line.decay(at, own)
        return np.asarray(self.table_density[at] / density)

    @cached_property
    def _points(self) -> NDArray[np.intp]:
        """The values that the table has."""
        return np.flatnonzero(self.marginal.weights)

    def _turns(self) -> NDArray[Any]:
        """On each stretch the first value of the table after which f_T / f_E no longer grows. Shape (pairs,)."""
        start, end, left, right = self._stretches
        points, position = self._points, self.line.position
        falling = np.maximum.accumulate(position[points[1:]] + position[points[:-1]] - self._pull)
        turn = np.searchsorted(falling, np.log(left) - np.log(right) + (position[start] + position[end]))
        return points[self._settled(turn) if self.line.length > COARSE else turn]

    @cached_property
    def _pull(self) -> Floats:
        """Logarithm of the table's mass to the right over that to the left, between two of its values."""
        _, left, right = self._table
        return np.asarray(np.log(right[self._points[1:]]) - np.log(left[self._points[:-1]]))

    def _settled(self, turn: NDArray[np.intp]) -> NDArray[np.intp]:
        """Turns found among coarse positions, moved to where distances from the stretch's ends put them."""
        inner = len(self._pull)
        while inner:
            later = (turn < inner) & self._grows(turn.clip(max=inner - 1))
            earlier = (turn > 0) & ~self._grows((turn - 1).clip(min=0))
            if not (later | earlier).any():
                break
            turn = turn + later - earlier
        return turn

    def _grows(self, turn: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether f_T / f_E still grows after each of these values of the table."""
        start, end, left, right = self._stretches
        points = self._points
        from_ends = self.line.distance(start, points[turn]) - self.line.distance(points[turn + 1], end)
        return np.asarray(self._pull[turn] - from_ends > np.log(right) - np.log(left))


def _proportional(histogram: Histogram, marginal: Marginal) -> NDArray[np.bool_]:
    """Which classes have exactly the table's distribution."""
    n = histogram.spread(histogram.total)
    equal = product(histogram.counts, marginal.total) == product(marginal.weights[histogram.values], n)
    return np.asarray(histogram.min(equal) & (histogram.distinct == np.count_nonzero(marginal.weights)), dtype=bool)
