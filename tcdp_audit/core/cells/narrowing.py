"""Consequences of one relation at a time, until there are no more: elimination, and intervals in integers."""

from __future__ import annotations

from dataclasses import field, replace

import numpy as np

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.cells.system import INFINITE, Booleans, CellSystem, Contradiction, Integers, Rows

ROUNDS = 200  # of narrowing; limits of unbounded integers can move for ever


@dataclass(frozen=True)
class Narrowed:
    """A system whose limits are as narrow as single relations make them; they contain every solution.

    Attributes:
        system: the system as published.
        low: smallest possible values, shape (cells,).
        high: largest ones.
        determined_by: the row that made a cell known, shape (cells,); -1 for published, unknown, otherwise proved ones.
        eliminated: cells that are a sum of published cells: all others of the row were known the same way.
        contradiction: why there is no solution, or None.
    """

    system: CellSystem
    low: Integers
    high: Integers
    determined_by: Integers
    eliminated: Booleans
    contradiction: Contradiction | None = None

    @property
    def known(self) -> Booleans:
        """Cells with one possible value, shape (cells,)."""
        return self.low == self.high

    def given(self, cells: Integers, low: Integers, high: Integers) -> Narrowed:
        """The same with limits of some cells that were proved in another way, narrowed again."""
        lows, highs = self.low.copy(), self.high.copy()
        lows[cells], highs[cells] = np.maximum(lows[cells], low), np.minimum(highs[cells], high)
        work = _Work(
            self.system.rows, lows, highs, self.system.integral, self.determined_by.copy(), self.eliminated.copy()
        )
        crossed = np.flatnonzero(lows > highs)
        if len(crossed):
            return replace(self, contradiction=Contradiction((), tuple(crossed[:1].tolist()), is_smallest=False))
        return _narrowed(self.system, work)


def narrow(system: CellSystem) -> Narrowed:
    """Narrow the limits of all cells by one relation at a time, to a fixed point.

    First relations with one unknown cell determine it, again and again (elimination). Then each relation bounds each of
    its cells by the limits of the others, in rounds over all relations at once; integers are rounded inwards.

    Returns:
        Limits that contain every solution. They need not be attained: relations are not combined.

    Cost: O(coefficients) a round; a round of elimination only looks at relations of cells that became known.

    Source: elimination as in the manual of tau-Argus, 2.15; limits as in Davis, Constraint Propagation with Interval
    Labels, Artificial Intelligence 32, 1987.

    Example:
        >>> from tcdp_audit.core.cells.system import parent_relations
        >>> relations = parent_relations(np.array([0]), np.array([0, 2]), np.array([1, 2]), 3)
        >>> system = CellSystem(relations, np.array([9, 4, 0]), np.array([9, 4, 20]), np.ones(3, bool))
        >>> narrow(system).high.tolist()
        [9, 4, 5]
    """
    rows, cells = system.rows, len(system.low)
    work = _Work(
        rows,
        system.low.copy(),
        system.high.copy(),
        system.integral,
        np.full(cells, -1, np.int64),
        np.zeros(cells, np.bool_),
    )
    crossed = np.flatnonzero(system.low > system.high)
    if len(crossed):
        work.contradiction = Contradiction((), tuple(crossed[:1].tolist()), is_smallest=True)
        return _narrowed(system, work)
    work.eliminate(np.arange(len(rows.starts) - 1))
    work.eliminated[:] = work.determined_by >= 0
    return _narrowed(system, work)


def _narrowed(system: CellSystem, work: _Work) -> Narrowed:
    if work.contradiction is None and work.broken < 0:
        work.tighten(np.arange(len(system.rows.starts) - 1))
    if work.contradiction is None and work.broken >= 0:
        work.contradiction = smallest_contradiction(system, work.trace())
    return Narrowed(system, work.low, work.high, work.determined_by, work.eliminated, work.contradiction)


