"""Linear and integer programs over the unknown cells of a system, and what they prove in exact integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.cells.remainder import TOLERANCE, Floats, Remainder, float_limits
from tcdp_audit.core.cells.system import INFINITE, Integers

DENOMINATORS = (1, 2, 60, 2**20)  # of dual solutions; those of tables are nearly always 1


class Infeasible(Exception):  # noqa: N818 - an answer of a program
    """No solution satisfies the relations within the limits."""


class Unbounded(Exception):  # noqa: N818 - an answer of a program
    """Solutions make the objective as small as one likes."""


class Unfinished(Exception):  # noqa: N818 - an answer of a program
    """The time was over before the program was solved."""


@dataclass(frozen=True)
class Optimum:
    """A solution of least objective.

    Attributes:
        values: one number a column, shape (columns,).
        prices: dual solution, one number a row, shape (rows,); empty for an integer program.
        bound: a number that no objective is below.
    """

    values: Floats
    prices: Floats
    bound: float


class Program(Protocol):
    """Minimises objectives over matrix @ x = right within limits, one after the other."""

    def minimise(self, objective: Floats, seconds: float) -> Optimum:
        """The least objective.

        Raises:
            Infeasible: there is no solution.
            Unbounded: the objective has no least value.
            Unfinished: the time was over.
        """
        ...


class ScipyProgram:
    """Linear programs by HiGHS as scipy has it, each from the beginning."""

    def __init__(self, remainder: Remainder) -> None:
        self._matrix, self._right = remainder.matrix.astype(float), remainder.right
        self._limits = np.column_stack(float_limits(remainder))

    def minimise(self, objective: Floats, seconds: float) -> Optimum:
        """The least objective, by the dual simplex method."""
        from scipy.optimize import linprog  # noqa: PLC0415 - takes a moment to import

        result = cast("Any", linprog)(
            objective,
            A_eq=self._matrix if len(self._right) else None,
            b_eq=self._right if len(self._right) else None,
            bounds=self._limits,
            method="highs-ds",
            options={"time_limit": max(seconds, 0.001)},
        )
        _raise_for(result.status)
        prices = result.eqlin.marginals if len(self._right) else np.zeros(0)
        return Optimum(result.x, np.asarray(prices, float), float(result.fun))


class WarmProgram:
    """Linear programs by highspy, each from the solution of the one before: primal simplex without presolve."""

    def __init__(self, remainder: Remainder, highspy: Any) -> None:
        self._highs = highspy.Highs()
        self._highs.silent()
        for name, value in (("presolve", "off"), ("simplex_strategy", 4), ("threads", 1)):
            self._highs.setOptionValue(name, value)
        model, (low, high) = highspy.HighsLp(), float_limits(remainder)
        model.num_col_, model.num_row_ = len(low), len(remainder.right)
        model.col_cost_, model.col_lower_, model.col_upper_ = np.zeros(len(low)), low, high
        model.row_lower_ = model.row_upper_ = remainder.right.astype(float)
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = remainder.matrix.indptr
        model.a_matrix_.index_ = remainder.matrix.indices
        model.a_matrix_.value_ = remainder.matrix.data.astype(float)
        self._highs.passModel(model)
        self._status, self._columns = highspy.HighsModelStatus, np.arange(len(low), dtype=np.int32)

    def minimise(self, objective: Floats, seconds: float) -> Optimum:
        """The least objective."""
        self._highs.changeColsCost(len(self._columns), self._columns, np.asarray(objective, float))
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(seconds, 0.001))
        self._highs.run()
        status = self._highs.getModelStatus()
        names = {
            self._status.kOptimal: 0,
            self._status.kTimeLimit: 1,
            self._status.kInfeasible: 2,
            self._status.kUnbounded: 3,
            self._status.kUnboundedOrInfeasible: 3,
        }
        _raise_for(names.get(status, 4))
        solution = self._highs.getSolution()
        value = self._highs.getInfo().objective_function_value
        return Optimum(np.array(solution.col_value), np.array(solution.row_dual), float(value))


def _raise_for(status: int) -> None:
    """Raise for scipy's status of a program that has no optimum."""
    if status == 2:
        raise Infeasible
    if status == 1:
        raise Unfinished
    if status == 3:
        raise Unbounded
    if status:
        raise CheckError(
            f"the solver of linear programs failed (status {status}); publish a total, or ask for fewer cells"
        )


