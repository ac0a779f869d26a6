"""The equal distance: how much of a class's distribution is not the reference's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Histogram, Ratios, ReferenceDistribution
from tcdp_audit_plugins.checks._shared.distances.overflow import as_python_integers, fits_int64


def equal_distance(histogram: Histogram, marginal: ReferenceDistribution) -> Ratios:
    """Variational distance, 1/2 sum_i |p_i - q_i| = sum_i max(p_i - q_i, 0).

    It is the earth mover's distance where all values are equally far apart. Relabelling values does not change it.

    Args:
        histogram: counts of values in every class.
        marginal: the reference distribution.

    Returns:
        Fractions from 0 to 1, shape (classes,).

    Cost: O(pairs of class and value).

    Source: Li et al. (2007), section 4.2, equal distance.

    Example:
        >>> classes = Histogram(np.array([0, 2]), np.array([0, 1]), np.array([1, 3]))
        >>> equal_distance(classes, ReferenceDistribution(np.array([1, 1]))).values.tolist()
        [0.25]
    """
    total = marginal.total
    counted = histogram if fits_int64(histogram, 2 * total) else as_python_integers(histogram)
    return Ratios(surplus(counted, marginal.weights_of(histogram), total), counted.total * total)


def surplus(histogram: Histogram, weights: Counts, total: int) -> NDArray[Any]:
    """Sum over values of max(c W - w n, 0) in every class: the part of it that the reference does not have, over n W.

    Args:
        histogram: counts c, with room for products with W.
        weights: w of the value of every pair of class and value.
        total: W, their sum.

    Returns:
        Integers from 0 to n W, shape (classes,).
    """
    excess = histogram.counts * total - weights * histogram.spread(histogram.total)
    return histogram.sum(np.maximum(excess, 0))
