"""Least squares over blocks of records: coefficients, their standard errors, and which of them the data tell at all.

Normal equations in a first pass, and a step of refinement by the residuals in a second one: memory is one block, and of
features near a common scale the coefficients are as exact as by an orthogonal decomposition of the whole table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import Floats

COLLINEAR = 1e-9  # eigenvalues of the features' scaled products below this part of the largest are none
TOUCHED = 1e-5  # a coefficient with a larger part in a combination that does not vary is not told by the data
EXACT = 1e-18  # squared residuals below this part of the outcome's squares are rounding

Block = tuple[Floats, Floats, Floats]  # features of shape (records, features), outcomes, and weights
Blocks = Callable[[], Iterator[Block]]


@dataclass(frozen=True)
class LeastSquares:
    """A fitted linear model.

    Args:
        coefficients: one for each feature; NaN where the data do not tell it from others. Shape (features,).
        errors: their standard errors, likewise.
        records: how many it was fitted to.
        rank: how many combinations of features the data tell apart.
        is_exact: whether nothing is left to explain.
    """

    coefficients: Floats
    errors: Floats
    records: int
    rank: int
    is_exact: bool

    @property
    def freedom(self) -> int:
        """Residual degrees of freedom."""
        return self.records - self.rank


@dataclass
class _Sums:
    """What is summed up over records: products of features, of features with the outcome, squares of the outcome."""

    products: Floats
    outcome: Floats
    squares: float = 0.0
    records: int = 0


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
    inverse, told, rank = _inverse(sums.products)
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
    told &= freedom > 0
    return LeastSquares(
        coefficients=np.where(told, first + correction, np.nan),
        errors=np.where(told, errors, np.nan),
        records=sums.records,
        rank=rank,
        is_exact=is_exact,
    )


def _normal_equations(blocks: Blocks, features: int) -> _Sums:
    """Sums over the records of xx', xy and y^2, each by its weight."""
    sums = _Sums(np.zeros((features, features)), np.zeros(features))
    for x, y, weights in blocks():
        sums.products += (x * weights[:, None]).T @ x
        sums.outcome += x.T @ (y * weights)
        sums.squares += float((y * weights) @ y)
        sums.records += len(y)
    return sums


def _residuals(blocks: Blocks, coefficients: Floats) -> _Sums:
    """The same of the residuals r: w^2 r^2 xx', xr and r^2."""
    features = len(coefficients)
    sums = _Sums(np.zeros((features, features)), np.zeros(features))
    for x, y, weights in blocks():
        left = y - x @ coefficients
        scores = x * (left * weights)[:, None]
        sums.products += scores.T @ scores
        sums.outcome += scores.sum(axis=0)
        sums.squares += float((left * weights) @ left)
        sums.records += len(y)
    return sums


def _inverse(products: Floats) -> tuple[Floats, NDArray[np.bool_], int]:
    """The inverse of a matrix of products, of its features that vary; which of them the others do not tell; the rank.

    It is the same whatever the order of the features.
    """
    scale = np.sqrt(np.diag(products))
    scale[scale == 0] = 1.0
    values, vectors = np.linalg.eigh(products / np.outer(scale, scale))
    varies = values > COLLINEAR * max(values.max(initial=0.0), 0.0)
    kept = vectors[:, varies]
    inverse = (kept / values[varies]) @ kept.T / np.outer(scale, scale)
    told = np.sqrt((vectors[:, ~varies] ** 2).sum(axis=1)) < TOUCHED
    return inverse, told, int(varies.sum())
