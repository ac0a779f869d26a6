"""Top-down partitioning, all partitions of a level at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tcdp_audit.plugin import Progress
from tcdp_audit_plugins.remedies.mondrian.axes import Axis, mean_width
from tcdp_audit_plugins.remedies.mondrian.cuts import Strategy, cuts_of
from tcdp_audit_plugins.remedies.mondrian.parts import AllowedParts, Mask, allowed_parts
from tcdp_audit_plugins.remedies.mondrian.place_runs import Indices, Integers

Keep = Callable[[Integers, int, Indices], Mask]  # classes, their count, and the records they are of: which are allowed


@dataclass(frozen=True)
class Partitioning:
    """A table cut into classes.

    Args:
        classes: the class of each record, from 0 to count - 1. Shape (records,).
        count: how many there are.
        levels: how often the table was gone through.
    """

    classes: Integers
    count: int
    levels: int


@dataclass(frozen=True)
class Space:
    """A space to cut, and the demands that every part must keep.

    Args:
        axes: the dimensions, at least one.
        weights: how much each of them matters.
        keep: which classes are allowed, each judged by itself.
        least: no class of fewer records is allowed.
    """

    axes: Sequence[Axis]
    weights: Sequence[float]
    keep: Keep
    least: int

    def judge(self, records: Indices) -> AllowedParts:
        """The rule that says which parts of some records are allowed."""
        return lambda rows, part, count: self.keep(part, count, records[rows])

    def penalty(self, classes: Integers) -> float:
        """Normalised certainty penalty of some classes: weighted mean over the axes, mean over the records."""
        return float(np.average([mean_width(axis, classes) for axis in self.axes], weights=self.weights))


def partition_table(space: Space, roots: Integers, strategy: Strategy, progress: Progress) -> Partitioning:
    """Cut partitions until none can be cut any more.

    Args:
        space: the dimensions and demands.
        roots: the partition of each record to start with, from 0 without a gap; each is allowed. Shape (records,).
        strategy: which cut of a partition is tried first.
        progress: called with (step, records done, records).

    Returns:
        Classes that are all allowed; records in one root with the same values stay together.

    Cost: for every level a grouping of the records that are not done on each axis, and a judgement of their parts for
    each axis that was tried. Only levels, axes and the height of hierarchies are looped over.
    """
    classes = np.zeros(len(roots), dtype=np.int64)
    records, partition, done, levels = np.arange(len(roots)), roots, 0, 0
    while len(records):
        part = _level(space, records, partition, strategy)
        final = part < 0
        numbers, finished = _renumber(partition[final])
        classes[records[final]] = done + numbers
        done += finished
        levels += 1
        records, partition = records[~final], _renumber(part[~final])[0]
        progress("cutting partitions", len(roots) - len(records), len(roots))
    return Partitioning(classes, done, levels)


def _renumber(numbers: Integers) -> tuple[Integers, int]:
    """The same numbers from 0 without a gap, and how many there are. O(records + largest number)."""
    occurs = np.bincount(numbers) > 0
    return (np.cumsum(occurs) - 1)[numbers], int(occurs.sum())


def _level(space: Space, records: Indices, partition: Integers, strategy: Strategy) -> Integers:
    """Cut each partition once, in the first way that is allowed.

    Returns:
        The part of each record, -1 where its partition cannot be cut. Shape (records,).
    """
    part = np.full(len(records), -1)
    large = np.bincount(partition)[partition] >= 2 * space.least
    if large.any():
        here = np.flatnonzero(large)
        part[here] = _divide(space, records[here], _renumber(partition[here])[0], strategy)
    return part


def _divide(space: Space, records: Indices, partition: Integers, strategy: Strategy) -> Integers:
    cuts = cuts_of(space.axes, space.weights, records, partition, strategy)
    part, largest = np.full(len(records), -1), -1
    open_ = np.ones(cuts.ranking.shape[1], dtype=bool)
    for rank, depth in strategy.turns(len(space.axes), len(cuts.nodes)):
        axis = np.where(open_ & (cuts.depths[rank] > depth), cuts.ranking[rank], -1)
        if not (axis >= 0).any():
            continue
        rows = np.flatnonzero(axis[partition] >= 0)
        parts = allowed_parts(cuts.cut(axis, depth, rows, partition[rows]), space.judge(records[rows]))
        here = rows[parts >= 0]
        part[here] = parts[parts >= 0] + largest + 1
        largest = int(part.max())
        open_[partition[here]] = False
    return part
