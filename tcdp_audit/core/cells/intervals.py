"""The values that are left of each hidden cell: what is proved of them, and which are seen in solutions."""

from __future__ import annotations

from dataclasses import field, replace
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.cells.demands import Demand, Intervals
from tcdp_audit.core.cells.moves import Moves
from tcdp_audit.core.cells.programs import (
    Infeasible,
    Optimum,
    Program,
    Progress,
    Unbounded,
    Unfinished,
    minimise_integers,
    program,
    proved_least,
)
from tcdp_audit.core.cells.recovery import Recovery
from tcdp_audit.core.cells.remainder import TOLERANCE, Floats, Remainder, part_of, witness
from tcdp_audit.core.cells.system import INFINITE, Booleans, Contradiction, Integers

STALE_ROUNDS, GAIN = 3, 0.02  # steps end after so many rounds that decide less than this part of the cells
SWEEPS = 2  # of one set of moves
LARGEST = 2.0**53  # the largest end of a box
LEAST_GAIN = 0.1  # boxes end after a pair of programs that decides less than this part of the cells


def find_intervals(
    recovery: Recovery,
    demand: Demand | None = None,
    *,
    seen: Intervals | None = None,
    solution: Integers | None = None,
    integers: bool = True,
    effort: float = 60.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> Intervals:
    """Find the possible values of hidden cells, until a demand is decided for each of its cells.

    (1) A solution in whole numbers near an interior point is moved along vectors that the relations map to 0; each
    move leads to others, and shows a range of the cells that it changes. (2) Random sums of all undecided cells are
    minimised in a box around a solution, just wide enough for the demand, then within all limits: each vertex is a
    solution for all cells at once. In pieces whose cells are in two relations at most, vertices are whole numbers as a
    rule, so that boxes come first there. Both are skipped without a demand. (3) Single cells are minimised and
    maximised, one in each piece by one program; dual solutions prove limits in exact integers. (4) Cells that are still
    undecided are minimised and maximised in integers. (5) Pieces of which no solution was seen are asked for one, so
    that no contradiction is overlooked.

    Args:
        recovery: the outcome of `recover`, without a contradiction.
        demand: what is to be decided; None asks for the exact interval of every cell.
        seen: the outcome for another demand on the same recovery, from which the search goes on.
        solution: a solution in whole numbers, such as the truth, shape (cells,); it saves programs.
        integers: whether to go on to (4).
        effort: seconds after which the state so far is returned.
        seed: of the random sums.
        progress: called with the number of decided cells and of all.

    Returns:
        Intervals; `finished` is false where the effort did not suffice, and their limits hold all the same.

    Cost: a linear program takes milliseconds in pieces of 3,000 cells; pieces of 30,000 in three hierarchies may take
    all effort.

    Source: Fischetti, Salazar, 2001, section 3 (attacker subproblems); Handbook on Statistical Disclosure Control, 4.3.
    """
    search = _Search(recovery, demand, monotonic() + effort, np.random.default_rng(seed), progress)
    if seen is not None:
        search.resume(seen)
    if solution is not None:
        search.see_solution(solution)
    try:
        if demand is not None:
            search.ask_boxes(search.of_two_relations())
            search.ask_moves()
            search.ask_boxes(search.wanted)
            search.ask_sums()
        search.ask_cells()
        if integers:
            search.ask_integers()
        search.ask_existence(integers=integers)
    except Unfinished:
        search.finished = False
    return search.intervals()


@dataclass
class _Search:
    """Limits and solutions of the columns of a remainder, while programs are asked."""

    recovery: Recovery
    demand: Demand | None
    deadline: float
    random: np.random.Generator
    progress: Progress | None
    finished: bool = True
    programs: int = 0
    integer_programs: int = 0
    contradiction: Contradiction | None = None
    remainder: Remainder = field(init=False)

    def __post_init__(self) -> None:
        remainder = self.remainder = self.recovery.remainder
        width = len(remainder.low)
        self.low, self.high = remainder.low.copy(), remainder.high.copy()
        self.seen_low, self.seen_high = np.full(width, np.inf), np.full(width, -np.inf)
        self.real_low, self.real_high = self.seen_low.copy(), self.seen_high.copy()
        self.asked = {sign: np.zeros(width, np.bool_) for sign in (1, -1)}  # by a linear program of the column alone
        self.wanted = np.zeros(width, np.bool_)
        self.wanted[: len(remainder.cells)] = True if self.demand is None else self.demand.cells[remainder.cells]
        self.solution = np.zeros(width, np.int64)
        self.solved = np.zeros(width, np.bool_)  # columns of pieces in which that is a solution
        self.infinite = (self.low <= -INFINITE) | (self.high >= INFINITE)

    @property
    def seconds(self) -> float:
        """Seconds that are left.

        Raises:
            Unfinished: none are.
        """
        checkpoint()
        left = self.deadline - monotonic()
        if left <= 0:
            raise Unfinished
        return left

    def undecided(self) -> Booleans:
        """Columns of which something is still to be decided."""
        size = len(self.remainder.cells)
        if self.demand is None:
            ends = (
                np.where(self.low <= -INFINITE, -np.inf, self.low),
                np.where(self.high >= INFINITE, np.inf, self.high),
            )
            return self.wanted & ((np.floor(self.seen_low) > ends[0]) | (np.ceil(self.seen_high) < ends[1]))
        cells, result = self.remainder.cells, np.zeros(len(self.low), np.bool_)
        seen, possible = np.zeros((2, len(self.demand.cells))), np.zeros((2, len(self.demand.cells)))
        seen[:, cells] = self.seen_low[:size], self.seen_high[:size]
        possible[:, cells] = self.low[:size], self.high[:size]
        open_cells = ~self.demand.holds(*seen) & self.demand.holds(*possible)
        result[:size] = open_cells[cells]
        return self.wanted & result & (self.low < self.high)

    def resume(self, seen: Intervals) -> None:
        """Take over what an earlier search proved and saw."""
        cells, size = self.remainder.cells, len(self.remainder.cells)
        self.contradiction = seen.contradiction
        self.low[:size] = np.maximum(self.low[:size], seen.low[cells])
        self.high[:size] = np.minimum(self.high[:size], seen.high[cells])
        for own, earlier in ((self.seen_low, seen.seen_low), (self.real_low, seen.real_low)):
            own[:size] = earlier[cells]
        for own, earlier in ((self.seen_high, seen.seen_high), (self.real_high, seen.real_high)):
            own[:size] = earlier[cells]
        if seen.solution is not None:
            self.see_solution(seen.solution)

    def see_solution(self, solution: Integers) -> None:
        """Take a solution of all cells as a witness, in the pieces where it is one."""
        values = np.zeros(len(self.low))
        size = len(self.remainder.cells)
        values[:size] = solution[self.remainder.cells]
        slacks = np.arange(size, len(values))
        by_column = self.remainder.matrix.tocsc()
        rows = by_column.indices[by_column.indptr[slacks]]
        values[slacks] = self.remainder.matrix[rows] @ values - self.remainder.right[rows] if len(slacks) else 0
        self._see(self.remainder, np.arange(len(values)), values, is_solution=False)

    def _see(self, some: Remainder, columns: Integers, values: Floats, *, is_solution: bool = True) -> None:
        """Note the values of some pieces: a solution in real numbers, or numbers that are one in some of them only."""
        rounded, holds = witness(some, values)
        whole = holds[some.pieces]
        real = np.ones(len(columns), np.bool_) if is_solution else whole
        np.minimum.at(self.real_low, columns[real], values[real])
        np.maximum.at(self.real_high, columns[real], values[real])
        np.minimum.at(self.seen_low, columns[whole], rounded[whole])
        np.maximum.at(self.seen_high, columns[whole], rounded[whole])
        fractions = np.zeros(len(holds), np.bool_)
        fractions[some.pieces[rounded != np.rint(rounded)]] = True
        new = whole & ~fractions[some.pieces] & ~self.solved[columns]
        self.solution[columns[new]] = rounded[new].astype(np.int64)
        self.solved[columns[new]] = True

    def _pieces_with(self, columns: Booleans) -> Booleans:
        """All columns of the pieces of some columns."""
        pieces = np.zeros(int(self.remainder.pieces.max(initial=-1)) + 1, np.bool_)
        pieces[self.remainder.pieces[columns]] = True
        return pieces[self.remainder.pieces]

    def _report(self) -> None:
        if self.progress is not None:
            total = int(self.wanted.sum())
            self.progress(total - int(self.undecided().sum()), total)
            checkpoint()

    def _parts(self, columns: Booleans) -> tuple[Remainder, Integers, Program]:
        """The pieces that have any of some columns, with the narrowest limits; their columns; their program."""
        mask = self._pieces_with(columns)
        some = part_of(self.remainder, mask)
        return some, np.flatnonzero(mask), program(some)

    def _minimise(self, some: Remainder, columns: Integers, solver: Program, objective: Floats) -> Optimum:
        try:
            return self._solved(some, columns, solver, objective)
        except Infeasible:
            self.contradiction = _of_pieces(some)
            raise Unfinished from None

    def _solved(self, some: Remainder, columns: Integers, solver: Program, objective: Floats) -> Optimum:
        optimum = solver.minimise(objective, self.seconds)
        self.programs += 1
        self._see(some, columns, optimum.values)
        self._report()
        return optimum

    def ask_moves(self) -> None:
        """Move a solution in whole numbers until sweeps decide few cells, with other moves in each."""
        undecided, stale, ranks = self.undecided(), 0, None
        while undecided.any() and stale < STALE_ROUNDS:
            mask = self._pieces_with(undecided)
            some, columns = part_of(self.remainder, mask), np.flatnonzero(mask)
            moves = Moves.of(some, ranks)
            if not self.solved[columns].all():
                values, _ = moves.rounded(self.recovery.point[columns], self.random, self.deadline)
                self._see(some, columns, values.astype(float), is_solution=False)
                undecided &= self.solved
            local = self.solution[columns]
            for _ in range(SWEEPS):
                least, most = moves.sweep(local, undecided[columns], self.random, self.deadline)
                for seen in (self.seen_low, self.real_low):
                    seen[columns] = np.where(undecided[columns], np.minimum(seen[columns], least), seen[columns])
                for seen in (self.seen_high, self.real_high):
                    seen[columns] = np.where(undecided[columns], np.maximum(seen[columns], most), seen[columns])
                before, undecided = int(undecided.sum()), self.undecided() & self.solved
                stale = stale + 1 if before - int(undecided.sum()) < GAIN * before else 0
            self.solution[columns] = local
            self._report()
            ranks = self.random.integers(0, SWEEPS + 1, int(self._pieces_with(undecided).sum()))

    def of_two_relations(self) -> Booleans:
        """Columns of pieces whose columns are each in two relations at most, such as those of flat tables."""
        in_more = np.bincount(self.remainder.matrix.indices, minlength=len(self.low)) > 2
        return ~self._pieces_with(in_more)

    def ask_boxes(self, chosen: Booleans) -> None:
        """Minimise random sums of undecided cells, and their opposites, in a box around a solution.

        All but as many columns of a vertex as there are relations are at an end of their limits. In a box that is just
        wide enough for the demand, few programs decide nearly all cells.

        Args:
            chosen: the columns of the pieces that are asked.
        """
        centre = np.where(self.solved, self.solution, self.recovery.point)
        undecided = chosen & self.undecided() & ~np.isnan(centre)
        while undecided.any():
            mask = self._pieces_with(undecided)
            columns = np.flatnonzero(mask)
            some = self._box(part_of(self.remainder, mask), columns, centre[columns], undecided[columns])
            signs = np.where(undecided, self.random.choice((-1.0, 1.0), len(self.low)), 0.0)[columns]
            solver = program(some)
            try:
                for sign in (1, -1):
                    self._solved(some, columns, solver, sign * signs)
            except Infeasible:  # of the box, within the solver's tolerance: that proves nothing
                return
            before, undecided = int(undecided.sum()), undecided & self.undecided()
            if before - int(undecided.sum()) < LEAST_GAIN * before:
                return

    def _box(self, some: Remainder, columns: Integers, centre: Floats, undecided: Booleans) -> Remainder:
        """The same pieces, whose undecided columns have limits around a solution that are far enough for the demand."""
        assert self.demand is not None  # noqa: S101 - only demands are asked so
        low, high = np.floor(centre - self.demand.width), np.ceil(centre + self.demand.width)
        of_cells = columns[: len(some.cells)]
        cells = self.remainder.cells[of_cells]
        if self.demand.reach_low is not None:
            low[: len(cells)] = np.minimum(low[: len(cells)], self.demand.reach_low[cells])
        if self.demand.reach_high is not None:
            high[: len(cells)] = np.maximum(high[: len(cells)], self.demand.reach_high[cells])
        low, high = (np.clip(ends, -LARGEST, LARGEST).astype(np.int64) for ends in (low, high))
        return replace(
            some,
            low=np.where(undecided, np.maximum(some.low, low), some.low),
            high=np.where(undecided, np.minimum(some.high, high), some.high),
        )

    def ask_sums(self) -> None:
        """Minimise random sums of undecided cells until rounds decide few."""
        undecided = self.undecided()
        if not undecided.any():
            return
        some, columns, solver = self._parts(undecided)
        stale = 0
        while undecided.any() and stale < STALE_ROUNDS:
            signs = self.random.choice((-1.0, 1.0), len(self.low))
            signs[self.high >= INFINITE] = 1.0
            signs[self.low <= -INFINITE] = -1.0
            signs[(self.low <= -INFINITE) & (self.high >= INFINITE)] = 0.0
            self._minimise(some, columns, solver, np.where(undecided, signs, 0.0)[columns])
            before, undecided = int(undecided.sum()), self.undecided()
            stale = stale + 1 if before - int(undecided.sum()) < GAIN * before else 0

    def ask_cells(self) -> None:
        """Minimise and maximise undecided cells, one of each piece at a time."""
        while (open_sides := self._open_sides()).any():
            some, columns, solver = self._parts(open_sides[0] | open_sides[1])
            for _ in range(64):  # before pieces without a question are left out
                if not open_sides.any():
                    break
                self._ask_batch(some, columns, solver, open_sides)
                open_sides = self._open_sides()

    def _open_sides(self) -> Booleans:
        """Columns whose least (first row) and greatest value (second) are worth asking for; shape (2, columns)."""
        undecided = self.undecided()
        at_low, at_high = np.floor(self.seen_low) <= self.low, np.ceil(self.seen_high) >= self.high
        return np.array([undecided & ~self.asked[1] & ~at_low, undecided & ~self.asked[-1] & ~at_high])

    def _ask_batch(self, some: Remainder, columns: Integers, solver: Program, open_sides: Booleans) -> None:
        local = open_sides[:, columns]
        pieces, first = np.unique(some.pieces[local.any(axis=0)], return_index=True)
        targets = np.flatnonzero(local.any(axis=0))[first]
        signs = np.where(local[0, targets], 1, -1)
        unbounded = np.zeros(int(some.pieces.max()) + 1, np.bool_)
        unbounded[some.pieces[self.infinite[columns]]] = True
        alone = unbounded[pieces]
        if not alone.all():
            self._ask(some, columns, solver, targets[~alone], signs[~alone])
        for target, sign in zip(targets[alone], signs[alone], strict=True):
            self._ask(some, columns, solver, np.array([target]), np.array([sign]))

    def _ask(self, some: Remainder, columns: Integers, solver: Program, targets: Integers, signs: Integers) -> None:
        objective = np.zeros(len(columns))
        objective[targets] = signs
        for sign in (1, -1):
            self.asked[sign][columns[targets[signs == sign]]] = True
        try:
            optimum = self._minimise(some, columns, solver, objective)
        except Unbounded:
            (column,), (sign,) = columns[targets], signs
            if sign > 0:
                self.seen_low[column] = self.real_low[column] = -np.inf
            else:
                self.seen_high[column] = self.real_high[column] = np.inf
            return
        self._prove(columns[targets], signs, proved_least(some, targets, signs, optimum))

    def _prove(self, columns: Integers, signs: Integers, least: Integers) -> None:
        lower, upper = columns[signs > 0], columns[signs < 0]
        self.low[lower] = np.maximum(self.low[lower], least[signs > 0])
        self.high[upper] = np.minimum(self.high[upper], -least[signs < 0])

    def ask_integers(self) -> None:
        """Minimise and maximise in integers what linear programs left undecided, one cell at a time."""
        for sign in (1, -1):
            for column in np.flatnonzero(self.undecided() & self.remainder.integral).tolist():
                seen = self.seen_low[column] <= self.low[column], self.seen_high[column] >= self.high[column]
                if not seen[sign < 0] and self.undecided()[column]:
                    self._ask_integer(column, sign)

    def _ask_integer(self, column: int, sign: int) -> None:
        mask = self.remainder.pieces == self.remainder.pieces[column]
        objective = np.where(np.flatnonzero(mask) == column, float(sign), 0.0)
        bound = self._minimise_integers(mask, objective)
        if bound is not None:
            least = np.array([int(np.ceil(bound - TOLERANCE * max(abs(bound), 1)))])
            self._prove(np.array([column]), np.array([sign]), least)

    def _minimise_integers(self, mask: Booleans, objective: Floats) -> float | None:
        """The least objective of one piece in integers; None if it has none, or a part of the time is over."""
        some, columns = part_of(self.remainder, mask), np.flatnonzero(mask)
        try:
            optimum = minimise_integers(some, objective, max(self.seconds / 4, 0.01))
        except Infeasible:
            self.contradiction = _of_pieces(some)
            raise Unfinished from None
        except Unbounded:
            return None
        except Unfinished:
            self.finished = False
            return None
        self.integer_programs += 1
        self._see(some, columns, optimum.values)
        return optimum.bound

    def ask_existence(self, *, integers: bool) -> None:
        """Ask for any solution in pieces without one: near the interior point, by a linear, then an integer program."""
        mask = self._unseen(self.seen_low)
        if mask.any() and not np.isnan(self.recovery.point[mask]).all():
            some, columns = part_of(self.remainder, mask), np.flatnonzero(mask)
            values, _ = Moves.of(some).rounded(self.recovery.point[columns], self.random, self.deadline)
            self._see(some, columns, values.astype(float), is_solution=False)
        mask = self._unseen(self.seen_low if integers else self.real_low)
        if mask.any():
            some, columns, solver = self._parts(mask)
            self._minimise(some, columns, solver, np.zeros(len(columns)))
        mask = self._unseen(self.seen_low)
        for piece in np.unique(self.remainder.pieces[mask]).tolist() if integers else ():
            whole = self.remainder.pieces == piece
            self._minimise_integers(whole, np.zeros(int(whole.sum())))

    def _unseen(self, seen: Floats) -> Booleans:
        """Columns of pieces without a solution that was seen."""
        return np.isposinf(seen)

    def intervals(self) -> Intervals:
        """The state of all cells."""
        narrowed, cells = self.recovery.narrowed, self.remainder.cells
        exact = narrowed.low.astype(float), narrowed.high.astype(float)

        def of_cells(whole: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
            result = whole.copy()
            result[cells] = columns[: len(cells)]
            return result

        return Intervals(
            low=of_cells(narrowed.low, self.low),
            high=of_cells(narrowed.high, self.high),
            seen_low=of_cells(exact[0], self.seen_low),
            seen_high=of_cells(exact[1], self.seen_high),
            real_low=of_cells(exact[0], self.real_low),
            real_high=of_cells(exact[1], self.real_high),
            solution=of_cells(narrowed.low, self.solution),
            programs=self.programs,
            integer_programs=self.integer_programs,
            finished=self.finished,
            contradiction=self.contradiction,
        )


def _of_pieces(some: Remainder) -> Contradiction:
    return Contradiction(tuple(some.rows.tolist()), tuple(some.cells.tolist()), is_smallest=False)
