"""Solutions in whole numbers by moves: a step along a vector that the relations map to 0 leads to another solution."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from time import monotonic

import numpy as np

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.cells.elimination import Echelon
from tcdp_audit.core.cells.remainder import Floats, Remainder, witness
from tcdp_audit.core.cells.system import Booleans, Integers

LONGEST = 3000  # cells that a move changes at most; longer ones are seldom possible, and slow
REPAIRS, ATTEMPTS = 6, 3  # moves for each cell that is beyond its limits after rounding, and how often from anew
TRIED = 40  # moves that are compared for it
FAR = 2**40  # the longest step
NEAR = 50  # the longest one that a solution goes


@dataclass(frozen=True)
class Moves:
    """Vectors z in whole numbers with matrix @ z = 0, one for each column that is no pivot, as sparse rows.

    They span all solutions. Those of tables change few cells: 60 on average where 39,000 unknown cells are one piece of
    three hierarchies.

    Attributes:
        remainder: the unknown cells and their relations.
        echelon: the same in echelon form.
        starts: where a move's entries begin, and the end, shape (moves + 1,).
        columns: the column of each entry.
        steps: by how much it changes.
    """

    remainder: Remainder
    echelon: Echelon
    starts: Integers
    columns: Integers
    steps: Integers

    @classmethod
    def of(cls, remainder: Remainder, ranks: Integers | None = None) -> Moves:
        """Moves of a remainder, by back substitution from its echelon form; other ranks of pivots give other moves."""
        echelon = Echelon.of(remainder.matrix, remainder.right, ranks)
        moves: dict[int, dict[int, int]] = {column: {column: 1} for column in range(len(remainder.low))}
        users: dict[int, dict[int, tuple[int, int]]] = {}  # by pivot: numerator and denominator by free column
        for _, pivot in echelon.pivots:
            del moves[pivot]
        for number, pivot in reversed(echelon.pivots):
            checkpoint()
            users[pivot] = _back_substituted(echelon.rows[number], pivot, users)
            for column, (step, denominator) in users[pivot].items():
                _extend(moves[column], column, pivot, step, denominator)
        chosen = [move for move in moves.values() if 1 <= len(move) <= LONGEST]
        lengths = np.array([0, *map(len, chosen)], np.int64)
        return cls(
            remainder,
            echelon,
            np.cumsum(lengths),
            np.array([column for move in chosen for column in move], np.int64),
            np.array([step for move in chosen for step in move.values()], np.int64),
        )

    def rounded(self, point: Floats, random: np.random.Generator, deadline: float) -> tuple[Integers, Booleans]:
        """A solution in whole numbers near a point, and the pieces in which it is one.

        Columns without a pivot are rounded, the others follow. Cells that are beyond their limits then are brought back
        by moves that reduce the sum of all excesses, now and then by others, as in simulated annealing.

        Args:
            point: numbers near a solution, shape (columns,); NaN is 0.
            random: chooses among moves.
            deadline: of `monotonic`, when to end.

        Returns:
            Numbers of shape (columns,), and one truth value a piece.
        """
        remainder, solution = self.remainder, self._consistent(point)
        best, holds = solution, witness(remainder, solution.astype(float))[1]
        for _ in range(ATTEMPTS):
            if holds.all() or monotonic() > deadline:
                break
            attempt = solution.copy()
            self._repair(attempt, ~holds[remainder.pieces], random, deadline)
            new = witness(remainder, attempt.astype(float))[1] & ~holds
            best, holds = np.where(new[remainder.pieces], attempt, best), holds | new
        return best, holds

    def _consistent(self, point: Floats) -> Integers:
        """Columns without a pivot rounded, and the pivots that follow, which may be beyond their limits."""
        values = [int(value) for value in np.rint(np.nan_to_num(point, nan=0.0)).tolist()]
        for number, pivot in reversed(self.echelon.pivots):
            row = self.echelon.rows[number]
            rest = self.echelon.right[number] - sum(row[column] * values[column] for column in row if column != pivot)
            values[pivot] = rest // row[pivot]
        return np.array([min(max(value, -FAR), FAR) for value in values], np.int64)

    def _repair(self, solution: Integers, columns: Booleans, random: np.random.Generator, deadline: float) -> None:
        low, high = self.remainder.low, self.remainder.high
        by_column = np.argsort(self.columns, kind="stable")
        begins = np.searchsorted(self.columns[by_column], np.arange(len(low) + 1))
        move_of = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))[by_column]
        waiting = np.flatnonzero(columns & ((solution < low) | (solution > high))).tolist()
        for _ in range(REPAIRS * len(waiting)):
            if not waiting or monotonic() > deadline:
                return
            checkpoint()
            column = waiting.pop()
            if low[column] <= solution[column] <= high[column]:
                continue
            candidates = move_of[begins[column] : begins[column + 1]]
            if len(candidates) > TRIED:
                candidates = random.choice(candidates, TRIED, replace=False)
            best = self._best(solution, column, candidates, random)
            if best is not None:
                changed, after = best
                solution[changed] = after
                waiting += changed[(after < low[changed]) | (after > high[changed])].tolist()

    def _best(
        self, solution: Integers, column: int, candidates: Integers, random: np.random.Generator
    ) -> tuple[Integers, Integers] | None:
        """The move by one step towards a column's limits with the least excesses; its columns, and their values."""
        low, high = self.remainder.low, self.remainder.high
        best, result = np.inf, None
        upwards = solution[column] < low[column]
        for move in candidates.tolist():
            entries = slice(self.starts[move], self.starts[move + 1])
            columns, steps = self.columns[entries], self.steps[entries]
            sign = 1 if (steps[columns == column][0] > 0) == upwards else -1
            before, after = solution[columns], solution[columns] + sign * steps
            lows, highs = low[columns], high[columns]
            cost = _excess(after, lows, highs) - _excess(before, lows, highs) + random.exponential()
            if cost < best:
                best, result = cost, (columns, after)
        return result

    def sweep(
        self, solution: Integers, columns: Booleans, random: np.random.Generator, deadline: float
    ) -> tuple[Integers, Integers]:
        """Make every move that changes some columns once, in random order: see how far each leads, go to the middle.

        Args:
            solution: a solution in the pieces of these columns; it is changed into another.
            columns: those of interest, shape (columns,).
            random: gives the order.
            deadline: of `monotonic`, when to end.

        Returns:
            The least and greatest value of each column in solutions that were seen, shape (columns,).
        """
        low, high = self.remainder.low, self.remainder.high
        least, most, starts = solution.copy(), solution.copy(), self.starts.tolist()
        useful = np.unique(np.repeat(np.arange(len(starts) - 1), np.diff(self.starts))[columns[self.columns]])
        for number, move in enumerate(random.permutation(useful).tolist()):
            if number % 64 == 0:
                checkpoint()
                if monotonic() > deadline:
                    break
            entries = slice(starts[move], starts[move + 1])
            changed, steps = self.columns[entries], self.steps[entries]
            now, size = solution[changed], np.abs(steps)
            above, below = high[changed] - now, now - low[changed]
            forwards = min(int((np.where(steps > 0, above, below) // size).min()), FAR)
            backwards = min(int((np.where(steps > 0, below, above) // size).min()), FAR)
            if forwards + backwards > 0:
                ends = now + forwards * steps, now - backwards * steps
                least[changed] = np.minimum(least[changed], np.minimum(*ends))
                most[changed] = np.maximum(most[changed], np.maximum(*ends))
                solution[changed] = now + (min(forwards, NEAR) - min(backwards, NEAR)) // 2 * steps
        return least, most


def _excess(values: Integers, low: Integers, high: Integers) -> int:
    return int(np.maximum(low - values, 0).sum() + np.maximum(values - high, 0).sum())


def _back_substituted(
    row: dict[int, int], pivot: int, users: dict[int, dict[int, tuple[int, int]]]
) -> dict[int, tuple[int, int]]:
    """A pivot as a combination of columns without one: numerators and denominators, which are 1 as a rule."""
    leading = row[pivot]
    sums: dict[int, int] = {}
    common = lcm(*(denominator for column in row for _, denominator in users.get(column, {}).values()))
    for column, coefficient in row.items():
        if column == pivot:
            continue
        if column in users:
            for free, (numerator, denominator) in users[column].items():
                sums[free] = sums.get(free, 0) - coefficient * numerator * (common // denominator)
        else:
            sums[column] = sums.get(column, 0) - coefficient * common
    if common == 1 and abs(leading) == 1:
        return {free: (value * leading, 1) for free, value in sums.items() if value}
    terms = {free: Fraction(value, common * leading) for free, value in sums.items() if value}
    return {free: (term.numerator, term.denominator) for free, term in terms.items()}


def _extend(move: dict[int, int], free: int, pivot: int, step: int, denominator: int) -> None:
    """Add the pivot's step, which is `step / denominator` for a step of 1 of the free column, in whole numbers."""
    scale = move[free]
    factor = denominator // gcd(step * scale, denominator)
    if factor != 1:
        for column in move:
            move[column] *= factor
        scale *= factor
    move[pivot] = step * scale // denominator