def program(remainder: Remainder) -> Program:
    """Linear programs over a remainder, warm where highspy is installed."""
    if (highspy := _highspy()) is not None and len(remainder.right):
        return WarmProgram(remainder, highspy)
    return ScipyProgram(remainder)


def _highspy() -> Any:
    try:
        import highspy  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - optional
    except ImportError:
        return None
    return highspy


def minimise_integers(remainder: Remainder, objective: Floats, seconds: float) -> Optimum:
    """The least objective over solutions that are whole numbers where they must be.

    Raises:
        Infeasible: there is no such solution.
        Unfinished: the time was over.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 - takes a moment to import

    low, high = float_limits(remainder)
    result: Any = milp(
        objective,
        integrality=remainder.integral.astype(int),
        bounds=cast("Any", Bounds)(low, high),
        constraints=cast("Any", LinearConstraint)(remainder.matrix.astype(float), remainder.right, remainder.right),
        options={"time_limit": max(seconds, 0.001), "mip_rel_gap": 0},
    )
    _raise_for(result.status)
    return Optimum(result.x, np.zeros(0), float(result.mip_dual_bound))


def proved_least(remainder: Remainder, targets: Integers, signs: Integers, optimum: Optimum) -> Integers:
    """The least value of sign times a column, for one column a piece, proved by exact integers.

    For any numbers y, sign x_c = y (right) + (sign e_c - y matrix) x, and the second term is bounded by the limits of
    each column. The dual solution of a linear program, rounded to multiples of 1, 1/2, 1/60, 2^-20, gives good y.

    Args:
        remainder: whole pieces.
        targets: a column each, of different pieces.
        signs: 1 for the least value of a column, -1 for minus its greatest.
        optimum: of the program that minimises the sum of sign times target.

    Returns:
        Integers that sign times the column is not below: the least integer where the column is a whole number, the
        next integer below otherwise; -INFINITE where nothing is proved. Shape (targets,).

    Source: weak duality; Neumaier, Shcherbina, Safe Bounds in Linear and Mixed-Integer Linear Programming, 2004.
    """
    best = np.full(len(targets), -INFINITE, np.int64)
    for denominator in DENOMINATORS:
        bound = _rounded_dual(remainder, targets, signs, optimum.prices, denominator)
        best = np.maximum(best, bound)
        goal = signs * optimum.values[targets]
        if (best >= np.ceil(goal - TOLERANCE * np.maximum(np.abs(goal), 1))).all():
            break
    return best


def _rounded_dual(
    remainder: Remainder, targets: Integers, signs: Integers, prices: Floats, denominator: int
) -> Integers:
    scaled = np.rint(prices * denominator)
    limits = (
        np.where(remainder.low <= -INFINITE, 0, np.abs(remainder.low)),
        np.where(remainder.high >= INFINITE, 0, np.abs(remainder.high)),
    )
    columns = abs(remainder.matrix).T @ np.abs(scaled) + denominator
    size = np.abs(scaled) @ np.abs(remainder.right) + columns @ np.maximum(*limits)
    count = int(remainder.pieces.max(initial=-1)) + 1
    if not size < 2**61:
        return np.full(len(targets), -INFINITE, np.int64)
    y = scaled.astype(np.int64)
    reduced = -(remainder.matrix.T @ y)
    reduced[targets] += denominator * signs
    at_low = reduced > 0
    chosen = np.where(at_low, remainder.low, remainder.high)
    unbounded = (reduced != 0) & (np.abs(chosen) >= INFINITE)
    sums, broken = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    np.add.at(
        sums, remainder.pieces, np.where(reduced == 0, 0, reduced * np.where(np.abs(chosen) >= INFINITE, 0, chosen))
    )
    broken[remainder.pieces[unbounded]] = True
    piece_of_row = remainder.pieces[remainder.matrix.indices[remainder.matrix.indptr[:-1]]]
    np.add.at(sums, piece_of_row, y * remainder.right)
    of_target = remainder.pieces[targets]
    bound = np.where(remainder.integral[targets], -(-sums[of_target] // denominator), sums[of_target] // denominator)
    return np.where(broken[of_target], -INFINITE, bound)


Progress = Callable[[int, int], None]  # how many cells are decided, of how many
