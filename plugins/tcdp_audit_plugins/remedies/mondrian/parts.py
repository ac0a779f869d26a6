"""The parts of a cut that are allowed: those that keep the demands by themselves, and a rest that does together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import rank_within
from tcdp_audit_plugins.remedies.mondrian.place_runs import Indices, Integers

Mask = NDArray[np.bool_]
AllowedParts = Callable[[Indices, Integers, int], Mask]  # rows, the part of each, and how many parts: which are allowed


@dataclass(frozen=True)
class Cut:
    """One cut for each of some partitions.

    Args:
        partition: the partition of each run; the runs of one stand together. Shape (runs,).
        size: how many records it has.
        nodes: see `Axis.nodes`. Shape (depths, runs).
        run: the run of each row. Shape (rows,).
        partitions: a number above every partition's.
    """

    partition: Integers
    size: Integers
    nodes: Integers
    run: Integers
    partitions: int

    def judged(self, number: Integers, count: int, judge: AllowedParts) -> Mask:
        """The parts that are allowed, given the part of each run, -1 for none. Shape (count,)."""
        of_row = number[self.run]
        rows = np.flatnonzero(of_row >= 0)
        return judge(rows, of_row[rows], count)

    def per_partition(self, runs: Mask) -> Mask:
        """The partitions that have any of some runs. Shape (partitions,)."""
        present = np.zeros(self.partitions, dtype=bool)
        present[self.partition[runs]] = True
        return present


def allowed_parts(cut: Cut, judge: AllowedParts) -> Integers:
    """Divide partitions into parts that are all allowed.

    A part that keeps the demands stands by itself; one that does not is looked at in the parts below it. What is left
    over forms the rest of its partition, which takes in its smallest neighbours, twice as many each time, until it is
    allowed. A partition none or all of whose parts end in the rest is not cut.

    Returns:
        The part of each row, at least 0; -1 where its partition is not cut. Shape (rows,).

    Cost: a judgement of the rows for each depth of the cut, and for each doubling of those still without a good rest.
    """
    standing, count = _standing(cut, judge)
    return _with_rest(cut, standing, count, judge)[cut.run]


def _standing(cut: Cut, judge: AllowedParts) -> tuple[Integers, int]:
    """The part of each run that keeps the demands by itself, -1 for those in none; and how many parts there may be."""
    part, count = np.full(len(cut.partition), -1), 0
    for nodes in cut.nodes:
        open_ = np.flatnonzero((part < 0) & (nodes >= 0))
        if not len(open_):
            continue
        number = np.full(len(part), -1)
        number[open_] = _numbered_nodes(cut.partition[open_], nodes[open_])
        parts = int(number[open_[-1]]) + 1
        kept = cut.judged(number, parts, judge)
        part[open_] = np.where(kept[number[open_]], count + number[open_], -1)
        count += parts
    return part, count


def _numbered_nodes(partition: Integers, nodes: Integers) -> Integers:
    """Numbers from 0 for the runs of one partition under one node; those stand together."""
    begins = np.zeros(len(nodes), dtype=np.int64)
    begins[1:] = (nodes[1:] != nodes[:-1]) | (partition[1:] != partition[:-1])
    return np.cumsum(begins)


def _with_rest(cut: Cut, standing: Integers, count: int, judge: AllowedParts) -> Integers:
    """The final part of each run, -1 where its partition is not cut."""
    alone = standing < 0
    rank, parts = _ranks(cut, standing, count)
    divided = ~cut.per_partition(alone) & (parts > 1)
    open_ = cut.per_partition(alone) & (parts > 0)
    part, taken = standing.copy(), 0
    while open_.any():
        rest = open_[cut.partition] & (alone | (rank < taken))
        kept = cut.judged(np.where(rest, cut.partition, -1), cut.partitions, judge)
        here = rest & kept[cut.partition]
        part[here] = count + cut.partition[here]
        divided |= kept
        taken = 2 * taken + 1
        open_ &= ~kept & (parts > taken)
    part[~divided[cut.partition]] = -1
    return part


def _ranks(cut: Cut, standing: Integers, count: int) -> tuple[Integers, Integers]:
    """Rank of each run's part by size among those of its partition, smallest first; and how many each partition has."""
    runs = np.flatnonzero(standing >= 0)
    size = np.bincount(standing[runs], cut.size[runs], count)
    partition = np.full(count, cut.partitions)
    partition[standing[runs]] = cut.partition[runs]
    parts = np.bincount(partition, minlength=cut.partitions + 1)
    rank = np.append(rank_within(partition, size), count)  # the last is that of no part
    return rank[standing], parts[:-1]
