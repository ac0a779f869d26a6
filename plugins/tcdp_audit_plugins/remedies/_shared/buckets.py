"""Buckets of a confidential attribute: which of its values belong together, and what each bucket is called.

Consecutive values are divided by the least costly runs, values without an order are packed by their mass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heapreplace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import checkpoint, positions_of
from tcdp_audit.plugin.engine import Tree
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, interval_label, set_label
from tcdp_audit_plugins.remedies._shared.recoding import extremes, is_ranged, lineages, span_label
from tcdp_audit_plugins.remedies._shared.segments import inverse, starts_of

Integers = NDArray[np.int64]
Cost = Callable[[Integers, Integers], NDArray[Any]]  # of runs from each start to before each end


@dataclass(frozen=True)
class OptimalRuns:
    """The least costly divisions of a sequence into 1, 2, 3 ... runs."""

    values: int  # length of the sequence
    # for two runs and more, where the last of them begins if they end before each place. Each of shape (values + 1,)
    cuts: tuple[Integers, ...]

    def into(self, runs: int) -> Integers:
        """The run of each value, ascending from 0 to runs - 1. O(values)."""
        starts = [self.values]
        for cut in reversed(self.cuts[: runs - 1]):
            starts.append(int(cut[starts[-1]]))
        return np.searchsorted(np.array(starts[:0:-1]), np.arange(self.values), side="right")


def least_runs(values: int, most: int, cost: Cost) -> OptimalRuns:
    """Divide a sequence at the least total cost, into every number of runs up to a limit.

    Args:
        values: length of the sequence, at least 1.
        most: the largest number of runs, from 1 to values.
        cost: of runs. A run that contains another must cost more than both overlapping ones together save (the
            quadrangle inequality), as squares of masses do and products of mass and width.

    Cost: O(most x values x log values): the best place of a cut never moves back as a run's end moves on.

    Source: Yao, Efficient dynamic programming using quadrangle inequalities, STOC 1980.

    Example:
        >>> ends = np.cumsum([0, 1, 1, 1, 6, 2, 1])
        >>> least_runs(6, 3, lambda start, end: (ends[end] - ends[start]) ** 2).into(3).tolist()
        [0, 0, 0, 1, 2, 2]
    """
    places = np.arange(1, values + 1)
    whole = cost(np.zeros_like(places), places)
    best = np.concatenate([whole[:1] * 0, whole])
    cuts = []
    for runs in range(2, most + 1):
        checkpoint()
        best, cut = _one_more(best, cost, runs)
        cuts.append(cut)
    return OptimalRuns(values, tuple(cuts))


def _one_more(before: NDArray[Any], cost: Cost, runs: int) -> tuple[NDArray[Any], Integers]:
    """The least cost with one run more up to every place, and where that run begins.

    Places are worked through as a tree of halves, all halves of one depth at once: the best cut of a middle bounds
    those of both its halves.
    """
    best, cut = np.zeros_like(before), np.zeros(len(before), dtype=np.int64)
    left, right = np.array([runs]), np.array([len(before) - 1])
    low, high = np.array([runs - 1]), np.array([len(before) - 2])
    while len(left):
        checkpoint()
        middle = (left + right) // 2
        lengths = np.minimum(high, middle - 1) - low + 1
        offsets = starts_of(lengths)
        tried = positions_of(low, lengths)
        costs = before[tried] + cost(tried, np.repeat(middle, lengths))
        best[middle] = np.minimum.reduceat(costs, offsets)
        hits = np.flatnonzero(costs == np.repeat(best[middle], lengths))
        cut[middle] = tried[hits[np.searchsorted(hits, offsets)]]
        left, right = np.concatenate([left, middle + 1]), np.concatenate([middle - 1, right])
        low, high = np.concatenate([low, cut[middle]]), np.concatenate([cut[middle], high])
        still = left <= right
        left, right, low, high = left[still], right[still], low[still], high[still]
    return best, cut


def consecutive(masses: Integers, buckets: int) -> Integers:
    """Cut an order into runs whose masses are as near equal as whole values allow: least sum of squared masses.

    `masses` are the records with each value, at least 1, in order. Return the bucket of each value, ascending from 0 to
    buckets - 1. Shape (values,).

    Cost: O(buckets x values x log values).

    Example:
        >>> consecutive(np.array([1, 1, 1, 6, 2, 1]), 3).tolist()
        [0, 0, 0, 1, 2, 2]
    """
    ends = np.concatenate([[0], np.cumsum(masses)])
    return least_runs(len(masses), buckets, lambda start, end: (ends[end] - ends[start]) ** 2).into(buckets)


def pack(masses: Integers, buckets: int) -> Integers:
    """Put values without an order into buckets: the heaviest first, each into what is the lightest bucket then.

    `masses` are the records with each value, at least 1. Return the bucket of each value, numbered by their first
    value. The heaviest has at most 4/3 of the least possible.

    Cost: O(values x log values).

    Source: Graham, Bounds on multiprocessing timing anomalies, SIAM Journal on Applied Mathematics 17(2), 1969.

    Example:
        >>> pack(np.array([5, 3, 3, 2, 2]), 2).tolist()
        [0, 1, 1, 0, 1]
    """
    lightest = [(0, bucket) for bucket in range(buckets)]
    heapify(lightest)
    bucket_of = np.zeros(len(masses), dtype=np.int64)
    for value in np.argsort(-masses, kind="stable").tolist():
        mass, bucket = lightest[0]
        bucket_of[value] = bucket
        heapreplace(lightest, (mass + int(masses[value]), bucket))
    _, first = np.unique(bucket_of, return_index=True)
    return inverse(np.argsort(first))[bucket_of]


@dataclass(frozen=True)
class Buckets:
    """A confidential attribute in buckets."""

    attribute: Attribute
    of_value: Integers  # the bucket of each value of its domain; -1 for one that belongs to none, shape (domain,)
    missing_counts: bool = False  # whether records without a value are a bucket of their own, the last

    @property
    def values(self) -> int:
        """The number of buckets that hold values."""
        return int(self.of_value.max()) + 1

    @cached_property
    def of_record(self) -> Integers:
        """The bucket of each record; `values` for a record without one. Shape (records,)."""
        return np.append(np.where(self.of_value < 0, self.values, self.of_value), self.values)[self.attribute.codes]

    @cached_property
    def masses(self) -> Integers:
        """Records of each bucket that counts. Shape (buckets,)."""
        records = np.bincount(self.of_record, minlength=self.values + 1)
        return records if self.missing_counts and records[-1] else records[:-1]

    def labels(self) -> NewColumn:
        """The attribute with bucket labels: half-open intervals, ranges of ranks, nodes of the hierarchy, or sets."""
        groups = [np.flatnonzero(self.of_value == bucket) for bucket in range(self.values)]
        named = self._ranges(groups) if is_ranged(self.attribute) else self._sets(groups)
        return NewColumn.of_texts(named, self.of_record)

    def means(self) -> NewColumn:
        """The mean of each bucket's records in place of values, float64; a RemedyError where they are no numbers."""
        if not self.attribute.is_numeric:
            raise RemedyError(f"bucket means need numbers, and {self.attribute.name!r} holds other values; use labels")
        known = self.attribute.codes < self.attribute.domain.size
        numbers = self.attribute.domain.values[self.attribute.codes[known]].astype(np.float64)
        sums = np.bincount(self.of_record[known], weights=numbers)
        return NewColumn(sums / np.bincount(self.of_record[known]), self.of_record)

    def _ranges(self, groups: list[Integers]) -> list[str]:
        """Name the range from a bucket's first value to its last; of numbers, up to the next bucket's first."""
        domain, order = self.attribute.domain, self.attribute.declaration.order
        ends = [(int(group[0]), int(group[-1])) for group in groups]
        if order is not None:
            low, high = self.attribute.bounds
            return [interval_label(order[int(low[first])], order[int(high[last])]) for first, last in ends]
        if domain.covers is not None:
            edges = [(domain.covers[first], domain.covers[last]) for first, last in ends]
            return [
                span_label(one.low, two.high, open_start=one.low_open, open_end=two.high_open) for one, two in edges
            ]
        starts = [domain.labels[first] for first, _ in ends]
        inner = [interval_label(one, two, open_end=True) for one, two in pairwise(starts)]
        return [*inner, interval_label(starts[-1], domain.labels[ends[-1][1]])]

    def _sets(self, groups: list[Integers]) -> list[str]:
        """The values of a bucket; a node of the hierarchy where several make it up."""
        labels = self.attribute.domain.labels
        if self.attribute.tree is not None:
            labels = self._nodes(self.attribute.tree)
        return [set_label(sorted({labels[code] for code in group.tolist()})) for group in groups]

    def _nodes(self, tree: Tree) -> list[str]:
        """For each value the highest node that joins it to others and lies within its bucket; else itself."""
        present = np.flatnonzero(self.of_value >= 0)
        bucket = self.of_value[present]
        joined, level_of = np.ones(len(present), dtype=np.int64), np.zeros(len(self.of_value), dtype=np.int64)
        for level in range(1, tree.height + 1):
            node = tree.ancestors[level][present]
            least, greatest = extremes(bucket, bucket, node, tree.nodes(level))
            joins = np.bincount(node)[node]
            rises = (least == greatest)[node] & (joins > joined)
            joined[rises], level_of[present[rises]] = joins[rises], level
        names = lineages(self.attribute, "")[1]
        return [one[level] for one, level in zip(names, level_of.tolist(), strict=True)]


def bucketise(attribute: Attribute, buckets: int, *, missing_counts: bool = False) -> Buckets:
    """Join the values of an attribute into buckets of near-equal mass.

    Consecutive values where they are ordered, neighbours in the hierarchy where there is one, any values otherwise.

    Source: Domingo-Ferrer, Soria-Comas (2015), section 6.1.
    """
    masses = np.bincount(attribute.codes, minlength=attribute.domain.size + 1)[:-1]
    present = np.flatnonzero(masses)
    of_value = np.full(len(masses), -1)
    if is_ranged(attribute) or attribute.tree is not None:
        if not is_ranged(attribute) and attribute.tree is not None:
            present = present[np.lexsort(attribute.tree.ancestors[:, present])]
        of_value[present] = consecutive(masses[present], buckets)
    else:
        of_value[present] = pack(masses[present], buckets)
    return Buckets(attribute, of_value, missing_counts)
