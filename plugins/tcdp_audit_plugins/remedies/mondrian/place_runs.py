"""The records of many partitions by their place on one axis, in compressed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin import boundaries

Integers = NDArray[np.int64]
Indices = NDArray[np.intp]


class PlaceRanges(NamedTuple):
    """PlaceRanges of places: the first and the last one, and how many of those between them are taken."""

    first: Integers
    last: Integers
    taken: Integers


@dataclass(frozen=True)
class PlaceRuns:
    """A run are the records of one partition at one place of an axis.

    Args:
        partition: the partition of each run, ascending from 0 without a gap. Shape (runs,).
        place: its place, ascending within a partition.
        size: how many records it has.
        of_record: the run of each record. Shape (records,).
    """

    partition: Integers
    place: Integers
    size: Integers
    of_record: Integers

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


def place_runs(partition: Integers, place: Integers, places: int) -> PlaceRuns:
    """Group the records of some partitions by their place.

    Args:
        partition: partition of each record, from 0 without a gap. Shape (records,).
        place: its place, from 0 to `places`.
        places: the last place.

    Cost: linear in the records where partitions times places are at most twice as many, else a sort of the records.
    """
    keys = partition * (places + 1) + place
    span = (int(partition.max()) + 1) * (places + 1)
    present, size, of_record = _count_keys(keys, span) if span <= 2 * len(keys) else _sort_keys(keys)
    return PlaceRuns(*np.divmod(present, places + 1), size, of_record)


def _count_keys(keys: Integers, span: int) -> tuple[Integers, Integers, Integers]:
    """The different keys, how often each occurs, and which of them every record has."""
    counts = np.bincount(keys, minlength=span)
    present = np.flatnonzero(counts)
    return present, counts[present], (np.cumsum(counts > 0) - 1)[keys]


def _sort_keys(keys: Integers) -> tuple[Integers, Integers, Integers]:
    present, of_record, size = np.unique(keys, return_inverse=True, return_counts=True)
    return present, size, of_record
