"""Which clusters stand near each other, and which of their moves can be made side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.exact import Floats
from tcdp_audit_plugins.remedies.microaggregation.points import Points, Positions

NEIGHBOURS = 8
CHUNK = 2**22  # distances held at once


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


def apart(pairs: Positions, gains: Floats, count: int) -> Positions:
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
