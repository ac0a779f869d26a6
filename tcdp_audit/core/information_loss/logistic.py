"""Logistic regression with a tiny ridge, by Newton's method over blocks of records.

scipy's `trust-exact` takes as many passes over the records and half as much time again, meets the coefficients to 0.01
only, and is a second to import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tcdp_audit.core.base.frozen import Floats

MOST_ITERATIONS = 50
RIDGE = 1e-6  # for each record: keeps the coefficients finite where a value tells the two groups apart
TOLERANCE = 1e-10  # of the log-likelihood for each record

# Features of shape (rows, features), 0 or 1 for each row, and how many records it stands for.
Blocks = Callable[[], Iterator[tuple[Floats, Floats, Floats]]]


@dataclass(frozen=True)
class Fit:
    """A fitted regression.

    Args:
        coefficients: one for each feature.
        iterations: how many Newton steps were tried.
        converged: whether the log-likelihood stopped growing.
    """

    coefficients: Floats
    iterations: int
    converged: bool


@dataclass(frozen=True)
class _Slope:
    """The penalised log-likelihood for each record at some coefficients, its gradient, and its negated Hessian."""

    height: float
    gradient: Floats
    curvature: Floats


def fit(blocks: Blocks, features: int) -> Fit:
    """Fit the probability of a 1.

    Args:
        blocks: gives the data anew at each call.
        features: how many there are; a column of ones among them.

    Cost: O(rows x features squared) for each of at most 50 iterations.
    """
    best = np.zeros(features)
    slope = _slope(blocks, best)
    step = np.linalg.solve(slope.curvature, slope.gradient)
    for iteration in range(1, MOST_ITERATIONS + 1):
        if slope.gradient @ step < TOLERANCE:
            return Fit(best + step, iteration, converged=True)
        tried = _slope(blocks, best + step)
        if tried.height < slope.height:
            step = step / 2  # overshot
            continue
        best, slope = best + step, tried
        step = np.linalg.solve(slope.curvature, slope.gradient)
    return Fit(best, MOST_ITERATIONS, converged=False)


def probabilities(features: Floats, coefficients: Floats) -> Floats:
    """The fitted probability of a 1, never overflowing."""
    return (1 + np.tanh(features @ coefficients / 2)) / 2


def _slope(blocks: Blocks, coefficients: Floats) -> _Slope:
    height, gradient = 0.0, np.zeros(len(coefficients))
    curvature, records = np.zeros((len(coefficients), len(coefficients))), 0.0
    for features, truth, times in blocks():
        logits = features @ coefficients
        fitted = probabilities(features, coefficients)
        height += float((truth * logits - np.logaddexp(0, logits)) @ times)
        gradient += features.T @ (times * (truth - fitted))
        scaled = features * np.sqrt(times * fitted * (1 - fitted))[:, None]
        curvature += scaled.T @ scaled  # a product with itself is half the work
        records += float(times.sum())
    penalty = RIDGE * np.eye(len(coefficients))
    return _Slope(
        height / records - RIDGE * float(coefficients @ coefficients) / 2,
        gradient / records - RIDGE * coefficients,
        curvature / records + penalty,
    )
