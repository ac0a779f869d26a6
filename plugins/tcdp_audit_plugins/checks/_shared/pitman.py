"""Pitman's sampling model of class sizes, fitted by maximum likelihood, and the population uniques that it expects."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np
from scipy.optimize import brentq
from scipy.special import poch, psi

from tcdp_audit.plugin._internal import Counts, Floats

SERIES_FROM = 1e3  # above this the differences of digamma are taken from their series
ALPHA_RANGE = (1e-6, 1 - 1e-9)
WIDEST = 60.0  # theta + alpha is looked for between exp(-60) and exp(60)


@dataclass(frozen=True)
class Pitman:
    """The fitted model; alpha = 0 is Ewens' model, its edge.

    Args:
        theta: above -alpha.
        alpha: from 0 to below 1.
    """

    theta: float
    alpha: float

    def uniques(self, population: float) -> float:
        """Expected number of population uniques, N G(theta+1) G(theta+alpha+N-1) / (G(theta+alpha) G(theta+N)).

        Source: Pitman (1995); Hoshino (2001).

        Example:
            >>> Pitman(1.0, 0.0).uniques(1000.0)
            1.0
        """
        falling = poch(self.theta + population, self.alpha - 1)
        return float(population * falling * poch(self.theta + self.alpha, 1 - self.alpha))

    def uniques_asymptotic(self, population: float) -> float:
        """The limit that is often printed in its place, G(theta+1) / G(theta+alpha) N^alpha."""
        return float(poch(self.theta + self.alpha, 1 - self.alpha) * population**self.alpha)


def fit_pitman(size: Counts) -> Pitman | None:
    """Maximum likelihood estimate of theta and alpha from the class sizes of a sample.

    The score in theta is solved for each alpha, and the score in alpha along that curve. Sums over classes and records
    are differences of digamma functions, so an evaluation costs O(distinct sizes).

    Args:
        size: f of each class, at least 1. Shape (classes,).

    Returns:
        The estimate, or None where the likelihood has no inner maximum: all records alone, or all in one class.

    Cost: O(classes), then a few thousand evaluations over distinct sizes.

    Source: Hoshino (2001), Applying Pitman's sampling formula to microdata disclosure risk assessment, Journal of
    Official Statistics 17(4).

    Example:
        >>> fit_pitman(np.array([1, 1, 1])) is None
        True
        >>> model = fit_pitman(np.array([1, 1, 1, 1, 1, 1, 2, 9]))
        >>> round(model.theta, 6), round(model.alpha, 6)
        (0.406835, 0.683474)
    """
    scores = _Scores.of(size)
    if scores.classes in (1, scores.records):
        return None
    low, high = ALPHA_RANGE
    if scores.along(low) <= 0:
        return Pitman(scores.theta(0.0), 0.0)
    if scores.along(high) >= 0:
        return None
    alpha = float(brentq(scores.along, low, high, xtol=1e-15, rtol=1e-15))
    return Pitman(scores.theta(alpha), alpha)


@dataclass(frozen=True)
class _Scores:
    """Derivatives of the log-likelihood of one table of class sizes."""

    records: int
    classes: int
    sizes: Floats
    counts: Floats

    @classmethod
    def of(cls, size: Counts) -> _Scores:
        sizes, counts = np.unique(size, return_counts=True)
        return cls(int(size.sum()), len(size), sizes.astype(np.float64), counts.astype(np.float64))

    def theta(self, alpha: float) -> float:
        """Where the score in theta is zero."""
        solution = brentq(lambda t: self._in_theta(exp(t) - alpha, alpha), -WIDEST, WIDEST, xtol=1e-14, rtol=1e-15)
        return exp(float(solution)) - alpha

    def along(self, alpha: float) -> float:
        """The score in alpha at the best theta."""
        theta = self.theta(alpha)
        opened = (self.classes - 1 - theta * self._reciprocals(theta, alpha)) / alpha
        joined = psi(self.sizes - alpha) - psi(1 - alpha)
        return float(opened - (self.counts * joined).sum())

    def _in_theta(self, theta: float, alpha: float) -> float:
        return self._reciprocals(theta, alpha) - _digamma_rise(theta + 1, self.records - 1)

    def _reciprocals(self, theta: float, alpha: float) -> float:
        """Sum of 1 / (theta + i alpha) for i from 1 to classes - 1."""
        if alpha == 0:
            return (self.classes - 1) / theta
        return _digamma_rise(theta / alpha + 1, self.classes - 1) / alpha


def _digamma_rise(x: float, steps: int) -> float:
    """psi(x + steps) - psi(x), without cancellation where x is large."""
    if x < SERIES_FROM:
        return float(psi(x + steps) - psi(x))
    y = x + steps
    return float(np.log1p(steps / x) + (1 / x - 1 / y) / 2 + (1 / x**2 - 1 / y**2) / 12)
