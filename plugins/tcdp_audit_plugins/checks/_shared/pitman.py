"""Estimates of how many sample uniques are unique in the population: Zayatz, log-linear, DIS, and Pitman's model."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, fsum

import numpy as np

from tcdp_audit.plugin._internal import Counts, Floats

SERIES_FROM = 1e3  # above this the differences of digamma are taken from their series
ALPHA_RANGE = (1e-6, 1 - 1e-9)
WIDEST = 60.0  # theta + alpha is looked for between exp(-60) and exp(60)


def zayatz(size: Counts, population: float) -> float:
    """P(population unique | sample unique) by Bayes' rule over the sizes that classes may have.

    The sizes of the population's classes are taken to be distributed as those of the sample's are; a class of i
    records then leaves exactly one of them in a simple random sample of n out of N with the hypergeometric
    probability i C(N-i, n-1) / C(N, n). The figure is (u_1/u) P(1|1) / sum_i (u_i/u) P(1|i).

    Args:
        size: f, the records of each class of the sample, at least one of them 1. Shape (classes,).
        population: N, at least n; need not be whole.

    Returns:
        A probability above 0.

    Cost: O(classes + largest class).

    Source: Zayatz (1991), Estimation of the percent of unique population elements on a microdata file.

    Example:
        >>> zayatz(np.array([1, 1, 2]), 8.0)
        0.6363636363636364
    """
    sizes, classes = np.unique(size, return_counts=True)
    lone = np.exp(_log_chances_of_one(int(sizes[-1]), int(size.sum()), population)[sizes - 1])
    return float(classes[0] / fsum((classes * lone).tolist()))


def _log_chances_of_one(largest: int, records: int, population: float) -> Floats:
    """The logarithm of P(1|i) / P(1|1) for i from 1 to `largest`; from ratios, as binomials of large N lose digits."""
    drawn = np.arange(1, largest, dtype=np.float64)
    left = population - records + 1 - drawn  # none is left once the sample must hold a second record
    with np.errstate(divide="ignore"):
        steps = np.log(np.maximum(left, 0) / (population - drawn))
    return np.asarray(np.log(np.arange(1, largest + 1)) + np.concatenate([[0.0], np.cumsum(steps)]))


def log_linear_uniques(expected: Floats, fraction: float) -> float:
    """P(population unique | sample unique) if classes are Poisson and quasi-identifiers independent.

    With mu the size that a sample unique's class is expected to have in the sample, its class has Poisson((1-p) mu/p)
    further records outside: none of them with probability exp(-(1-p) mu/p). The figure is the mean over sample uniques.

    Args:
        expected: mu of each sample unique, above 0. Shape (sample uniques,), not empty.
        fraction: p, the sampling fraction, above 0 and at most 1.

    Returns:
        A probability.

    Cost: O(sample uniques).

    Source: Skinner, Shlomo (2008), Assessing identification risk in survey microdata using log-linear models, JASA
    103(483), with main effects only.

    Example:
        >>> round(log_linear_uniques(np.array([0.1, 0.1]), 0.5), 6)
        0.904837
    """
    outside = expected * ((1 - fraction) / fraction)
    return fsum(np.exp(-outside).tolist()) / len(expected)


def log_linear_match(expected: Floats, fraction: float) -> float:
    """Sample uniques over the population records that look like them, under the model of `log_linear_uniques`.

    Each sample unique represents 1 + (1-p) mu/p records of the population.

    Returns:
        A probability above 0.

    Cost: O(sample uniques).

    Source: Skinner, Shlomo (2008); Skinner, Elliot (2002) for the ratio.

    Example:
        >>> log_linear_match(np.array([1.0, 3.0]), 0.5)
        0.3333333333333333
    """
    outside = expected * ((1 - fraction) / fraction)
    return len(expected) / fsum((1 + outside).tolist())


def data_intrusion_simulation(size: Counts, fraction: float) -> float:
    """DIS: the probability that a match to a sample unique is the right person, n_1 p / (n_1 p + 2 (1-p) n_2).

    It estimates theta = #SU / sum of F over sample uniques, not the share of population uniques, and needs no model:
    a pair in the sample becomes a unique with a double in the population whenever one of the two is left out.

    Args:
        size: f of each class, at least one of them 1. Shape (classes,).
        fraction: p, the sampling fraction, above 0 and at most 1.

    Returns:
        A probability above 0.

    Cost: O(classes).

    Source: Skinner, Elliot (2002), A measure of disclosure risk for microdata, JRSS B 64(4).

    Example:
        >>> data_intrusion_simulation(np.array([1, 1, 2]), 0.5)
        0.5
    """
    uniques, pairs = int((size == 1).sum()), int((size == 2).sum())
    return uniques * fraction / (uniques * fraction + 2 * (1 - fraction) * pairs)


@dataclass(frozen=True)
class Pitman:
    """The fitted model; alpha = 0 is Ewens' model, its edge."""

    theta: float  # above -alpha
    alpha: float  # from 0 to below 1

    def uniques(self, population: float) -> float:
        """Expected number of population uniques, N G(theta+1) G(theta+alpha+N-1) / (G(theta+alpha) G(theta+N)).

        Source: Pitman (1995); Hoshino (2001).

        Example:
            >>> Pitman(1.0, 0.0).uniques(1000.0)
            1.0
        """
        from scipy.special import poch  # noqa: PLC0415 - imports scipy, which listing checks does not need

        falling = poch(self.theta + population, self.alpha - 1)
        return float(population * falling * poch(self.theta + self.alpha, 1 - self.alpha))

    def uniques_asymptotic(self, population: float) -> float:
        """The limit that is often printed in its place, G(theta+1) / G(theta+alpha) N^alpha."""
        from scipy.special import poch  # noqa: PLC0415 - imports scipy, which listing checks does not need

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
    from scipy.optimize import brentq  # noqa: PLC0415 - imports scipy, which listing checks does not need

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
        """The root of the score in theta."""
        from scipy.optimize import brentq  # noqa: PLC0415 - imports scipy, which listing checks does not need

        solution = brentq(lambda t: self._in_theta(exp(t) - alpha, alpha), -WIDEST, WIDEST, xtol=1e-14, rtol=1e-15)
        return exp(float(solution)) - alpha

    def along(self, alpha: float) -> float:
        """The score in alpha at the best theta."""
        from scipy.special import psi  # noqa: PLC0415 - imports scipy, which listing checks does not need

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
    from scipy.special import psi  # noqa: PLC0415 - imports scipy, which listing checks does not need

    if x < SERIES_FROM:
        return float(psi(x + steps) - psi(x))
    y = x + steps
    return float(np.log1p(steps / x) + (1 / x - 1 / y) / 2 + (1 / x**2 - 1 / y**2) / 12)
