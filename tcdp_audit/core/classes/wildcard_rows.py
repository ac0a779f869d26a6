"""The rows of a recursion over quasi-identifiers under `wildcard`, and the step from one quasi-identifier to the next.

A row belongs to a node, that is to the targets that agree in the quasi-identifiers so far, and has a suffix, the codes
of some sources in all others. What it holds is the sum over the sources with that suffix that are compatible with the
node.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
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
    """Rows in ascending order of node, and of the next quasi-identifier within it."""

    starts: Positions  # where the rows of each node begin, and the end, shape (nodes + 1,)
    suffix: Positions  # the number of each row's suffix, shape (rows,)
    sums: Sequence[Floats]  # figures of each row, shape (rows,) each
    values: Sequence[Values]  # values of each row

    def step(
        self, level: WildcardLevel, following: WildcardLevel | None, before: int, after: tuple[int, int]
    ) -> WildcardStep:
        """The step of these rows to nodes after one more quasi-identifier; `before` is the first of their nodes."""
        # A node is a set of targets that agree in the quasi-identifiers seen so far, and its rows are the sources
        # that match them, by what they still have to match (their suffix). One step takes one more quasi-identifier:
        # a target with a value matches the rows with that value and those with none, and a target without one matches
        # every row. Rows are sorted by node and next code, so each of these sets is a run, and two binary searches
        # find its ends. No row is copied and no pair of rows is compared: the cost is a search for each node, and
        # later a sum over the runs.
        code = level.code[after[0] : after[1]]
        parent = np.searchsorted(level.nodes, np.arange(*after), side="right") - 1 - before
        radix, node = level.missing + 1, np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        key = node * radix + level.first[self.suffix]
        whole = code == level.missing
        equal = np.searchsorted(key, parent * radix + code), np.searchsorted(key, parent * radix + code, side="right")
        begin, end = self.starts[parent], self.starts[parent + 1]
        begins = np.stack([np.where(whole, begin, equal[0]), np.searchsorted(key, parent * radix + level.missing)])
        ends = np.stack([np.where(whole, end, equal[1]), np.where(whole, begins[1], end)])
        return WildcardStep(self, level, following, after[0], begins, ends)


@dataclass(frozen=True)
class WildcardStep:
    """From rows to those of the nodes after one more quasi-identifier, each of which takes two runs of rows.

    A node with a value takes the rows with that value and the rows without one; a node without a value takes all.
    """

    before: WildcardRows  # the rows
    level: WildcardLevel  # the quasi-identifier
    following: WildcardLevel | None  # the one after it, None if it is the last
    first: int  # the number of the first node
    begins: Positions  # where the two runs begin, shape (2, nodes)
    ends: Positions  # where they end, shape (2, nodes)

    def blocks(self, limit: int) -> Iterator[tuple[int, int]]:
        """The nodes in runs that take at most so many rows, and so many values, or are a single node."""
        cost = (self.ends - self.begins).sum(axis=0)
        for one in self.before.values:
            upto = one.upto()
            cost = np.maximum(cost, (upto[self.ends] - upto[self.begins]).sum(axis=0))
        upto, start = np.concatenate([[0], np.cumsum(cost)]), 0
        while start < len(cost):
            stop = max(int(np.searchsorted(upto, upto[start] + limit, side="right")) - 1, start + 1)
            yield start, stop
            start = stop

    def rows(self, start: int, stop: int) -> WildcardRows:
        """The rows of some of the nodes after the step, those that became the same added up."""
        lengths = (self.ends - self.begins)[:, start:stop].T
        source = positions_of(self.begins[:, start:stop].T.reshape(-1), lengths.reshape(-1))
        node = np.repeat(np.arange(stop - start), lengths.sum(axis=1))
        suffix = self.level.rest[self.before.suffix[source]]
        source, node, suffix = self._needed(source, node, suffix, (start, stop))
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

    def _needed(
        self, source: Positions, node: Positions, suffix: Positions, nodes: tuple[int, int]
    ) -> tuple[Positions, Positions, Positions]:
        """Without the rows whose next value no target of their node has, or lacks."""
        following, count = self.following, nodes[1] - nodes[0]
        if following is None or count * (following.missing + 1) > DENSE * len(source):
            return source, node, suffix
        children = following.nodes[self.first + nodes[0] : self.first + nodes[1] + 1]
        parent = np.repeat(np.arange(count), np.diff(children))
        needed = np.zeros((count, following.missing + 1), dtype=bool)
        needed[parent, following.code[children[0] : children[-1]]] = True
        needed |= needed[:, -1:]  # a target without a value takes all
        needed[:, -1] = True  # and every target takes the rows without one
        keep = needed[node, following.first[suffix]]
        return source[keep], node[keep], suffix[keep]

    def _numbered(self, node: Positions, suffix: Positions, nodes: int) -> tuple[NDArray[np.integer[Any]], Positions]:
        """The number of the row that each goes to, and one that goes to each row."""
        suffixes = self.level.suffixes
        key = node * suffixes + suffix
        if nodes * suffixes <= DENSE * len(key):
            return _by_marks(key, nodes * suffixes)
        if self.following is None or _distinct(key) <= WORTHWHILE * len(key):
            _, first, number = np.unique(key, return_index=True, return_inverse=True)
            return number.reshape(-1), first
        radix = self.following.missing + 1
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
