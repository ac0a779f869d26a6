"""All tables in whole numbers that fit what is published: how many there are, and which values a cell has in them."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

import numpy as np

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.cells.demands import Intervals
from tcdp_audit.core.cells.recovery import Recovery
from tcdp_audit.core.cells.remainder import Remainder, part_of
from tcdp_audit.core.cells.system import INFINITE, Booleans, Integers

CAP = 400_000
FAR = 2**40  # the largest number that a slack takes
CHUNK = 8_000_000  # numbers of partial tables that are continued at once


@dataclass(frozen=True)
class SolutionCount:
    """The number of tables in whole numbers that fit.

    Attributes:
        number: of tables; at most the cap.
        is_exact: whether there are no more.
        finished: whether the effort sufficed; if not, `number` were seen.
    """

    number: int
    is_exact: bool
    finished: bool = True


class EffortError(Exception):
    """The time was over, or nothing bounds what is searched."""


def count_solutions(recovery: Recovery, *, cap: int = CAP, effort: float = 60.0) -> SolutionCount:
    """Count the tables in whole numbers that fit all relations and limits.

    Connected pieces are independent: their numbers are multiplied.

    Args:
        recovery: the outcome of `recover`; all of its unknown cells are whole numbers.
        cap: the number at which counting ends: there are more than that.
        effort: seconds after which it ends, too.

    Returns:
        The number. 0 is a contradiction.

    Cost: O(solutions x cells), and partial tables that come to nothing; memory for 8 million numbers at a time.

    Source: exhaustive search as in Garfinkel, Abowd, Martindale, Understanding Database Reconstruction Attacks on
    Public Data, ACM Queue 16, 2018.
    """
    number, deadline, finished = 1, monotonic() + effort, True
    remainder = recovery.remainder
    for piece in range(int(remainder.pieces.max(initial=-1)) + 1):
        some, total = part_of(remainder, remainder.pieces == piece), 0
        if ((some.high >= INFINITE) | (some.low <= -INFINITE))[: len(some.cells)].any():
            return SolutionCount(cap, is_exact=False)
        try:
            for tables in _tables(some, deadline):
                total += len(tables)
                if total > cap:
                    return SolutionCount(cap, is_exact=False)
        except EffortError:
            finished = False
        number *= max(total, 1 if not finished else 0)
        if number > cap:
            return SolutionCount(cap, is_exact=False)
        if not finished or not number:
            break
    return SolutionCount(number, is_exact=finished, finished=finished)


def feasible_values(recovery: Recovery, cell: int, *, cap: int = CAP, effort: float = 60.0) -> Integers | None:
    """The values that a cell has in tables of whole numbers, in order; they need not be all of an interval.

    Args:
        recovery: the outcome of `recover`; unknown cells of the cell's piece are whole numbers.
        cell: any cell.
        cap: the number of tables of its piece up to which values are listed.
        effort: seconds, likewise.

    Returns:
        Values, shape (values,); None where there are more tables or more time would be needed.
    """
    remainder = recovery.remainder
    at = int(np.searchsorted(remainder.cells, cell))
    if at == len(remainder.cells) or remainder.cells[at] != cell:
        return recovery.narrowed.low[[cell]]
    mask = remainder.pieces == remainder.pieces[at]
    some, column = part_of(remainder, mask), int(mask[:at].sum())
    if ((some.high >= INFINITE) | (some.low <= -INFINITE))[: len(some.cells)].any():
        return None
    values, total = np.zeros(0, np.int64), 0
    try:
        for tables in _tables(some, monotonic() + effort):
            values, total = np.union1d(values, tables[:, column]), total + len(tables)
            if total > cap:
                return None
    except EffortError:
        return None
    return values


def tables_that_fit(recovery: Recovery, deadline: float) -> Iterator[Integers]:
    """All tables in whole numbers that fit, in parts, each of shape (tables, cells).

    Args:
        recovery: the outcome of `recover`; its unknown cells are whole numbers, none of them unbounded.
        deadline: the monotonic time at which the search ends.

    Raises:
        EffortError: the time was over.
    """
    remainder = recovery.remainder
    pieces = [part_of(remainder, remainder.pieces == one) for one in range(int(remainder.pieces.max(initial=-1)) + 1)]

    def extended(tables: Integers, place: int) -> Iterator[Integers]:
        if place == len(pieces):
            yield tables
            return
        cells = pieces[place].cells
        for own in _tables(pieces[place], deadline):
            every = np.repeat(tables, len(own), axis=0)
            every[:, cells] = np.tile(own[:, : len(cells)], (len(tables), 1))
            yield from extended(every, place + 1)

    yield from extended(recovery.narrowed.low[None, :].copy(), 0)


def certain_people(intervals: Intervals, leaves: Booleans) -> int:
    """People whose whole combination of categories follows from what is published: the sum of lower limits of leaves.

    Args:
        intervals: of counts of people, none below 0.
        leaves: cells without children, one of which every person is in, shape (cells,).
    """
    return int(np.maximum(intervals.low[leaves], 0).sum())


def _tables(some: Remainder, deadline: float) -> Iterator[Integers]:
    """All solutions of one piece, in parts, each of shape (tables, columns).

    Columns are assigned one after the other; those that complete a relation come first. Each relation bounds the next
    column by what its unassigned columns can add at least and at most. Parts of the partial tables are continued depth
    first, so that memory stays small.

    Raises:
        ValueError: a cell may be a fraction.
        EffortError: the time was over.
    """
    if not some.integral.all():
        raise ValueError("only tables of whole numbers can be counted")
    steps = _Steps.of(some)
    chunk = max(CHUNK // (len(some.low) + len(some.right) + 1), 1)
    waiting = [(0, np.zeros((1, len(some.low)), np.int64), some.right[None, :].copy(), -FAR)]
    while waiting:
        checkpoint()
        if monotonic() > deadline:
            raise EffortError
        step, tables, rests, floor = waiting.pop()
        if step == len(steps.order):
            yield tables
            continue
        lowest, highest = steps.ends(step, rests)
        lowest = np.maximum(lowest, floor)
        counts = np.maximum(highest - lowest + 1, 0)
        if len(tables) > 1 and counts.sum() > chunk:
            half = len(tables) // 2
            waiting += [(step, tables[part], rests[part], floor) for part in (slice(half), slice(half, None))]
            continue
        if counts.sum() > chunk:  # one table with too many values of the next column
            waiting.append((step, tables, rests, int(lowest[0]) + chunk))
            counts[0] = chunk
        waiting.append((step + 1, *steps.extend(step, tables, rests, lowest, counts), -FAR))


@dataclass(frozen=True)
class _Steps:
    """The order of columns, and what unassigned columns of each row can add after each step."""

    some: Remainder
    order: list[int]
    rows: list[Integers]  # of the column of each step
    coefficients: list[Integers]
    least: list[Integers]  # of the unassigned columns of these rows, after the step
    most: list[Integers]

    @classmethod
    def of(cls, some: Remainder) -> _Steps:
        columns = some.matrix.tocsc()
        low, high = some.low, np.where(some.high >= INFINITE, FAR, some.high)  # infinite ones are slacks
        positive, negative = some.matrix.maximum(0), some.matrix.minimum(0)
        least, most = positive @ low + negative @ high, positive @ high + negative @ low
        left = np.diff(some.matrix.indptr).astype(np.int64)
        open_columns = np.ones(len(low), np.bool_)
        steps = cls(some, [], [], [], [], [])
        while open_columns.any():
            row = int(np.argmin(np.where(left > 0, left, len(low) + 1))) if (left > 0).any() else -1
            own = some.matrix.indices[some.matrix.indptr[row] : some.matrix.indptr[row + 1]] if row >= 0 else None
            candidates = np.flatnonzero(open_columns) if own is None else own[open_columns[own]]
            column = int(candidates[np.argmin((high - low)[candidates])])
            entries = slice(columns.indptr[column], columns.indptr[column + 1])
            rows, coefficients = columns.indices[entries].astype(np.int64), columns.data[entries].astype(np.int64)
            ends_of = np.sort(np.array([coefficients * low[column], coefficients * high[column]]), axis=0)
            least[rows] -= ends_of[0]
            most[rows] -= ends_of[1]
            left[rows] -= 1
            open_columns[column] = False
            steps.order.append(column)
            steps.rows.append(rows)
            steps.coefficients.append(coefficients)
            steps.least.append(least[rows])
            steps.most.append(most[rows])
        return steps

    def ends(self, step: int, rests: Integers) -> tuple[Integers, Integers]:
        """The least and greatest value of the next column in each partial table, by what each relation still lacks."""
        column, rows, coefficients = self.order[step], self.rows[step], self.coefficients[step]
        lowest = np.full(len(rests), self.some.low[column])
        highest = np.full(len(rests), min(int(self.some.high[column]), FAR))
        for row, coefficient, least, most in zip(rows, coefficients, self.least[step], self.most[step], strict=True):
            # coefficient * value lies between what the row lacks less the most and less the least of the others
            ends = rests[:, row] - most, rests[:, row] - least
            first, last = ends if coefficient > 0 else ends[::-1]
            lowest = np.maximum(lowest, -(-first // coefficient))
            highest = np.minimum(highest, last // coefficient)
        return lowest, highest

    def extend(
        self, step: int, tables: Integers, rests: Integers, lowest: Integers, counts: Integers
    ) -> tuple[Integers, Integers]:
        """Partial tables with so many values of the next column from the lowest, and what each relation still lacks."""
        column, rows, coefficients = self.order[step], self.rows[step], self.coefficients[step]
        source = np.repeat(np.arange(len(tables)), counts)
        values = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts) + lowest[source]
        tables, rests = tables[source], rests[source]
        tables[:, column] = values
        for row, coefficient in zip(rows, coefficients, strict=True):
            rests[:, row] -= coefficient * values
        return tables, rests
