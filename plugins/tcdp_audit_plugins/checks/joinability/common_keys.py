"""The keys of two tables from sketches of both: which of those that were kept the other table has, too.

The keys with the smallest hashes are drawn from all keys of a table alike, as many as are kept; all rows of the other
table are then asked which of them they have. So the share of a table's keys that the other one has is the mean of a
simple random sample, whatever the sizes of the tables are to each other.

Source: Chia et al., KHyperLogLog, IEEE S&P 2019 (joinability); Beyer et al., On synopses for distinct-value estimation
under multiset operations, SIGMOD 2007.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tcdp_audit.plugin._internal import Counts, occurrences
from tcdp_audit.plugin.engine import CheckError, CodedTable, StreamedTable
from tcdp_audit.plugin.sentences import listing
from tcdp_audit_plugins.checks._shared.key_sketch import Hashes, KeySketch, column_hashes, sets_hashed

BLOCK = 2**16  # rows that are hashed together, so that their hashes stay in the cache
NO_HASHES: Hashes = np.zeros(0, np.uint64)


@dataclass(frozen=True)
class TableKeys:
    """The keys of a table that were kept, and how many records the other table has of each.

    Args:
        sketch: merged: the hashes of the keys in their order, and how many records this table has of each.
        elsewhere: how many records the other table has of each. Shape (keys kept,).
        without: records of this table that have no key, since they lack a value.
    """

    sketch: KeySketch
    elsewhere: Counts
    without: int

    @property
    def common(self) -> int:
        """How many of the keys that were kept the other table has."""
        return int((self.elsewhere > 0).sum())

    @property
    def sampled(self) -> int:
        """How many keys were kept."""
        return len(self.sketch.hashes)


@dataclass(frozen=True)
class HashedTable:
    """A table whose rows are hashed by all its columns, as often as they are read; one that lacks a value has no key.

    Args:
        table: the columns.
        of_code: the hash of each code, by column; equal values of several tables have equal ones.
    """

    table: StreamedTable
    of_code: Mapping[str, Hashes]

    @classmethod
    def of(cls, table: StreamedTable, seed: int) -> HashedTable:
        """A table with hashes by a seed. O(distinct values)."""
        return cls(table, {one.attribute: column_hashes(one, seed) for one in table.columns})

    def __iter__(self) -> Iterator[tuple[Hashes, Counts]]:
        """The hashes of the rows that have a key, and how many records each stands for, block by block."""
        for table in self.table:
            for start in range(0, table.rows.rows, BLOCK):
                yield self._hashed(table, slice(start, start + BLOCK))

    def _hashed(self, table: CodedTable, some: slice) -> tuple[Hashes, Counts]:
        rows = table.rows.take(some)
        columns = [(one, rows[one.attribute]) for one in self.table.columns]
        has_key = ~np.any([domain.is_uninformative[codes] for domain, codes in columns], axis=0)
        hashes = [self.of_code[domain.attribute][codes[has_key]] for domain, codes in columns]
        ((_, together),) = sets_hashed(hashes, [tuple(range(len(hashes)))])
        return together, rows.each[has_key]

    def keys(self, keep: int, asked: Hashes = NO_HASHES) -> tuple[KeySketch, Counts, int]:
        """The keys with the smallest hashes, how many records have some others, and how many have no key.

        Args:
            keep: how many keys are kept at the most.
            asked: the hashes of the others, ascending.

        Raises:
            CheckError: no record has a key.
        """
        sketch, counts, with_key = KeySketch(keep), np.zeros(len(asked), np.int64), 0
        for hashes, times in self:
            sketch.add(hashes, times)
            counts += records_of(asked, hashes, times)
            with_key += int(times.sum())
        sketch.merge()
        if not with_key:
            names = listing([repr(one.attribute) for one in self.table.columns])
            raise CheckError(
                f"no record of {self.table.name} has a value in all of {names}, so nothing can be joined by them; name "
                "other `attributes`, or check that this is the right table"
            )
        return sketch, counts, self.table.engine.records - with_key


def records_of(keys: Hashes, hashes: Hashes, times: Counts) -> Counts:
    """How many records have each key.

    Args:
        keys: the hashes of the keys, ascending.
        hashes: of some rows.
        times: how many records each of these stands for.

    Example:
        >>> keys, rows = (np.array(one, dtype=np.uint64) for one in ([2, 5, 9], [9, 1, 5, 9, 10]))
        >>> records_of(keys, rows, np.array([1, 1, 1, 4, 1])).tolist()
        [0, 1, 5]
    """
    near = np.flatnonzero(hashes <= keys[-1]) if len(keys) else np.zeros(0, np.intp)
    place = np.searchsorted(keys, hashes[near])
    equal = keys[place] == hashes[near]
    return occurrences(place[equal], len(keys), times[near[equal]])


def keys_of_both(release: HashedTable, registry: HashedTable, keep: int) -> tuple[TableKeys, TableKeys]:
    """The keys of both tables, each with how many records the other one has of it.

    Args:
        release: the first table.
        registry: the second.
        keep: how many keys of each are kept, at most.

    Raises:
        CheckError: a table has no key.

    Cost: one scan of each table, and another one of the first where more of its keys decide than were kept.
    """
    own, _, without = release.keys(keep)
    theirs, in_registry, lacking = registry.keys(keep, own.hashes)
    if own.is_complete or theirs.hashes[-1] <= own.hashes[-1]:  # then no key of the first in question was left out
        in_release = records_of(theirs.hashes, own.hashes, own.records)
    else:
        _, in_release, _ = release.keys(keep, theirs.hashes)
    return TableKeys(own, in_registry, without), TableKeys(theirs, in_release, lacking)
