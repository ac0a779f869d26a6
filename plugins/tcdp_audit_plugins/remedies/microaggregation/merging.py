"""The policy's demands on clusters: those that fail are merged, or clusters take records of every quantile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, checkpoint, fold, positions_of
from tcdp_audit.plugin.remedy import Attribute, Demands, Progress, RemedyError, silent
from tcdp_audit_plugins.remedies._shared.search import smallest
from tcdp_audit_plugins.remedies._shared.segments import first_of_each, inverse, starts_of
from tcdp_audit_plugins.remedies.microaggregation.exchange import best_disjoint_pairs, exchange_records, nearest_others
from tcdp_audit_plugins.remedies.microaggregation.mdav import mdav
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, Positions

CHUNK = 2**22  # records judged at once
GROWTH = 1.25
TOLERATED = 0.01  # share of clusters drawn at random that may fail; those that do in the end are merged
PASSES = 3


@dataclass(frozen=True)
class ClusterDemands:
    """Decides which clusters keep the demands of the policy on equivalence classes."""

    demands: Demands
    order: Positions  # the place in the table of each record

    def satisfied(self, clusters: Clusters, count: int) -> NDArray[np.bool_]:
        """The clusters that keep every demand. Shape (count,)."""
        by_place = np.empty_like(clusters)
        by_place[self.order] = clusters
        return self.demands.satisfied_by(by_place, count)

    def unions_satisfied(self, clusters: Clusters, count: int, pairs: Positions) -> NDArray[np.bool_]:
        """The pairs of clusters that would keep every demand as one cluster. The two clusters of a pair are different.

        Return bool, shape (pairs,).

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
        return self.demands.satisfied_by(union, len(pairs), self.order[records])


class Quantiles:
    """Records in order of the confidential attribute, cut into equally large quantiles.

    Args:
        values: the place of each record's confidential value.
        size: how many quantiles, and so how many records a cluster has; at most that of all records.
    """

    def __init__(self, values: NDArray[np.int64], size: int) -> None:
        ordered = np.argsort(values, kind="stable")
        self.clusters = len(values) // size
        bounds = np.arange(size + 1) * len(values) // size
        larger = np.diff(bounds) > self.clusters  # by one record, which then is surplus
        middle = bounds[:-1][larger] + self.clusters // 2
        self.surplus = ordered[middle]
        self.table = np.delete(ordered, middle).reshape(size, self.clusters)

    def drawn(self, generator: np.random.Generator) -> Clusters:
        """Clusters of a random record of every quantile; each surplus record joins one of them."""
        clusters = np.empty(self.table.size + len(self.surplus), dtype=np.int64)
        clusters[generator.permuted(self.table, axis=1)] = np.arange(self.clusters)
        clusters[self.surplus] = np.arange(len(self.surplus)) % self.clusters
        return clusters

    def cluster(self, points: Points, *, exchange: bool, progress: Progress = silent) -> Clusters:
        """Clusters of one record of every quantile, near each other; each surplus record joins the nearest.

        The records are chosen as MDAV chooses them; with `exchange`, clusters then exchange records of one quantile.

        Cost: that of MDAV.
        """
        size, records = len(self.table), self.table.ravel()
        inside = points.take(records)
        inner = mdav(inside, size, _nearest_of_each, progress)
        if exchange:
            inner = exchange_records(inside, inner, size, np.repeat(np.arange(size), self.clusters))
        clusters = np.empty(len(points), dtype=np.int64)
        clusters[records] = inner
        if len(self.surplus):
            centroids = inside.centroids(inner, self.clusters)
            distances = points.blocks(self.surplus[None], centroids, np.arange(self.clusters)[None])[0]
            clusters[self.surplus] = distances.argmin(axis=1)
        return clusters


def _nearest_of_each(distances: Floats, size: int) -> Positions:
    """The nearest record of every quantile; each quantile has lost equally many so far."""
    by_quantile = distances.reshape(size, -1)
    return np.asarray(by_quantile.argmin(axis=1) + np.arange(size) * by_quantile.shape[1], dtype=np.intp)