def is_contradictory(system: CellSystem, rows: Rows) -> bool:
    """Whether single relations among these rows already contradict one another."""
    cells = len(system.low)
    nothing = np.full(cells, -1, np.int64)
    work = _Work(rows, system.low.copy(), system.high.copy(), system.integral, nothing, np.zeros(cells, np.bool_))
    every = np.arange(len(rows.starts) - 1)
    work.eliminate(every)
    if work.broken < 0:
        work.tighten(every)
    return work.broken >= 0


def smallest_contradiction(system: CellSystem, numbers: Integers) -> Contradiction:
    """Leave out relations, ever smaller parts of them at once, as long as the others contradict one another.

    Source: deletion filter, Chinneck, Dravnieks, Locating Minimal Infeasible Constraint Sets, ORSA Journal on Computing
    3, 1991.
    """
    rows = system.rows
    is_smallest = is_contradictory(system, rows.only(numbers))
    size = max(len(numbers) // 2, 1) if is_smallest else 0
    while size:
        begin = 0
        while begin < len(numbers):
            checkpoint()
            rest = np.delete(numbers, slice(begin, begin + size))
            if len(rest) and is_contradictory(system, rows.only(rest)):
                numbers = rest
            else:
                begin += size
        size //= 2
    cells = np.unique(rows.cells[rows.entries_of(numbers)])
    return Contradiction(tuple(numbers.tolist()), tuple(cells.tolist()), is_smallest)


@dataclass
class _Work:
    """Limits while they become narrower, and the rows that made them so."""

    rows: Rows
    low: Integers
    high: Integers
    integral: Booleans
    determined_by: Integers
    eliminated: Booleans
    contradiction: Contradiction | None = None
    broken: int = -1  # a row that cannot hold
    low_by: Integers = field(init=False)
    high_by: Integers = field(init=False)
    crossed: int = -1  # a cell whose limits contradict each other

    def __post_init__(self) -> None:
        self.low_by, self.high_by = self.determined_by.copy(), self.determined_by.copy()

    def eliminate(self, rows: Integers) -> None:
        """Determine cells that are the only unknown one of a relation, then look at their other relations."""
        while len(rows) and self.broken < 0:
            checkpoint()
            entries = self.rows.entries_of(rows)
            known = self.low[self.rows.cells[entries]] == self.high[self.rows.cells[entries]]
            unknown = np.bincount(self.rows.row_of[entries[~known]], minlength=len(self.rows.starts) - 1)[rows]
            rows = self._determine(rows[(unknown == 1) & (rows < self.rows.equations)])

    def _determine(self, rows: Integers) -> Integers:
        """Determine the one unknown cell of each relation.

        Returns:
            The rows of the cells that became known.
        """
        entries = self.rows.entries_of(rows)
        cells, coefficients = self.rows.cells[entries], self.rows.coefficients[entries]
        is_known = self.low[cells] == self.high[cells]
        of_row = np.repeat(np.arange(len(rows)), np.diff(self.rows.starts)[rows])
        sums = np.zeros(len(rows), np.int64)
        np.add.at(sums, of_row[is_known], coefficients[is_known] * self.low[cells[is_known]])
        unknown, divisors = cells[~is_known], coefficients[~is_known]  # one in each row, in their order
        values, remainders = -sums // divisors, sums % divisors
        fits = (remainders == 0) & (values >= self.low[unknown]) & (values <= self.high[unknown])
        wrong = np.flatnonzero(~fits & ((remainders == 0) | self.integral[unknown]))
        if len(wrong):
            self.broken = int(rows[wrong[0]])
            return rows[:0]
        unknown, values, rows = unknown[fits], values[fits], rows[fits]
        unknown, first = np.unique(unknown, return_index=True)
        self.low[unknown] = self.high[unknown] = values[first]
        for by in (self.determined_by, self.low_by, self.high_by):
            by[unknown] = rows[first]
        return self.rows.rows_with(unknown)

    def tighten(self, rows: Integers) -> None:
        """Bound each cell of each row by the limits of the others, and look again at rows whose cells changed."""
        for _ in range(ROUNDS):
            checkpoint()
            if not len(rows) or self.broken >= 0:
                return
            changed = self._bound(rows)
            rows = self.rows.rows_with(changed)

    def _bound(self, rows: Integers) -> Integers:
        entries = self.rows.entries_of(rows)
        if not len(entries):
            return entries
        cells, row_of = self.rows.cells[entries], self.rows.row_of[entries]
        coefficients = self.rows.coefficients[entries]
        at_least, at_most = self._limits(rows, cells, coefficients)
        was_known = self.low == self.high
        changed = np.zeros(len(self.low), np.bool_)
        for limits, values, narrower, by in (
            (self.low, at_least, np.maximum, self.low_by),
            (self.high, at_most, np.minimum, self.high_by),
        ):
            before = limits.copy()
            narrower.at(limits, cells, values)
            moved = limits != before
            gave = moved[cells] & (values == limits[cells])
            by[cells[gave]] = row_of[gave]
            changed |= moved
        now = changed & (self.low == self.high) & ~was_known
        self.determined_by[now] = np.where(self.low_by[now] >= 0, self.low_by[now], self.high_by[now])
        crossed = np.flatnonzero(self.low > self.high)
        if len(crossed):
            self.crossed = int(crossed[0])
            self.broken = int(max(self.low_by[self.crossed], self.high_by[self.crossed]))
        return np.flatnonzero(changed)

    def _limits(self, rows: Integers, cells: Integers, coefficients: Integers) -> tuple[Integers, Integers]:
        """Limits of the cell of each entry by its row, at least and at most; infinite if it gives none."""
        positive = coefficients > 0
        of_row = np.repeat(np.arange(len(rows)), np.diff(self.rows.starts)[rows])
        is_equation = rows[of_row] < self.rows.equations
        smallest = self._rest(len(rows), of_row, coefficients, np.where(positive, self.low[cells], self.high[cells]))
        largest = self._rest(len(rows), of_row, coefficients, np.where(positive, self.high[cells], self.low[cells]))
        # coefficient * x = -rest in a relation, and >= -rest in an inequality
        above, below = largest, (smallest[0], smallest[1] & is_equation)
        lower, upper = (
            tuple(np.where(positive, a, b) for a, b in zip(above, below, strict=True)),
            tuple(np.where(positive, b, a) for a, b in zip(above, below, strict=True)),
        )
        inwards = self.integral[cells]
        floors = [-limit[0] // coefficients for limit in (lower, upper)]
        ceilings = [-(limit[0] // coefficients) for limit in (lower, upper)]
        at_least = np.where(inwards, ceilings[0], floors[0])
        at_most = np.where(inwards, floors[1], ceilings[1])
        small = (np.abs(at_least) <= self.rows.largest, np.abs(at_most) <= self.rows.largest)
        return np.where(lower[1] & small[0], at_least, -INFINITE), np.where(upper[1] & small[1], at_most, INFINITE)

    @staticmethod
    def _rest(count: int, of_row: Integers, coefficients: Integers, values: Integers) -> tuple[Integers, Booleans]:
        """The sum of the other entries of each entry's row, and whether it is finite."""
        infinite = np.abs(values) >= INFINITE
        terms = np.where(infinite, 0, coefficients * np.where(infinite, 0, values))
        sums, unbounded = np.zeros(count, np.int64), np.bincount(of_row[infinite], minlength=count)
        np.add.at(sums, of_row, terms)
        return sums[of_row] - terms, unbounded[of_row] - infinite == 0

    def trace(self) -> Integers:
        """All rows that took part in what makes one row, or one cell, impossible."""
        rows, cells = {self.broken}, {self.crossed} - {-1}
        cells |= set(self.rows.cells[self.rows.entries_of(np.array([self.broken]))].tolist())
        seen: set[int] = set()
        while cells - seen:
            cell = (cells - seen).pop()
            seen.add(cell)
            for row in {int(self.low_by[cell]), int(self.high_by[cell])} - {-1} - rows:
                rows.add(row)
                cells |= set(self.rows.cells[self.rows.entries_of(np.array([row]))].tolist())
        return np.array(sorted(rows), np.int64)
