"""The covariance matrix of numbers, and one that a policy declares of noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor

import numpy as np

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.remedy import RemedyError

LEAST = 1e-9  # a smaller negative part of the largest variance is rounding


def covariance_of(numbers: Floats) -> Floats:
    """The covariance matrix of some columns; what is missing counts as the mean of its column.

    Args:
        numbers: float64, NaN where missing, shape (records, columns).

    Returns:
        float64, shape (columns, columns); 0 for a column that does not vary.
    """
    centred = filled(numbers) - means(numbers)
    return np.asarray(centred.T @ centred / max(len(numbers) - 1, 1))


def filled(numbers: Floats) -> Floats:
    """The same with the mean of each column in place of what is missing."""
    return np.where(np.isnan(numbers), means(numbers), numbers)


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
            f"attributes allow; {_possible_share(found):.4f} times the covariances, with the same variances, would do"
        )
    return found


def _possible_share(matrix: Floats) -> float:
    """The largest factor of the covariances that the variances allow, rounded down to four digits.

    The least eigenvalue of I + f (R - I) is 1 + f (least - 1), for the correlations R.

    Example:
        >>> _possible_share(np.array([[1.0, 2.0], [2.0, 1.0]]))
        0.5
    """
    deviations = np.sqrt(np.diag(matrix))
    least = float(np.linalg.eigvalsh(matrix / np.outer(deviations, deviations)).min())
    return floor(1 / (1 - least) * 10_000) / 10_000
