"""How the partitions of a level could be cut on each axis, and what that would be worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcdp_audit.exact import Floats
from tcdp_audit_plugins.remedies.mondrian.axes import Axis
from tcdp_audit_plugins.remedies.mondrian.parts import Candidates
from tcdp_audit_plugins.remedies.mondrian.runs import Indices, Integers, Runs, runs_of
from tcdp_audit_plugins.remedies.mondrian.strategies import Strategy, Worth


@dataclass(frozen=True)
class Cuts:
    """The cuts of every partition on every axis.

    Args:
        partition: the partition of each run of any axis; one axis after the other. Shape (runs,).
        axis: the axis of each run.
        size: how many records it has.
        nodes: see `Axis.nodes`. Shape (depths, runs).
        run: the run of each record on each axis. Shape (axes, records).
        ranking: for each partition its axes, the one that is tried first on top. Shape (axes, partitions).
        depths: how deep each of those can be cut, 0 where not at all.
    """

    partition: Integers
    axis: Integers
    size: Integers
    nodes: Integers
    run: Integers
    ranking: Integers
    depths: Integers

    def candidates(self, axis: Integers, depth: int, rows: Indices, partition: Integers) -> Candidates:
        """The cut of some partitions on one axis each.

        Args:
            axis: the axis for each partition, -1 to leave it. Shape (partitions,).
            depth: the depth to begin with.
            rows: the records of the partitions that are cut.
            partition: their partitions.
        """
        used = self.axis == axis[self.partition]
        number = np.cumsum(used) - 1
        run = number[self.run[axis[partition], rows]]
        return Candidates(self.partition[used], self.size[used], self.nodes[depth:, used], run, len(axis))


def cuts_of(
    axes: Sequence[Axis], weights: Sequence[float], records: Indices, partition: Integers, strategy: Strategy
) -> Cuts:
    """The cuts of every partition.

    Args:
        axes: the dimensions.
        weights: how much each of them matters.
        records: the records that are in a partition.
        partition: the partition of each, from 0 without a gap.
        strategy: which axis is tried first.

    Cost: that of `runs_of` for each axis.
    """
    found = [runs_of(partition, axis.place[records], axis.places) for axis in axes]
    nodes = [axis.nodes(runs) for axis, runs in zip(axes, found, strict=True)]
    worths = [_worth(axis, runs, cut[0]) for axis, runs, cut in zip(axes, found, nodes, strict=True)]
    scores = np.stack([_score(worth, weight, strategy) for worth, weight in zip(worths, weights, strict=True)])
    depths = np.stack([_depths(runs, cut) for runs, cut in zip(found, nodes, strict=True)])
    ranking = np.argsort(-scores, axis=0, kind="stable")
    sizes = [len(runs.place) for runs in found]
    first = np.cumsum(sizes) - sizes
    return Cuts(
        partition=np.concatenate([runs.partition for runs in found]),
        axis=np.repeat(np.arange(len(axes)), sizes),
        size=np.concatenate([runs.size for runs in found]),
        nodes=_stacked(nodes),
        run=np.stack([runs.of_record + start for runs, start in zip(found, first.tolist(), strict=True)]),
        ranking=ranking,
        depths=np.take_along_axis(np.where(scores < 0, 0, depths), ranking, axis=0),
    )


def _stacked(nodes: Sequence[Integers]) -> Integers:
    """The nodes of all axes side by side; the depths that an axis does not have are -1."""
    depths = max(len(one) for one in nodes)
    return np.concatenate([np.pad(one, ((0, depths - len(one)), (0, 0)), constant_values=-1) for one in nodes], axis=1)


def _worth(axis: Axis, runs: Runs, node: Integers) -> Worth:
    """What cutting each partition on an axis does; `node` are the parts, by run."""
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
    """How early each partition is cut; -1 where the cut leaves it in one part."""
    score = np.full(len(worth.bits), -1.0)
    divided = np.flatnonzero(worth.bits > 0)
    score[divided] = weight * strategy.score(worth.of(divided))
    return score


def _depths(runs: Runs, nodes: Integers) -> Integers:
    """How many levels of nodes each partition has."""
    depths = np.zeros(len(runs.starts), dtype=np.int64)
    for depth, row in enumerate(nodes, 1):
        depths[runs.partition[row >= 0]] = depth
    return depths
