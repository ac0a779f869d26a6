"""Bucketisation: consecutive values of an ordered attribute, joined into buckets of near-equal mass."""

from __future__ import annotations

import numpy as np

from tcdp_audit.plugin._internal import Counts, boundaries
from tcdp_audit.plugin.check import Histogram, ReferenceDistribution
from tcdp_audit_plugins.checks.differential_privacy.extremes import product


def bucketised(
    histogram: Histogram, marginal: ReferenceDistribution, buckets: int
) -> tuple[Histogram, ReferenceDistribution]:
    """Class and table over buckets instead of values.

    Args:
        histogram: values of each class, in the order of the attribute.
        marginal: the table's, in the same order.
        buckets: how many buckets to aim at; values heavier than a bucket's share leave fewer.

    Returns:
        The same classes and table, the codes now numbering buckets.

    Cost: O(pairs + domain).

    Source: Domingo-Ferrer, Soria-Comas (2015), section 6.1.
    """
    bucket = bucket_of_values(marginal, buckets)
    weights = np.zeros(buckets, dtype=np.int64)
    np.add.at(weights, bucket, marginal.weights)
    own = bucket[histogram.values]
    starts = boundaries(product(histogram.rows, buckets) + own)
    first = np.searchsorted(starts, histogram.offsets)
    counts = np.add.reduceat(histogram.counts, starts) if len(starts) else histogram.counts[:0]
    return Histogram(first, own[starts], counts), ReferenceDistribution(weights)


def bucket_of_values(marginal: ReferenceDistribution, buckets: int) -> Counts:
    """The bucket of each value: where the middle of its mass falls among equal shares of the whole.

    Example:
        >>> bucket_of_values(ReferenceDistribution(np.array([5, 1, 1, 5])), 3).tolist()
        [0, 1, 1, 2]
    """
    weights = marginal.weights
    middle = 2 * np.cumsum(weights) - weights  # twice the mass before the middle of a value
    return np.asarray((product(middle, buckets) // (2 * marginal.total)).astype(np.int64).clip(max=buckets - 1))
