"""Agreement patterns of all pairs of two tables, counted without a pair: joins on subsets of attributes, inverted.

A pattern is a number whose bit j says that a pair agrees on attribute j. A missing value agrees with nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Codes

Whole = NDArray[np.int64]
ROOMY = 8  # a table of keys may have so many places a record before the keys are renumbered
DENSE = 2**24  # figures that are held at once for records times patterns of adverse attributes


@dataclass(frozen=True)
class Column:
    """One attribute of two tables, coded over a common domain: codes from 0 to size - 1, `size` where missing."""

    released: Codes
    original: Codes
    size: int


@dataclass(frozen=True)
class Join:
    """The records that agree on some attributes with a record of the other table, in groups of equal values."""

    released: Whole  # positions of the released records that have an equal. int64.
    released_group: Whole  # the group of each, from 0 to groups - 1
    original: Whole  # positions of the original records that have an equal
    original_group: Whole  # the group of each
    groups: int  # how many groups there are

    def equals(self) -> Whole:
        """The number of original records that each of the released records agrees with. Shape of `released`."""
        return np.bincount(self.original_group, minlength=self.groups)[self.released_group]

    def on(self, column: Column) -> Join:
        """The join on one attribute more. O(records of this join), and a sort of them where its keys are sparse."""
        released, key = _keyed(self.released, self.released_group, column.released, column.size)
        original, other = _keyed(self.original, self.original_group, column.original, column.size)
        span = self.groups * column.size
        if span > ROOMY * (len(key) + len(other) + 1):
            distinct, renumbered = np.unique(np.concatenate([key, other]), return_inverse=True)
            key, other, span = renumbered[: len(key)], renumbered[len(key) :], len(distinct)
        shared = np.zeros(span, dtype=bool)
        shared[key] = True
        shared &= np.bincount(other, minlength=span) > 0
        group = np.cumsum(shared) - 1
        joined, others = shared[key], shared[other]
        return Join(released[joined], group[key[joined]], original[others], group[other[others]], int(shared.sum()))


def _keyed(positions: Whole, groups: Whole, codes: Codes, size: int) -> tuple[Whole, Whole]:
    """The records that have a value, and the key of group and value of each."""
    values = codes[positions].astype(np.int64)
    present = values < size
    return positions[present], groups[present] * size + values[present]


def _everyone(released: Whole, original: int) -> Join:
    positions = np.arange(original)
    return Join(released, np.zeros_like(released), positions, np.zeros_like(positions), 1)


def _joins(join: Join, columns: Sequence[tuple[int, Column]], subset: int = 0) -> Iterator[tuple[int, Join]]:
    """A join and its refinement by every subset of some columns that leaves a pair; columns come with their bit."""
    yield subset, join
    for place, (bit, column) in enumerate(columns):
        refined = join.on(column)
        if refined.groups:
            yield from _joins(refined, columns[place + 1 :], subset | bit)


def _distinctive_first(columns: Sequence[Column], chosen: Sequence[int]) -> list[tuple[int, Column]]:
    """Columns with their bits; those that leave the fewest records come first, so that most joins are small."""
    return [(1 << j, columns[j]) for j in sorted(chosen, key=lambda j: -columns[j].size)]


def pattern_counts(columns: Sequence[Column]) -> Whole:
    """The number of pairs of a released and an original record with each agreement pattern over the p columns.

    For every subset S of the attributes N(S) = sum over common values v of n_released(v) n_original(v) pairs agree at
    least on S; inclusion and exclusion over the supersets gives those that agree exactly on S.

    Returns:
        Pairs with each pattern, int64, shape (2^p,); their sum is n_released times n_original.

    Cost: O(2^p) joins of at most all records; memory O(p records). No pair is formed.

    Source: Fellegi, Sunter (1969), section 2, for the patterns; the inversion is Moebius'.

    Example:
        >>> import numpy
        >>> sex = Column(numpy.array([0, 1]), numpy.array([0, 0]), 2)
        >>> age = Column(numpy.array([0, 1]), numpy.array([0, 1]), 2)
        >>> pattern_counts([sex, age])
        array([1, 1, 1, 1])
    """
    at_least = np.zeros(1 << len(columns), dtype=np.int64)
    everyone = _everyone(np.arange(len(columns[0].released)), len(columns[0].original))
    for subset, join in _joins(everyone, _distinctive_first(columns, range(len(columns)))):
        at_least[subset] = join.equals().sum()
    return exactly(at_least)


def exactly(at_least: Whole) -> Whole:
    """Counts of exact subsets from counts of supersets, along the first axis (2^p). O(p 2^p)."""
    counts = at_least.copy()
    for j in range(len(counts).bit_length() - 1):
        halves = counts.reshape(-1, 2, 1 << j, *counts.shape[1:])
        halves[:, 0] -= halves[:, 1]
    return counts


def best_matches(columns: Sequence[Column], rank: Whole) -> tuple[Whole, Whole]:
    """For each released record the highest rank of a pattern that it has with an original, and with how many.

    Agreement on an attribute must always raise the rank, always lower it, or never change it. Where it always raises
    it, the originals that agree at least on the best subset agree on no more, so their number needs no inversion.

    Args:
        columns: p attributes of the two tables.
        rank: the rank of each pattern, int64, shape (2^p,); equal ranks are ties.

    Returns:
        Best rank and the number of originals that share it, each int64 of shape (released,).

    Cost: O(2^p) joins of at most all records for up to 2^24 / 2^a released ones, a the attributes that lower the rank.
    """
    direction = [int(np.sign(rank[1 << j] - rank[0])) for j in range(len(columns))]
    raising = _distinctive_first(columns, [j for j, sign in enumerate(direction) if sign > 0])
    lowering = _distinctive_first(columns, [j for j, sign in enumerate(direction) if sign < 0])
    n, block = len(columns[0].released), max(1, DENSE >> len(lowering))
    best = np.full(n, -1, dtype=np.int64)
    ties = np.zeros(n, dtype=np.int64)
    for start in range(0, n, block):
        released = np.arange(start, min(start + block, n))
        for subset, join in _joins(_everyone(released, len(columns[0].original)), raising):
            for pattern, records, number in _exact_on(join, lowering):
                _improve(best, ties, records, number, int(rank[subset | pattern]))
    return best, ties


def _exact_on(join: Join, columns: Sequence[tuple[int, Column]]) -> Iterator[tuple[int, Whole, Whole]]:
    """Pattern over some columns, the released records of a join that have it, and with how many originals each."""
    if not columns:
        yield 0, join.released, join.equals()
        return
    local = [(1 << place, column) for place, (_, column) in enumerate(columns)]
    at_least = np.zeros((1 << len(columns), len(join.released)), dtype=np.int64)
    for subset, refined in _joins(join, local):
        at_least[subset, np.searchsorted(join.released, refined.released)] = refined.equals()
    for subset, number in enumerate(exactly(at_least)):
        pattern = sum(bit for place, (bit, _) in enumerate(columns) if subset >> place & 1)
        compared = number > 0
        yield pattern, join.released[compared], number[compared]


def _improve(best: Whole, ties: Whole, records: Whole, number: Whole, rank: int) -> None:
    """Take note of originals at a rank: they replace worse ones and join equal ones."""
    better, equal = best[records] < rank, best[records] == rank
    ties[records[equal]] += number[equal]
    ties[records[better]] = number[better]
    best[records[better]] = rank
