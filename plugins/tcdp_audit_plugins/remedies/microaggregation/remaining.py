"""The records that are in no cluster yet, kept small: every sweep over them is one product of a vector and a matrix."""

from __future__ import annotations

import numpy as np

from tcdp_audit.exact import Floats
from tcdp_audit_plugins.remedies.microaggregation.points import Points, Positions

SLACK = 8  # one in so many columns may be of a removed record before all of these are dropped
MANY = 4000  # values; of fewer, the k-th least is found as fast as a bound
GROUP = 64


class Remaining:
    """A set of records from which some are removed again and again. Positions are columns until the next removal.

    Args:
        points: the records. Where two are equally near or far, the one that stands first is taken.
    """

    def __init__(self, points: Points) -> None:
        self._rows = np.vstack([points.numbers.T, points.norms])  # the last row adds |x|^2 to every product
        self._weights = np.ones(len(self._rows))
        self._labels = list(points.labels)
        self._grounds = points.grounds
        self._gone = np.zeros(0, dtype=np.intp)
        self._sums = points.numbers.sum(axis=0)
        self._held = [np.bincount(c, minlength=g.missing + 1) for c, g in zip(self._labels, self._grounds, strict=True)]
        self.records = np.arange(len(points))

    def __len__(self) -> int:
        """How many records remain."""
        return len(self.records) - len(self._gone)

    @property
    def left(self) -> Positions:
        """The records that remain, in ascending order."""
        return np.delete(self.records, self._gone)

    def from_centroid(self) -> Floats:
        """Squared distances from the mean and the modes of the remaining records, less a constant."""
        return self._distances(self._sums / len(self), [int(held[:-1].argmax()) for held in self._held])

    def from_record(self, position: int) -> Floats:
        """Squared distances from one of the records, less a constant; infinite for those removed."""
        return self._distances(self._rows[:-1, position], [int(codes[position]) for codes in self._labels])

    def _distances(self, numbers: Floats, labels: list[int]) -> Floats:
        self._weights[:-1] = numbers
        self._weights[:-1] *= -2
        found = self._weights @ self._rows
        for label, codes, ground in zip(labels, self._labels, self._grounds, strict=True):
            found += ground.squared_from(label)[codes]
        return np.asarray(found)

    def farthest(self, distances: Floats) -> int:
        """The record that is farthest away. Overwrites the distances of those removed."""
        distances[self._gone] = -np.inf
        return int(distances.argmax())

    def remove(self, positions: Positions) -> None:
        """Take some records out; what remains keeps its order."""
        self._sums -= self._rows[:-1, positions].sum(axis=1)
        for held, codes in zip(self._held, self._labels, strict=True):
            np.subtract.at(held, codes[positions], 1)
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
    found = values[near]
    kth = np.partition(found, k - 1)[k - 1]
    below, tied = near[found < kth], near[found == kth]
    return np.concatenate([below, tied[: k - len(below)]])


def _bound(values: Floats, k: int) -> float:
    """A number that at least k values do not exceed: the k-th least, or of many values that of the least of groups."""
    groups = len(values) // GROUP
    if groups > 2 * k and len(values) > MANY:
        values = values[: GROUP * groups].reshape(GROUP, groups).min(axis=0)
    return float(np.partition(values, k - 1)[k - 1])
