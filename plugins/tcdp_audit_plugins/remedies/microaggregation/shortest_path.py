"""Optimal clusters along a path: Hansen and Mukherjee's shortest path, exact for a single numeric attribute."""

from __future__ import annotations

import numpy as np

from tcdp_audit.exact import Floats
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, Positions


def cut(points: Points, path: Positions, k: int) -> Clusters:
    """Cut a path of records into runs of k to 2k - 1 with the least sum of squares within clusters.

    A run's sum of squares is the sum of the squared distances of its pairs over its length. The best cut of the first
    j records ends in a run that begins at one of the k places from j - 2k + 1 to j - k, so k ends at a time depend on
    earlier ones only.

    Args:
        points: the records.
        path: an order of all of them; of a single numeric attribute in ascending order the cut is the optimum.
        k: the least number of records in a cluster, at most that of all records.

    Returns:
        The cluster of each record, numbered along the path.

    Cost: O(n k d) time, O(n + k^2) memory beyond the records.

    Source: Hansen, Mukherjee, IEEE TKDE 15(4), 2003; along paths through several attributes: Domingo-Ferrer,
    Martinez-Balleste, Mateo-Sanz, Sebe, VLDB Journal 15, 2006.

    Example:
        >>> records = Points(np.array([[1.0], [2.0], [8.0], [9.0], [9.0]]))
        >>> cut(records, np.arange(5), 2).tolist()
        [0, 0, 1, 1, 1]
    """
    n = len(path)
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    begin = np.zeros(n + 1, dtype=np.int64)
    for low in range(k, n + 1, k):
        ends = np.arange(low, min(low + k, n + 1))
        starts = np.arange(max(low - 2 * k + 1, 0), ends[-1] - k + 1)
        total = best[starts][:, None] + _within(points, path, starts, ends)
        length = ends - starts[:, None]
        total[(length < k) | (length >= 2 * k)] = np.inf
        chosen = total.argmin(axis=0)
        best[ends], begin[ends] = total[chosen, np.arange(len(ends))], starts[chosen]
    return _numbered(path, begin)


def _within(points: Points, path: Positions, starts: Positions, ends: Positions) -> Floats:
    """Sum of squares of the run from each start to each end, from sums over rectangles of the pairwise distances."""
    first = starts[0]
    window = path[None, first : ends[-1]]
    sums = np.zeros((window.size + 1, window.size + 1))
    sums[1:, 1:] = points.blocks(window, points, window)[0].cumsum(axis=0).cumsum(axis=1)
    low, high = (starts - first)[:, None], ends - first
    twice = sums[high, high] - 2 * sums[low, high] + sums[low, low]
    return np.asarray(twice / (2 * np.maximum(high - low, 1)))


def _numbered(path: Positions, begin: Clusters) -> Clusters:
    """The cluster of each record, from where the best run to each end begins."""
    bounds = [len(path)]
    while bounds[-1]:
        bounds.append(int(begin[bounds[-1]]))
    lengths = np.diff(bounds[::-1])
    clusters = np.empty(len(path), dtype=np.int64)
    clusters[path] = np.repeat(np.arange(len(lengths)), lengths)
    return clusters
