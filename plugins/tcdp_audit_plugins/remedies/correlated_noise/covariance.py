"""The covariance matrix of numbers, and noise with a covariance matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from tcdp_audit.plugin import Floats, RemedyError

LEAST = 1e-9  # a smaller negative part of the largest variance is rounding


def covariance_of(numbers: Floats) -> Floats:
    """The covariance matrix of some columns; what is missing counts as the mean of its column.

    Args:
        numbers: float64, NaN where missing, shape (records, columns).

    Returns:
        float64, shape (columns, columns); 0 for a column that does not vary.
    """
    centred = numbers - means(numbers)
    centred[np.isnan(centred)] = 0.0
    return np.asarray(centred.T @ centred / max(len(numbers) - 1, 1))


def means(numbers: Floats) -> Floats:
    """The mean of each column, without what is missing; 0 where all is. Shape (columns,)."""
    present = ~np.isnan(numbers)
    return np.asarray(np.where(present, numbers, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1))


def declared(matrix: Mapping[str, Mapping[str, Fraction]], names: Sequence[str]) -> Floats:
    """A matrix that a policy declares, each pair once or twice.

    Raises:
        RemedyError: no noise has these covariances.
    """
    place = {name: number for number, name in enumerate(names)}
    found = np.zeros((len(names), len(names)))
    for one, row in matrix.items():
        for other, value in row.items():
            found[place[one], place[other]] = found[place[other], place[one]] = float(value)
    variances = np.linalg.eigvalsh(found)
    if variances.min() < -LEAST * variances.max():
        raise RemedyError(
            "no noise has the covariances that `covariance` declares: a covariance is larger than the variances of its "
            "attributes allow; make it smaller"
        )
    return found


def normal_noise(covariance: Floats, records: int, random: np.random.Generator) -> Floats:
    """Normal noise with a covariance matrix, which may be singular. Shape (records, columns)."""
    variances, axes = np.linalg.eigh(covariance)
    return np.asarray((random.standard_normal((records, len(covariance))) * _root(variances)) @ axes.T)


def _root(variances: Floats) -> Floats:
    return np.sqrt(np.maximum(variances, 0.0))


def correlations(numbers: Floats) -> Floats:
    """Correlations of columns; 0 for one that does not vary. Shape (columns, columns)."""
    covariance = covariance_of(numbers)
    deviation = np.sqrt(np.diag(covariance))
    product = np.outer(deviation, deviation)
    return np.asarray(np.divide(covariance, product, out=np.zeros_like(product), where=product > 0))
