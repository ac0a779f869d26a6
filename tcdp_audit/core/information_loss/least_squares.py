"""Least squares: coefficients, their standard errors, and quantiles of Student's distribution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import atan, cos, exp, lgamma, log, pi, sqrt, tan
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.keys import Floats

NODES = 32  # of the quadrature: errors are below those of floats
MANY = 10_000  # degrees of freedom above which the first terms of a series are as exact
COLLINEAR = 1e-9  # eigenvalues of the features' scaled products below this part of the largest are none
TOUCHED = 1e-5  # the data do not determine a coefficient with a larger part in a combination that does not vary
EXACT = 1e-18  # squared residuals below this part of the outcome's squares are rounding
Block = tuple[Floats, Floats, Floats]  # features of shape (records, features), outcomes, and weights
Blocks = Callable[[], Iterator[Block]]


def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of a probability from a half up.

    With t = sqrt(n) tan(a) the probability between 0 and t is that of the angle a under a density proportional to
    cos(a)^(n - 1), which is integrated by Gauss and Legendre and solved by Newton's method. It is concave, so that
    steps from below do not overshoot.

    Args:
        probability: from 0.5 to less than 1.
        freedom: degrees of freedom n, at least 1.

    Source: for many degrees of freedom Abramowitz, Stegun, Handbook of Mathematical Functions, 1964, 26.7.5.

    Example:
        >>> round(t_quantile(0.975, 1), 6), round(t_quantile(0.975, 10), 6)
        (12.706205, 2.228139)
    """
    z = NormalDist().inv_cdf(probability)
    if freedom > MANY:
        return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    height = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(pi)
    points, weights = np.polynomial.legendre.leggauss(NODES)
    angle = atan(z / sqrt(freedom))
    for _ in range(50):
        checkpoint()
        within = height * angle / 2 * float(weights @ np.cos(angle * (points + 1) / 2) ** (freedom - 1))
        step = (probability - 0.5 - within) / (height * exp((freedom - 1) * log(cos(angle))))
        angle += step
        if abs(step) < 1e-15 * angle:
            break
    return sqrt(freedom) * tan(angle)


@dataclass(frozen=True)
class LeastSquares:
    """A fitted linear model."""

    coefficients: Floats  # one for each feature; NaN where the data do not determine it, shape (features,)
    errors: Floats  # their standard errors, likewise
    records: int  # how many it was fitted to
    rank: int  # how many combinations of features the data distinguish
    is_exact: bool  # whether nothing is left to explain

    @property
    def freedom(self) -> int:
        """Residual degrees of freedom."""
        return self.records - self.rank


@dataclass
class _Sums:
    """Sums over records: products of features, of features with the outcome, squares of the outcome."""

    products: Floats
    outcome: Floats
    squares: float = 0.0
    records: int = 0

    @classmethod
    def of(cls, features: int) -> _Sums:
        return cls(np.zeros((features, features)), np.zeros(features))


def least_squares(blocks: Blocks, features: int, *, weighted: bool = False) -> LeastSquares:
    """Fit an outcome by some features.

    Without weights the standard errors are the classical ones, from s^2 (X'X)^-1. With weights they are those of a
    sample with unequal probabilities: (X'WX)^-1 (sum of w^2 r^2 xx') (X'WX)^-1 n / (n - 1).

    Args:
        blocks: gives the data anew at each call; a column of ones among the features.
        features: how many there are.
        weighted: whether the weights are those of a sample.

    Cost: two passes of O(records x features squared).

    Source: for weights Binder, International Statistical Review 51, 1983; as svyglm of R's survey without strata.
    """
    sums = _normal_equations(blocks, features)
    inverse, determined, rank = _inverse(sums.products)
    first = inverse @ sums.outcome
    left = _residuals(blocks, first)
    correction = inverse @ left.outcome
    unexplained = max(left.squares - float(left.outcome @ correction), 0.0)
    is_exact, freedom = unexplained <= EXACT * sums.squares, sums.records - rank
    if weighted:
        variances = inverse @ left.products @ inverse * (sums.records / max(sums.records - 1, 1))
    else:
        variances = inverse * (unexplained / max(freedom, 1))
    errors = np.zeros(features) if is_exact else np.sqrt(np.maximum(np.diag(variances), 0.0))
    determined &= freedom > 0
    return LeastSquares(
        coefficients=np.where(determined, first + correction, np.nan),
        errors=np.where(determined, errors, np.nan),
        records=sums.records,
        rank=rank,
        is_exact=is_exact,
    )


def _normal_equations(blocks: Blocks, features: int) -> _Sums:
    """Sums over the records of xx', xy and y^2, each by its weight."""
    sums = _Sums.of(features)
    for x, y, weights in blocks():
        checkpoint()
        sums.products += (x * weights[:, None]).T @ x
        sums.outcome += x.T @ (y * weights)
        sums.squares += float((y * weights) @ y)
        sums.records += len(y)
    return sums


def _residuals(blocks: Blocks, coefficients: Floats) -> _Sums:
    """The same of the residuals r: w^2 r^2 xx', xr and r^2."""
    sums = _Sums.of(len(coefficients))
    for x, y, weights in blocks():
        checkpoint()
        left = y - x @ coefficients
        scores = x * (left * weights)[:, None]
        sums.products += scores.T @ scores
        sums.outcome += scores.sum(axis=0)
        sums.squares += float((left * weights) @ left)
        sums.records += len(y)
    return sums


def _inverse(products: Floats) -> tuple[Floats, NDArray[np.bool_], int]:
    """The inverse of a matrix of products, of its features that vary; which of them are determined; the rank.

    It is the same whatever the order of the features.
    """
    scale = np.sqrt(np.diag(products))
    scale[scale == 0] = 1.0
    values, vectors = np.linalg.eigh(products / np.outer(scale, scale))
    varies = values > COLLINEAR * max(values.max(initial=0.0), 0.0)
    directions = vectors[:, varies]
    inverse = (directions / values[varies]) @ directions.T / np.outer(scale, scale)
    determined = np.sqrt((vectors[:, ~varies] ** 2).sum(axis=1)) < TOUCHED
    return inverse, determined, int(varies.sum())
