"""Top-down partitioning, all partitions of a level at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.remedies.mondrian.axes import Axis, mean_width
from tcdp_audit_plugins.remedies.mondrian.cuts import Strategy, cuts_of
from tcdp_audit_plugins.remedies.mondrian.parts import AllowedParts, Mask, allowed_parts
from tcdp_audit_plugins.remedies.mondrian.place_runs import Indices, Integers

Progress = Callable[[int], None]
Keep = Callable[[Integers, int, Indices], Mask]  # classes, their count, and the rows they are of: which are allowed


@dataclass(frozen=True)
class Partitioning:
    """A table cut into classes.

    Args:
        classes: the class of each row, from 0 to count - 1. Shape (rows,).
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
        axes: the dimensions, at least one; each has a place for every row.
        times: how many records each row stands for. Shape (rows,).
        weights: how much each of them matters.
        keep: which classes are allowed, each judged by itself.
        least: no class of fewer records is allowed.
    """

    axes: Sequence[Axis]
    times: Floats
    weights: Sequence[float]
    keep: Keep
    least: int

    def judge(self, rows: Indices) -> AllowedParts:
        """The rule that says which parts of some rows are allowed."""
        return lambda here, part, count: self.keep(part, count, rows[here])

    def penalty(self, classes: Integers) -> float:
        """Normalised certainty penalty of some classes: weighted mean over the axes, mean over the records."""
        return float(np.average([mean_width(axis, classes, self.times) for axis in self.axes], weights=self.weights))


def partition_table(space: Space, roots: Integers, strategy: Strategy, progress: Progress) -> Partitioning:
    """Cut partitions until none can be cut any more.

    Args:
        space: the dimensions and demands.
        roots: the partition of each row to start with, from 0 without a gap; each is allowed. Shape (rows,).
        strategy: which cut of a partition is tried first.
        progress: called with how many rows are done.

    Returns:
        Classes that are all allowed; rows in one root with the same values stay together.

    Cost: for every level a grouping of the rows that are not done on each axis, and a judgement of their parts for
    each axis that was tried. Only levels, axes and the height of hierarchies are looped over.
    """
    classes = np.zeros(len(roots), dtype=np.int64)
    rows, partition, done, levels = np.arange(len(roots)), roots, 0, 0
    while len(rows):
        part = _level(space, rows, partition, strategy)
        final = part < 0
        numbers, finished = _renumber(partition[final])
        classes[rows[final]] = done + numbers
        done += finished
        levels += 1
        progress(int(final.sum()))
        rows, partition = rows[~final], _renumber(part[~final])[0]
    return Partitioning(classes, done, levels)


def _renumber(numbers: Integers) -> tuple[Integers, int]:
    """The same numbers from 0 without a gap, and how many there are. O(rows + largest number)."""
    occurs = np.bincount(numbers) > 0
    return (np.cumsum(occurs) - 1)[numbers], int(occurs.sum())


def _level(space: Space, rows: Indices, partition: Integers, strategy: Strategy) -> Integers:
    """Cut each partition once, in the first way that is allowed.

    Returns:
        The part of each row, -1 where its partition cannot be cut. Shape (rows,).
    """
    part = np.full(len(rows), -1)
    large = np.bincount(partition, space.times[rows])[partition] >= 2 * space.least
    if large.any():
        here = np.flatnonzero(large)
        part[here] = _divide(space, rows[here], _renumber(partition[here])[0], strategy)
    return part


def _divide(space: Space, rows: Indices, partition: Integers, strategy: Strategy) -> Integers:
    cuts = cuts_of(space.axes, space.weights, rows, partition, space.times[rows], strategy)
    part, largest = np.full(len(rows), -1), -1
    open_ = np.ones(cuts.ranking.shape[1], dtype=bool)
    for rank, depth in strategy.turns(len(space.axes), len(cuts.nodes)):
        axis = np.where(open_ & (cuts.depths[rank] > depth), cuts.ranking[rank], -1)
        if not (axis >= 0).any():
            continue
        tried = np.flatnonzero(axis[partition] >= 0)
        parts = allowed_parts(cuts.cut(axis, depth, tried, partition[tried]), space.judge(rows[tried]))
        here = tried[parts >= 0]
        part[here] = parts[parts >= 0] + largest + 1
        largest = int(part.max())
        open_[partition[here]] = False
    return part
