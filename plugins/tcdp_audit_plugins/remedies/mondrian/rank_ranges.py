"""Ranges of ranks that the records of a part take up, the distinct rows of a release, and its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, boundaries, checkpoint, order_of
from tcdp_audit.plugin.engine import CountedCodes
from tcdp_audit.plugin.remedy import Attribute, RemedyView
from tcdp_audit_plugins.remedies._shared.segments import rank_within

ROOM = 8  # possible keys for each row: with more, sorting the keys is quicker than counting them

Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
Rows = NDArray[np.int32]  # 32 bits number the rows of any table that fits into memory
Mask = NDArray[np.bool_]
AllowedParts = Callable[[Indices, Integers, int], Mask]  # rows, the part of each, and how many parts: which are allowed


class RankRanges(NamedTuple):
    """Ranges of places: the first and the last one, and how many of those between them are taken."""

    first: Integers
    last: Integers
    taken: Integers


@dataclass(frozen=True)
class RankRuns:
    """A run are the rows of one partition at one place of an axis."""

    partition: Integers  # the partition of each run, ascending from 0 without a gap, shape (runs,)
    place: Integers  # its place, ascending within a partition
    size: Integers  # how many records it has
    of_row: Rows  # the run of each row, shape (rows,)

    @cached_property
    def starts(self) -> Indices:
        """The first run of each partition. Shape (partitions,)."""
        return boundaries(self.partition)

    @cached_property
    def partition_size(self) -> Integers:
        """The number of records of each partition, likewise."""
        return np.add.reduceat(self.size, self.starts)

    def ranges(self, heads: Indices) -> RankRanges:
        """The ranges from each of some runs to the one before the next of them."""
        tails = np.append(heads[1:], len(self.place)) - 1
        return RankRanges(self.place[heads], self.place[tails], (tails - heads + 1).astype(np.int64, copy=False))


def rank_runs(partition: Integers, place: Integers, places: int, times: Floats) -> RankRuns:
    """Group the rows of some partitions by their place.

    Partitions are numbered from 0 without a gap, places from 0 to `places`; counting is fastest in float64.

    Cost: linear in the rows where partitions times places are at most `ROOM` times as many, else some passes over them.
    """
    # Partition and place are packed into one number, so that counting numbers does the grouping. Its order is that of
    # partitions, then of places, which is the order in which all that follows expects runs. Where the numbers are few
    # for the rows, an array over all of them is filled without a sort; deep in the tree most of it would stay empty,
    # and the numbers are sorted instead. `ROOM` is where both take about as long.
    keys = partition * (places + 1)
    keys += place
    span = (int(partition.max()) + 1) * (places + 1)
    present, size, of_row = (_count_keys if span <= ROOM * len(keys) else _sort_keys)(keys, span, times)
    return RankRuns(*np.divmod(present, places + 1), size, of_row)


def _count_keys(keys: Integers, span: int, times: Floats) -> tuple[Integers, Integers, Rows]:
    """The different keys, the records of each, and which of them every row has."""
    records = np.bincount(keys, times, span)
    present = np.flatnonzero(records)
    number = np.empty(span, dtype=np.int32)
    number[present] = np.arange(len(present))
    return present, records[present].astype(np.int64), number[keys]


def _sort_keys(keys: Integers, span: int, times: Floats) -> tuple[Integers, Integers, Rows]:
    order = order_of(keys, span)
    ordered = keys[order]
    starts = boundaries(ordered)
    number = np.zeros(len(keys), dtype=np.int32)
    number[starts[1:]] = 1
    of_row = np.empty(len(keys), dtype=np.int32)
    of_row[order] = np.cumsum(number, dtype=np.int32)
    return ordered[starts], np.add.reduceat(times[order], starts).astype(np.int64), of_row


@dataclass(frozen=True)
class DistinctRows:
    """The records of a release, those that agree in all quasi-identifiers as one row."""

    of_record: Integers  # the row of each record, shape (records,)
    counted: CountedCodes  # the codes of the quasi-identifiers in each row, and how many records it represents
    attributes: Sequence[Attribute]  # the quasi-identifiers, whose codes are those of the rows

    @classmethod
    def of(cls, view: RemedyView) -> DistinctRows:
        """Find the distinct rows of a release. Cost: that of `RemedyView.classes`."""
        every = view.quasi_identifiers
        row, rows = view.classes(every)
        some_record = np.zeros(rows, dtype=np.intp)
        some_record[row] = np.arange(len(row))
        codes = {one.name: one.codes[some_record] for one in every}
        counted = CountedCodes(codes, np.bincount(row, minlength=rows))
        return cls(row, counted, [replace(one, codes=codes[one.name]) for one in every])


@dataclass(frozen=True)
class Cut:
    """One cut for each of some partitions."""

    partition: Integers  # the partition of each run; the runs of one are adjacent, shape (runs,)
    size: Integers  # how many records it has
    nodes: Integers  # see `Axis.nodes`, shape (depths, runs)
    run: Integers  # the run of each row, shape (rows,)
    partitions: int  # a number above every partition's

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

    A part that keeps the demands is taken; one that does not is looked at in the parts below it. What is left over
    forms the rest of its partition, which takes in its smallest neighbours, twice as many each time, until it is
    allowed. A partition none or all of whose parts end in the rest is not cut. Return the part of each row, at least 0;
    -1 where its partition is not cut. Shape (rows,).

    Cost: a judgement of the rows for each depth of the cut, and for each doubling of those still without a good rest.
    """
    own_part, count = _own_parts(cut, judge)
    return _with_rest(cut, own_part, count, judge)[cut.run]


