"""Computations of hidden cells: the fewest published cells whose sum, with signs, a cell is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.cells.narrowing import Narrowed
from tcdp_audit.core.cells.recovery import Recovery
from tcdp_audit.core.cells.system import Booleans, Integers

NEAR = 300  # relations among which a shorter computation is looked for
STEPS = 4  # relations that the nearest ones are away from the cell
Terms = dict[int, Fraction]


@dataclass(frozen=True)
class Computation:
    """A hidden cell as a sum of other cells.

    Attributes:
        cell: the hidden cell.
        terms: coefficients and cells, which are published unless they are among `limited`. The cell is their sum.
        relations: the relations that are combined, by number.
        limited: hidden cells among the terms that have one value only because of limits, such as two numbers of at
            least 0 with a sum of 0.
        is_shortest: whether no computation by relations has fewer terms.
    """

    cell: int
    terms: tuple[tuple[Fraction, int], ...]
    relations: tuple[int, ...]
    limited: tuple[int, ...] = ()
    is_shortest: bool = False

    def value(self, numbers: Integers) -> Fraction:
        """The sum of the terms.

        Args:
            numbers: values of all cells, shape (cells,); only those of the terms are read.
        """
        return sum((factor * int(numbers[cell]) for factor, cell in self.terms), Fraction(0))


def find_computation(
    recovery: Recovery, cell: int, *, effort: float = 1.0, proofs: Proofs | None = None
) -> Computation | None:
    """Find the computation of a known cell with the fewest terms.

    The proof of the cell gives one: its elimination, or its combination of relations. Linear and integer programs over
    the nearest relations look for a shorter one. Each is checked in exact numbers.

    Args:
        recovery: the outcome of `recover`.
        cell: a hidden cell.
        effort: seconds for programs; 0 takes the computation of the proof.
        proofs: those of the same recovery, kept for its other cells; by default for this one alone.

    Returns:
        The computation; None if the cell is published or is not known. A cell that limits determine has the relation
        that does so, and its other hidden cells are `limited`.
    """
    narrowed = recovery.narrowed
    if not narrowed.system.hidden[cell] or (not narrowed.known[cell] and cell not in recovery.fractional):
        return None
    factors = (proofs or Proofs(recovery)).factors(cell)
    if not factors:
        return _by_limits(narrowed, cell)
    proof = _checked(narrowed, cell, factors)
    return _shortest(narrowed, proof, factors, effort) if effort > 0 else proof


class Proofs:
    """Combinations of relations that determine the cells of a recovery, each found once.

    Args:
        recovery: the outcome of `recover`.
    """

    def __init__(self, recovery: Recovery) -> None:
        self._recovery, self._factors = recovery, dict[int, Terms]()

    def factors(self, cell: int) -> Terms:
        """Factors of relations whose sum has no other hidden cells than limited ones; empty if limits determine it."""
        pending = [(cell, False)]
        while pending:  # inputs before what is computed from them
            top, has_inputs = pending.pop()
            if top in self._factors:
                continue
            if has_inputs:
                self._factors[top] = self._combined(top)
            else:
                pending += [(top, True), *((other, False) for other in self._inputs(top))]
        return self._factors[cell]

    def _direct(self, cell: int) -> Terms:
        narrowed = self._recovery.narrowed
        row = int(narrowed.determined_by[cell])
        if narrowed.eliminated[cell]:
            entries = narrowed.system.rows.entries_of(np.array([row]))
            place = entries[narrowed.system.rows.cells[entries] == cell][0]
            return {row: Fraction(1, int(narrowed.system.rows.coefficients[place]))}
        for remainder, echelon in self._recovery.proofs if self._recovery.recovered[cell] else ():
            column = int(np.searchsorted(remainder.cells, cell))
            if column < len(remainder.cells) and remainder.cells[column] == cell:
                combination = echelon.combination(column)
                if combination:
                    return {int(remainder.rows[number]): factor for number, factor in combination.items()}
        return {}

    def _inputs(self, cell: int) -> list[int]:
        narrowed = self._recovery.narrowed
        provable = narrowed.eliminated | self._recovery.recovered
        return [other for other in _terms(narrowed, self._direct(cell)) if other != cell and provable[other]]

    def _combined(self, cell: int) -> Terms:
        factors = self._direct(cell)
        for other in self._inputs(cell):
            coefficient = _terms(self._recovery.narrowed, factors).get(other, Fraction(0))
            for row, factor in self._factors[other].items():
                factors[row] = factors.get(row, Fraction(0)) - coefficient * factor
        return {row: factor for row, factor in factors.items() if factor}


def _terms(narrowed: Narrowed, factors: Terms) -> Terms:
    """The sum of relations, each times a factor: coefficients by cell, none of them 0."""
    rows = narrowed.system.rows
    result: Terms = {}
    for row, factor in factors.items():
        entries = rows.entries_of(np.array([row]))
        for cell, coefficient in zip(rows.cells[entries].tolist(), rows.coefficients[entries].tolist(), strict=True):
            result[cell] = result.get(cell, Fraction(0)) + factor * coefficient
    return {cell: coefficient for cell, coefficient in result.items() if coefficient}


def _checked(narrowed: Narrowed, cell: int, factors: Terms) -> Computation:
    """The computation by a combination of relations."""
    terms = _terms(narrowed, factors)
    if terms.pop(cell, None) != 1:
        raise AssertionError("a combination of relations does not add up to its cell")
    hidden = narrowed.system.hidden
    return Computation(
        cell,
        tuple((-coefficient, other) for other, coefficient in sorted(terms.items())),
        tuple(sorted(factors)),
        tuple(sorted(other for other in terms if hidden[other])),
    )


def _by_limits(narrowed: Narrowed, cell: int) -> Computation:
    """The relation that leaves a cell one value within the limits of the others."""
    row = int(narrowed.determined_by[cell])
    if row < 0:
        return Computation(cell, (), ())
    entries = narrowed.system.rows.entries_of(np.array([row]))
    own = entries[narrowed.system.rows.cells[entries] == cell][0]
    return _checked(narrowed, cell, {row: Fraction(1, int(narrowed.system.rows.coefficients[own]))})


def _shortest(narrowed: Narrowed, proof: Computation, factors: Terms, effort: float) -> Computation:
    """Look for a computation with fewer terms among the relations of the proof and those nearest to the cell."""
    if len(proof.terms) < 2 or proof.limited:
        return replace(proof, is_shortest=not proof.limited)
    near, is_all = _nearest(narrowed, proof.cell, np.array(sorted(factors), np.int64))
    best = proof
    for integral in (False, True):
        candidate = _by_program(narrowed, proof.cell, near, integral=integral, effort=effort / 2)
        if candidate is None:
            continue
        shorter, is_optimal = candidate
        if len(shorter.terms) < len(best.terms):
            best = shorter
        if is_optimal and integral and is_all and len(best.terms) == len(shorter.terms):
            best = replace(best, is_shortest=True)
    return best


def _nearest(narrowed: Narrowed, cell: int, rows: Integers) -> tuple[Integers, bool]:
    """Relations that are joined to a cell by few hidden cells, and whether these are all that are joined to it."""
    table, hidden = narrowed.system.rows, narrowed.system.hidden
    reached = table.rows_with(np.array([cell]))
    reached = reached[reached < table.equations]
    for _ in range(STEPS):
        cells = table.cells[table.entries_of(reached)]
        wider = table.rows_with(np.unique(cells[hidden[cells]]))
        wider = wider[wider < table.equations]
        if len(wider) == len(reached):
            return np.union1d(reached, rows), True
        if len(wider) > NEAR:
            break
        reached = wider
    return np.union1d(reached, rows), False


def _by_program(
    narrowed: Narrowed, cell: int, rows: Integers, *, integral: bool, effort: float
) -> tuple[Computation, bool] | None:
    """Combine relations so that the sum of absolute coefficients, or the number of terms, is least."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 - takes a moment to import
    from scipy.sparse import csr_array, eye_array, hstack  # noqa: PLC0415 - likewise

    table = narrowed.system.rows
    entries = table.entries_of(rows)
    of_row = np.searchsorted(rows, table.row_of[entries])
    cells, columns = np.unique(table.cells[entries], return_inverse=True)
    matrix = csr_array((table.coefficients[entries].astype(float), (columns, of_row)), shape=(len(cells), len(rows)))
    hidden = narrowed.system.hidden[cells]
    shown, largest = int((~hidden).sum()), 2.0
    bound = largest * abs(matrix).sum(axis=1).max() if integral else 1.0
    zero = csr_array((int(hidden.sum()), shown))
    one = eye_array(shown, format="csr") * (bound if integral else 1.0)
    target = (cells[hidden] == cell).astype(float)
    result: Any = milp(
        np.concatenate((np.zeros(len(rows)), np.ones(shown))),
        integrality=np.full(len(rows) + shown, 1 if integral else 0),
        bounds=cast("Any", Bounds)(
            np.concatenate((np.full(len(rows), -largest), np.zeros(shown))),
            np.concatenate((np.full(len(rows), largest), np.full(shown, 1.0 if integral else np.inf))),
        ),
        constraints=[
            LinearConstraint(hstack([matrix[hidden], zero]), target, target),
            LinearConstraint(hstack([matrix[~hidden], one]), 0, np.inf),
            LinearConstraint(hstack([matrix[~hidden], -one]), -np.inf, 0),
        ],
        options={"time_limit": effort},
    )
    if result.x is None:
        return None
    rounded = [Fraction(float(value)).limit_denominator(12) for value in result.x[: len(rows)]]
    factors = {int(row): value for row, value in zip(rows, rounded, strict=True) if value}
    terms = _terms(narrowed, factors)
    others: Booleans = narrowed.system.hidden[np.array(sorted(set(terms) - {cell}), np.int64)]
    if terms.get(cell) != 1 or others.any():
        return None
    return _checked(narrowed, cell, factors), result.status == 0
