"""Clusters are merged until all of them keep the policy's demands on classes: t-closeness, and whatever else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.exact import Floats
from tcdp_audit.shards import Progress, silent
from tcdp_audit_plugins.remedies.microaggregation.judged import Judge
from tcdp_audit_plugins.remedies.microaggregation.neighbours import apart, nearest_others
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, Positions


def merged(points: Points, clusters: Clusters, judge: Judge, progress: Progress = silent) -> Clusters:
    """Merge every cluster that fails with one near it, in rounds, until none fails.

    Of the up to eight clusters whose merger with it loses least, a failing cluster prefers one with which it would keep
    the demands. A cluster takes part in one merger a round.

    Args:
        points: the records.
        clusters: the cluster of each record.
        judge: decides, exactly, which clusters keep the demands.
        progress: told how many clusters are left to merge.

    Returns:
        Clusters that all keep the demands; one cluster of all records where nothing else is left, whether it does or
        not.

    Cost: a round takes O(f c d) for f failing of c clusters and judges 8 f unions; it merges at least one pair.

    Source: Soria-Comas, Domingo-Ferrer, Sanchez, Martinez, IEEE TKDE 27(11), 2015, algorithm 1.
    """
    total = int(clusters.max()) + 1
    while True:
        count = int(clusters.max()) + 1
        failing = np.flatnonzero(~judge.kept(clusters, count))
        progress("merging clusters", total - len(failing), total)
        if not len(failing) or count == 1:
            return clusters
        clusters = _joined(clusters, _mergers(points, clusters, count, failing, judge))


def _mergers(points: Points, clusters: Clusters, count: int, failing: Positions, judge: Judge) -> Positions:
    """Pairs of clusters to merge, none in two pairs. Shape (pairs, 2)."""
    sizes = np.bincount(clusters, minlength=count).astype(np.float64)
    partners, losses = nearest_others(points.centroids(clusters, count), failing, sizes)
    pairs = np.stack([np.repeat(failing, partners.shape[1]), partners.ravel()], axis=1)
    gains = _preference(losses.ravel(), judge.unions_kept(clusters, count, pairs))
    found = []
    while (gains > 0).any():
        made = apart(pairs, gains, count)
        found.append(pairs[made])
        gains[np.isin(pairs, pairs[made]).any(axis=1)] = 0
    return np.concatenate(found)


def _preference(losses: Floats, kept: NDArray[np.bool_]) -> Floats:
    """A positive number for each pair: larger where the union keeps the demands, then where it loses less."""
    preference = np.empty(len(losses))
    preference[np.lexsort((losses, ~kept))] = np.arange(len(losses), 0, -1)
    return preference


def _joined(clusters: Clusters, pairs: Positions) -> Clusters:
    """Clusters renumbered after some mergers."""
    target = np.arange(int(clusters.max()) + 1)
    target[pairs[:, 1]] = pairs[:, 0]
    return np.asarray(np.unique(target[clusters], return_inverse=True)[1], dtype=np.int64)
