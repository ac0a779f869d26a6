"""The rows of a recursion over quasi-identifiers under `wildcard`, and the step from one level to the next.

A level is a few quasi-identifiers that are taken together. A row belongs to a node, that is to the targets that agree
in the levels so far, and has a suffix, the codes of some sources in all others. What it holds is the sum over the
sources with that suffix that are compatible with the node.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.classes.histogram import Counts, Histogram
from tcdp_audit.core.encoding.keys import Floats, order_of, positions_of

if TYPE_CHECKING:
    from tcdp_audit.core.classes.wildcard import WildcardLevel

Positions = NDArray[np.int64]
Matrix = Any  # scipy.sparse.csr_array, imported when there is something to add up
BLOCK = 2**19  # rows or values of a step; small enough for the cache, large enough to forget the cost of a call
DENSE = 16  # cells for each row up to which rows are numbered by marking cells, which beats sorting
FEW = 16  # values up to which each has a cell in every row
WORTHWHILE = 0.75  # a sort to join equal rows pays where it leaves at most this share of them
MIX = np.uint64(0x9E3779B97F4A7C15)


class Values(ABC):
    """Values and counts of rows."""

    @staticmethod
    def of(histogram: Histogram, radix: int) -> Values:
        """The values of a histogram's rows, all below a number."""
        small = int(histogram.counts.sum()) < 2**31
        counts: NDArray[np.integer[Any]] = histogram.counts.astype(np.int32) if small else histogram.counts
        if radix <= FEW:
            cells = np.zeros((len(histogram), radix), dtype=counts.dtype)
            cells[histogram.rows, histogram.values] = counts
            return FewValues(cells)
        return ManyValues.counted(histogram, radix, counts)

    @abstractmethod
    def taken(self, order: Positions) -> Values:
        """The rows in another order."""

    @abstractmethod
    def upto(self) -> Counts:
        """Count the values of all rows before each, as memory counts them. Shape (rows + 1,)."""

    @abstractmethod
    def sums(self, link: Matrix) -> Values:
        """Sums of rows, by ones where a row goes to a sum."""

    @abstractmethod
    def histogram(self) -> Histogram:
        """The rows as a histogram."""


@dataclass(frozen=True)
class FewValues(Values):
    """Rows with a cell for each value: sums of such rows need no look at which values they have."""

    cells: NDArray[np.integer[Any]]  # counts, 0 where a row lacks the value, shape (rows, values)

    def taken(self, order: Positions) -> Values:
        """The rows in another order."""
        return FewValues(self.cells[order])

    def upto(self) -> Counts:
        """A quarter of the cells: a value has a column, a count, and both again where rows are put into order."""
        return np.arange(len(self.cells) + 1) * self.cells.shape[1] // 4

    def sums(self, link: Matrix) -> Values:
        """Sums of rows."""
        return FewValues(link @ self.cells)

    def histogram(self) -> Histogram:
        """The cells that are not 0."""
        row, value = np.nonzero(self.cells)
        offsets = np.searchsorted(row, np.arange(len(self.cells) + 1))
        return Histogram(offsets, value, self.cells[row, value].astype(np.int64))


