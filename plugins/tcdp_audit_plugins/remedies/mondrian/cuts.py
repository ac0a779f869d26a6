"""Cuts of the partitions of a level on each axis, their worth, and the axis that is tried first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, starts_of
from tcdp_audit_plugins.remedies.mondrian.axes import Axis
from tcdp_audit_plugins.remedies.mondrian.parts import Cut
from tcdp_audit_plugins.remedies.mondrian.place_runs import Indices, Integers, PlaceRuns, Rows, place_runs


class Worth(NamedTuple):
    """The worth of cutting each partition on an axis, if all parts are allowed. All shapes (partitions,).

    Args:
        width: its certainty penalty on that axis.
        saved: how much less the mean penalty of its records is after the cut.
        bits: the entropy of the parts' sizes, which is what the cut uses up; 0 where it leaves a single part.
    """

    width: Floats
    saved: Floats
    bits: Floats

    def of(self, partitions: NDArray[np.intp]) -> Worth:
        """That of some partitions."""
        return Worth(self.width[partitions], self.saved[partitions], self.bits[partitions])


@dataclass(frozen=True)
class Strategy:
    """A way to choose the next cut.

    Args:
        score: how early an axis is tried, given the worth of its cuts; at least 0.
        deeper_at_once: whether an axis whose cut is not allowed is tried level by level below it before the next axis
            is; otherwise only after all axes.
    """

    score: Callable[[Worth], Floats]
    deeper_at_once: bool = False

    def turns(self, axes: int, depths: int) -> Iterator[tuple[int, int]]:
        """The turns in which cuts are tried: rank among the axes, and depth of the cut."""
        if self.deeper_at_once:
            return ((rank, depth) for rank in range(axes) for depth in range(depths))
        return ((rank, depth) for depth in range(depths) for rank in range(axes))


def _saving_per_bit(worth: Worth) -> Floats:
    return worth.saved / worth.bits


STRATEGIES: Mapping[str, Strategy] = {
    "widest": Strategy(lambda worth: worth.width),
    "saving_per_bit": Strategy(_saving_per_bit),
    "saving_per_bit_deeper": Strategy(_saving_per_bit, deeper_at_once=True),
    "saving_per_root_bit_deeper": Strategy(lambda worth: worth.saved / np.sqrt(worth.bits), deeper_at_once=True),
}


@dataclass(frozen=True)
class Cuts:
    """The cuts of every partition on every axis.

    Args:
        partition: the partition of each run of any axis; one axis after the other. Shape (runs,).
        axis: the axis of each run.
        size: how many records it has.
        nodes: see `Axis.nodes`. Shape (depths, runs).
        run: the run of each row on each axis. Shape (axes, rows).
        ranking: for each partition its axes, the one that is tried first on top. Shape (axes, partitions).
        depths: how deep each of those can be cut, 0 where not at all.
    """

    partition: Integers
    axis: Integers
    size: Integers
    nodes: Integers
    run: Rows
    ranking: Integers
    depths: Integers

    def cut(self, axis: Integers, depth: int, rows: Indices, partition: Integers) -> Cut:
        """The cut of some partitions on one axis each.

        Args:
            axis: the axis for each partition, -1 to leave it. Shape (partitions,).
            depth: the depth to begin with.
            rows: the rows of the partitions that are cut.
            partition: their partitions.
        """
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
    """The cuts of every partition.

    Args:
        axes: the dimensions.
        weights: how much each of them matters.
        rows: the rows that are in a partition.
        partition: the partition of each, from 0 without a gap.
        times: how many records each of them stands for.
        strategy: which axis is tried first.

    Cost: that of `place_runs` for each axis.
    """
    runs_of_axis = [place_runs(partition, axis.place[rows], axis.places, times) for axis in axes]
    nodes = [axis.nodes(runs) for axis, runs in zip(axes, runs_of_axis, strict=True)]
    worths = [_worth(axis, runs, cut[0]) for axis, runs, cut in zip(axes, runs_of_axis, nodes, strict=True)]
    scores = np.stack([_score(worth, weight, strategy) for worth, weight in zip(worths, weights, strict=True)])
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


def _worth(axis: Axis, runs: PlaceRuns, node: Integers) -> Worth:
    """The worth of cutting each partition on an axis; `node` are the parts, by run."""
    begins = np.ones(len(node), dtype=bool)
    begins[1:] = (node[1:] != node[:-1]) | (runs.partition[1:] != runs.partition[:-1])
    heads = np.flatnonzero(begins)
    of, partitions = runs.partition[heads], len(runs.starts)
    share = np.add.reduceat(runs.size, heads) / runs.partition_size[of]
    width = axis.width(runs.ranges(runs.starts))
    left = np.bincount(of, axis.width(runs.ranges(heads)) * share, partitions)
    bits: Floats = np.bincount(of, weights=-share * np.log2(share), minlength=partitions).astype(np.float64)
    return Worth(width, np.maximum(width - left, 0.0), bits)


def _score(worth: Worth, weight: float, strategy: Strategy) -> Floats:
    """The score by which each partition is cut early or late; -1 where the cut leaves it in one part."""
    score = np.full(len(worth.bits), -1.0)
    divided = np.flatnonzero(worth.bits > 0)
    score[divided] = weight * strategy.score(worth.of(divided))
    return score


def _depths(runs: PlaceRuns, nodes: Integers) -> Integers:
    """The number of levels of nodes of each partition."""
    depths = np.zeros(len(runs.starts), dtype=np.int64)
    for depth, row in enumerate(nodes, 1):
        depths[runs.partition[row >= 0]] = depth
    return depths
