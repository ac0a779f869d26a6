"""Multisets of rows as codes: two owners have the same code where their rows are the same, in any order.

A child table is one more column of its parent: the code of the rows that belong to each of its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.keys import (
    Codes,
    boundaries,
    fold,
    freeze_arrays,
    numbered,
    occurrences,
    order_of,
    positions_of,
    run_lengths,
    starts_of,
    tally,
)

Numbers = NDArray[np.int64]
Fingerprints = NDArray[np.uint64]
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # factors of SplitMix64


@dataclass(frozen=True)
class CodedHistories:
    """The code of each owner's rows.

    Args:
        codes: equal where the rows are equal, from 0 to `distinct` - 1, shorter ones first; int64, shape (owners,).
        lengths: the number of rows of each owner, int64, shape (owners,).
        distinct: the number of different histories.
    """

    codes: Numbers
    lengths: Numbers
    distinct: int

    def __post_init__(self) -> None:
        """Lock its arrays."""
        freeze_arrays(self, "codes", "lengths")


def code_histories(
    owner: Codes, label: Codes, owners: int, labels: int, times: Numbers | None = None
) -> CodedHistories:
    """Number the multisets of labels that owners have. Exact: no two different multisets share a code.

    Args:
        owner: the owner of each row, below `owners`. Shape (rows,).
        label: the label of each row, below `labels`. Shape (rows,).
        owners: the number of owners; one without a row has the empty multiset.
        labels: a number above all labels.
        times: how often each row counts, at least once; None for once. Shape (rows,).

    Cost: O(rows + owners log owners), and a radix sort of the rows of owners who share a history and have rows of
    several labels. 40 bytes for each of these rows, 9 for each other.

    Example:
        >>> code_histories(np.array([0, 0, 1, 1, 2]), np.array([7, 8, 8, 7, 7]), 4, 9).codes.tolist()
        [2, 2, 1, 0]
    """
    # Each owner's labels are hashed and the hashes are added up, which no order changes and no sort is needed for.
    # Owners with different numbers of rows or different sums have different histories. Owners with the same sum
    # nearly always have the same one, but two multisets may share a sum; they would become one class, k would rise,
    # and a release could pass that must fail. So the rows of owners who share a sum are sorted and compared with
    # those of the first of them, one by one, and what differs is split off. Where nearly all histories differ,
    # as in long panels, next to nothing is sorted.
    # The attributes of a person often are the same in all rows, so that an owner's rows have one label. In place of
    # them stands one row that counts as often as they do: its hash times its number is their sum, and it needs no sort.
    return OwnedRows(owner, np.asarray(label), owners, labels).histories(times)


@dataclass(frozen=True)
class OwnedRows:
    """Rows that have an owner and a label each.

    Args:
        owner: the owner of each row, below `owners`. Shape (rows,).
        label: the label of each row, below `labels`. Shape (rows,).
        owners: the number of owners.
        labels: a number above all labels.

    Example:
        >>> rows = OwnedRows(np.array([0, 0, 2]), np.array([7, 8, 8]), 3, 9)
        >>> rows.last.tolist(), rows.others.tolist()
        ([8, 0, 8], [0])
    """

    owner: Codes
    label: Codes
    owners: int
    labels: int

    @cached_property
    def last(self) -> Codes:
        """The label of the last row of each owner, 0 for one without a row. Shape (owners,)."""
        last = np.zeros(self.owners, dtype=self.label.dtype)
        last[self.owner] = self.label
        return last

    @cached_property
    def others(self) -> NDArray[np.intp]:
        """The rows that have another label than the last row of their owner."""
        return np.flatnonzero(self.last[self.owner] != self.label)

    def histories(self, times: Numbers | None) -> CodedHistories:
        """The histories of the owners; see `code_histories`."""
        owner, label, others = self.owner, self.label, self.others
        lengths = occurrences(owner, self.owners, times).astype(np.int64, copy=False)
        is_mixed = np.zeros(self.owners, dtype=bool)
        is_mixed[owner[others]] = True
        mixed = np.flatnonzero(is_mixed[owner]) if len(others) else others
        owner, label, times = owner[mixed], label[mixed], None if times is None else times[mixed]
        hashes = _mixed(label)
        sums = np.where(is_mixed, np.uint64(0), _mixed(self.last) * lengths.astype(np.uint64))
        np.add.at(sums, owner, hashes if times is None else hashes * times.astype(np.uint64))
        order, group, groups = _grouped(lengths, sums)
        shared = occurrences(group, groups)[group] > 1
        if not shared.any():
            return CodedHistories(group, lengths, groups)
        rows = _sorted_rows(owner, label, self.labels, shared & is_mixed, times)
        alike = shared & ~is_mixed & (lengths > 0)
        rows = rows.with_single(np.flatnonzero(alike), self.last[alike], lengths[alike])
        return _renumbered(group, _split_apart(order[shared[order]], group, rows), lengths)

    def per_label(self, counted: NDArray[np.bool_]) -> Numbers:
        """The number of owners with each label, in ascending order of the labels, of the owners that count.

        Args:
            counted: which owners have a row and count. Shape (owners,).
        """
        there, others = np.flatnonzero(counted), self.others[counted[self.owner[self.others]]]
        labels = np.concatenate([self.last[there], self.label[others]])
        keys = fold([labels, np.concatenate([there, self.owner[others]])], [self.labels, self.owners])
        label, _ = keys.decode(tally(keys.values, keys.span)[0])
        return tally(label, self.labels)[1]


@dataclass(frozen=True)
class LinkedRows:
    """Rows of several linked tables, or of one, by whom they belong to, for whole histories under any labels.

    Args:
        top: the table of units, or the only one.
        roots: the unit, or household, of each row of it, from 0; int64, shape (rows,).
        parents: for each other table the one that it belongs to, deepest first.
        parent_rows: for each other table the row of the parent that each of its rows belongs to. Shape (rows,).
        sizes: the number of rows of each table.
    """

    top: str
    roots: Numbers
    parents: Mapping[str, str]
    parent_rows: Mapping[str, Numbers]
    sizes: Mapping[str, int]

    @cached_property
    def count(self) -> int:
        """A number above all roots."""
        return int(self.roots.max(initial=-1)) + 1

    def top_rows(self, table: str) -> Numbers:
        """The row of the table of units that each row of a table belongs to. Shape (rows,)."""
        if table == self.top:
            return np.arange(self.sizes[table])
        return self.top_rows(self.parents[table])[self.parent_rows[table]]

    def roots_of(self, table: str) -> Numbers:
        """The root of each row of a table. Shape (rows,)."""
        return self.roots[self.top_rows(table)]

    def histories(self, labels: Mapping[str, Sequence[tuple[Numbers, int]]]) -> Numbers:
        """Number the whole histories of roots, where the rows of each table have some labels.

        Args:
            labels: for each table the columns of labels of its rows, each with a number above all of them; a table that
                is not named has none.

        Returns:
            Codes that are equal where histories are, from 0; int64, shape (count,).

        Cost: that of `code_histories` for each table.
        """
        columns = {table: [(np.zeros(rows, np.int64), 1), *labels.get(table, ())] for table, rows in self.sizes.items()}
        for table, parent in self.parents.items():
            checkpoint()
            below = self._coded(columns[table], self.parent_rows[table], self.sizes[parent])
            columns[parent].append((below.codes, max(below.distinct, 1)))
        return self._coded(columns[self.top], self.roots, self.count).codes

    def _coded(self, columns: Sequence[tuple[Numbers, int]], owner: Numbers, owners: int) -> CodedHistories:
        keys = fold([one for one, _ in columns], [span for _, span in columns])
        return code_histories(owner, keys.values, owners, keys.span)

    def among(self, roots: NDArray[np.bool_]) -> tuple[LinkedRows, Mapping[str, NDArray[np.intp]]]:
        """The rows of some roots alone, and their places in each table.

        Args:
            roots: which roots, shape (count,). They are numbered anew, in their order.
        """
        rows = {table: np.flatnonzero(roots[self.roots_of(table)]) for table in self.sizes}
        number, parent_rows = np.cumsum(roots) - 1, {}
        for table, parent in self.parents.items():
            place = np.full(self.sizes[parent], -1, dtype=np.int64)
            place[rows[parent]] = np.arange(len(rows[parent]))
            parent_rows[table] = place[self.parent_rows[table][rows[table]]]
        sizes = {table: len(some) for table, some in rows.items()}
        return LinkedRows(self.top, number[self.roots[rows[self.top]]], self.parents, parent_rows, sizes), rows


@dataclass(frozen=True)
class UnitsBehind:
    """How many units are behind the classes of pseudonyms that were drawn anew.

    Args:
        fewest: the least number of units in a class of histories.
        hollow: the number of classes that have as many pseudonyms as are demanded, of fewer units.
    """

    fewest: int
    hollow: int


def units_behind(pseudonyms: Codes, units: Codes, labels: Codes, k: int) -> UnitsBehind:
    """Count the units behind classes of histories by new pseudonyms.

    Args:
        pseudonyms: the new pseudonym of each row, whose rows form a history. Shape (rows,), at least one.
        units: the unit of each row; all rows of a pseudonym have the same. Shape (rows,).
        labels: the label of each row, from 0. Shape (rows,).
        k: the number of units that a class has to have.

    Cost: that of `code_histories`, and a sort of the pseudonyms.

    Example:
        >>> units_behind(np.array([0, 1, 2]), np.array([7, 7, 8]), np.array([0, 0, 1]), 2)
        UnitsBehind(fewest=1, hollow=1)
    """
    distinct, drawn = numbered(pseudonyms.astype(np.int64), int(pseudonyms.max()) + 1)
    histories = code_histories(drawn, labels, len(distinct), int(labels.max()) + 1)
    owner = np.empty(len(distinct), dtype=np.int64)
    owner[drawn] = units
    keys = fold([histories.codes, owner], [histories.distinct, int(owner.max()) + 1])
    classes = keys.decode(numbered(keys.values, keys.span)[0])[0]
    behind = np.bincount(classes, minlength=histories.distinct)
    size: Numbers = np.bincount(histories.codes, minlength=histories.distinct)
    return UnitsBehind(int(behind.min()), int(((size >= k) & (behind < k)).sum()))


def _mixed(labels: Codes) -> Fingerprints:
    """A 64-bit hash of each label: the finalizer of SplitMix64, a bijection in which every bit depends on all."""
    mixed: Fingerprints = (labels.astype(np.uint64) + np.uint64(1)) * GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * SECOND
    return mixed ^ (mixed >> np.uint64(31))


def _grouped(lengths: Numbers, sums: Fingerprints) -> tuple[NDArray[np.intp], Numbers, int]:
    """The owners by group, the group of each by number of rows and sum, in this order, and the number of groups."""
    order = np.argsort(sums)  # the order within a group decides nothing
    checkpoint()
    order = order[np.argsort(lengths[order], kind="stable")]
    checkpoint()
    first = np.ones(len(order), dtype=bool)
    first[1:] = (lengths[order[1:]] != lengths[order[:-1]]) | (sums[order[1:]] != sums[order[:-1]])
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.cumsum(first) - 1
    return order, group, int(first.sum())


@dataclass(frozen=True)
class _SortedRows:
    """The rows of some owners in the order of owner and label, equal ones as one.

    Args:
        starts: where the rows of each owner begin; 0 for an owner who is left out. Shape (owners,).
        distinct: the number of them, shape (owners,).
        labels: shape (rows,).
        times: how often each occurs, shape (rows,).
    """

    starts: Numbers
    distinct: Numbers
    labels: Numbers
    times: Numbers

    def with_single(self, owners: NDArray[np.intp], labels: Codes, times: Numbers) -> _SortedRows:
        """The same with a single row for each of some owners, who had none."""
        starts, distinct = self.starts.copy(), self.distinct.copy()
        starts[owners] = np.arange(len(self.labels), len(self.labels) + len(owners))
        distinct[owners] = 1
        labels = np.concatenate([self.labels, labels.astype(np.int64)])
        return _SortedRows(starts, distinct, labels, np.concatenate([self.times, times]))


def _sorted_rows(
    owner: Codes, label: Codes, labels: int, chosen: NDArray[np.bool_], times: Numbers | None
) -> _SortedRows:
    rows = np.flatnonzero(chosen[owner])
    keys = fold([owner[rows], label[rows]], [len(chosen), labels])
    order = order_of(keys.values, keys.span)
    ordered = keys.values[order]
    first = boundaries(ordered)
    weights = np.ones(len(rows), dtype=np.int64) if times is None else times[rows]
    at = rows[order[first]]
    distinct = occurrences(owner[at], len(chosen)).astype(np.int64)
    repeated = run_lengths(first, len(order), weights[order])
    return _SortedRows(starts_of(distinct), distinct, label[at].astype(np.int64), repeated)


def _split_apart(members: NDArray[np.intp], group: Numbers, rows: _SortedRows) -> Numbers:
    """A number for each owner that differs within a group where histories differ; 0 for all but collisions.

    Args:
        members: the owners to compare, in the order of their groups.
        group: the group of each owner. Shape (owners,).
        rows: theirs.

    Cost: a pass over the rows of these owners for each history of the group with most of them, which is one.
    """
    split = np.zeros(len(group), dtype=np.int64)
    left, turn = members, 0
    while len(left):
        checkpoint()
        starts = boundaries(group[left])
        leader = np.repeat(left[starts], run_lengths(starts, len(left)))
        differs = ~_have_equal_rows(left, leader, rows)
        split[left[~differs]] = turn
        left, turn = left[differs], turn + 1
    return split


def _have_equal_rows(owners: NDArray[np.intp], others: NDArray[np.intp], rows: _SortedRows) -> NDArray[np.bool_]:
    """Whether each owner has the rows of another one."""
    equal: NDArray[np.bool_] = rows.distinct[owners] == rows.distinct[others]
    asked = np.flatnonzero(equal & (rows.distinct[owners] > 0) & (owners != others))
    lengths = rows.distinct[owners[asked]]
    own, other = (positions_of(rows.starts[some[asked]], lengths) for some in (owners, others))
    same = (rows.labels[own] == rows.labels[other]) & (rows.times[own] == rows.times[other])
    if len(asked):
        equal[asked] = np.logical_and.reduceat(same, starts_of(lengths))
    return equal


def _renumbered(group: Numbers, split: Numbers, lengths: Numbers) -> CodedHistories:
    if not split.any():
        return CodedHistories(group, lengths, int(group.max(initial=-1)) + 1)
    keys = fold([group, split], [int(group.max()) + 1, int(split.max()) + 1])
    distinct, codes = numbered(keys.values, keys.span)
    return CodedHistories(codes.astype(np.int64), lengths, len(distinct))
