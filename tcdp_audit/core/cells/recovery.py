"""Cells that a reader can compute exactly from several relations together, and cells of which that is excluded."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from random import Random
from typing import Any, cast

import numpy as np

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.cells.elimination import Echelon
from tcdp_audit.core.cells.narrowing import Narrowed
from tcdp_audit.core.cells.remainder import Floats, Remainder, float_limits, part_of
from tcdp_audit.core.cells.system import Booleans, Contradiction, Integers, Matrix

PROJECTIONS = 100  # attempts to find an interior point before a linear program does
MARGIN = 1e-3  # by which a point must be within its limits; residuals are below 1e-9 of the numbers
RESIDUAL = 1e-9


@dataclass(frozen=True)
class Recovery:
    """Cells that are known exactly after all relations are combined.

    Attributes:
        narrowed: the system with all recovered cells.
        recovered: cells that a combination of relations determines, shape (cells,); those of `narrow` are not among
            them. `computation` has the combination.
        fractional: their values where they are no whole number of units; the limits are the integers around them.
        free: cells that have several values over the real numbers, shape (cells,): some solution is strictly within all
            limits of its piece, and can be moved. The other unknown cells are undecided, not protected.
        remainder: the unknown cells and their relations.
        proofs: remainders with recovered cells and their echelon forms, one after the other.
        point: a solution of the remainder strictly within its limits, shape (columns,); NaN where none was seen.
    """

    narrowed: Narrowed
    recovered: Booleans
    fractional: dict[int, Fraction]
    free: Booleans
    remainder: Remainder
    proofs: tuple[tuple[Remainder, Echelon], ...]
    point: Floats


def recover(narrowed: Narrowed, *, seed: int = 0, effort: float = 60.0) -> Recovery:
    """Find all cells that relations together determine, and those of which that is excluded over the real numbers.

    A cell x_c has one value in all solutions of the relations if and only if z_c = 0 in every z with
    relations @ z = 0. One random z decides all cells at once; each cell that it leaves is then proved exactly.
    Conversely, if a solution is strictly within all limits, it can be moved along z a little, so that every other cell
    takes several values. Where no solution is, such as x + y = 0 with x, y >= 0, that conclusion is not drawn.

    Args:
        narrowed: the outcome of `narrow`, without a contradiction.
        seed: of the random numbers.
        effort: seconds that linear programs for strictly interior solutions may take.

    Returns:
        Proofs over the real numbers. Integers may be determined where real numbers are not.

    Cost: see `Echelon`; 1 to 6 s for 40,000 unknown cells in one piece.

    Source: null space and limits as in Duncan, Keller-McNulty, Stokes, Disclosure Risk vs. Data Utility, 2001; random
    vectors as in Freivalds, Probabilistic Machines Can Use Less Running Time, 1977.
    """
    random = Random(seed)  # noqa: S311 - no secret
    recovered = np.zeros(len(narrowed.low), np.bool_)
    fractional: dict[int, Fraction] = {}
    proofs: list[tuple[Remainder, Echelon]] = []
    while True:
        remainder = Remainder.of(narrowed)
        echelon = Echelon.of(remainder.matrix, remainder.right)
        vector = echelon.null_vector(random)
        proved = echelon.determined(column for column, value in enumerate(vector) if not value)
        values = echelon.solution()
        problem = _contradiction(narrowed, remainder, echelon, proved, values)
        if problem is not None:
            narrowed = replace(narrowed, contradiction=problem)
            break
        columns = np.array(sorted(column for column in proved if column < len(remainder.cells)), np.int64)
        if not len(columns):
            break
        cells = remainder.cells[columns]
        fractional |= {
            int(cell): value
            for cell, column in zip(cells, columns, strict=True)
            if (value := Fraction(values[column])).denominator > 1
        }
        new = ~recovered[cells]
        if not new.any():
            break
        recovered[cells] = True
        proofs.append((remainder, echelon))
        lows = np.array([floor(values[column]) for column in columns], np.int64)
        highs = np.array([ceil(values[column]) for column in columns], np.int64)
        narrowed = narrowed.given(cells, lows, highs)
        if narrowed.contradiction is not None:
            break
    free, point = np.zeros(len(narrowed.low), np.bool_), np.full(len(remainder.low), np.nan)
    if narrowed.contradiction is None:
        point = interior_point(remainder, effort=effort)
        moves = np.array([bool(value) for value in vector], np.bool_)[: len(remainder.cells)]
        free[remainder.cells[moves & ~np.isnan(point[: len(remainder.cells)])]] = True
    return Recovery(narrowed, recovered, fractional, free, remainder, tuple(proofs), point)


def _contradiction(
    narrowed: Narrowed, remainder: Remainder, echelon: Echelon, proved: set[int], values: list[Any]
) -> Contradiction | None:
    """Relations whose sum says that 0 is another number, or that a column is beyond its limits or no whole number."""
    if echelon.false >= 0:
        combination = echelon.original({echelon.false: Fraction(1)})
    else:
        wrong = [
            column
            for column in sorted(proved)
            if not remainder.low[column] <= values[column] <= remainder.high[column]
            or (remainder.integral[column] and Fraction(values[column]).denominator > 1)
        ]
        if not wrong:
            return None
        combination = echelon.combination(wrong[0])
    rows = remainder.rows[np.array(sorted(combination), np.int64)]
    cells = np.unique(narrowed.system.rows.cells[narrowed.system.rows.entries_of(rows)])
    return Contradiction(tuple(rows.tolist()), tuple(cells.tolist()), is_smallest=False)


def interior_point(remainder: Remainder, *, effort: float = 60.0) -> Floats:
    """A solution strictly within the limits of every column, for each piece that has one.

    Reflections into the limits and projections on the relations alternate, which needs about 30 least-squares problems;
    pieces that they leave are asked by a linear program that maximises their smallest distance from a limit.

    Returns:
        Numbers of shape (columns,), at least 0.001 from each limit and within 1e-9 of the relations, relative to the
        numbers; NaN in pieces where no such solution was found.

    Source: Bauschke, Borwein, On Projection Algorithms for Solving Convex Feasibility Problems, SIAM Review 38, 1996.
    """
    width = len(remainder.low)
    if not width:
        return np.zeros(0)
    low, high = float_limits(remainder)
    point, room = _projected(remainder.matrix, remainder.right, low, high)
    accepted = _accepted(remainder, point, low, high)
    left = ~accepted[remainder.pieces] & (room > 0)
    if left.any() and effort > 0:
        checkpoint()
        point[left] = _by_program(remainder, left, effort)
        accepted = _accepted(remainder, point, low, high)
    return np.where(accepted[remainder.pieces], point, np.nan)


def _accepted(remainder: Remainder, point: Floats, low: Floats, high: Floats) -> Booleans:
    """Pieces in which a point is a solution strictly within all limits.

    The distance from a limit must be at least 0.001, and 1,000 times what any relation of the piece is missed by, so
    that an exact solution near the point is within the limits as well.
    """
    count, matrix = int(remainder.pieces.max()) + 1, remainder.matrix.astype(float)
    size = abs(matrix) @ np.abs(point) + np.abs(remainder.right)
    missed = np.nan_to_num(np.abs(matrix @ point - remainder.right), nan=np.inf)
    room = np.nan_to_num(np.minimum(point - low, high - point), nan=-1.0)
    of_row = remainder.pieces[remainder.matrix.indices[remainder.matrix.indptr[:-1]]]
    least, worst = np.full(count, np.inf), np.zeros(count)
    np.minimum.at(least, remainder.pieces, room)
    np.maximum.at(worst, of_row, np.where(missed <= RESIDUAL * np.maximum(size, 1), missed, np.inf))
    return (least >= MARGIN) & (least >= worst / MARGIN)


def _projected(matrix: Matrix, right: Integers, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """A point on all relations, most of it within its limits, and the room that each column has."""
    from scipy.sparse import diags_array  # noqa: PLC0415 - takes a moment to import
    from scipy.sparse.linalg import lsmr  # noqa: PLC0415 - likewise

    weights = 1 / np.sqrt(np.diff(matrix.indptr))
    scaled, target = (diags_array(weights) @ matrix.astype(float)).tocsr(), weights * right
    room = np.minimum(high - low, 1e6)
    inner_low, inner_high = low + np.minimum(0.5, room / 4), high - np.minimum(0.5, room / 4)
    start = np.where(np.isinf(low), np.where(np.isinf(high), 0.0, high - 5), np.where(np.isinf(high), low + 5, 0.0))
    point = np.where(np.isinf(low) | np.isinf(high), start, (np.maximum(low, -1e300) + np.minimum(high, 1e300)) / 2)
    for _ in range(PROJECTIONS):
        checkpoint()
        point = point + lsmr(scaled, target - scaled @ point, atol=1e-4, btol=1e-4, conlim=0)[0]
        inner = np.clip(point, inner_low, inner_high)
        if (np.abs(point - inner) < np.minimum(0.45, room / 5)).all():
            break
        point = point + 1.8 * (inner - point)
    for _ in range(3):
        point = point + lsmr(scaled, target - scaled @ point, atol=1e-13, btol=1e-13, conlim=0)[0]
    return point, room


def _by_program(remainder: Remainder, columns: Booleans, effort: float) -> Floats:
    """Maximise the smallest distance from a limit in each piece of some columns, up to 1; NaN if time ran out.

    The program has one variable more a piece, the distance: x - distance >= low, x + distance <= high.
    """
    from scipy.optimize import linprog  # noqa: PLC0415 - takes a moment to import
    from scipy.sparse import csr_array, eye_array, hstack, vstack  # noqa: PLC0415 - likewise

    some, solve = part_of(remainder, columns), cast("Any", linprog)
    width, count = len(some.low), int(some.pieces.max()) + 1
    low, high = float_limits(some)
    of_piece = csr_array((np.ones(width), (np.arange(width), some.pieces)), shape=(width, count))
    has_low, has_high = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
    one: Any = eye_array(width, format="csr")
    result = solve(
        np.concatenate((np.zeros(width), -np.ones(count))),
        A_eq=hstack([some.matrix.astype(float), csr_array((len(some.rows), count))]),
        b_eq=some.right,
        A_ub=vstack([hstack([-one[has_low], of_piece[has_low]]), hstack([one[has_high], of_piece[has_high]])]),
        b_ub=np.concatenate((-low[has_low], high[has_high])),
        bounds=np.column_stack((np.append(low, np.zeros(count)), np.append(high, np.ones(count)))),
        method="highs-ipm",
        options={"time_limit": effort},
    )
    return np.full(width, np.nan) if result.x is None or result.status != 0 else result.x[:width]
