"""Orders of the records in which neighbours are near: a path that is then cut into clusters.

The first path comes from Ward's hierarchy, later ones lead through the clusters found so far.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, Positions
from tcdp_audit_plugins.remedies.microaggregation.remaining import Remaining

CELL = 2000  # records in one hierarchy; its distances take 32 MB


def ward_path(points: Points) -> Positions:
    """The records as the leaves of Ward's hierarchy stand; of one hierarchy per cell where there are many records.

    Cost: O(n log n) to halve the records into cells, O(n d) for each of the 2,000 records of a cell.

    Source: Ward, JASA 58, 1963.
    """
    cells = _halved(points, np.arange(len(points)))
    return np.concatenate([cell[_leaves(points.take(cell))] for cell in cells])


def _halved(points: Points, records: Positions) -> Iterator[Positions]:
    """Cells of neighbouring records: halved between two opposite records until they are small."""
    if len(records) <= CELL:
        yield records
        return
    remaining = Remaining(points.take(records))
    from_one = remaining.from_record(remaining.farthest(remaining.from_centroid()))
    from_other = remaining.from_record(remaining.farthest(from_one))
    order = np.argsort(from_one - from_other, kind="stable")
    for half in np.array_split(order, 2):
        yield from _halved(points, np.sort(records[half]))


def _leaves(points: Points) -> Positions:
    from scipy.cluster.hierarchy import leaves_list, linkage  # noqa: PLC0415 - takes a third of a second to import

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
    place = np.empty(count, dtype=np.int64)
    place[stops] = np.arange(count)
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
        met[step] = remaining.records[here]
        distances = remaining.from_record(here)
        distances[here] = np.inf
        following = remaining.records[distances.argmin()]
        remaining.remove(np.array([here]))
        here = int(np.searchsorted(remaining.records, following))
    return met
