"""Local search: neighbouring clusters exchange a record each, or one gives a record away, as long as that pays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit_plugins.remedies.microaggregation.members import Members
from tcdp_audit_plugins.remedies.microaggregation.moves import Pricing
from tcdp_audit_plugins.remedies.microaggregation.neighbours import apart, neighbour_pairs
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points

ENOUGH = 1e-4  # a round that gains a smaller part of the loss is the last


def exchanged(points: Points, clusters: Clusters, k: int, kinds: NDArray[np.int64] | None = None) -> Clusters:
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
        >>> exchanged(Points(np.array([[1.0], [9.0], [2.0], [8.0]])), np.array([0, 0, 1, 1]), 2).tolist()
        [1, 0, 1, 0]
    """
    members = Members(points, clusters, 2 * k - 1 if kinds is None else k)
    pairs = neighbour_pairs(points.centroids(clusters, len(members)))
    pricing = Pricing(members, pairs, k, kinds)
    stale = np.arange(len(pairs))
    while len(stale):
        pricing.look(stale)
        made = apart(pairs, pricing.gain, len(members))
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
