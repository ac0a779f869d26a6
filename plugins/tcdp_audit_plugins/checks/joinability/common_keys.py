"""The keys of two tables from sketches of both: which of those that were kept the other table has, too.

The keys with the smallest hashes are drawn from all keys of a table alike, as many as are kept; all rows of the other
table are then asked which of them they have. So the share of a table's keys that the other one has is the mean of a
simple random sample, whatever the sizes of the tables are to each other.

Source: Chia et al., KHyperLogLog, IEEE S&P 2019 (joinability); Beyer et al., On synopses for distinct-value estimation
under multiset operations, SIGMOD 2007.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from tcdp_audit.plugin._internal import Counts, interval_of_mean, occurrences
from tcdp_audit.plugin.engine import CheckError, CodedTable, StreamedTable
from tcdp_audit.plugin.sentences import listing
from tcdp_audit_plugins.checks._shared.key_sketch import (
    Hashes,
    KeySketch,
    column_hashes,
    number_of_keys,
    rounded,
    sets_hashed,
)

BLOCK = 2**16  # rows that are hashed together, so that their hashes stay in the cache
NO_HASHES: Hashes = np.zeros(0, np.uint64)


@dataclass(frozen=True)
class TableKeys:
    """The keys of a table that were kept, and how many records the other table has of each."""

    sketch: KeySketch  # merged: the hashes of the keys in their order, and how many records this table has of each
    elsewhere: Counts  # how many records the other table has of each. Shape (keys kept,).
    without: int  # records of this table that have no key, since they lack a value

    @property
    def common(self) -> int:
        """The number of kept keys that the other table has."""
        return int((self.elsewhere > 0).sum())

    @property
    def sampled(self) -> int:
        """The number of keys that were kept."""
        return len(self.sketch.hashes)


@dataclass(frozen=True)
class HashedTable:
    """A table whose rows are hashed by all its columns at each reading; a row that lacks a value has no key."""

    table: StreamedTable
    of_code: Mapping[str, Hashes]  # the hash of each code, by column; equal values of several tables have equal ones

    @classmethod
    def of(cls, table: StreamedTable, seed: int) -> HashedTable:
        """A table with hashes by a seed. O(distinct values)."""
        return cls(table, {one.attribute: column_hashes(one, seed) for one in table.columns})

    def __iter__(self) -> Iterator[tuple[Hashes, Counts]]:
        """The hashes of the rows that have a key, and how many records each represents, block by block."""
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

        `keep` is how many keys are kept at the most; `asked` are the hashes of the others, ascending.

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
    """The number of records that have each key; `keys` ascend, and each hash of a row counts so many `times`.

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
    """The keys of both tables, each with its records in the other one; at most `keep` are kept of each.

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


Number = Fraction | float
ERROR = Fraction(1, 100)  # how often some interval may miss
INTERVALS = 6  # that are right together: keys of either table, a share of each, of both, and of single records
EACH = float(ERROR) / INTERVALS


@dataclass(frozen=True)
class Between:
    """A figure, exact or estimated."""

    value: Number  # it, or its estimate
    low: Number  # what the figure is not below
    high: Number  # what it is not above; both are the value where that is exact

    @classmethod
    def share(cls, some: int, of: int, *, is_exact: bool) -> Between:
        """A share of all, from how many it is of those that were drawn; these are all where it is exact."""
        if is_exact:
            return cls(*[Fraction(some, of)] * 3)
        return cls(some / of, *interval_of_mean(some / of, of, EACH))

    @property
    def is_exact(self) -> bool:
        """Whether nothing was estimated."""
        return self.low == self.high

    def entry(self, name: str) -> dict[str, Number]:
        """The entry of an outcome."""
        return {name: self.value, "low": self.low, "high": self.high}


def contained(one: TableKeys) -> Between:
    """The share of a table's keys that the other one has, too."""
    return Between.share(one.common, one.sampled, is_exact=one.sketch.is_complete)


def jaccard(tables: Sequence[TableKeys]) -> Between:
    """The share of the keys of either table that both have.

    Of the keys of either, those with the smallest hashes are among those kept of the one or of the other.
    """
    own, theirs = (table.sketch for table in tables)
    either = np.union1d(own.hashes, theirs.hashes)
    is_exact = own.is_complete and theirs.is_complete
    drawn = either if is_exact else either[: own.keep]
    both = int((np.isin(drawn, own.hashes) & np.isin(drawn, theirs.hashes)).sum())
    return Between.share(both, len(drawn), is_exact=is_exact)


def common_keys(tables: Sequence[TableKeys]) -> Between:
    """The number of common keys: counted where all keys of one table were kept, else keys of one times the share.

    The table of which a larger share is common shows it better.
    """
    for one in tables:
        if one.sketch.is_complete:
            return Between(*[one.common] * 3)
    best = max(tables, key=lambda one: Fraction(one.common, one.sampled))
    share = contained(best)
    keys, fewest, most = number_of_keys(best.sketch, EACH)
    return Between(
        _whole(keys * share.value, round), _whole(fewest * share.low, floor), _whole(most * share.high, ceil)
    )


def one_to_one(release: TableKeys, records: int) -> Between:
    """The share of released records that are alone with their key, and whose key a single record elsewhere has."""
    single = int(((release.sketch.records == 1) & (release.elsewhere == 1)).sum())
    if release.sketch.is_complete:
        return Between(*[Fraction(single, records)] * 3)
    share = Between.share(single, release.sampled, is_exact=False)
    keys, fewest, most = number_of_keys(release.sketch, EACH)
    scaled = ((keys, share.value), (fewest, share.low), (most, share.high))
    return Between(*(min(1.0, float(number * one / records)) for number, one in scaled))


def _whole(number: Any, to: Any) -> int:
    return rounded(float(number), to) if number else 0
