"""MDAV: clusters of k around the records that are farthest from the middle and from each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tcdp_audit.exact import Floats
from tcdp_audit.shards import Progress, silent
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, Positions
from tcdp_audit_plugins.remedies.microaggregation.remaining import Remaining, least

Nearest = Callable[[Floats, int], Positions]  # which k records join a cluster, given their distances


def mdav(points: Points, k: int, nearest: Nearest = least, progress: Progress = silent) -> Clusters:
    """Cluster records: all clusters have k of them but the last, which has from k to 2k - 1.

    While 3k records remain, the one farthest from their centroid and the k - 1 nearest to it form a cluster, and so do
    the one farthest from that record and the k - 1 nearest to it.

    Args:
        points: the records, at least k; of equally far ones the first is taken.
        k: the size of a cluster.
        nearest: which records join, instead of the k nearest.
        progress: told how many records have a cluster.

    Returns:
        The cluster of each record.

    Cost: O(n^2 d / k) time in 3n / 2k sweeps over what remains; O(n d) memory.

    Source: Domingo-Ferrer, Torra, Data Mining and Knowledge Discovery 11(2), 2005, algorithm MDAV-generic.

    Example:
        >>> mdav(Points(np.array([[1.0], [2.0], [3.0], [10.0], [11.0], [13.0]])), 3).tolist()
        [1, 1, 1, 0, 0, 0]
    """
    remaining = Remaining(points)
    clusters = np.zeros(len(points), dtype=np.int64)
    count = 0
    while len(remaining) >= 2 * k:
        both = _opposite(remaining, k, nearest)
        found = both if len(remaining) >= 3 * k else both[:1]
        for members in found:
            clusters[remaining.records[members]] = count
            count += 1
        remaining.remove(np.concatenate(found))
        progress("clustering records", len(points) - len(remaining), len(points))
    clusters[remaining.left] = count
    return clusters


def _opposite(remaining: Remaining, k: int, nearest: Nearest) -> tuple[Positions, Positions]:
    """The k records around the one farthest from the centroid, and the k around the one farthest from that one."""
    extreme = remaining.farthest(remaining.from_centroid())
    distances = remaining.from_record(extreme)
    distances[extreme] = -np.inf
    first = nearest(distances, k)
    distances[first] = -np.inf
    opposite = remaining.farthest(distances)
    distances = remaining.from_record(opposite)
    distances[first] = np.inf
    distances[opposite] = -np.inf
    return first, nearest(distances, k)