@dataclass(frozen=True)
class ManyValues(Values):
    """Rows with the values that each has."""

    matrix: Matrix  # counts, shape (rows, columns)
    labels: Positions | None = None  # the value of each column; None if it is its number

    @staticmethod
    def counted(histogram: Histogram, radix: int, counts: NDArray[np.integer[Any]]) -> Values:
        """The values of a histogram's rows, all below a number, with counts of a suitable type."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - takes a moment to import

        columns, labels, span = histogram.values, None, radix
        if radix > DENSE * max(len(columns), 2**16):
            labels, columns = np.unique(columns, return_inverse=True)
            span = len(labels)
        index = np.int32 if max(len(columns), span) < 2**31 else np.int64
        parts = counts, columns.astype(index), histogram.offsets.astype(index)
        return ManyValues(csr_array(parts, shape=(len(histogram), span)), labels)

    def taken(self, order: Positions) -> Values:
        """The rows in another order."""
        return ManyValues(self.matrix[order], self.labels)

    def upto(self) -> Counts:
        """The number of values of all rows before each."""
        return np.asarray(self.matrix.indptr, dtype=np.int64)

    def sums(self, link: Matrix) -> Values:
        """Sums of rows."""
        return ManyValues(link @ self.matrix, self.labels)

    def histogram(self) -> Histogram:
        """The rows, turned over twice, which puts the values of each into order."""
        rows = self.matrix.tocsc().tocsr()
        values = rows.indices.astype(np.int64) if self.labels is None else self.labels[rows.indices]
        return Histogram(rows.indptr.astype(np.int64), values, rows.data.astype(np.int64))


@dataclass(frozen=True)
class WildcardRows:
    """Rows in ascending order of node, and of the next code within it."""

    starts: Positions  # where the rows of each node begin, and the end, shape (nodes + 1,)
    suffix: Positions  # the number of each row's suffix, shape (rows,)
    sums: Sequence[Floats]  # figures of each row, shape (rows,) each
    values: Sequence[Values]  # values of each row

    def rank(self, level: WildcardLevel) -> Callable[[Positions], Positions]:
        """How many rows lie before each of some keys, node x codes + code; counted once where keys are few."""
        nodes = len(self.starts) - 1
        span = nodes * level.combination.count
        key = np.repeat(np.arange(nodes) * level.combination.count, np.diff(self.starts)) + level.first[self.suffix]
        if span > DENSE * len(key):
            return lambda keys: np.searchsorted(key, keys)
        upto = np.zeros(span + 1, dtype=np.int64)
        np.cumsum(np.bincount(key, minlength=span), out=upto[1:])
        return upto.take


@dataclass(frozen=True)
class WildcardStep:
    """From rows to those of nodes after one more level, each of which takes some runs of rows."""

    before: WildcardRows  # the rows
    level: WildcardLevel  # the level
    following: WildcardLevel | None  # the one after it, None if it is the last
    first: int  # the number of the first node
    runs: Positions  # where the runs of each node begin, and the end, shape (nodes + 1,)
    begins: Positions  # where each run begins, shape (runs,)
    ends: Positions  # where it ends, shape (runs,)

    def blocks(self, limit: int) -> Iterator[tuple[int, int]]:
        """The nodes in blocks that take at most so many rows, and so many values, or are a single node."""
        cost = _within(self.ends - self.begins, self.runs)
        for one in self.before.values:
            upto = one.upto()
            cost = np.maximum(cost, _within(upto[self.ends] - upto[self.begins], self.runs))
        yield from in_blocks(cost, limit)

    def rows(self, start: int, stop: int) -> WildcardRows:
        """The rows of some of the nodes after the step, those that became the same added up."""
        source, upto = self._taken(start, stop)
        node = np.repeat(np.arange(stop - start), np.diff(upto))
        suffix = self.level.rest[self.before.suffix[source]]
        number, first = self._numbered(node, suffix, stop - start)
        starts = np.searchsorted(node[first], np.arange(stop - start + 1))
        count = len(first)
        sums = [
            np.bincount(number, weights=one[source], minlength=count).astype(np.float64, copy=False)
            for one in self.before.sums
        ]
        values: list[Values] = []
        if self.before.values:
            link = _link(number, source, (count, len(self.before.suffix)))
            values = [one.sums(link) for one in self.before.values]
        return WildcardRows(starts, suffix[first], sums, values)

    def totals(self, start: int, stop: int) -> tuple[list[Floats], list[Histogram]]:
        """The figures and the values of some of the nodes after the last step, all rows of a node added up."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - takes a moment to import

        source, upto = self._taken(start, stop)
        sums = [np.add.reduceat(one[source], upto[:-1]) for one in self.before.sums]
        parts = np.ones(len(source), dtype=np.int32), source.astype(np.int32), upto.astype(np.int32)
        link = csr_array(parts, shape=(stop - start, len(self.before.suffix)))
        return sums, [one.sums(link).histogram() for one in self.before.values]

    def _taken(self, start: int, stop: int) -> tuple[Positions, Positions]:
        """The rows that some of the nodes take, one node after the other, and where those of each begin."""
        runs = slice(self.runs[start], self.runs[stop])
        lengths = self.ends[runs] - self.begins[runs]
        upto = np.concatenate([[0], np.cumsum(lengths)])
        return positions_of(self.begins[runs], lengths), upto[self.runs[start : stop + 1] - self.runs[start]]

    def _numbered(self, node: Positions, suffix: Positions, nodes: int) -> tuple[NDArray[np.integer[Any]], Positions]:
        """The number of the row that each goes to, and one that goes to each row."""
        assert self.following is not None  # noqa: S101 - only asked for where another level follows
        suffixes = self.level.suffixes
        key = node * suffixes + suffix
        if nodes * suffixes <= DENSE * len(key):
            return _by_marks(key, nodes * suffixes)
        if _distinct(key) <= WORTHWHILE * len(key):
            _, first, number = np.unique(key, return_index=True, return_inverse=True)
            return number.reshape(-1), first
        radix = self.following.combination.count
        order = order_of(node * radix + self.following.first[suffix], nodes * radix)
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.arange(len(order))
        return number, order


