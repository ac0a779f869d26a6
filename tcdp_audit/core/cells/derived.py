"""Derivation from all tables about the same people together: known cells, and how a reader computes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from math import inf
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import listing, visible
from tcdp_audit.core.cells.computation import Computation, Proofs, find_computation
from tcdp_audit.core.cells.demands import Demand, Intervals, Verdict
from tcdp_audit.core.cells.intervals import find_intervals
from tcdp_audit.core.cells.joint import NOWHERE, JointFigures
from tcdp_audit.core.cells.narrowing import Narrowed, narrow
from tcdp_audit.core.cells.people import PeopleCount, count_people
from tcdp_audit.core.cells.recovery import Recovery, recover
from tcdp_audit.core.cells.remainder import Remainder, part_of
from tcdp_audit.core.cells.solutions import SolutionCount, count_solutions, feasible_values
from tcdp_audit.core.cells.system import INFINITE, CellSystem
from tcdp_audit.core.cells.table import CellState
from tcdp_audit.core.cells.view import say_computation

Mask = NDArray[np.bool_]
CONTRADICTORY = (
    "the figures contradict each other, so that nothing can be derived from them; see the finding `contradiction`"
)
STEP = "deriving hidden figures"
SHORTEST = 20  # cells whose shortest computation is looked for; of others one computation is given
SECONDS = 0.2  # for each of them
ROUNDS = 20  # in which proved limits are raised until a solution attains them


def _with_constant(some: Remainder, low: NDArray[np.int64], high: NDArray[np.int64]) -> CellSystem:
    """Pieces of a remainder as a system whose last variable is the constant 1."""
    from scipy.sparse import csr_array, hstack  # noqa: PLC0415 - takes a moment to import

    relations: Any = hstack([some.matrix, csr_array(-some.right[:, None])]).tocsr().astype(np.int64)
    relations.eliminate_zeros()
    return CellSystem(relations, low, high, np.append(some.integral, True))


@dataclass(frozen=True, repr=False)
class Derivation:
    """The figures of one kind about the same people, and what follows from all of them.

    Args:
        joint: the figures as one system.
        progress: called with a step, the variables that are decided, and their total.
        explains: whether sentences say how a variable is computed, which may need a program for each.
    """

    joint: JointFigures
    progress: Callable[[str, int, int], None] | None = None
    explains: bool = True
    _seen: list[Intervals] = field(default_factory=list)  # the last one has all that was proved and seen so far

    @cached_property
    def recovery(self) -> Recovery:
        """The cells that relations determine, and those of which that is excluded over the real numbers.

        Raises:
            CheckError: the figures contradict each other.
        """
        narrowed = narrow(self.joint.system)
        recovery = recover(narrowed) if narrowed.contradiction is None else None
        if recovery is None or recovery.narrowed.contradiction is not None:
            raise CheckError(CONTRADICTORY)
        return recovery

    @cached_property
    def published(self) -> Mask:
        """Variables that a table shows, exactly or rounded. Shape (variables,)."""
        return self._in_state(CellState.SHOWN)

    @cached_property
    def hidden(self) -> Mask:
        """Variables that a table hides, whether or not another one shows them. Shape (variables,)."""
        return self._in_state(CellState.HIDDEN) | (self._in_state(CellState.ABSENT) & self.joint.system.hidden)

    def _in_state(self, state: CellState) -> Mask:
        mask = np.zeros(len(self.joint.system.low), np.bool_)
        for (table, measure), variables in self.joint.variables.items():
            cells = (self.joint.tables[table].figures[measure].state == state) & (variables != NOWHERE)
            mask[variables[cells]] = True
        return mask

    @property
    def known(self) -> Mask:
        """Variables with one possible value for a reader of all tables. Shape (variables,)."""
        return self.recovery.narrowed.known

    def decide(self, demand: Demand, *, integers: bool = True, effort: float = 60.0) -> Intervals:
        """The possible values of variables, until a demand is decided for each; see `find_intervals`.

        The search goes on from what earlier demands proved and saw.

        Raises:
            CheckError: no numbers satisfy the relations.
        """
        recovery, progress = self.recovery, self.progress
        intervals = find_intervals(
            recovery,
            demand,
            seen=self._seen[-1] if self._seen else None,
            integers=integers,
            effort=effort,
            progress=None if progress is None else lambda done, total: progress(STEP, done, total),
        )
        self._seen[:] = [intervals]
        if intervals.contradiction is not None:
            raise CheckError(CONTRADICTORY)
        return intervals

    def attain(self, cells: Mask, *, both: bool = True, integers: bool = True, effort: float = 60.0) -> Intervals:
        """The least, and with `both` the largest, possible values of variables, as far as the effort goes.

        Proved limits are asked of a solution that attains them, and raised by the answer, until one does.

        Raises:
            CheckError: no numbers satisfy the relations.
        """
        deadline = monotonic() + effort
        seen: Intervals | Narrowed = self._seen[-1] if self._seen else self.recovery.narrowed
        intervals: Intervals | None = None
        for _ in range(ROUNDS):
            low, high = seen.low, seen.high
            demand = Demand(cells, width=0, reach_low=low, reach_high=high if both else None)
            seen = intervals = self.decide(demand, integers=integers, effort=max(deadline - monotonic(), 0.01))
            closer = (seen.low > low) | (both & (seen.high < high))
            if not closer[cells].any() or monotonic() > deadline:
                break
        assert intervals is not None  # noqa: S101 - there is a round
        return intervals

    def _pieces_with(self, variables: Collection[int]) -> Mask:
        """The columns of the remainder in the connected pieces of some variables."""
        remainder = self.recovery.remainder
        chosen = np.isin(remainder.cells, list(variables))
        return np.isin(remainder.pieces, remainder.pieces[: len(remainder.cells)][chosen])

    def connected_with(self, variables: Collection[int]) -> Mask:
        """The unknown variables about which closer limits of some others may say more. Shape (variables,)."""
        cells, mask = self.recovery.remainder.cells, np.zeros(len(self.joint.system.low), np.bool_)
        mask[cells[self._pieces_with(variables)[: len(cells)]]] = True
        return mask

    def decide_knowing(
        self, limits: Mapping[int, tuple[int, int]], demand: Demand, *, integers: bool = True, effort: float = 60.0
    ) -> tuple[NDArray[np.int64], Intervals, Demand]:
        """The possible values for a reader who knows closer limits of some unknown variables.

        Args:
            limits: the least and the largest value of each, in steps; those of known variables say nothing new.
            demand: the demand on all variables.
            integers: whether integer programs are asked.
            effort: the most seconds.

        Returns:
            The variables of the connected pieces of these, and their intervals, and the demand on them, in that order.

        Raises:
            CheckError: the limits contradict the figures.
        """
        remainder = self.recovery.remainder
        some = part_of(remainder, self._pieces_with(limits))
        width, count = len(some.low), len(some.cells)
        low, high = np.append(some.low, 1), np.append(some.high, 1)  # the last variable is 1, for right-hand sides
        for place, variable in enumerate(some.cells.tolist()):
            if variable in limits:
                low[place], high[place] = max(low[place], limits[variable][0]), min(high[place], limits[variable][1])
        system = _with_constant(some, low, high)
        narrowed = narrow(system)
        recovery = recover(narrowed, effort=effort) if narrowed.contradiction is None else None
        if recovery is None or recovery.narrowed.contradiction is not None:
            raise CheckError(CONTRADICTORY)

        def of_cells(whole: NDArray[Any]) -> NDArray[Any]:
            return np.append(whole[some.cells], np.zeros(width + 1 - count, whole.dtype))

        own = replace(
            demand,
            cells=of_cells(demand.cells),
            reach_low=None if demand.reach_low is None else of_cells(demand.reach_low),
            reach_high=None if demand.reach_high is None else of_cells(demand.reach_high),
        )
        intervals = find_intervals(recovery, own, integers=integers, effort=effort)
        if intervals.contradiction is not None:
            raise CheckError(CONTRADICTORY)
        return some.cells, intervals, own

    def undecided(self, intervals: Intervals, demand: Demand, *, relaxed: bool) -> Mask:
        """The variables of which a demand is not decided.

        Args:
            intervals: what was decided.
            demand: the demand.
            relaxed: whether real numbers suffice to say that a cell is protected; otherwise whole ones are needed.
        """
        verdicts: NDArray[Any] = intervals.verdicts(demand)
        open_ones = verdicts == Verdict.UNDECIDED
        return demand.cells & (open_ones if relaxed else open_ones | (verdicts == Verdict.RELAXED))

    def limits(self, variable: int, intervals: Intervals) -> tuple[Fraction | float, Fraction | float]:
        """The least and the largest value that a variable is not proved not to have, in units."""
        exact = self.recovery.fractional.get(variable)
        if exact is not None:
            return exact / self.joint.scale, exact / self.joint.scale
        low, high = int(intervals.low[variable]), int(intervals.high[variable])
        return (
            -inf if low <= -INFINITE else Fraction(low, self.joint.scale),
            inf if high >= INFINITE else Fraction(high, self.joint.scale),
        )

    def values(self, variable: int, *, cap: int, effort: float) -> Sequence[int] | None:
        """The whole numbers that a variable has in tables that fit; None where these are more than can be tried.

        Args:
            variable: its number.
            cap: the most tables that are tried.
            effort: the most seconds.
        """
        if not self.joint.system.integral.all() or self.joint.scale != 1:
            return None
        values = feasible_values(self.recovery, variable, cap=cap, effort=effort)
        return None if values is None else [int(one) for one in values]

    def solutions(self, *, cap: int, effort: float) -> SolutionCount:
        """The number of tables of whole numbers that fit; see `count_solutions`.

        Raises:
            CheckError: no table fits.
        """
        outcome = count_solutions(self.recovery, cap=cap, effort=effort)
        if not outcome.number and outcome.finished:
            raise CheckError(CONTRADICTORY)
        return outcome

    def people(self, *, cap: int, effort: float) -> PeopleCount | None:
        """The number of sets of people that have all published counts and statistics of a value; see `count_people`.

        Raises:
            CheckError: no set of people has them.
        """
        outcome = count_people(self.recovery, self.joint, cap=cap, effort=effort)
        if outcome is not None and outcome.finished and not outcome.number:
            raise CheckError(
                f"no set of people has the published counts and the statistics of {visible(outcome.column)!r}; correct "
                "them, or what `suppressed`, `at_least`, `at_most` and `decimals` declare"
            )
        return outcome

    @cached_property
    def _proofs(self) -> Proofs:
        return Proofs(self.recovery)

    def computation_of(self, variable: int, *, shortest: bool = True) -> Computation | None:
        """The computation of a variable, or None; see `find_computation`."""
        return find_computation(self.recovery, variable, effort=SECONDS if shortest else 0, proofs=self._proofs)

    def computation(self, variable: int, *, shortest: bool = True) -> str:
        """The computation of a variable, as the end of a sentence: `is the total of ward A less age 60-79`."""
        if not self.explains:
            return ""
        showing = [table for table, measure, cell in self.joint.where(variable) if self._shows(table, measure, cell)]
        if showing:
            return f"is shown in table {listing([repr(visible(one)) for one in dict.fromkeys(showing)])}"
        outcome = self.computation_of(variable, shortest=shortest)
        if outcome is None:
            return "has one possible value, by whole numbers that add up"
        words = say_computation(self.joint, outcome.terms)
        if not outcome.limited:
            return f"is {words}"
        return f"is {words}, of which the hidden ones have one possible value as well"

    def _shows(self, table: str, measure: str, cell: int) -> bool:
        figures = self.joint.tables[table].figures[measure]
        return bool(figures.shown[cell]) and figures.low[cell] == figures.high[cell]

    def computations(self, variables: Sequence[int]) -> list[str]:
        """The computation of each of some variables; the shortest one of the first."""
        return [self.computation(one, shortest=place < SHORTEST) for place, one in enumerate(variables)]
