"""The policy's demands, asked about clusters of records that stand in an order of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import positions_of, starts_of
from tcdp_audit.plugin.remedy import Demands
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Positions

CHUNK = 2**22  # records judged at once


@dataclass(frozen=True)
class ClusterDemands:
    """Decides which clusters keep the demands of the policy on equivalence classes.

    Args:
        demands: the policy's.
        order: the place in the table of each record.
    """

    demands: Demands
    order: Positions

    def kept(self, clusters: Clusters, count: int) -> NDArray[np.bool_]:
        """The clusters that keep every demand. Shape (count,)."""
        by_place = np.empty_like(clusters)
        by_place[self.order] = clusters
        return self.demands.kept_by(by_place, count)

    def unions_kept(self, clusters: Clusters, count: int, pairs: Positions) -> NDArray[np.bool_]:
        """The pairs of clusters that would keep every demand as one cluster.

        Args:
            clusters: the cluster of each record.
            count: how many there are.
            pairs: clusters, shape (pairs, 2), the two of a pair different.

        Returns:
            bool, shape (pairs,).

        Cost: that of judging the records of all pairs, each as often as its cluster is named.
        """
        sizes = np.bincount(clusters, minlength=count)
        members = np.argsort(clusters, kind="stable")
        before = np.cumsum(sizes[pairs].sum(axis=1))
        parts = np.split(np.arange(len(pairs)), np.flatnonzero(np.diff(before // CHUNK)) + 1)
        starts = starts_of(sizes)
        return np.concatenate([self._judge_unions(members, starts, sizes, pairs[part]) for part in parts])

    def _judge_unions(
        self, members: Positions, starts: Clusters, sizes: Clusters, pairs: Positions
    ) -> NDArray[np.bool_]:
        records = members[positions_of(starts[pairs].ravel(), sizes[pairs].ravel())]
        union = np.repeat(np.arange(len(pairs)), sizes[pairs].sum(axis=1))
        return self.demands.kept_by(union, len(pairs), self.order[records])