def first_rows(
    suffix: Positions, order: Positions, figures: Sequence[NDArray[Any]], values: Sequence[Values]
) -> WildcardRows:
    """One row for each class, before any quasi-identifier is looked at; the values are in order."""
    return WildcardRows(np.array([0, len(order)]), suffix, [one[order].astype(np.float64) for one in figures], values)


def concatenated(histograms: Sequence[Histogram]) -> Histogram:
    """The rows of several histograms, one after the other."""
    distinct = np.concatenate([[0], *(one.distinct for one in histograms)])
    values, counts = (np.concatenate([getattr(one, name) for one in histograms]) for name in ("values", "counts"))
    several = any(one.entities is not None for one in histograms)
    entities = np.concatenate([one.members for one in histograms]) if several else None
    return Histogram(np.cumsum(distinct), values, counts, entities)


def in_blocks(cost: Counts, limit: int) -> Iterator[tuple[int, int]]:
    """Neighbours in blocks that cost at most a limit together, or are alone: the first, and the one behind the last."""
    upto, start = np.concatenate([[0], np.cumsum(cost)]), 0
    while start < len(cost):
        stop = max(int(np.searchsorted(upto, upto[start] + limit, side="right")) - 1, start + 1)
        yield start, stop
        start = stop


def _within(per_run: Counts, runs: Positions) -> Counts:
    """Sums over the runs of each node."""
    return np.diff(np.concatenate([[0], np.cumsum(per_run)])[runs])


def _by_marks(key: Positions, span: int) -> tuple[NDArray[np.integer[Any]], Positions]:
    marks = np.zeros(span, dtype=np.int32)
    marks[key] = 1
    rank = np.cumsum(marks, dtype=np.int32)
    number = rank[key] - 1
    first = np.empty(int(rank[-1]), dtype=np.int64)
    first[number] = np.arange(len(key))
    return number, first


def _distinct(key: Positions) -> int:
    """About how many different keys there are, never more: cells that a hash of them marks."""
    bits = (4 * len(key)).bit_length()
    marks = np.zeros(2**bits, dtype=bool)
    marks[(key.astype(np.uint64) * MIX) >> np.uint64(64 - bits)] = True
    return int(np.count_nonzero(marks))


def _link(number: NDArray[np.integer[Any]], source: Positions, shape: tuple[int, int]) -> Matrix:
    """Ones where a row goes to another."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - takes a moment to import

    ones = np.ones(len(number), dtype=np.int32)
    return coo_array((ones, (number.astype(np.int32), source.astype(np.int32))), shape=shape).tocsr()
