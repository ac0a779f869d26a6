"""Clusters are merged until all keep the demands, and halved again where both halves do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, first_of_each, starts_of
from tcdp_audit.plugin.remedy import Progress, silent
from tcdp_audit_plugins.remedies.microaggregation.cluster_demands import ClusterDemands
from tcdp_audit_plugins.remedies.microaggregation.exchange import best_disjoint_pairs, nearest_others
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, Positions

PASSES = 3


def merge_failing(points: Points, clusters: Clusters, demands: ClusterDemands, progress: Progress = silent) -> Clusters:
    """Merge every cluster that fails with one near it, in rounds, until none fails.

    Of the up to eight clusters whose merger with it loses least, a failing cluster prefers one with which it would keep
    the demands. A cluster takes part in one merger a round.

    Args:
        points: the records.
        clusters: the cluster of each record.
        demands: decides, exactly, which clusters keep the demands.
        progress: called with the number of clusters that need no merger.

    Returns:
        Clusters that all keep the demands; one cluster of all records where nothing else is left, whether it does or
        not.

    Cost: a round takes O(f c d) for f failing of c clusters and judges 8 f unions; it merges at least one pair.

    Source: Soria-Comas, Domingo-Ferrer, Sanchez, Martinez, IEEE TKDE 27(11), 2015, algorithm 1.
    """
    total = int(clusters.max()) + 1
    while True:
        count = int(clusters.max()) + 1
        failing = np.flatnonzero(~demands.kept(clusters, count))
        progress("merging clusters", total - len(failing), total)
        if not len(failing) or count == 1:
            return clusters
        clusters = _join(clusters, _mergers(points, clusters, count, failing, demands))


def _mergers(points: Points, clusters: Clusters, count: int, failing: Positions, demands: ClusterDemands) -> Positions:
    """Pairs of clusters to merge, none in two pairs. Shape (pairs, 2)."""
    sizes = np.bincount(clusters, minlength=count).astype(np.float64)
    partners, losses = nearest_others(points.centroids(clusters, count), failing, sizes)
    pairs = np.stack([np.repeat(failing, partners.shape[1]), partners.ravel()], axis=1)
    gains = _preference(losses.ravel(), demands.unions_kept(clusters, count, pairs))
    chosen = []
    while (gains > 0).any():
        made = best_disjoint_pairs(pairs, gains, count)
        chosen.append(pairs[made])
        gains[np.isin(pairs, pairs[made]).any(axis=1)] = 0
    return np.concatenate(chosen)


def _preference(losses: Floats, kept: NDArray[np.bool_]) -> Floats:
    """A positive number for each pair: larger where the union keeps the demands, then where it loses less."""
    preference = np.empty(len(losses))
    preference[np.lexsort((losses, ~kept))] = np.arange(len(losses), 0, -1)
    return preference


def _join(clusters: Clusters, pairs: Positions) -> Clusters:
    """Clusters renumbered after some mergers."""
    target = np.arange(int(clusters.max()) + 1)
    target[pairs[:, 1]] = pairs[:, 0]
    return np.asarray(np.unique(target[clusters], return_inverse=True)[1], dtype=np.int64)


def halve_where_kept(
    points: Points, clusters: Clusters, k: int, values: NDArray[np.int64], demands: ClusterDemands
) -> Clusters:
    """Halve clusters so that either half has nearly the distribution of the whole.

    The records of a cluster are paired in the order of their confidential values. One of each pair goes to either half,
    whichever way is nearer: to two opposite records at first, then to the centroids of the halves so far.

    Args:
        points: the records.
        clusters: the cluster of each record; at least two in each.
        k: the least number of records in a half.
        values: the place of each record's confidential value.
        demands: decides, exactly, which halves keep the demands.

    Returns:
        Clusters with at most the same sum of squares; halves that are kept keep the demands.

    Cost: a round takes O(n log n + n d) and halves each cluster at most once; about log(n / k) rounds.
    """
    while True:
        count = int(clusters.max()) + 1
        finer = 2 * clusters + _halves(points, clusters, count, values)
        kept = demands.kept(finer, 2 * count) & (np.bincount(finer, minlength=2 * count) >= k)
        both = kept[::2] & kept[1::2]
        if not both.any():
            return clusters
        clusters = np.where(both[clusters], finer, 2 * clusters)
        clusters = np.asarray(np.unique(clusters, return_inverse=True)[1], dtype=np.int64)


def _halves(points: Points, clusters: Clusters, count: int, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """0 or 1 for each record, so that both occur in every cluster."""
    pairs = _pairs_in_order(clusters, values)
    everyone = np.arange(len(points))
    from_centroid = points.squared(everyone, points.centroids(clusters, count), clusters)
    pole = _farthest(from_centroid, clusters)
    from_pole = points.squared(everyone, points, pole[clusters])
    opposite = _farthest(from_pole, clusters)
    half = _sides(from_pole - points.squared(everyone, points, opposite[clusters]), pairs)
    for _ in range(PASSES - 1):
        centroids = points.centroids(2 * clusters + half, 2 * count)
        nearer = points.squared(everyone, centroids, 2 * clusters)
        half = _sides(nearer - points.squared(everyone, centroids, 2 * clusters + 1), pairs)
    return half


def _pairs_in_order(clusters: Clusters, values: NDArray[np.int64]) -> Positions:
    """Neighbours in the order of the confidential values of each cluster; an odd one is left out. Shape (2, pairs)."""
    order = np.lexsort((values, clusters))
    sizes = np.bincount(clusters)
    place = np.arange(len(order)) - np.repeat(starts_of(sizes), sizes)
    first = np.flatnonzero((place % 2 == 0) & (place + 1 < np.repeat(sizes, sizes)))
    return np.stack([order[first], order[first + 1]])


def _sides(leaning: Floats, pairs: Positions) -> NDArray[np.int64]:
    """The half of each record: of a pair, the one that leans more towards the second half is in it."""
    one, other = pairs
    half = (leaning > 0).astype(np.int64)
    half[one] = leaning[one] > leaning[other]
    half[other] = 1 - half[one]
    return half


def _farthest(distances: Floats, clusters: Clusters) -> Positions:
    """The record of each cluster with the largest distance, the first of those that tie."""
    return first_of_each(clusters, np.argsort(-distances, kind="stable"))[1]
