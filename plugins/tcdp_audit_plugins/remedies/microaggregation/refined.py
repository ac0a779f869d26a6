"""Better than MDAV: an optimal cut of a good path, and local search, in turn as long as they gain.

The first path comes from Ward's hierarchy, later ones lead through the clusters of the pass before.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tcdp_audit.plugin._internal import Floats, checkpoint
from tcdp_audit_plugins.remedies._shared.segments import inverse
from tcdp_audit_plugins.remedies.microaggregation.exchange import exchange_records, sum_of_squares
from tcdp_audit_plugins.remedies.microaggregation.mdav import Remaining
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, Positions

ENOUGH = 1e-3  # a pass that lessens the loss by a smaller part is the last
CELL = 2000  # records in one hierarchy; its distances take 32 MB


def refined_clusters(points: Points, k: int) -> Clusters:
    """Cluster records: every cluster has from k to 2k - 1 of them.

    The leaves of Ward's hierarchy are cut optimally; then neighbouring clusters exchange records, and a tour through
    the clusters is cut optimally again. A tour can be cut into the clusters it leads through, so no pass loses. Return
    the cluster of each record; for a single numeric or ordinal attribute the optimum.

    Cost: a few passes of O(n k d + (n / k)^2 d) and one hierarchy for each 2,000 records.

    Example:
        >>> refined_clusters(Points(np.array([[1.0], [2.0], [8.0], [9.0], [9.0]])), 2).tolist()
        [0, 0, 1, 1, 1]
    """
    if points.numbers.shape[1] == 1 and not points.labels:
        return cut(points, np.argsort(points.numbers[:, 0], kind="stable"), k)
    clusters = cut(points, ward_path(points), k)
    loss = np.inf
    while True:
        checkpoint()
        clusters = exchange_records(points, clusters, k)
        clusters = cut(points, tour(points, clusters), k)
        lessened = sum_of_squares(points, clusters)
        if lessened >= loss * (1 - ENOUGH):
            return clusters
        loss = lessened


def ward_path(points: Points) -> Positions:
    """The records in the order of the leaves of Ward's hierarchy, or of one hierarchy per cell where there are many.

    Cost: O(n log n) to halve the records into cells, O(n d) for each of the 2,000 records of a cell.

    Source: Ward, JASA 58, 1963.
    """
    cells = _cells_of(points, np.arange(len(points)))
    return np.concatenate([cell[_leaves(points.take(cell))] for cell in cells])


def _cells_of(points: Points, records: Positions) -> Iterator[Positions]:
    """Cells of neighbouring records: halved between two opposite records until they are small."""
    checkpoint()
    if len(records) <= CELL:
        yield records
        return
    remaining = Remaining(points.take(records))
    from_one = remaining.from_record(remaining.farthest(remaining.from_centroid()))
    from_other = remaining.from_record(remaining.farthest(from_one))
    order = np.argsort(from_one - from_other, kind="stable")
    for half in np.array_split(order, 2):
        yield from _cells_of(points, np.sort(records[half]))


def _leaves(points: Points) -> Positions:
    from scipy.cluster.hierarchy import leaves_list, linkage  # noqa: PLC0415 - takes a third of a second to import

    checkpoint()
    if len(points) < 2:
        return np.arange(len(points))
    everyone = np.arange(len(points))
    squared = points.blocks(everyone[None], points, everyone[None])[0]
    return np.asarray(leaves_list(linkage(np.sqrt(squared[np.triu_indices(len(points), 1)]), "ward")), dtype=np.intp)


def tour(points: Points, clusters: Clusters) -> Positions:
    """The records cluster by cluster, each next cluster the nearest one, and within each from the last to the next.

    Cost: O(c^2 d) for c clusters, O(n d) for the records.
    """
    count = int(clusters.max()) + 1
    centroids = points.centroids(clusters, count)
    stops = _nearest_next(centroids)
    place = inverse(stops)
    last, following = stops[np.maximum(place - 1, 0)], stops[np.minimum(place + 1, count - 1)]
    everyone = np.arange(len(points))
    forward = points.squared(everyone, centroids, last[clusters])
    forward -= points.squared(everyone, centroids, following[clusters])
    return np.lexsort((forward, place[clusters]))


def _nearest_next(points: Points) -> Positions:
    """A path from the point farthest from the centroid to the nearest one that it has not met, and so on."""
    remaining = Remaining(points)
    here = remaining.farthest(remaining.from_centroid())
    met = np.empty(len(points), dtype=np.intp)
    for step in range(len(points)):
        checkpoint()
        met[step] = remaining.records[here]
        distances = remaining.from_record(here)
        distances[here] = np.inf
        following = remaining.records[distances.argmin()]
        remaining.remove(np.array([here]))
        here = int(np.searchsorted(remaining.records, following))
    return met


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
        checkpoint()
        ends = np.arange(low, min(low + k, n + 1))
        starts = np.arange(max(low - 2 * k + 1, 0), ends[-1] - k + 1)
        total = best[starts][:, None] + _within(points, path, starts, ends)
        length = ends - starts[:, None]
        total[(length < k) | (length >= 2 * k)] = np.inf
        chosen = total.argmin(axis=0)
        best[ends], begin[ends] = total[chosen, np.arange(len(ends))], starts[chosen]
    return _clusters_along(path, begin)


def _within(points: Points, path: Positions, starts: Positions, ends: Positions) -> Floats:
    """Sum of squares of the run from each start to each end, from sums over rectangles of the pairwise distances."""
    first = starts[0]
    window = path[None, first : ends[-1]]
    sums = np.zeros((window.size + 1, window.size + 1))
    sums[1:, 1:] = points.blocks(window, points, window)[0].cumsum(axis=0).cumsum(axis=1)
    low, high = (starts - first)[:, None], ends - first
    twice = sums[high, high] - 2 * sums[low, high] + sums[low, low]
    return np.asarray(twice / (2 * np.maximum(high - low, 1)))


def _clusters_along(path: Positions, begin: Clusters) -> Clusters:
    """The cluster of each record, from where the best run to each end begins."""
    bounds = [len(path)]
    while bounds[-1]:
        checkpoint()
        bounds.append(int(begin[bounds[-1]]))
    lengths = np.diff(bounds[::-1])
    clusters = np.empty(len(path), dtype=np.int64)
    clusters[path] = np.repeat(np.arange(len(lengths)), lengths)
    return clusters
