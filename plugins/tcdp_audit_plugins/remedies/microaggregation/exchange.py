"""Local search: neighbouring clusters swap records, or give one away, as long as that lowers the sum of squares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, checkpoint
from tcdp_audit_plugins.remedies._shared.segments import rank_within
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, Positions

ROUNDING = 1e-12  # of the longest squared length: smaller gains are no gains
MOVE_CHUNK = 2**20  # distances held at once
ENOUGH = 1e-4  # a round that gains a smaller part of the loss is the last
NEIGHBOURS = 8
CHUNK = 2**22  # distances held at once


class Pricing:
    """The best move of each pair of clusters: two places of the table of members change their records.

    Where one of the two places is empty, the move gives a record away.

    Args:
        members: the clusters.
        pairs: of which clusters moves are looked for. Shape (pairs, 2).
        k: the least number of records in a cluster.
        kinds: only records of one kind are exchanged, and none is given away; None for no such restriction.
    """

    def __init__(self, members: Members, pairs: Positions, k: int, kinds: NDArray[np.int64] | None) -> None:
        self._members, self._pairs, self._k, self._kinds = members, pairs, k, kinds
        self._least = ROUNDING * float(members.points.norms.max(initial=1.0))
        self._places = np.zeros((2, len(pairs)), dtype=np.int64)
        self.gain = np.zeros(len(pairs))

    def look(self, stale: Positions) -> None:
        """Find the best move of some pairs, with a gain of 0 where there is none."""
        step = self._members.rows_at_once
        for start in range(0, len(stale), step):
            checkpoint()
            part = stale[start : start + step]
            gains = self._gains(*self._pairs[part].T)
            flat = gains.reshape(len(part), -1)
            best = flat.argmax(axis=1)
            self._places[:, part] = np.divmod(best, gains.shape[2])
            self.gain[part] = flat[np.arange(len(part)), best]
        self.gain[self.gain <= self._least] = 0.0

    def make(self, made: Positions) -> None:
        """Make the best moves of some pairs that share no cluster."""
        table, pairs, places = self._members.table, self._pairs[made], self._places[:, made]
        here, there = (pairs[:, 0], places[0]), (pairs[:, 1], places[1])
        table[here], table[there] = table[there], table[here]
        self._members.refresh(pairs.ravel())

    def _gains(self, one: Positions, other: Positions) -> Floats:
        """The gain of every two places of two clusters; -infinity where that is no move. Shape (pairs, a, b)."""
        table = self._members.table
        between = self._members.distances(one, other)
        first, second = (table[one] >= 0)[:, :, None], (table[other] >= 0)[:, None, :]
        gains = np.where(first & second, self._exchanging(one, other, between), -np.inf)
        if self._kinds is not None:
            same = self._kinds[table[one]][:, :, None] == self._kinds[table[other]][:, None, :]
            return np.where(same, gains, -np.inf)
        able = first & ~second & (first.sum(axis=1, keepdims=True) > self._k)
        gains = np.where(able, self._giving(one, other, between.sum(axis=2))[:, :, None], gains)
        able = ~first & second & (second.sum(axis=2, keepdims=True) > self._k)
        return np.where(able, self._giving(other, one, between.sum(axis=1))[:, None, :], gains)

    def _exchanging(self, one: Positions, other: Positions, between: Floats) -> Floats:
        """For x of A and y of B: (s_A(x) - s_A(y) + d_xy) / a + (s_B(y) - s_B(x) + d_xy) / b, s_A sums of d to A."""
        own, a, b = self._members.own, self._sizes(one), self._sizes(other)
        leaving = own[one] / a - between.sum(axis=2) / b
        joining = own[other] / b - between.sum(axis=1) / a
        return np.asarray(leaving[:, :, None] + joining[:, None, :] + between * (1 / a + 1 / b)[:, :, None])

    def _giving(self, one: Positions, other: Positions, between: Floats) -> Floats:
        """For x of A: W_A + W_B - (a W_A - s_A(x)) / (a - 1) - (b W_B + s_B(x)) / (b + 1), W sums of squares."""
        own, a, b = self._members.own, self._sizes(one), self._sizes(other)
        pairs_of_one, pairs_of_other = (own[rows].sum(axis=1, keepdims=True) / 2 for rows in (one, other))
        without = (pairs_of_one - own[one]) / np.maximum(a - 1, 1)
        joined = (pairs_of_other + between) / (b + 1)
        return np.asarray(pairs_of_one / a + pairs_of_other / b - without - joined)

    def _sizes(self, rows: Positions) -> NDArray[np.int64]:
        """The number of records of some clusters. Shape (rows, 1)."""
        return np.asarray((self._members.table[rows] >= 0).sum(axis=1, keepdims=True), dtype=np.int64)


class Members:
    """The records of each cluster; -1 is an empty place.

    The sum of squares of a cluster is the sum of the squared distances of its pairs over its size. So it needs no
    centroid, and it is the same for all scales of attributes.

    Args:
        points: the records.
        clusters: the cluster of each record.
        places: the least width of the table; the largest cluster may need more.
    """

    def __init__(self, points: Points, clusters: Clusters, places: int) -> None:
        sizes = np.bincount(clusters)
        self.points = points
        self.table = np.full((len(sizes), max(places, int(sizes.max()))), -1, dtype=np.intp)
        self.table[clusters, rank_within(clusters)] = np.arange(len(clusters))
        self.own = np.zeros(self.table.shape)  # of each member, the sum of its squared distances to its own cluster
        self.refresh(np.arange(len(sizes)))

    def __len__(self) -> int:
        """The number of clusters."""
        return len(self.table)

    @property
    def rows_at_once(self) -> int:
        """The number of pairs of clusters that are compared at once."""
        return int(max(MOVE_CHUNK // self.table.shape[1] ** 2, 1))

    @property
    def clusters(self) -> Clusters:
        """The cluster of each record."""
        rows, places = np.nonzero(self.table >= 0)
        clusters = np.empty(len(self.points), dtype=np.int64)
        clusters[self.table[rows, places]] = rows
        return clusters

    @property
    def loss(self) -> float:
        """The sum of squares within clusters."""
        return float((self.own.sum(axis=1) / (2 * (self.table >= 0).sum(axis=1))).sum())

    def refresh(self, rows: Positions) -> None:
        """Compute anew the distances within some clusters."""
        for start in range(0, len(rows), self.rows_at_once):
            checkpoint()
            part = rows[start : start + self.rows_at_once]
            self.own[part] = self.distances(part, part).sum(axis=2)

    def distances(self, one: Positions, other: Positions) -> Floats:
        """Squared distances of the members of two lists of clusters, 0 where there is no member. (pairs, a, b)."""
        first, second = self.table[one], self.table[other]
        distances = self.points.blocks(first, self.points, second)
        distances *= (first >= 0)[:, :, None]
        distances *= (second >= 0)[:, None, :]
        return distances


def exchange_records(points: Points, clusters: Clusters, k: int, kinds: NDArray[np.int64] | None = None) -> Clusters:
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
        >>> exchange_records(Points(np.array([[1.0], [9.0], [2.0], [8.0]])), np.array([0, 0, 1, 1]), 2).tolist()
        [1, 0, 1, 0]
    """
    members = Members(points, clusters, 2 * k - 1 if kinds is None else k)
    pairs = neighbour_pairs(points.centroids(clusters, len(members)))
    pricing = Pricing(members, pairs, k, kinds)
    stale = np.arange(len(pairs))
    while len(stale):
        checkpoint()
        pricing.look(stale)
        made = best_disjoint_pairs(pairs, pricing.gain, len(members))
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
        checkpoint()
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


def best_disjoint_pairs(pairs: Positions, gains: Floats, count: int) -> Positions:
    """Pairs with a positive gain, each the best of both its clusters, so that no two share a cluster.

    Of equal gains the first is the best. Return positions among the pairs; at least one where any gain is positive.

    Cost: O(pairs log pairs).
    """
    able = np.flatnonzero(gains > 0)
    order = able[np.argsort(-gains[able], kind="stable")]
    rank: NDArray[np.int64] = np.full(count, len(pairs), dtype=np.int64)
    np.minimum.at(rank, pairs[order].ravel(), np.repeat(np.arange(len(order)), 2))
    best_of_both = (rank[pairs[order]] == np.arange(len(order))[:, None]).all(axis=1)
    return np.asarray(order[best_of_both], dtype=np.intp)
