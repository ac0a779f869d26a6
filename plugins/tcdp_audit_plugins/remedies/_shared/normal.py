"""Correlations of columns, and normal noise with a covariance matrix."""

from __future__ import annotations

import numpy as np

from tcdp_audit.plugin._internal import Floats


def correlations(columns: Floats) -> Floats:
    """Product-moment correlations of columns, 0 with a column that does not vary.

    Args:
        columns: shape (records, columns).
    """
    centred = columns - columns.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    unit = centred / np.where(length > 0, length, 1.0)
    result = unit.T @ unit
    np.fill_diagonal(result, 1.0)
    return np.asarray(result)


def normal_noise(covariance: Floats, records: int, random: np.random.Generator) -> Floats:
    """Normal noise with a covariance matrix, which may be singular.

    Args:
        covariance: shape (columns, columns).
        records: how many rows to draw.
        random: what draws them.

    Returns:
        float64, shape (records, columns).

    Cost: O(records x columns^2).
    """
    variances, axes = np.linalg.eigh(covariance)
    return np.asarray(
        (random.standard_normal((records, len(covariance))) * np.sqrt(np.maximum(variances, 0.0))) @ axes.T
    )