def smallest_size(
    values: NDArray[np.int64], k: int, demands: ClusterDemands, generator: Callable[[], np.random.Generator]
) -> int:
    """The fewest quantiles, at least k, of which 99 % of the clusters drawn at random keep the demands.

    Return a number of records in a cluster; that of all records where no fewer will do.

    Cost: judging the records about 5 log(n / k) times.
    """

    def suffices(size: int) -> bool:
        quantiles = Quantiles(values, size)
        satisfied = demands.satisfied(quantiles.drawn(generator()), quantiles.clusters)
        return bool((~satisfied).mean() <= TOLERATED)

    most = len(values)
    return smallest(lambda size: size >= most or suffices(size), k, most, growth=GROWTH) or most


def places(sensitive: Sequence[Attribute], order: Positions) -> NDArray[np.int64]:
    """The place of each record's confidential values, first by the first attribute. Shape (records,), int64.

    Without a sensitive attribute all records have one place.

    Cost: O(records x attributes), and a sort of the labels of each.
    """
    columns = [_places_of_values(one)[one.codes[order]] for one in sensitive]
    radices = [one.domain.size + 1 for one in sensitive]
    return fold(columns, radices).values if columns else np.zeros(len(order), dtype=np.int64)


def _places_of_values(attribute: Attribute) -> NDArray[np.int64]:
    """The place of each value: of the scale, or such that labels of one node of the hierarchy are neighbours."""
    if attribute.tree is None or attribute.is_ordered:
        return np.arange(attribute.domain.size + 1)  # missing values come last
    return np.append(inverse(np.lexsort(attribute.tree.ancestors)), attribute.domain.size)


def confidential_attribute(sensitive: Sequence[Attribute], name: str | None) -> Attribute:
    """The attribute of this name, or the only one; a RemedyError where there is none, or no name and several."""
    candidates = [one for one in sensitive if name in (None, one.name)]
    if len(candidates) != 1:
        raise RemedyError("`closeness: first` starts from one sensitive attribute; name it in `attribute`")
    return candidates[0]


def merge_failing(points: Points, clusters: Clusters, demands: ClusterDemands, progress: Progress = silent) -> Clusters:
    """Merge every cluster that fails with one near it, in rounds, until none fails.

    Of the up to eight clusters whose merger with it loses least, a failing cluster prefers one with which it would keep
    the demands. A cluster takes part in one merger a round.

    Args:
        points: the records.
        clusters: the cluster of each record.
        demands: decides, exactly, which clusters keep the demands.
        progress: called with the number of clusters that need no merger.

    Returns:
        Clusters that all keep the demands; one cluster of all records where nothing else is left, whether it does or
        not.

    Cost: a round takes O(f c d) for f failing of c clusters and judges 8 f unions; it merges at least one pair.

    Source: Soria-Comas, Domingo-Ferrer, Sanchez, Martinez, IEEE TKDE 27(11), 2015, algorithm 1.
    """
    total = int(clusters.max()) + 1
    while True:
        checkpoint()
        count = int(clusters.max()) + 1
        failing = np.flatnonzero(~demands.satisfied(clusters, count))
        progress("merging clusters", total - len(failing), total)
        if not len(failing) or count == 1:
            return clusters
        clusters = _join(clusters, _mergers(points, clusters, count, failing, demands))


def _mergers(points: Points, clusters: Clusters, count: int, failing: Positions, demands: ClusterDemands) -> Positions:
    """Pairs of clusters to merge, none in two pairs. Shape (pairs, 2)."""
    sizes = np.bincount(clusters, minlength=count).astype(np.float64)
    partners, losses = nearest_others(points.centroids(clusters, count), failing, sizes)
    pairs = np.stack([np.repeat(failing, partners.shape[1]), partners.ravel()], axis=1)
    gains = _preference(losses.ravel(), demands.unions_satisfied(clusters, count, pairs))
    chosen = []
    while (gains > 0).any():
        checkpoint()
        made = best_disjoint_pairs(pairs, gains, count)
        chosen.append(pairs[made])
        gains[np.isin(pairs, pairs[made]).any(axis=1)] = 0
    return np.concatenate(chosen)


