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
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts, Floats, cached_on_reference
from tcdp_audit.plugin.check import ApproximateFigure, Histogram, ReferenceDistribution, Signs
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit_plugins.checks._shared.distances.line import blocks
from tcdp_audit_plugins.checks.differential_privacy.extremes import product
from tcdp_audit_plugins.checks.differential_privacy.line import (
    ExactMixtures,
    Line,
    decayed_sums,
    distinct_rows,
    reversed_sums,
)

LONGEST = 1e12  # scales from the first to the last value
CLEARLY = 1 - 1e-9  # what is smaller by this factor is smaller, however both were rounded
SMALLEST = 1e-300  # below it floating point loses digits
COARSE = 1e4  # from this many scales on, positions on the line are too coarse to find a stretch's maximum at once


def laplace_distance(
    histogram: Histogram, marginal: ReferenceDistribution, values: NDArray[Any], scale: Fraction
) -> ApproximateFigure:
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
    table = _table(marginal, values, _interned(scale))
    if table.line.length > LONGEST:
        raise CheckError("the noise is too small compared with the attribute's range to be computed with; declare more")
    ratio = np.concatenate([np.zeros(0), *(_Mixtures(block, table).supremum() for block in blocks(histogram))])
    same = _proportional(histogram, marginal)
    ratio[same] = 1.0

    def decide(classes: NDArray[np.intp], threshold: Fraction) -> Signs:
        if threshold <= 1:
            return np.where(same[classes] & (threshold == 1), 0, 1).astype(np.int8)
        signs = np.zeros(len(classes), dtype=np.int8)
        exact = ExactMixtures(values.tolist(), table.weights.tolist(), scale)
        for codes, counts, positions in distinct_rows(histogram, classes):
            signs[positions] = exact.sign(codes, counts, threshold)
        return signs

    return ApproximateFigure(ratio, decide)


@dataclass(frozen=True)
class _Stretches:
    """Stretches between two neighbouring values of a class."""

    pairs: NDArray[np.intp]  # where each begins, as a pair of class and value
    start: Counts  # the code there
    end: Counts  # the code at the other end
    left: Floats  # the class's mass to the left, seen from the one end
    right: Floats  # the class's mass to the right, seen from the other

    @property
    def pull(self) -> Floats:
        """Logarithm of the class's mass to the left over that to the right."""
        return np.asarray(np.log(self.left) - np.log(self.right))


@cache
def _interned(scale: Fraction) -> Fraction:
    """The same object for equal scales: the answers of `_table` are kept by the identity of its arguments."""
    return scale


@cached_on_reference
def _table(marginal: ReferenceDistribution, values: NDArray[Any], scale: Fraction) -> _Table:
    return _Table(marginal.weights[: len(values)], Line(values, float(scale)))


@dataclass(frozen=True)
class _Table:
    """The noisy values of the table, which are the same for all shards."""

    weights: Counts  # of each value. Shape (domain,).
    line: Line  # where the values are

    @cached_property
    def _masses(self) -> tuple[Floats, Floats, Floats]:
        """The table's mass at, to the left of, and to the right of each value, itself included."""
        mass = self.weights / self.weights.sum()
        decay = self.line.decay(np.arange(len(mass) - 1), np.arange(1, len(mass)))
        before = np.concatenate([[0.0], decay])
        return mass, decayed_sums(mass, before), reversed_sums(mass, before)

    @cached_property
    def density(self) -> Floats:
        """Shape (domain,)."""
        mass, left, right = self._masses
        return left + (right - mass)

    @cached_property
    def points(self) -> NDArray[np.intp]:
        """The values that the table has."""
        return np.flatnonzero(self.weights)

    @cached_property
    def pull(self) -> Floats:
        """Logarithm of the table's mass to the right over that to the left, between two of its values."""
        _, left, right = self._masses
        return np.asarray(np.log(right[self.points[1:]]) - np.log(left[self.points[:-1]]))

    @cached_property
    def falling(self) -> Floats:
        """The places between two of its values where f_T / f_E begins to fall, by the pull of a class. Ascending."""
        points, position = self.points, self.line.position
        return np.asarray(np.maximum.accumulate(position[points[1:]] + position[points[:-1]] - self.pull))


