"""Buckets of near-equal mass: consecutive values where there is an order, else packed."""

from __future__ import annotations

from heapq import heapify, heapreplace

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import inverse
from tcdp_audit_plugins.remedies._shared.optimal_runs import least_runs

Integers = NDArray[np.int64]


def consecutive(masses: Integers, buckets: int) -> Integers:
    """Cut an order into runs whose masses are as near equal as whole values allow: least sum of squared masses.

    Args:
        masses: records with each value, at least 1, in order. Shape (values,).
        buckets: how many runs, from 1 to values.

    Returns:
        The bucket of each value, ascending from 0 to buckets - 1. Shape (values,).

    Cost: O(buckets x values x log values).

    Example:
        >>> consecutive(np.array([1, 1, 1, 6, 2, 1]), 3).tolist()
        [0, 0, 0, 1, 2, 2]
    """
    ends = np.concatenate([[0], np.cumsum(masses)])
    return least_runs(len(masses), buckets, lambda start, end: (ends[end] - ends[start]) ** 2).into(buckets)


def pack(masses: Integers, buckets: int) -> Integers:
    """Put values without an order into buckets: the heaviest first, each into what is the lightest bucket then.

    Args:
        masses: records with each value, at least 1. Shape (values,).
        buckets: how many, from 1 to values.

    Returns:
        The bucket of each value, numbered by their first value. The heaviest has at most 4/3 of the least possible.

    Cost: O(values x log values).

    Source: Graham, Bounds on multiprocessing timing anomalies, SIAM Journal on Applied Mathematics 17(2), 1969.

    Example:
        >>> pack(np.array([5, 3, 3, 2, 2]), 2).tolist()
        [0, 1, 1, 0, 1]
    """
    lightest = [(0, bucket) for bucket in range(buckets)]
    heapify(lightest)
    bucket_of = np.zeros(len(masses), dtype=np.int64)
    for value in np.argsort(-masses, kind="stable").tolist():
        mass, bucket = lightest[0]
        bucket_of[value] = bucket
        heapreplace(lightest, (mass + int(masses[value]), bucket))
    _, first = np.unique(bucket_of, return_index=True)
    return inverse(np.argsort(first))[bucket_of]