def _preference(losses: Floats, satisfied: NDArray[np.bool_]) -> Floats:
    """A positive number for each pair: larger where the union keeps the demands, then where it loses less."""
    preference = np.empty(len(losses))
    preference[np.lexsort((losses, ~satisfied))] = np.arange(len(losses), 0, -1)
    return preference


def _join(clusters: Clusters, pairs: Positions) -> Clusters:
    target = np.arange(int(clusters.max()) + 1)
    target[pairs[:, 1]] = pairs[:, 0]
    return np.asarray(np.unique(target[clusters], return_inverse=True)[1], dtype=np.int64)


def halve_where_satisfied(
    points: Points, clusters: Clusters, k: int, values: NDArray[np.int64], demands: ClusterDemands
) -> Clusters:
    """Halve clusters so that either half has nearly the distribution of the whole.

    The records of a cluster are paired in the order of their confidential values. One of each pair goes to either half,
    whichever way is nearer: to two opposite records at first, then to the centroids of the halves so far.

    Args:
        points: the records.
        clusters: the cluster of each record; at least two in each.
        k: the least number of records in a half.
        values: the place of each record's confidential value.
        demands: decides, exactly, which halves keep the demands.

    Returns:
        Clusters with at most the same sum of squares; halves that are kept keep the demands.

    Cost: a round takes O(n log n + n d) and halves each cluster at most once; about log(n / k) rounds.
    """
    while True:
        checkpoint()
        count = int(clusters.max()) + 1
        finer = 2 * clusters + _halves(points, clusters, count, values)
        satisfied = demands.satisfied(finer, 2 * count) & (np.bincount(finer, minlength=2 * count) >= k)
        both = satisfied[::2] & satisfied[1::2]
        if not both.any():
            return clusters
        clusters = np.where(both[clusters], finer, 2 * clusters)
        clusters = np.asarray(np.unique(clusters, return_inverse=True)[1], dtype=np.int64)


def _halves(points: Points, clusters: Clusters, count: int, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """0 or 1 for each record, so that both occur in every cluster."""
    pairs = _pairs_in_order(clusters, values)
    everyone = np.arange(len(points))
    from_centroid = points.squared(everyone, points.centroids(clusters, count), clusters)
    pole = _farthest(from_centroid, clusters)
    from_pole = points.squared(everyone, points, pole[clusters])
    opposite = _farthest(from_pole, clusters)
    half = _sides(from_pole - points.squared(everyone, points, opposite[clusters]), pairs)
    for _ in range(PASSES - 1):
        checkpoint()
        centroids = points.centroids(2 * clusters + half, 2 * count)
        nearer = points.squared(everyone, centroids, 2 * clusters)
        half = _sides(nearer - points.squared(everyone, centroids, 2 * clusters + 1), pairs)
    return half


def _pairs_in_order(clusters: Clusters, values: NDArray[np.int64]) -> Positions:
    """Neighbours in the order of the confidential values of each cluster; an odd one is left out. Shape (2, pairs)."""
    order = np.lexsort((values, clusters))
    sizes = np.bincount(clusters)
    place = np.arange(len(order)) - np.repeat(starts_of(sizes), sizes)
    first = np.flatnonzero((place % 2 == 0) & (place + 1 < np.repeat(sizes, sizes)))
    return np.stack([order[first], order[first + 1]])


def _sides(leaning: Floats, pairs: Positions) -> NDArray[np.int64]:
    """The half of each record: of a pair, the one that leans more towards the second half is in it."""
    one, other = pairs
    half = (leaning > 0).astype(np.int64)
    half[one] = leaning[one] > leaning[other]
    half[other] = 1 - half[one]
    return half


def _farthest(distances: Floats, clusters: Clusters) -> Positions:
    """The record of each cluster with the largest distance, the first of those that tie."""
    return first_of_each(clusters, np.argsort(-distances, kind="stable"))[1]
