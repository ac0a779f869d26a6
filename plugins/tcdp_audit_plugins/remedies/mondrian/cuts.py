"""How the partitions of a level could be cut on each axis, and what that would be worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tcdp_audit.exact import Floats
from tcdp_audit_plugins.remedies.mondrian.axes import Axis
from tcdp_audit_plugins.remedies.mondrian.parts import Candidates
from tcdp_audit_plugins.remedies.mondrian.runs import Indices, Integers, Runs, runs_of


class Worth(NamedTuple):
    """What cutting each partition on an axis does, if all parts are allowed. All shapes (partitions,).

    Args:
        width: its certainty penalty on that axis.
        saved: how much less the mean penalty of its records is after the cut.
        bits: the entropy of the parts' sizes, which is what the cut uses up; 0 where it leaves a single part.
    """

    width: Floats
    saved: Floats
    bits: Floats

    def of(self, partitions: Indices) -> Worth:
        """That of some partitions."""
        return Worth(self.width[partitions], self.saved[partitions], self.bits[partitions])


Order = Callable[[Worth], Floats]
ORDERS: Mapping[str, Order] = {
    "widest": lambda worth: worth.width,
    "saving_per_bit": lambda worth: worth.saved / worth.bits,
    "saving_per_root_bit": lambda worth: worth.saved / np.sqrt(worth.bits),
}


@dataclass(frozen=True)
class Cuts:
    """The cuts of every partition on every axis.

    Args:
        partition: the partition of each run of any axis; one axis after the other. Shape (runs,).
        axis: the axis of each run.
        size: how many records it has.
        nodes: see `Axis.nodes`. Shape (depths, runs).
        run: the run of each record on each axis. Shape (axes, records).
        ranking: for each partition its axes, the one that is cut first on top. Shape (axes, partitions).
        possible: which of those divide the partition at all.
    """

    partition: Integers
    axis: Integers
    size: Integers
    nodes: Integers
    run: Integers
    ranking: Integers
    possible: np.ndarray[tuple[int, int], np.dtype[np.bool_]]

    def candidates(self, axis: Integers, rows: Indices, partition: Integers) -> Candidates:
        """The cut of some partitions on one axis each.

        Args:
            axis: the axis for each partition, -1 to leave it. Shape (partitions,).
            rows: the records of the partitions that are cut.
            partition: their partitions.
        """
        used = self.axis == axis[self.partition]
        number = np.cumsum(used) - 1
        run = number[self.run[axis[partition], rows]]
        return Candidates(self.partition[used], self.size[used], self.nodes[:, used], run, len(axis))


def cuts_of(
    axes: Sequence[Axis], weights: Sequence[float], records: Indices, partition: Integers, order: Order
) -> Cuts:
    """The cuts of every partition.

    Args:
        axes: the dimensions.
        weights: how much each of them matters.
        records: the records that are in a partition.
        partition: the partition of each, from 0 without a gap.
        order: which axis goes first.

    Cost: that of `runs_of` for each axis.
    """
    found = [runs_of(partition, axis.place[records], axis.places) for axis in axes]
    nodes = [axis.nodes(runs) for axis, runs in zip(axes, found, strict=True)]
    worths = [_worth(axis, runs, cut[0]) for axis, runs, cut in zip(axes, found, nodes, strict=True)]
    scores = np.stack([_score(worth, weight, order) for worth, weight in zip(worths, weights, strict=True)])
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
        possible=np.take_along_axis(scores, ranking, axis=0) >= 0,
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


def _score(worth: Worth, weight: float, order: Order) -> Floats:
    """How early each partition is cut; -1 where the cut leaves it in one part."""
    score = np.full(len(worth.bits), -1.0)
    divided = np.flatnonzero(worth.bits > 0)
    score[divided] = weight * order(worth.of(divided))
    return score
