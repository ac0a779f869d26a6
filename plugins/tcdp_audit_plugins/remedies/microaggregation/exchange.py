"""Local search: neighbouring clusters swap a record each, or one gives a record away, as long as that pays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.remedies.microaggregation.moves import Members, Pricing
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, Positions

ENOUGH = 1e-4  # a round that gains a smaller part of the loss is the last
NEIGHBOURS = 8
CHUNK = 2**22  # distances held at once


def exchange_records(points: Points, clusters: Clusters, k: int, kinds: NDArray[np.int64] | None = None) -> Clusters:
    """Improve clusters until little is gained by moving or exchanging single records between neighbours.

    In each round every pair of neighbouring clusters finds its best move, and those are made that are the best for both
    their clusters.

    Args:
        points: the records.
        clusters: the cluster of each record.
        k: no cluster becomes smaller; none grows beyond 2k - 1.
        kinds: only records of one kind are exchanged, and none is moved; None for no such restriction.

    Returns:
        Clusters with at most the same sum of squares.

    Cost: O(n k d) for a round that looks at all pairs; later rounds look at those whose clusters changed.

    Example:
        >>> exchange_records(Points(np.array([[1.0], [9.0], [2.0], [8.0]])), np.array([0, 0, 1, 1]), 2).tolist()
        [1, 0, 1, 0]
    """
    members = Members(points, clusters, 2 * k - 1 if kinds is None else k)
    pairs = neighbour_pairs(points.centroids(clusters, len(members)))
    pricing = Pricing(members, pairs, k, kinds)
    stale = np.arange(len(pairs))
    while len(stale):
        pricing.look(stale)
        made = best_disjoint_pairs(pairs, pricing.gain, len(members))
        gained = float(pricing.gain[made].sum())
        pricing.make(made)
        if gained <= ENOUGH * members.loss:
            break
        changed = np.zeros(len(members), dtype=bool)
        changed[pairs[made]] = True
        stale = np.flatnonzero(changed[pairs].any(axis=1))
    return members.clusters


def sum_of_squares(points: Points, clusters: Clusters) -> float:
    """Sum over clusters of the squared distances of their pairs over their size. O(n d) for each place in a cluster."""
    return Members(points, clusters, 1).loss


def nearest_others(centroids: Points, asked: Positions, weights: Floats | None = None) -> tuple[Positions, Floats]:
    """The nearest other clusters of some clusters, up to eight of each.

    Args:
        centroids: of all clusters.
        asked: positions of those that are asked for.
        weights: sizes of the clusters, to order by what a merger loses, ab / (a + b) d^2; None for d^2 itself.

    Returns:
        Positions and squared distances (or losses), both of shape (asked, up to 8), in no order.

    Cost: O(asked x clusters x d) time, in chunks.
    """
    count = min(NEIGHBOURS, len(centroids) - 1)
    positions = np.empty((len(asked), count), dtype=np.intp)
    distances = np.empty((len(asked), count))
    everyone = np.arange(len(centroids))[None]
    step = max(CHUNK // len(centroids), 1)
    for start in range(0, len(asked), step) if count else ():
        part = asked[start : start + step]
        squared = centroids.blocks(part[None], centroids, everyone)[0]
        if weights is not None:
            squared *= weights[part][:, None] * weights / (weights[part][:, None] + weights)
        squared[np.arange(len(part)), part] = np.inf
        near = np.argpartition(squared, count - 1, axis=1)[:, :count]
        positions[start : start + step] = near
        distances[start : start + step] = np.take_along_axis(squared, near, axis=1)
    return positions, distances


def neighbour_pairs(centroids: Points) -> Positions:
    """Pairs of clusters of which one is among the nearest of the other, each pair once. Shape (pairs, 2)."""
    own = np.arange(len(centroids))
    near, _ = nearest_others(centroids, own)
    pairs = np.stack([np.repeat(own, near.shape[1]), near.ravel()], axis=1)
    return np.unique(np.sort(pairs, axis=1), axis=0)


def best_disjoint_pairs(pairs: Positions, gains: Floats, count: int) -> Positions:
    """Pairs with a positive gain, each the best of both its clusters, so that no two share a cluster.

    Args:
        pairs: clusters, shape (pairs, 2).
        gains: of each pair; of equal ones the first is the best.
        count: how many clusters there are.

    Returns:
        Positions among the pairs; at least one where any gain is positive.

    Cost: O(pairs log pairs).
    """
    able = np.flatnonzero(gains > 0)
    order = able[np.argsort(-gains[able], kind="stable")]
    rank: NDArray[np.int64] = np.full(count, len(pairs), dtype=np.int64)
    np.minimum.at(rank, pairs[order].ravel(), np.repeat(np.arange(len(order)), 2))
    best_of_both = (rank[pairs[order]] == np.arange(len(order))[:, None]).all(axis=1)
    return np.asarray(order[best_of_both], dtype=np.intp)
