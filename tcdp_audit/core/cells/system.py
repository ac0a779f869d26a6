"""Published cells as numbers under linear relations, and what follows from one relation at a time, exactly."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass

Matrix = Any  # scipy.sparse.csr_array of integers, imported when there is one
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
INFINITE = 2**62  # the limit of a cell that nothing bounds; below, it is negative


@dataclass(frozen=True)
class CellSystem:
    """Cells as variables under linear relations: what a reader knows of a set of tables.

    All limits are integers in units of the caller: 1 for counts, half of the last digit for rounded magnitudes. A cell
    that is published exactly has equal limits.

    Args:
        relations: integer coefficients, shape (relations, cells): relations @ x = 0 (a parent less its children).
        low: smallest possible values, shape (cells,); -INFINITE for none.
        high: largest possible values, likewise; INFINITE for none.
        integral: whether a cell is a whole number of units (a count), shape (cells,).
        inequalities: rows r with r @ x >= 0, such as a parent less the known ones among its children; or None.

    Raises:
        CheckError: sums of these numbers could exceed 64 bits.

    Source: Fischetti, Salazar, Solving the Cell Suppression Problem on Tabular Data with Linear Constraints, Management
    Science 47, 2001, section 2.
    """

    relations: Matrix
    low: Integers
    high: Integers
    integral: Booleans
    inequalities: Matrix | None = None

    def __post_init__(self) -> None:
        """Check that shapes agree, and that no sum can overflow."""
        shapes = {np.shape(self.low), np.shape(self.high), np.shape(self.integral), (self.relations.shape[1],)}
        if self.inequalities is not None:
            shapes.add((self.inequalities.shape[1],))
        if len(shapes) != 1:
            raise ValueError(f"one number a cell is expected, not shapes {sorted(shapes)}")
        limits = np.concatenate((self.low, self.high))
        finite = limits[np.abs(limits) < INFINITE]
        if np.abs(finite).max(initial=0) > self.rows.largest:
            raise CheckError("figures are too large to be added exactly in 64 bits: give them in larger units")

    @cached_property
    def rows(self) -> Rows:
        """The relations, then the inequalities, as compressed rows."""
        return Rows.of(self)

    @property
    def hidden(self) -> Booleans:
        """Cells that are not published exactly, shape (cells,)."""
        return self.low < self.high


def parent_relations(parents: Integers, starts: Integers, children: Integers, cells: int) -> Matrix:
    """Relations that say that each parent is the sum of its children.

    Args:
        parents: the parent's cell of each relation, shape (relations,).
        starts: where the children of each relation begin in `children`, and the end, shape (relations + 1,).
        children: cells.
        cells: how many cells there are.

    Example:
        >>> parent_relations(np.array([0]), np.array([0, 2]), np.array([1, 2]), 3).toarray().tolist()
        [[1, -1, -1]]
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes a moment to import

    numbers = np.arange(len(parents))
    rows = np.concatenate((numbers, np.repeat(numbers, np.diff(starts))))
    signs = np.concatenate((np.ones(len(parents), np.int64), np.full(len(children), -1, np.int64)))
    return csr_array((signs, (rows, np.concatenate((parents, children)))), shape=(len(parents), cells))


@dataclass(frozen=True)
class Contradiction:
    """Relations that no numbers within their limits satisfy together.

    Attributes:
        relations: their numbers; those of inequalities follow those of the relations.
        cells: the cells that take part in them; without relations, a cell whose own limits contradict each other.
        is_smallest: whether the others are compatible if any one of these relations is left out.
    """

    relations: tuple[int, ...]
    cells: tuple[int, ...]
    is_smallest: bool


@dataclass(frozen=True)
class Rows:
    """Relations, then inequalities, as compressed rows, and by cell.

    Attributes:
        starts: where a row's entries begin, and the end, shape (rows + 1,).
        cells: the cell of each entry.
        coefficients: its coefficient, never 0.
        equations: how many of the rows are relations; they come first.
        cell_starts: where a cell's entries begin in `entries`, and the end, shape (cells + 1,).
        entries: numbers of entries, by cell.
        row_of: the row of each entry.
        largest: the absolute value up to which numbers can be added along any row in 64 bits.
    """

    starts: Integers
    cells: Integers
    coefficients: Integers
    equations: int
    cell_starts: Integers
    entries: Integers
    row_of: Integers
    largest: int

    @classmethod
    def of(cls, system: CellSystem) -> Rows:
        """The rows of a system."""
        parts = [system.relations] if system.inequalities is None else [system.relations, system.inequalities]
        compressed = [_compressed(part) for part in parts]
        lengths = np.concatenate([np.diff(part.indptr) for part in compressed])
        cells = np.concatenate([part.indices for part in compressed]).astype(np.int64)
        coefficients = np.concatenate([part.data for part in compressed]).astype(np.int64)
        return cls.compress(lengths, cells, coefficients, compressed[0].shape[0], len(system.low))

    @classmethod
    def compress(cls, lengths: Integers, cells: Integers, coefficients: Integers, equations: int, count: int) -> Rows:
        """Rows of given lengths over `count` cells."""
        row_of = np.repeat(np.arange(len(lengths)), lengths)
        weights = np.bincount(row_of, np.abs(coefficients), minlength=1)
        return cls(
            starts=_offsets(lengths),
            cells=cells,
            coefficients=coefficients,
            equations=equations,
            cell_starts=_offsets(np.bincount(cells, minlength=count)),
            entries=np.argsort(cells, kind="stable"),
            row_of=row_of,
            largest=INFINITE // (2 * max(int(weights.max(initial=1)), 1)),
        )

    def entries_of(self, rows: Integers) -> Integers:
        """Numbers of all entries of some rows, one row after another."""
        return _slices(self.starts, rows)

    def rows_with(self, cells: Integers) -> Integers:
        """Numbers of the rows that have any of these cells, in order."""
        return np.unique(self.row_of[self.entries[_slices(self.cell_starts, cells)]])

    def only(self, rows: Integers) -> Rows:
        """Some of the rows, in their order."""
        entries = self.entries_of(rows)
        return Rows.compress(
            np.diff(self.starts)[rows],
            self.cells[entries],
            self.coefficients[entries],
            int((rows < self.equations).sum()),
            len(self.cell_starts) - 1,
        )


def _compressed(matrix: Matrix) -> Matrix:
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes a moment to import

    copy = csr_array(matrix, copy=True)
    copy.sum_duplicates()
    copy.eliminate_zeros()
    if copy.data.dtype.kind != "i":
        raise ValueError("coefficients are integers")
    return copy


def _offsets(lengths: Integers) -> Integers:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


def _slices(starts: Integers, items: Integers) -> Integers:
    """All positions from starts[i] to starts[i + 1] for each item i, one item after another."""
    lengths = starts[items + 1] - starts[items]
    begins = np.repeat(starts[items] - _offsets(lengths)[:-1], lengths)
    return begins + np.arange(len(begins))