@dataclass(frozen=True)
class _Mixtures:
    """The noisy values of all classes and of the table, up to the constant 2b that ratios lose."""

    histogram: Histogram
    table: _Table

    @property
    def line(self) -> Line:
        """The places of the values."""
        return self.table.line

    def supremum(self) -> Floats:
        """The supremum of both ratios over all outputs. Shape (classes,)."""
        with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
            table_over_class = self.table.density.take(self.histogram.values) / self.class_density
            largest = self.histogram.max(np.maximum(table_over_class, 1 / table_over_class))
            largest = np.maximum.reduce([largest, self._before(), self._beyond(), np.ones(len(largest))])
            stretches = self._rivals(table_over_class, largest)
            np.maximum.at(largest, self.histogram.rows[stretches.pairs], self._between(stretches))
            return np.asarray(largest)

    @cached_property
    def _gaps(self) -> Floats:
        """e^-distance from the class's value before; 0 for its first. Shape (pairs,)."""
        codes = self.histogram.values
        before = np.zeros(len(codes))
        before[1:] = self.line.decays(codes)
        before[self.histogram.offsets[:-1]] = 0.0
        return before

    @cached_property
    def _classes(self) -> tuple[Floats, Floats, Floats]:
        """Each class's mass at, to the left of, and to the right of each of its values, itself included."""
        mass = self.histogram.counts / self.histogram.spread(self.histogram.total)
        return mass, decayed_sums(mass, self._gaps), reversed_sums(mass, self._gaps)

    @cached_property
    def class_density(self) -> Floats:
        """At each of the class's own values. Shape (pairs,)."""
        mass, left, right = self._classes
        return left + (right - mass)

    def _rivals(self, ratio: Floats, largest: Floats) -> _Stretches:
        """The stretches on which f_T / f_E may exceed what is known of the class.

        The logarithm of a mixture moves by no more than a distance in scales, so between two points a gap g apart
        f_T / f_E is at most e^g times the root of its product at both.
        """
        codes, relative = self.histogram.values, ratio / self.histogram.spread(largest)
        below = relative[:-1] * relative[1:] < CLEARLY * self._gaps[1:] ** 2 - SMALLEST
        within = (codes[1:] - codes[:-1] > 1) & ~below
        within[self.histogram.offsets[1:-1] - 1] = False  # the next pair is of another class
        pairs = np.flatnonzero(within)
        _, left, right = self._classes
        return _Stretches(pairs, codes[pairs], codes[pairs + 1], left[pairs], right[pairs + 1])

    def _between(self, stretches: _Stretches) -> Floats:
        """Largest f_T / f_E on each stretch."""
        start, end = stretches.start, stretches.end
        at = self._turns(stretches).clip(start, end)
        density = stretches.left * self.line.decay(start, at) + stretches.right * self.line.decay(at, end)
        return np.asarray(self.table.density[at] / density)

    def _before(self) -> Floats:
        """f_T / f_E at the table's first value, where it is largest to the left of a class. Shape (classes,)."""
        first = self.histogram.offsets[:-1]
        own = self.histogram.values[first]
        at = np.minimum(self.table.points[0], own)
        density = self._classes[2][first] * self.line.decay(at, own)
        return np.asarray(self.table.density[at] / density)

    def _beyond(self) -> Floats:
        """f_T / f_E at the table's last value, where it is largest to the right of a class. Shape (classes,)."""
        last = self.histogram.offsets[1:] - 1
        own = self.histogram.values[last]
        at = np.maximum(self.table.points[-1], own)
        density = self._classes[1][last] * self.line.decay(own, at)
        return np.asarray(self.table.density[at] / density)

    def _turns(self, stretches: _Stretches) -> NDArray[Any]:
        """On each stretch the first value of the table after which f_T / f_E no longer grows."""
        position = self.line.position
        places = stretches.pull + (position[stretches.start] + position[stretches.end])
        turn = np.searchsorted(self.table.falling, places)
        return self.table.points[self._settled(stretches, turn) if self.line.length > COARSE else turn]

    def _settled(self, stretches: _Stretches, turn: NDArray[np.intp]) -> NDArray[np.intp]:
        """Turns found among coarse positions, moved to where distances from the stretch's ends put them."""
        inner = len(self.table.pull)
        while inner:
            later = (turn < inner) & self._grows(stretches, turn.clip(max=inner - 1))
            earlier = (turn > 0) & ~self._grows(stretches, (turn - 1).clip(min=0))
            if not (later | earlier).any():
                break
            turn = turn + later - earlier
        return turn

    def _grows(self, stretches: _Stretches, turn: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether f_T / f_E still grows after each of these values of the table."""
        line, points = self.line, self.table.points
        from_ends = line.distance(stretches.start, points[turn]) - line.distance(points[turn + 1], stretches.end)
        return np.asarray(self.table.pull[turn] - from_ends > -stretches.pull)


def _proportional(histogram: Histogram, marginal: ReferenceDistribution) -> NDArray[np.bool_]:
    """The classes that have exactly the table's distribution, as a mask."""
    same = histogram.distinct == np.count_nonzero(marginal.weights)
    rows = histogram.take(np.flatnonzero(same))
    left, right = product(rows.counts, marginal.total), product(marginal.weights_of(rows), rows.spread(rows.total))
    same[same] = rows.min(left == right)
    return np.asarray(same)
