"""MDAV: clusters of k around the records that are farthest from the middle and from each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tcdp_audit.plugin._internal import Floats, checkpoint
from tcdp_audit.plugin.remedy import Progress, silent
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, Positions

Nearest = Callable[[Floats, int], Positions]  # which k records join a cluster, given their distances
SLACK = 8  # one in so many columns may be of a removed record before all of these are dropped
MANY = 4000  # values; of fewer, the k-th least is found as fast as a bound
GROUP = 64


class Remaining:
    """A set of records from which some are removed again and again. Positions are columns until the next removal.

    Args:
        points: the records. Where two are equally near or far, the first one is taken.
    """

    def __init__(self, points: Points) -> None:
        self._rows = np.vstack([points.numbers.T, points.norms])  # the last row adds |x|^2 to every product
        self._weights = np.ones(len(self._rows))
        self._labels = list(points.labels)
        self._label_distances = points.label_distances
        self._gone = np.zeros(0, dtype=np.intp)
        self._sums = points.numbers.sum(axis=0)
        labels = zip(self._labels, self._label_distances, strict=True)
        self._counts = [np.bincount(codes, minlength=one.missing + 1) for codes, one in labels]
        self.records = np.arange(len(points))

    def __len__(self) -> int:
        """The number of records that remain."""
        return len(self.records) - len(self._gone)

    @property
    def left(self) -> Positions:
        """The records that remain, in ascending order."""
        return np.delete(self.records, self._gone)

    def from_centroid(self) -> Floats:
        """Squared distances from the mean and the modes of the remaining records, less a constant."""
        return self._distances(self._sums / len(self), [int(counts[:-1].argmax()) for counts in self._counts])

    def from_record(self, position: int) -> Floats:
        """Squared distances from one of the records, less a constant; infinite for those removed."""
        return self._distances(self._rows[:-1, position], [int(codes[position]) for codes in self._labels])

    def _distances(self, numbers: Floats, labels: list[int]) -> Floats:
        # |x - c|^2 = |x|^2 - 2 x.c + |c|^2, and |c|^2 is the same for every x: it decides neither who is nearest nor
        # who is farthest, so it is left out. With |x|^2 as one more row of weight 1, all distances are one product of a
        # vector and a matrix, which reads the records once. The subtraction costs digits where numbers are far
        # from 0; those of `Points` are centred and scaled, so that only near ties could come out otherwise.
        self._weights[:-1] = numbers
        self._weights[:-1] *= -2
        distances = self._weights @ self._rows
        for label, codes, distances_of_labels in zip(labels, self._labels, self._label_distances, strict=True):
            distances += distances_of_labels.squared_from(label)[codes]
        return np.asarray(distances)

    def farthest(self, distances: Floats) -> int:
        """The record that is farthest away. Overwrites the distances of those removed."""
        distances[self._gone] = -np.inf
        return int(distances.argmax())

    def remove(self, positions: Positions) -> None:
        """Take some records out; what remains keeps its order."""
        self._sums -= self._rows[:-1, positions].sum(axis=1)
        for counts, codes in zip(self._counts, self._labels, strict=True):
            np.subtract.at(counts, codes[positions], 1)
        # A removed record has an infinite norm, hence an infinite distance, and stays in its column until one column in
        # SLACK is such: then all of these are dropped at once. So each sweep wastes an eighth at most, and copies of
        # the matrix cost O(n) amortised over the n / SLACK removals between two of them.
        self._rows[-1, positions] = np.inf
        self._gone = np.concatenate([self._gone, positions])
        if SLACK * len(self._gone) > len(self.records):
            self._shrink()

    def _shrink(self) -> None:
        stay = np.delete(np.arange(len(self.records)), self._gone)
        self._rows = self._rows.take(stay, axis=1)
        self._labels = [codes[stay] for codes in self._labels]
        self.records = self.records[stay]
        self._gone = self._gone[:0]


def least(values: Floats, k: int) -> Positions:
    """Positions of the k least values, of equal ones the first. O(values).

    Example:
        >>> least(np.array([3.0, 1.0, 2.0, 1.0, 2.0]), 3).tolist()
        [1, 3, 2]
    """
    near = np.flatnonzero(values <= _bound(values, k))
    if len(near) == k:
        return near
    bounded = values[near]
    kth = np.partition(bounded, k - 1)[k - 1]
    below, tied = near[bounded < kth], near[bounded == kth]
    return np.concatenate([below, tied[: k - len(below)]])


def _bound(values: Floats, k: int) -> float:
    """A number that at least k values do not exceed: the k-th least, or of many values that of the least of groups."""
    # The k-th least of the minima of disjoint groups is no less than the k-th least of all, since each minimum is a
    # value of its own. So at least k values do not exceed it, and few more do, as long as groups are many. A minimum
    # over rows of a matrix is a plain sweep, where a partition of all values would move them about.
    groups = len(values) // GROUP
    if groups > 2 * k and len(values) > MANY:
        values = values[: GROUP * groups].reshape(GROUP, groups).min(axis=0)
    return float(np.partition(values, k - 1)[k - 1])


def mdav(points: Points, k: int, nearest: Nearest = least, progress: Progress = silent) -> Clusters:
    """Cluster records: all clusters have k of them but the last, which has from k to 2k - 1.

    While 3k records remain, the one farthest from their centroid and the k - 1 nearest to it form a cluster, and so do
    the one farthest from that record and the k - 1 nearest to it.

    Args:
        points: the records, at least k; of equally far ones the first is taken.
        k: the size of a cluster.
        nearest: which records join, instead of the k nearest.
        progress: called with the number of records that have a cluster.

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
        checkpoint()
        both = _opposite(remaining, k, nearest)
        formed = both if len(remaining) >= 3 * k else both[:1]
        for members in formed:
            clusters[remaining.records[members]] = count
            count += 1
        remaining.remove(np.concatenate(formed))
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
