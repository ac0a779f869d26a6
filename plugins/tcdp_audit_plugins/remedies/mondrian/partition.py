"""Partitions: where a part of the release may be cut, and the cuts carried out until no part can be cut any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, checkpoint
from tcdp_audit_plugins.remedies._shared.segments import starts_of
from tcdp_audit_plugins.remedies.mondrian.axes import Axis, mean_width
from tcdp_audit_plugins.remedies.mondrian.rank_ranges import (
    AllowedParts,
    Cut,
    Indices,
    Integers,
    Mask,
    RankRuns,
    Rows,
    allowed_parts,
    rank_runs,
)

Progress = Callable[[int], None]
Keep = Callable[[Integers, int, Indices], Mask]  # classes, their count, and the rows they are of: which are allowed


class CutScore(NamedTuple):
    """The merit of cutting each partition on an axis, if all parts are allowed. All shapes (partitions,)."""

    width: Floats  # its certainty penalty on that axis
    saved: Floats  # how much less the mean penalty of its records is after the cut
    bits: Floats  # the entropy of the parts' sizes, which is what the cut uses up; 0 where it leaves a single part

    def of(self, partitions: NDArray[np.intp]) -> CutScore:
        """The figures of some partitions."""
        return CutScore(self.width[partitions], self.saved[partitions], self.bits[partitions])


@dataclass(frozen=True)
class Strategy:
    """A way to choose the next cut."""

    score: Callable[[CutScore], Floats]  # how early an axis is tried, given the worth of its cuts; at least 0
    # whether an axis whose cut is not allowed is tried level by level below it before the next axis is; otherwise only
    # after all axes
    deeper_at_once: bool = False

    def turns(self, axes: int, depths: int) -> Iterator[tuple[int, int]]:
        """The turns in which cuts are tried: rank among the axes, and depth of the cut."""
        if self.deeper_at_once:
            return ((rank, depth) for rank in range(axes) for depth in range(depths))
        return ((rank, depth) for depth in range(depths) for rank in range(axes))


def _saving_per_bit(cut_score: CutScore) -> Floats:
    return cut_score.saved / cut_score.bits


STRATEGIES: Mapping[str, Strategy] = {
    "widest": Strategy(lambda cut_score: cut_score.width),
    "saving_per_bit": Strategy(_saving_per_bit),
    "saving_per_bit_deeper": Strategy(_saving_per_bit, deeper_at_once=True),
    "saving_per_root_bit_deeper": Strategy(
        lambda cut_score: cut_score.saved / np.sqrt(cut_score.bits), deeper_at_once=True
    ),
}


@dataclass(frozen=True)
class Cuts:
    """The cuts of every partition on every axis."""

    partition: Integers  # the partition of each run of any axis; one axis after the other, shape (runs,)
    axis: Integers  # the axis of each run
    size: Integers  # how many records it has
    nodes: Integers  # see `Axis.nodes`, shape (depths, runs)
    run: Rows  # the run of each row on each axis, shape (axes, rows)
    ranking: Integers  # for each partition its axes, the one that is tried first on top, shape (axes, partitions)
    depths: Integers  # how deep each of those can be cut, 0 where not at all

    def cut(self, axis: Integers, depth: int, rows: Indices, partition: Integers) -> Cut:
        """The cut of some partitions on one axis each.

        An axis of -1 leaves its partition uncut; `depth` is the first depth that is tried.
        """
        # Runs of all axes lie behind one another, so one comparison picks, for every partition at once, those of the
        # axis on which it is cut: no loop over partitions, of which a level may have hundreds of thousands. The
        # cumulative sum numbers what was picked, and is read only at runs that were: each row's run on its own axis.
        used = self.axis == axis[self.partition]
        number = np.cumsum(used) - 1
        run = number[self.run[axis[partition], rows]]
        return Cut(self.partition[used], self.size[used], self.nodes[depth:, used], run, len(axis))


def cuts_of(
    axes: Sequence[Axis],
    weights: Sequence[float],
    rows: Indices,
    partition: Integers,
    times: Floats,
    strategy: Strategy,
) -> Cuts:
    """The cuts of every partition, of which none is empty. Cost: that of `rank_runs` for each axis."""
    runs_of_axis = [rank_runs(partition, axis.place[rows], axis.places, times) for axis in axes]
    nodes = [axis.nodes(runs) for axis, runs in zip(axes, runs_of_axis, strict=True)]
    cut_scores = [_cut_score(axis, runs, cut[0]) for axis, runs, cut in zip(axes, runs_of_axis, nodes, strict=True)]
    scores = np.stack(
        [_score(cut_score, weight, strategy) for cut_score, weight in zip(cut_scores, weights, strict=True)]
    )
    depths = np.stack([_depths(runs, cut) for runs, cut in zip(runs_of_axis, nodes, strict=True)])
    ranking = np.argsort(-scores, axis=0, kind="stable")
    sizes = [len(runs.place) for runs in runs_of_axis]
    first = starts_of(np.array(sizes))
    return Cuts(
        partition=np.concatenate([runs.partition for runs in runs_of_axis]),
        axis=np.repeat(np.arange(len(axes)), sizes),
        size=np.concatenate([runs.size for runs in runs_of_axis]),
        nodes=_side_by_side(nodes),
        run=np.stack([runs.of_row + np.int32(start) for runs, start in zip(runs_of_axis, first.tolist(), strict=True)]),
        ranking=ranking,
        depths=np.take_along_axis(np.where(scores < 0, 0, depths), ranking, axis=0),
    )


def _side_by_side(nodes: Sequence[Integers]) -> Integers:
    """The nodes of all axes side by side; the depths that an axis does not have are -1."""
    depths = max(len(one) for one in nodes)
    return np.concatenate([np.pad(one, ((0, depths - len(one)), (0, 0)), constant_values=-1) for one in nodes], axis=1)


def _cut_score(axis: Axis, runs: RankRuns, node: Integers) -> CutScore:
    """The merit of cutting each partition on an axis; `node` are the parts, by run."""
    # The runs of a part lie next to each other, so that a part begins where the node or the partition changes. Widths
    # and sizes of all parts of all partitions are then segment sums between these heads (`reduceat`), and what belongs
    # to a partition is a `bincount` by its number: O(runs) for the whole level, whatever the number of partitions.
    begins = np.ones(len(node), dtype=bool)
    begins[1:] = (node[1:] != node[:-1]) | (runs.partition[1:] != runs.partition[:-1])
    heads = np.flatnonzero(begins)
    of, partitions = runs.partition[heads], len(runs.starts)
    share = np.add.reduceat(runs.size, heads) / runs.partition_size[of]
    width = axis.width(runs.ranges(runs.starts))
    left = np.bincount(of, axis.width(runs.ranges(heads)) * share, partitions)
    bits: Floats = np.bincount(of, weights=-share * np.log2(share), minlength=partitions).astype(np.float64)
    return CutScore(width, np.maximum(width - left, 0.0), bits)


def _score(cut_score: CutScore, weight: float, strategy: Strategy) -> Floats:
    """The score by which each partition is cut early or late; -1 where the cut leaves it in one part."""
    score = np.full(len(cut_score.bits), -1.0)
    divided = np.flatnonzero(cut_score.bits > 0)
    score[divided] = weight * strategy.score(cut_score.of(divided))
    return score


def _depths(runs: RankRuns, nodes: Integers) -> Integers:
    """The number of levels of nodes of each partition."""
    depths = np.zeros(len(runs.starts), dtype=np.int64)
    for depth, row in enumerate(nodes, 1):
        depths[runs.partition[row >= 0]] = depth
    return depths


@dataclass(frozen=True)
class Partitioning:
    """A table cut into classes."""

    classes: Integers  # the class of each row, from 0 to count - 1, shape (rows,)
    count: int  # how many there are
    levels: int  # how often the table was gone through


@dataclass(frozen=True)
class Space:
    """A space to cut, and the demands that every part must keep."""

    axes: Sequence[Axis]  # the dimensions, at least one; each has a place for every row
    times: Floats  # how many records each row represents, shape (rows,)
    weights: Sequence[float]  # how much each of them matters
    keep: Keep  # which classes are allowed, each judged by itself
    least: int  # no class of fewer records is allowed

    def judge(self, rows: Indices) -> AllowedParts:
        """The rule that says which parts of some rows are allowed."""
        return lambda here, part, count: self.keep(part, count, rows[here])

    def penalty(self, classes: Integers) -> float:
        """Normalised certainty penalty of some classes: weighted mean over the axes, mean over the records."""
        return float(np.average([mean_width(axis, classes, self.times) for axis in self.axes], weights=self.weights))


def partition_table(space: Space, roots: Integers, strategy: Strategy, progress: Progress) -> Partitioning:
    """Cut partitions until none can be cut any more.

    Partitions of the `roots` are numbered from 0 without a gap, and each is allowed. Return classes that are all
    allowed; rows in one root with the same values stay together.

    Cost: for every level a grouping of the rows that are not done on each axis, and a judgement of their parts for
    each axis that was tried. Only levels, axes and the height of hierarchies are looped over.
    """
    classes = np.zeros(len(roots), dtype=np.int64)
    rows, partition, done, levels = np.arange(len(roots)), roots, 0, 0
    while len(rows):
        checkpoint()
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

    Return the part of each row, -1 where its partition cannot be cut. Shape (rows,).
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
