"""Gaussian noise: the factor between a class's noisy values and the table's, except for outputs of probability delta.

Two normal mixtures with the same variance differ without bound in a tail where only one of them has the outermost
value. So a factor exists for nearly no class unless outputs of a small probability are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import ApproximateFigure, Histogram, ReferenceDistribution, Signs
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit_plugins.checks.differential_privacy.line import distinct_rows

WIDEST = 1_000  # deviations from the first to the last value
MOST = 20_000  # values of the attribute
TAIL = 10.0  # deviations beyond the values: what lies farther out has a probability of 1e-23
ROUNDING = 1e-12  # of a logarithm of a ratio, several times over
NEAR = 3e-10  # of a logarithm of a ratio, by which a supremum may be too large: a ratio may be flat for a long way
STEPS = 32  # cells to begin with for every TAIL deviations
STEEPEST = 0.5  # the product of span and width of a cell, below which posteriors of the value are compared
PARTS = 32  # that a cell is split into
LEVELS = 8  # of splits: to a 10^-12 of a cell
LARGEST = 300.0  # logarithm of a factor: a larger one is as good as infinite
FINEST = 1e-10  # of a logarithm of t


def gaussian_distance(
    histogram: Histogram, marginal: ReferenceDistribution, values: NDArray[Any], deviation: Fraction, delta: Fraction
) -> ApproximateFigure:
    """The least t of at least 1 with f_E(S) <= t f_T(S) + delta and f_T(S) <= t f_E(S) + delta for all sets S.

    Args:
        histogram: the true values of each class.
        marginal: the table's.
        values: the domain as numbers in ascending order, shape (domain,).
        deviation: the standard deviation of the noise, more than 0.
        delta: from 0, where t is the supremum of the ratio of densities, to less than 1.

    Returns:
        float64 of at least 1, shape (classes,), at most a relative 1e-9 too large and never too small; infinite beyond
        e^300, and where delta is 0 and the outermost values of class and table differ. A threshold is kept where this
        figure keeps it.

    Raises:
        CheckError: the values span more than 1,000 deviations, or there are too many of them.

    Cost: O(different distributions x values x 1,000) and more where the noise is small.

    Source: Domingo-Ferrer, Soria-Comas (2015), definition 3; Dwork, Kenthapadi, McSherry, Mironov, Naor, EUROCRYPT
    2006 (delta).
    """
    places = np.array([float((Fraction(one) - Fraction(values[0].item())) / deviation) for one in values.tolist()])
    if places[-1] > WIDEST:
        raise CheckError(f"the values span more than {WIDEST:,} standard deviations of the noise; declare more noise")
    if len(places) > MOST:
        raise CheckError(f"{len(places):,} values are too many under Gaussian noise; round them to {MOST:,}")
    classes = np.arange(len(histogram.offsets) - 1)
    largest, exact = np.ones(len(classes)), np.zeros(len(classes), dtype=bool)
    for codes, counts, positions in distinct_rows(histogram, classes):
        pair = _Mixtures.of(places, codes, counts, marginal)
        exact[positions] = pair.is_same
        largest[positions] = pair.factor(float(delta))

    def decide(some: NDArray[np.intp], threshold: Fraction) -> Signs:
        above = np.array([Fraction(one) > threshold for one in largest[some].tolist()])
        return np.where(exact[some] & (threshold == 1), 0, np.where(above, 1, -1)).astype(np.int8)

    return ApproximateFigure(largest, decide)


@dataclass(frozen=True)
class _Mixtures:
    """Values of a class and of the table in standard deviations, with their shares."""

    own: Floats
    own_shares: Floats
    table: Floats
    table_shares: Floats
    is_same: bool  # whether class and table have the same distribution

    @classmethod
    def of(
        cls, places: Floats, codes: Sequence[int], counts: Sequence[int], marginal: ReferenceDistribution
    ) -> _Mixtures:
        """One class next to the table."""
        known = np.flatnonzero(marginal.weights[: len(places)])
        weights = marginal.weights[known]
        same = list(codes) == known.tolist() and all(
            one * marginal.total == int(weight) * sum(counts) for one, weight in zip(counts, weights, strict=True)
        )
        shares = np.array(counts) / sum(counts), weights / weights.sum()
        return cls(places[list(codes)], shares[0], places[known], shares[1], same)

    @property
    def _span(self) -> float:
        """From the first to the last value of both; the logarithm of the ratio moves by no more than this a step."""
        ends = [*self.own[[0, -1]], *self.table[[0, -1]]]
        return float(max(ends) - min(ends))

    def factor(self, delta: float) -> float:
        """The least t for a delta."""
        if self.is_same:
            return 1.0
        if delta == 0:
            return self._supremum()
        tolerance = delta / 10**9
        if self._excess(0.0, tolerance) <= delta:
            return 1.0
        least, most = 0.0, 1.0
        while self._excess(most, tolerance) > delta:
            if most > LARGEST:
                return inf
            least, most = most, 2 * most
        root, step = brentq(lambda at: self._excess(at, tolerance) - delta, least, most, xtol=FINEST), FINEST
        while self._excess(root, tolerance) > delta:  # a root is as often below as above
            root, step = root + step, 2 * step
        return exp(root)

    def _log_ratio(self, x: Floats) -> Floats:
        """Ln f_E(x) - ln f_T(x)."""
        return _log_density(x, self.own, self.own_shares) - _log_density(x, self.table, self.table_shares)

    def _slack(self, left: Floats, width: float) -> Floats:
        """A bound on the excess of the logarithm over its values at the ends of a cell, from its derivatives."""
        # The derivative is the difference of two posterior means of the value, the second one that of two posterior
        # variances. Where all but a share s of a posterior is at the outermost value, they are at most the span times s
        # and its square times s; a variance is never more than a quarter of the square. The share falls towards the
        # tail, so that its value at the inner end of a cell bounds it.
        ways = ((self.own, self.own_shares), (self.table, self.table_shares))
        inner = [np.minimum(_others(left, *way, -1), _others(left + width, *way, 0)) for way in ways]
        share = np.maximum(*inner)
        steep, curved = (
            self._span * np.minimum(share, 1) * width / 2,
            self._span**2 * np.minimum(share, 0.25) * width**2 / 8,
        )
        return np.asarray(np.minimum(steep, curved) + ROUNDING)

    def _slack_of_alike(self, left: Floats, width: float) -> Floats:
        """The same where both posteriors of the value are alike, as they are where the ratio is flat for a long way."""
        # Values are taken from the middle of the span s. Posteriors with a total variation distance d have means that
        # differ by at most s d and second moments by at most s^2 d / 4, hence variances by at most 5 s^2 d / 4. Over a
        # cell of width w the distance grows to at most exp(s w) + exp(2 s w) times what it is at its left end.
        places = np.union1d(self.own, self.table)
        gap = np.zeros((len(left), len(places)))
        gap[:, np.searchsorted(places, self.own)] = _posterior(left, self.own, self.own_shares)
        gap[:, np.searchsorted(places, self.table)] -= _posterior(left, self.table, self.table_shares)
        distance = np.abs(gap).sum(axis=1) / 2 + ROUNDING / 1000
        growth = exp(self._span * width) + exp(2 * self._span * width)
        return np.asarray(1.25 * self._span**2 * growth * distance * width**2 / 8 + ROUNDING)

    # Without delta

    def _supremum(self) -> float:
        """The supremum of the ratio and of its inverse; infinite where one tail belongs to one of them alone."""
        if self.own[0] != self.table[0] or self.own[-1] != self.table[-1]:
            return inf
        if len(self.own) == 1 == len(self.table):
            return 1.0
        ends = [self.own_shares[place] / self.table_shares[place] for place in (0, -1)]
        best = max(abs(log(one)) for one in ends)
        low, high = self._beyond(-1.0), self._beyond(1.0)
        left = np.linspace(low, high, STEPS * (2 + int(high - low)))
        step = float(left[1] - left[0])
        left = left[:-1]
        while len(left):
            nodes = np.abs(self._log_ratio(np.stack([left, left + step])))
            best = max(best, float(nodes.max()))
            highest = nodes.max(axis=0)
            rivals = np.flatnonzero(highest + self._slack(left, step) > best + NEAR)
            if self._span * step < STEEPEST:
                rivals = rivals[highest[rivals] + self._slack_of_alike(left[rivals], step) > best + NEAR]
            step /= PARTS
            left = (left[rivals, None] + step * np.arange(PARTS)).ravel()
        return exp(best + NEAR + ROUNDING)

    def _beyond(self, side: float) -> float:
        """A place from which on the ratio is that of the outermost shares, except for a relative 1e-15."""
        reach = 0.0
        for at, shares in ((self.own, self.own_shares), (self.table, self.table_shares)):
            order = at * side
            outer = int(order.argmax())
            rest = np.delete(order, outer)
            if len(rest):
                gap = order[outer] - rest.max()
                reach = max(reach, order[outer] + (40 - log(shares[outer])) / gap)
        return side * reach

    # With delta

    @cached_property
    def _cells(self) -> tuple[Floats, float]:
        """The left ends of cells that hold all but the tails, and their width."""
        low, high = min(self.own[0], self.table[0]) - TAIL, max(self.own[-1], self.table[-1]) + TAIL
        number = STEPS * (1 + int((high - low) / TAIL))
        width = (high - low) / number
        return low + width * np.arange(number), width

    @cached_property
    def _ratios(self) -> tuple[Floats, Floats]:
        """The logarithm of the ratio at both ends of every cell."""
        left, width = self._cells
        nodes = self._log_ratio(np.append(left, left[-1] + width))
        return nodes[:-1], nodes[1:]

    @cached_property
    def _masses(self) -> tuple[Floats, Floats]:
        """The probability of every cell in the class, and in the table."""
        return self._masses_of(*self._cells)

    def _masses_of(self, left: Floats, width: float) -> tuple[Floats, Floats]:
        def mass(at: Floats, shares: Floats) -> Floats:
            # On the far side the mirrored cell is measured: there both values are close to 1, and their difference,
            # which a large t multiplies, would be lost in rounding.
            low = left[:, None] - at
            near = np.where(low > 0, -low - width, low)
            return np.asarray((ndtr(near + width) - ndtr(near)) @ shares)

        return mass(self.own, self.own_shares), mass(self.table, self.table_shares)

    def _excess(self, exponent: float, tolerance: float) -> float:
        """An upper bound of max_S f_E(S) - e^exponent f_T(S), and of the same with both exchanged."""
        return max(self._excess_of(exponent, sign, tolerance) for sign in (1, -1))

    def _excess_of(self, exponent: float, sign: int, tolerance: float) -> float:
        (left, width), ratios, masses = self._cells, self._ratios, self._masses
        total, rest = 4 * float(ndtr(-TAIL)), 0.0
        for _ in range(LEVELS):
            ends, (one, other) = np.stack(ratios) * sign, masses[::sign]
            slack = self._slack(left, width)
            positive, most = ends.min(axis=0) - slack > exponent, ends.max(axis=0) + slack
            total += float(one[positive].sum() - exp(exponent) * other[positive].sum())
            undecided = ~positive & (most > exponent)
            rest = float((one[undecided] * -np.expm1(exponent - most[undecided])).sum())
            if rest <= tolerance:
                break
            width /= PARTS
            left = (left[undecided, None] + width * np.arange(PARTS)).ravel()
            ratios, masses = (self._log_ratio(left), self._log_ratio(left + width)), self._masses_of(left, width)
        return total + rest


def _log_density(x: Floats, at: Floats, shares: Floats) -> Floats:
    """Logarithm of a normal mixture at some places, except for -x^2/2 and a constant."""
    terms = x[..., None] * at - at**2 / 2
    top = terms.max(axis=-1)  # taken off before the exponential, so that nothing overflows
    return np.asarray(top + np.log(np.exp(terms - top[..., None]) @ shares))


def _posterior(x: Floats, at: Floats, shares: Floats) -> Floats:
    """The posterior probability of each value at some places. Shape (places, values)."""
    terms = x[:, None] * at - at**2 / 2 + np.log(shares)
    weights = np.exp(terms - terms.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _others(x: Floats, at: Floats, shares: Floats, outer: int) -> Floats:
    """The posterior probability, at some places, that a value is not the first (0) or the last (-1)."""
    own = x * at[outer] - at[outer] ** 2 / 2 + log(shares[outer])
    return np.asarray(-np.expm1(np.minimum(own - _log_density(x, at, shares), 0.0)))
