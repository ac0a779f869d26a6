"""Buckets of near-equal mass: consecutive values where there is an order, else packed."""

from __future__ import annotations

from heapq import heapify, heapreplace

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def consecutive(masses: Integers, buckets: int) -> Integers:
    """Cut an order into runs whose masses are as near equal as whole values allow: least sum of squared masses.

    Args:
        masses: records with each value, at least 1, in order. Shape (values,).
        buckets: how many runs, from 1 to values.

    Returns:
        The bucket of each value, ascending from 0 to buckets - 1. Shape (values,).

    Cost: O(buckets x values x log values): the best place of a cut never moves back as the run's end moves on.

    Example:
        >>> consecutive(np.array([1, 1, 1, 6, 2, 1]), 3).tolist()
        [0, 0, 0, 1, 2, 2]
    """
    ends = np.concatenate([[0], np.cumsum(masses)])
    cost, cuts = ends**2, []
    for first in range(2, buckets + 1):
        cost, cut = _extended(cost, ends, first)
        cuts.append(cut)
    starts = [len(masses)]
    for cut in reversed(cuts):
        starts.append(int(cut[starts[-1]]))
    return np.searchsorted(np.sort(starts[1:]), np.arange(len(masses)), side="right")


def _extended(cost: Integers, ends: Integers, first: int) -> tuple[Integers, Integers]:
    """The least cost with one run more up to every end, and where that run begins.

    Ends are worked through as a tree of halves, all halves of one depth at once: the best cut of a middle bounds
    those of both its halves.
    """
    best, cut = np.zeros_like(ends), np.zeros_like(ends)
    left, right = np.array([first]), np.array([len(ends) - 1])
    low, high = np.array([first - 1]), np.array([len(ends) - 2])
    while len(left):
        middle = (left + right) // 2
        lengths = np.minimum(high, middle - 1) - low + 1
        offsets = np.cumsum(lengths) - lengths
        tried = np.arange(lengths.sum()) - np.repeat(offsets - low, lengths)
        costs = cost[tried] + (np.repeat(ends[middle], lengths) - ends[tried]) ** 2
        best[middle] = np.minimum.reduceat(costs, offsets)
        hits = np.flatnonzero(costs == np.repeat(best[middle], lengths))
        cut[middle] = tried[hits[np.searchsorted(hits, offsets)]]
        left, right = np.concatenate([left, middle + 1]), np.concatenate([middle - 1, right])
        low, high = np.concatenate([low, cut[middle]]), np.concatenate([cut[middle], high])
        open_ = left <= right
        left, right, low, high = left[open_], right[open_], low[open_], high[open_]
    return best, cut


def packed(masses: Integers, buckets: int) -> Integers:
    """Put values without an order into buckets: the heaviest first, each into what is the lightest bucket then.

    Args:
        masses: records with each value, at least 1. Shape (values,).
        buckets: how many, from 1 to values.

    Returns:
        The bucket of each value, numbered by their first value. The heaviest has at most 4/3 of the least possible.

    Cost: O(values x log values).

    Source: Graham, Bounds on multiprocessing timing anomalies, SIAM Journal on Applied Mathematics 17(2), 1969.

    Example:
        >>> packed(np.array([5, 3, 3, 2, 2]), 2).tolist()
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
    return np.argsort(np.argsort(first))[bucket_of]
