"""Clusters are halved while both halves keep the policy's demands: what merging joined too much comes apart again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.exact import Floats
from tcdp_audit_plugins.remedies.microaggregation.judged import Judge
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, Positions

PASSES = 3


def halved(points: Points, clusters: Clusters, k: int, values: NDArray[np.int64], judge: Judge) -> Clusters:
    """Halve clusters so that either half has nearly the distribution of the whole.

    The records of a cluster are paired in the order of their confidential values. One of each pair goes to either half,
    whichever way is nearer: to two opposite records at first, then to the centroids of the halves so far.

    Args:
        points: the records.
        clusters: the cluster of each record; at least two in each.
        k: the least number of records in a half.
        values: the place of each record's confidential value.
        judge: decides, exactly, which halves keep the demands.

    Returns:
        Clusters with at most the same sum of squares; halves that are kept keep the demands.

    Cost: a round takes O(n log n + n d) and halves each cluster at most once; about log(n / k) rounds.
    """
    while True:
        count = int(clusters.max()) + 1
        finer = 2 * clusters + _halves(points, clusters, count, values)
        kept = judge.kept(finer, 2 * count) & (np.bincount(finer, minlength=2 * count) >= k)
        both = kept[::2] & kept[1::2]
        if not both.any():
            return clusters
        clusters = np.where(both[clusters], finer, 2 * clusters)
        clusters = np.asarray(np.unique(clusters, return_inverse=True)[1], dtype=np.int64)


def _halves(points: Points, clusters: Clusters, count: int, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """0 or 1 for each record, so that both occur in every cluster."""
    pairs = _paired(clusters, values)
    everyone = np.arange(len(points))
    from_centroid = points.squared(everyone, points.centroids(clusters, count), clusters)
    pole = _farthest(from_centroid, clusters, count)
    from_pole = points.squared(everyone, points, pole[clusters])
    opposite = _farthest(from_pole, clusters, count)
    half = _sides(from_pole - points.squared(everyone, points, opposite[clusters]), pairs)
    for _ in range(PASSES - 1):
        centroids = points.centroids(2 * clusters + half, 2 * count)
        nearer = points.squared(everyone, centroids, 2 * clusters)
        half = _sides(nearer - points.squared(everyone, centroids, 2 * clusters + 1), pairs)
    return half


def _paired(clusters: Clusters, values: NDArray[np.int64]) -> Positions:
    """Neighbours in the order of the confidential values of each cluster; an odd one is left out. Shape (2, pairs)."""
    order = np.lexsort((values, clusters))
    sizes = np.bincount(clusters)
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    first = np.flatnonzero((place % 2 == 0) & (place + 1 < np.repeat(sizes, sizes)))
    return np.stack([order[first], order[first + 1]])


def _sides(leaning: Floats, pairs: Positions) -> NDArray[np.int64]:
    """The half of each record: of a pair, the one that leans more towards the second half is in it."""
    one, other = pairs
    half = (leaning > 0).astype(np.int64)
    half[one] = leaning[one] > leaning[other]
    half[other] = 1 - half[one]
    return half


def _farthest(distances: Floats, clusters: Clusters, count: int) -> Positions:
    """The record of each cluster with the largest distance, the first of those that tie."""
    order = np.lexsort((-distances, clusters))
    return np.asarray(order[np.searchsorted(clusters[order], np.arange(count))], dtype=np.intp)
