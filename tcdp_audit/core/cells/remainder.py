"""The cells that are unknown after narrowing, their relations, and the connected pieces that they fall into."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.cells.narrowing import Narrowed
from tcdp_audit.core.cells.system import INFINITE, Booleans, Integers, Matrix

Floats = NDArray[np.float64]
TOLERANCE = 1e-6  # relative, of numbers that are no integers, and of optima that are rounded to them


@dataclass(frozen=True)
class Remainder:
    """The cells that are still unknown, and their relations: matrix @ x = right.

    Attributes:
        cells: numbers of the unknown cells: the first columns.
        rows: numbers of the rows that have any of them.
        matrix: integers, shape (rows, columns). An inequality has a column more, which is subtracted and at least 0.
        right: right-hand sides, shape (rows,).
        low: limits of the columns, shape (columns,).
        high: likewise.
        integral: whether a column is a whole number.
        pieces: the connected piece of each column, from 0; shape (columns,).
    """

    cells: Integers
    rows: Integers
    matrix: Matrix
    right: Integers
    low: Integers
    high: Integers
    integral: Booleans
    pieces: Integers

    @classmethod
    def of(cls, narrowed: Narrowed, cells: Booleans | None = None) -> Remainder:
        """The remainder of a system, or of pieces of it that are made of some of its cells."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - takes a moment to import

        rows, unknown = narrowed.system.rows, ~narrowed.known
        if cells is not None:
            unknown &= cells
        columns = np.flatnonzero(unknown)
        numbers = rows.rows_with(columns)
        entries = rows.entries_of(numbers)
        is_unknown = unknown[rows.cells[entries]]
        of_row = np.searchsorted(numbers, rows.row_of[entries])
        right = np.zeros(len(numbers), np.int64)
        fixed = entries[~is_unknown]
        np.subtract.at(right, of_row[~is_unknown], rows.coefficients[fixed] * narrowed.low[rows.cells[fixed]])
        entries, of_row = entries[is_unknown], of_row[is_unknown]
        slack = np.flatnonzero(numbers >= rows.equations)
        width = len(columns) + len(slack)
        matrix = csr_array(
            (
                np.concatenate((rows.coefficients[entries], np.full(len(slack), -1, np.int64))),
                (
                    np.concatenate((of_row, slack)),
                    np.concatenate(
                        (np.searchsorted(columns, rows.cells[entries]), len(columns) + np.arange(len(slack)))
                    ),
                ),
            ),
            shape=(len(numbers), width),
        )
        broken = np.bincount(of_row, ~narrowed.system.integral[rows.cells[entries]], minlength=len(numbers))
        return cls(
            cells=columns,
            rows=numbers,
            matrix=matrix,
            right=right,
            low=np.concatenate((narrowed.low[columns], np.zeros(len(slack), np.int64))),
            high=np.concatenate((narrowed.high[columns], np.full(len(slack), INFINITE))),
            integral=np.concatenate((narrowed.system.integral[columns], broken[slack] == 0)),
            pieces=_pieces(matrix),
        )


def _pieces(matrix: Matrix) -> Integers:
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes a moment to import
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - likewise

    rows, columns = matrix.shape
    graph = csr_array(
        (np.ones(matrix.nnz, np.int8), matrix.indices + rows, np.append(matrix.indptr, np.full(columns, matrix.nnz))),
        shape=(rows + columns, rows + columns),
    )
    labels = connected_components(graph, directed=False)[1][rows:]
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def part_of(remainder: Remainder, columns: Booleans) -> Remainder:
    """Whole pieces of a remainder."""
    rows = np.flatnonzero(columns[remainder.matrix.indices[remainder.matrix.indptr[:-1]]])
    numbers = np.flatnonzero(columns)
    return Remainder(
        cells=remainder.cells[numbers[numbers < len(remainder.cells)]],
        rows=remainder.rows[rows],
        matrix=remainder.matrix[rows][:, numbers].tocsr(),
        right=remainder.right[rows],
        low=remainder.low[numbers],
        high=remainder.high[numbers],
        integral=remainder.integral[numbers],
        pieces=np.unique(remainder.pieces[numbers], return_inverse=True)[1],
    )


def float_limits(remainder: Remainder) -> tuple[Floats, Floats]:
    """Limits as floats, infinite ones as such."""
    low = np.where(remainder.low <= -INFINITE, -np.inf, remainder.low)
    return low.astype(float), np.where(remainder.high >= INFINITE, np.inf, remainder.high).astype(float)


def witness(remainder: Remainder, values: Floats) -> tuple[Floats, Booleans]:
    """Values rounded to whole numbers, and the pieces in which they are a solution, checked in exact integers.

    Columns that may be fractions are left as they are and checked within a tolerance.

    Returns:
        Values, shape (columns,), and one truth value a piece.
    """
    rounded = np.where(remainder.integral, np.rint(values), values)
    count = int(remainder.pieces.max(initial=-1)) + 1
    holds = np.ones(count, np.bool_)
    low, high = float_limits(remainder)
    slack = np.where(remainder.integral, 0.0, TOLERANCE * np.maximum(np.abs(rounded), 1))
    holds[remainder.pieces[(rounded < low - slack) | (rounded > high + slack)]] = False
    if remainder.integral.all():
        wrong = remainder.matrix @ rounded.astype(np.int64) != remainder.right
    else:
        size = abs(remainder.matrix) @ np.abs(rounded)
        wrong = np.abs(remainder.matrix @ rounded - remainder.right) > TOLERANCE * np.maximum(size, 1)
    holds[remainder.pieces[remainder.matrix.indices[remainder.matrix.indptr[:-1][wrong]]]] = False
    return rounded, holds
