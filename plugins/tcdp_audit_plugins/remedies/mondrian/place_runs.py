"""The rows of many partitions by their place on one axis, in compressed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, boundaries, order_of

ROOM = 8  # possible keys for each row: with more, sorting the keys is quicker than counting them

Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
Rows = NDArray[np.int32]  # 32 bits number the rows of any table that fits into memory


class PlaceRanges(NamedTuple):
    """PlaceRanges of places: the first and the last one, and how many of those between them are taken."""

    first: Integers
    last: Integers
    taken: Integers


@dataclass(frozen=True)
class PlaceRuns:
    """A run are the rows of one partition at one place of an axis.

    Args:
        partition: the partition of each run, ascending from 0 without a gap. Shape (runs,).
        place: its place, ascending within a partition.
        size: how many records it has.
        of_row: the run of each row. Shape (rows,).
    """

    partition: Integers
    place: Integers
    size: Integers
    of_row: Rows

    @cached_property
    def starts(self) -> Indices:
        """The first run of each partition. Shape (partitions,)."""
        return boundaries(self.partition)

    @cached_property
    def partition_size(self) -> Integers:
        """The number of records of each partition, likewise."""
        return np.add.reduceat(self.size, self.starts)

    def ranges(self, heads: Indices) -> PlaceRanges:
        """From each of some runs to the one before the next of them."""
        tails = np.append(heads[1:], len(self.place)) - 1
        return PlaceRanges(self.place[heads], self.place[tails], (tails - heads + 1).astype(np.int64, copy=False))


def place_runs(partition: Integers, place: Integers, places: int, times: Floats) -> PlaceRuns:
    """Group the rows of some partitions by their place.

    Args:
        partition: partition of each row, from 0 without a gap. Shape (rows,).
        place: its place, from 0 to `places`.
        places: the last place.
        times: how many records each row stands for, as float64, in which counting is quickest.

    Cost: linear in the rows where partitions times places are at most `ROOM` times as many, else some passes over them.
    """
    keys = partition * (places + 1)
    keys += place
    span = (int(partition.max()) + 1) * (places + 1)
    present, size, of_row = (_count_keys if span <= ROOM * len(keys) else _sort_keys)(keys, span, times)
    return PlaceRuns(*np.divmod(present, places + 1), size, of_row)


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
