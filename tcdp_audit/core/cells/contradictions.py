"""Smallest sets of relations that contradict one another, for a person who has to find the misprint."""

from __future__ import annotations

from time import monotonic

import numpy as np

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.cells.narrowing import narrow
from tcdp_audit.core.cells.programs import Infeasible, Unfinished, minimise_integers, program
from tcdp_audit.core.cells.recovery import recover
from tcdp_audit.core.cells.system import CellSystem, Contradiction, Integers, Matrix


def find_smallest(system: CellSystem, contradiction: Contradiction, *, effort: float = 10.0) -> Contradiction:
    """Leave out relations of a contradiction, ever smaller parts at once, as long as the others contradict one another.

    Relations are asked one at a time, then together, then by a linear and an integer program.

    Args:
        system: the system that has no solution.
        contradiction: what `narrow`, `recover` or `find_intervals` says of it.
        effort: seconds after which the set so far is returned.

    Returns:
        Relations, of which `is_smallest` says whether none can be left out.

    Cost: a program for each relation that stays, and O(log) for the others.

    Source: deletion filter, Chinneck, Dravnieks, Locating Minimal Infeasible Constraint Sets in Linear Programs, ORSA
    Journal on Computing 3, 1991.
    """
    if contradiction.is_smallest or not contradiction.relations:
        return contradiction
    deadline, numbers = monotonic() + effort, np.array(contradiction.relations, np.int64)
    try:
        if not _contradict(system, numbers, deadline):
            numbers = _joined(system, numbers)
            if not _contradict(system, numbers, deadline):
                return contradiction
        numbers, is_smallest = _filtered(system, numbers, deadline)
    except Unfinished:
        return contradiction
    cells = np.unique(system.rows.cells[system.rows.entries_of(numbers)])
    return Contradiction(tuple(numbers.tolist()), tuple(cells.tolist()), is_smallest)


def _filtered(system: CellSystem, numbers: Integers, deadline: float) -> tuple[Integers, bool]:
    size = max(len(numbers) // 2, 1)
    while size:
        begin = 0
        while begin < len(numbers):
            checkpoint()
            rest = np.delete(numbers, slice(begin, begin + size))
            try:
                needed = not len(rest) or not _contradict(system, rest, deadline)
            except Unfinished:
                return numbers, False
            numbers, begin = (numbers, begin + size) if needed else (rest, begin)
        size //= 2
    return numbers, True


def _joined(system: CellSystem, numbers: Integers) -> Integers:
    """All relations that are joined to some by hidden cells."""
    rows, hidden = system.rows, system.hidden
    while True:
        cells = rows.cells[rows.entries_of(numbers)]
        wider = np.union1d(numbers, rows.rows_with(np.unique(cells[hidden[cells]])))
        if len(wider) == len(numbers):
            return numbers
        numbers = wider


def _contradict(system: CellSystem, numbers: Integers, deadline: float) -> bool:
    """Whether some relations have no common solution.

    Raises:
        Unfinished: the time was over.
    """
    narrowed = narrow(_only(system, numbers))
    if narrowed.contradiction is not None:
        return True
    recovery = recover(narrowed, effort=0)
    if recovery.narrowed.contradiction is not None:
        return True
    remainder = recovery.remainder
    if not len(remainder.right):
        return False
    zero = np.zeros(len(remainder.low))
    seconds = deadline - monotonic()
    if seconds <= 0:
        raise Unfinished
    try:
        program(remainder).minimise(zero, seconds)
        if remainder.integral.any():
            minimise_integers(remainder, zero, deadline - monotonic())
    except Infeasible:
        return True
    return False


def _only(system: CellSystem, numbers: Integers) -> CellSystem:
    equations = system.rows.equations

    def some(matrix: Matrix | None, rows: Integers) -> Matrix | None:
        return None if matrix is None else matrix[rows]

    return CellSystem(
        system.relations[numbers[numbers < equations]],
        system.low,
        system.high,
        system.integral,
        some(system.inequalities, numbers[numbers >= equations] - equations),
    )
