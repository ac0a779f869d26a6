"""Demands on hidden cells, the values that are left of them, and the verdicts that follow."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.cells.remainder import Floats
from tcdp_audit.core.cells.system import INFINITE, Booleans, Contradiction, Integers


class Verdict(IntEnum):
    """The decision about a cell under a demand."""

    KNOWN = 0  # one value is possible
    NARROW = 1  # the demand is proved to be missed; one value is possible or several
    PROTECTED = 2  # solutions in whole numbers that meet the demand were seen
    RELAXED = 3  # only solutions in real numbers were
    UNDECIDED = 4


@dataclass(frozen=True)
class Demand:
    """Values that some cells must be able to have for a reader who knows the relations and all limits.

    Attributes:
        cells: the cells, shape (cells,).
        width: by how much the largest possible value exceeds the smallest, at least.
        reach_low: the smallest possible value is at most this, shape (cells,); None asks nothing.
        reach_high: the largest possible value is at least this, likewise.
        either: whether one of `reach_low` and `reach_high` is enough.
    """

    cells: Booleans
    width: int = 1
    reach_low: Integers | None = None
    reach_high: Integers | None = None
    either: bool = False

    def holds(self, low: NDArray[np.number], high: NDArray[np.number]) -> Booleans:
        """Whether limits meet the demand, for each cell; of seen values a proof, of proved limits a possibility."""
        reached = [
            values
            for values in (
                None if self.reach_low is None else low <= self.reach_low,
                None if self.reach_high is None else high >= self.reach_high,
            )
            if values is not None
        ]
        with np.errstate(invalid="ignore"):
            wide = np.asarray(high, float) - np.asarray(low, float) >= self.width
        if not reached:
            return wide
        return wide & (np.any(reached, axis=0) if self.either else np.all(reached, axis=0))


@dataclass(frozen=True)
class Intervals:
    """Possible values of all cells.

    Attributes:
        low: proved: no solution is below, shape (cells,).
        high: proved: none is above.
        seen_low: the smallest value in a solution that was seen, in whole numbers where the cells are; inf for none.
        seen_high: the largest; -inf for none.
        real_low: the smallest value in a solution of real numbers that was seen.
        real_high: the largest.
        solution: numbers of all cells: a solution in whole numbers in each connected piece in which one was seen.
        programs: linear programs that were solved.
        integer_programs: integer programs that were solved.
        finished: whether every question was answered within the effort.
        contradiction: why there is no solution, or None.
    """

    low: Integers
    high: Integers
    seen_low: Floats
    seen_high: Floats
    real_low: Floats
    real_high: Floats
    solution: Integers | None = None
    programs: int = 0
    integer_programs: int = 0
    finished: bool = True
    contradiction: Contradiction | None = None

    @property
    def known(self) -> Booleans:
        """Cells with one possible value, shape (cells,)."""
        return self.low == self.high

    @property
    def attained(self) -> Booleans:
        """Cells whose proved limits are both seen in solutions, within a unit if they are no whole numbers.

        The interval is exact then; shape (cells,).
        """
        low, high = (
            np.where(self.low <= -INFINITE, -np.inf, self.low),
            np.where(self.high >= INFINITE, np.inf, self.high),
        )
        return (np.floor(self.seen_low) <= low) & (np.ceil(self.seen_high) >= high)

    def verdicts(self, demand: Demand) -> NDArray[np.int8]:
        """A `Verdict` a cell, shape (cells,); of cells without a demand what a width of 1 would say."""
        result = np.full(len(self.low), Verdict.UNDECIDED, np.int8)
        result[demand.holds(self.real_low, self.real_high)] = Verdict.RELAXED
        result[demand.holds(self.seen_low, self.seen_high)] = Verdict.PROTECTED
        result[~demand.holds(self.low, self.high)] = Verdict.NARROW
        result[self.known] = Verdict.KNOWN
        return result
