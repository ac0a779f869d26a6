"""Clusters as rows of a table of their members, and the squared distances within and between them."""

from __future__ import annotations

import numpy as np

from tcdp_audit.exact import Floats
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, Positions

CHUNK = 2**20  # distances held at once


class Members:
    """The records of each cluster; -1 stands for no record.

    The sum of squares of a cluster is the sum of the squared distances of its pairs over its size. So it needs no
    centroid, and it is the same for all scales of attributes.

    Args:
        points: the records.
        clusters: the cluster of each record.
        places: the least width of the table; the largest cluster may need more.
    """

    def __init__(self, points: Points, clusters: Clusters, places: int) -> None:
        sizes = np.bincount(clusters)
        order = np.argsort(clusters, kind="stable")
        self.points = points
        self.table = np.full((len(sizes), max(places, int(sizes.max()))), -1, dtype=np.intp)
        starts = np.cumsum(sizes) - sizes
        self.table[clusters[order], np.arange(len(order)) - np.repeat(starts, sizes)] = order
        self.own = np.zeros(self.table.shape)  # of each member, the sum of its squared distances to its own cluster
        self.refresh(np.arange(len(sizes)))

    def __len__(self) -> int:
        """How many clusters there are."""
        return len(self.table)

    @property
    def rows_at_once(self) -> int:
        """How many pairs of clusters are compared at once."""
        return int(max(CHUNK // self.table.shape[1] ** 2, 1))

    @property
    def clusters(self) -> Clusters:
        """The cluster of each record."""
        rows, places = np.nonzero(self.table >= 0)
        found = np.empty(len(self.points), dtype=np.int64)
        found[self.table[rows, places]] = rows
        return found

    @property
    def loss(self) -> float:
        """The sum of squares within clusters."""
        return float((self.own.sum(axis=1) / (2 * (self.table >= 0).sum(axis=1))).sum())

    def refresh(self, rows: Positions) -> None:
        """Compute anew the distances within some clusters."""
        for start in range(0, len(rows), self.rows_at_once):
            part = rows[start : start + self.rows_at_once]
            self.own[part] = self.distances(part, part).sum(axis=2)

    def distances(self, one: Positions, other: Positions) -> Floats:
        """Squared distances of the members of two lists of clusters, 0 where there is no member. (pairs, a, b)."""
        first, second = self.table[one], self.table[other]
        found = self.points.blocks(first, self.points, second)
        found *= (first >= 0)[:, :, None]
        found *= (second >= 0)[:, None, :]
        return found