def _own_parts(cut: Cut, judge: AllowedParts) -> tuple[Integers, int]:
    """The part of each run that keeps the demands by itself, -1 for those in none; and how many parts there may be."""
    part, count = np.full(len(cut.partition), -1), 0
    for nodes in cut.nodes:
        open_ = np.flatnonzero((part < 0) & (nodes >= 0))
        if not len(open_):
            continue
        number = np.full(len(part), -1)
        number[open_] = _numbered_nodes(cut.partition[open_], nodes[open_])
        parts = int(number[open_[-1]]) + 1
        allowed = cut.judged(number, parts, judge)
        part[open_] = np.where(allowed[number[open_]], count + number[open_], -1)
        count += parts
    return part, count


def _numbered_nodes(partition: Integers, nodes: Integers) -> Integers:
    """Numbers from 0 for the runs of one partition under one node; those are adjacent."""
    begins = np.zeros(len(nodes), dtype=np.int64)
    begins[1:] = (nodes[1:] != nodes[:-1]) | (partition[1:] != partition[:-1])
    return np.cumsum(begins)


def _with_rest(cut: Cut, own_part: Integers, count: int, judge: AllowedParts) -> Integers:
    """The final part of each run, -1 where its partition is not cut."""
    alone = own_part < 0
    rank, parts = _ranks(cut, own_part, count)
    divided = ~cut.per_partition(alone) & (parts > 1)
    open_ = cut.per_partition(alone) & (parts > 0)
    part, taken = own_part.copy(), 0
    # What is left over in a partition is no part yet. It takes in the partition's 0, 1, 3, 7 ... smallest parts until
    # it is allowed: doubling keeps the judgements logarithmic in the number of parts, and takes in at most about twice
    # as many parts as were needed. Each round judges the rests of all partitions that have no allowed one at once.
    while open_.any():
        checkpoint()
        rest = open_[cut.partition] & (alone | (rank < taken))
        allowed = cut.judged(np.where(rest, cut.partition, -1), cut.partitions, judge)
        here = rest & allowed[cut.partition]
        part[here] = count + cut.partition[here]
        divided |= allowed
        taken = 2 * taken + 1
        open_ &= ~allowed & (parts > taken)
    part[~divided[cut.partition]] = -1
    return part


def _ranks(cut: Cut, own_part: Integers, count: int) -> tuple[Integers, Integers]:
    """Rank of each run's part by size among those of its partition, smallest first; and how many each partition has."""
    runs = np.flatnonzero(own_part >= 0)
    size = np.bincount(own_part[runs], cut.size[runs], count)
    partition = np.full(count, cut.partitions)
    partition[own_part[runs]] = cut.partition[runs]
    parts = np.bincount(partition, minlength=cut.partitions + 1)
    rank = np.append(rank_within(partition, size), count)  # the last is that of no part
    return rank[own_part], parts[:-1]
