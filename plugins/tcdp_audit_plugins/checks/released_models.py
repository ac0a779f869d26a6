"""Disclosure by the output of fitted models: coefficients that rest on few people, or on one."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations, product
from math import inf, lcm
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.aggregate import AggregateCheck, CellFigure, CellsView, FailingCell, ModelDeclaration
from tcdp_audit.plugin.check import Check, DisclosureType, Limit, Parameters
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Sentences, listing
from tcdp_audit_plugins.guides import built_in_guide

Row = tuple[Fraction, ...]
_Step = tuple[int, list[Fraction], Fraction]  # a pivot: its place, its row of U and its entry of D
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)
WHOLE = 1 - Fraction(1, 10**9)  # leverage from which a fit passes through a person
NEAR = 1e-6  # nearer to a threshold than this, leverage is computed in fractions
MOST_EXACT = 60  # coefficients of a model whose leverage is computed in fractions
MOST_PRODUCTS = 50_000_000  # of its numbers, for that
EXACT_FIT = 1e-9  # residuals of a fit without any, relative to what is explained


class RegressionOutputParameters(Parameters):
    """Parameters of `regression_output`."""

    degrees_of_freedom: Annotated[
        int | None, Field(ge=1, description="The fewest observations that a model may have beyond its coefficients.")
    ] = None
    leverage: Annotated[
        Exact | None, Field(gt=0, le=1, description="The leverage that every person must stay below.")
    ] = None
    k: Annotated[
        int | None,
        Field(ge=1, description="The fewest people that a dummy, a fitted mean or a difference of models may be of."),
    ] = None


def regression_output(view: CellsView, parameters: RegressionOutputParameters) -> CellFigure:
    """The fewest degrees of freedom of a model, n - p; further the largest leverage and the fewest people.

    With the design X, the leverage of a person is h = x' (X'X)^-1 x; the fit of one with h = 1 is the person's value. A
    fitted value of m people with the same x and h = 1/m is their mean: all of them are so in a saturated model. Two
    models of the same coefficients whose n differ by d give the sums of these d people.

    Returns:
        A number of observations, infinite where no model says how many it has; further the largest leverage, 0 without
        a design, and the fewest people of a dummy, a fitted mean or a difference, infinite without any.

    Raises:
        CheckError: a demand needs what a model does not say, or a design cannot be read.

    Cost: O(n p^2) a model; O(p^3) in fractions where leverage is near the demand.

    Source: Hoaglin, Welsch, The hat matrix in regression and ANOVA, The American Statistician 32(1), 1978.
    """
    fits = _fits(view)
    _require(fits, parameters)
    earlier = [fit for one in view.previous for fit in _fits(one)]
    targets = [target for fit in fits for target in fit.targets(parameters, show_values=view.show_values)]
    targets += _differences(fits, earlier, show_values=view.show_values)
    failing = [one.cell for one in targets if one.fails(parameters)]
    freedom = min((Fraction(one.freedom) for one in fits if one.freedom is not None), default=inf)
    leverage = max((fit.largest_leverage(parameters.leverage) for fit in fits), default=Fraction(0))
    fewest = min((Fraction(one.people) for one in targets if one.people is not None), default=inf)
    without = [one.name for one in fits if one.design is None]
    details = {
        "leverage": float(leverage) if len(without) < len(fits) else None,
        "fewest_people": None if fewest == inf else int(fewest),
        "saturated": sum(one.is_saturated for one in fits),
        "without_design": len(without),
    }
    exact = [one.name for one in fits if one.is_exact]
    through = [one.name for one in fits if one.largest_leverage(WHOLE) >= WHOLE]
    undecided = sum(one.undecided(parameters.leverage) for one in fits)
    return CellFigure(
        freedom,
        sum(fit.judged for fit in fits) + len(targets),
        failing,
        {name: value for name, value in details.items() if value is not None},
        undecided,
        {"leverage": leverage, "k": fewest},
        _violation(exact, through) if _demands(parameters) else "",
    )


def _fits(view: CellsView) -> list[_Fit]:
    return [_Fit.of(view, name, one) for name, one in (view.policy.document.models or {}).items()]


def _demands(parameters: RegressionOutputParameters) -> bool:
    return any(one is not None for one in (parameters.degrees_of_freedom, parameters.leverage, parameters.k))


def _violation(exact: Sequence[str], through: Sequence[str]) -> str:
    """The reason why models fail whatever is demanded of them; empty where none does."""
    if exact:
        return (
            f"The fit of {listing(exact)} leaves no residual, so that coefficients give the value of every person; do "
            "not release it."
        )
    if through:
        return (
            f"The fit of {listing(through)} passes through one person: coefficients add up to that person's value. "
            "Merge the person's category with another one, or leave it out."
        )
    return ""


def _require(fits: Sequence[_Fit], parameters: RegressionOutputParameters) -> None:
    """Insist on what the demands need.

    Raises:
        CheckError: a model does not say it.
    """
    for fit in fits:
        if parameters.degrees_of_freedom is not None and fit.freedom is None:
            raise CheckError(f"model {fit.name!r} says neither `n:` and `parameters:` nor `design:`; give them")
        if parameters.leverage is not None and fit.design is None:
            raise CheckError(
                f"the leverage of people in model {fit.name!r} needs its design; write the regressors to a CSV file, "
                "one row for each observation, and name it as `design:`"
            )
        if parameters.k is not None and fit.design is None and fit.declared.dummies is None:
            raise CheckError(
                f"model {fit.name!r} does not say how many people its coefficients are of; give `dummies:`, each with "
                "its number of people ({} where there are none), or `design:`"
            )


@dataclass(frozen=True)
class _Target:
    """Something that a model may disclose, and the figures that decide it."""

    cell: FailingCell
    freedom: int | None = None
    leverage: Fraction | None = None
    people: int | None = None

    def fails(self, parameters: RegressionOutputParameters) -> bool:
        """Whether it misses a demand."""
        demanded = parameters.leverage if parameters.leverage is not None else WHOLE
        few = self.people is not None and parameters.k is not None and self.people < parameters.k
        least = parameters.degrees_of_freedom
        tight = self.freedom is not None and least is not None and self.freedom < least
        return few or tight or (self.leverage is not None and self.leverage >= demanded)


# Designs


@dataclass(frozen=True, repr=False)
class _Design:
    """The regressors of a model: the same people and coefficients as its fit.

    Args:
        columns: the name of each coefficient's column.
        rows: a row for each observation, exactly as it is typed.
        lines: the line of each row in the file.
        outcome: what is explained; None where the file does not have it.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    lines: tuple[int, ...]
    outcome: Row | None = None

    @cached_property
    def distinct(self) -> Mapping[Row, list[int]]:
        """The numbers of the observations with each row."""
        places: dict[Row, list[int]] = {}
        for number, row in enumerate(self.rows):
            places.setdefault(row, []).append(number)
        return places

    @cached_property
    def scaled(self) -> NDArray[np.float64]:
        """The rows as floats, each column of length 1: leverage does not depend on units."""
        matrix = np.array([[float(one) for one in row] for row in self.rows], np.float64)
        lengths = np.linalg.norm(matrix, axis=0)
        return matrix / np.where(lengths > 0, lengths, 1)

    @cached_property
    def _basis(self) -> NDArray[np.float64]:
        """Orthonormal columns of the space of all fits. Shape (n, rank)."""
        left, values, _ = np.linalg.svd(self.scaled, full_matrices=False)
        return np.asarray(left[:, values > values.max(initial=0) * 1e-12 * max(self.scaled.shape)])

    @property
    def rank(self) -> int:
        """The number of coefficients that the rows determine."""
        return self._basis.shape[1]

    @cached_property
    def leverage(self) -> NDArray[np.float64]:
        """The leverage of each distinct row, to about twelve digits. Shape (distinct rows,)."""
        first = [numbers[0] for numbers in self.distinct.values()]
        return np.asarray((self._basis[first] ** 2).sum(axis=1))

    @cached_property
    def leaves_no_residual(self) -> bool:
        """Whether the fit gives everyone's value."""
        if self.outcome is None:
            return False
        explained = np.array([float(one) for one in self.outcome])
        residual = explained - self._basis @ (self._basis.T @ explained)
        return bool(np.abs(residual).max() <= EXACT_FIT * max(float(np.abs(explained).max()), 1e-300))

    @property
    def is_small(self) -> bool:
        """Whether leverage can be computed in fractions."""
        size = len(self.columns)
        return size <= MOST_EXACT and size * size * len(self.distinct) <= MOST_PRODUCTS

    def exactly(self, row: Row) -> Fraction:
        """The leverage of a row in fractions: x' z, where X'X z = x. O(p^2), after O(p^3) once."""
        units, steps = self._steps
        return _quadratic(steps, tuple(one * unit for one, unit in zip(row, units, strict=True)))

    @cached_property
    def _steps(self) -> tuple[tuple[int, ...], list[_Step]]:
        """The factor that makes each column one of whole numbers, and the pivots of X'X of these."""
        columns = list(zip(*self.distinct, strict=True))
        units = tuple(lcm(*(one.denominator for one in column)) for column in columns)
        whole = np.array(
            [[int(one * unit) for one in column] for column, unit in zip(columns, units, strict=True)], dtype=object
        )
        people = np.array([len(numbers) for numbers in self.distinct.values()], dtype=object)
        normal = (whole * people) @ whole.T
        return units, _eliminated([[Fraction(one) for one in line] for line in normal.tolist()])

    def sums(self) -> Row | None:
        """X'y, which is X'X b of a fit; None where the outcome is not known."""
        if self.outcome is None:
            return None
        explained = self.outcome
        return tuple(
            sum((one * y for one, y in zip(column, explained, strict=True)), Fraction(0))
            for column in zip(*self.rows, strict=True)
        )


def _eliminated(matrix: list[list[Fraction]]) -> list[_Step]:
    """The pivots of a symmetric matrix that is not negative: U'DU, as place, row of U and entry of D each.

    A column that depends on earlier ones has no pivot, and is left out: the space of fits is the same without it.
    """
    steps = []
    for place in range(len(matrix)):
        pivot = matrix[place][place]
        if pivot == 0:
            continue
        row = [one / pivot for one in matrix[place]]
        for below in range(place + 1, len(matrix)):
            factor = matrix[below][place]
            if factor:
                matrix[below] = [one - factor * other for one, other in zip(matrix[below], row, strict=True)]
        steps.append((place, row, pivot))
    return steps


def _quadratic(steps: Sequence[_Step], row: Row) -> Fraction:
    """X' (U'DU)^-1 x, by substitution."""
    left, total = list(row), Fraction(0)
    for place, own, pivot in steps:
        value = left[place]
        total += value * value / pivot
        if value:
            left = [one - value * other for one, other in zip(left, own, strict=True)]
    return total


def read_design(path: Path, name: str, outcome: str | None = None) -> _Design:
    """Read a design from a CSV file: a line of names, then a row of numbers for each observation.

    Raises:
        CheckError: it cannot be read, or a cell is no number; the message names file, line and column, and no cell.
    """
    head, *body = _lines(path, name)
    columns = [one.strip() for one in head[1]]
    if len(set(columns)) < len(columns):
        raise CheckError(f"{name}: two columns have the same name; leave one of them out")
    if outcome is not None and outcome not in columns:
        raise CheckError(f"{name}: there is no column {outcome!r}, which `outcome:` names; correct it or leave it out")
    numbers = []
    for line, cells in body:
        if len(cells) != len(columns):
            raise CheckError(f"{name}: line {line} has {len(cells):,} cells, and the first has {len(columns):,}")
        numbers.append([_number(cell, name, line, column) for cell, column in zip(cells, columns, strict=True)])
    remaining = [place for place, column in enumerate(columns) if column != outcome]
    if not numbers or not remaining:
        raise CheckError(f"{name}: there are no numbers in it; write a row for each observation below the names")
    explained = None if outcome is None else tuple(one[columns.index(outcome)] for one in numbers)
    rows = tuple(tuple(one[place] for place in remaining) for one in numbers)
    return _Design(tuple(columns[place] for place in remaining), rows, tuple(line for line, _ in body), explained)


def _number(cell: str, name: str, line: int, column: str) -> Fraction:
    text = cell.strip()
    if NUMBER.fullmatch(text) is None:
        advice = "a design has the numbers that were fitted, with dummies as 0 and 1"
        raise CheckError(f"{name}: line {line}, column {column!r} has no number; {advice}")
    return Fraction(text)


def _lines(path: Path, name: str) -> list[tuple[int, list[str]]]:
    """Every line that is not empty, with its number."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CheckError(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise CheckError(f"{name} is not UTF-8 text (byte {error.start:,}); save it as UTF-8") from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=";" if ";" in text.partition("\n")[0] else ",")
    lines = [(reader.line_num, cells) for cells in reader if cells]
    return lines or [(1, [])]


# Fits


@dataclass(frozen=True, repr=False)
class _Fit:
    """A model of the policy, with its design where it has one."""

    name: str
    declared: ModelDeclaration
    design: _Design | None

    @classmethod
    def of(cls, view: CellsView, name: str, declared: ModelDeclaration) -> _Fit:
        """A model, whose design must have as many rows and columns as it says.

        Raises:
            CheckError: the design cannot be read, or is of another size.
        """
        if declared.design is None:
            return cls(name, declared, None)
        design = read_design(Path(view.policy.resolve(declared.design)), declared.design, declared.outcome)
        for key, what, size in (("n", "rows", len(design.rows)), ("parameters", "columns", len(design.columns))):
            if getattr(declared, key) not in (None, size):
                raise CheckError(
                    f"{declared.design}: the design of model {name!r} has {size:,} {what}, and the policy says `{key}: "
                    f"{getattr(declared, key)}`; a column for each coefficient, with one of ones for the intercept"
                )
        return cls(name, declared, design)

    @property
    def n(self) -> int | None:
        """The number of observations."""
        return self.declared.n if self.design is None else len(self.design.rows)

    @property
    def freedom(self) -> int | None:
        """N - p, with the coefficients that the design determines."""
        parameters = self.declared.parameters if self.design is None else self.design.rank
        return None if self.n is None or parameters is None else self.n - parameters

    @property
    def judged(self) -> int:
        """The observations whose leverage is known."""
        return 0 if self.design is None else len(self.design.rows)

    @property
    def is_exact(self) -> bool:
        """Whether it gives everyone's value."""
        return self.declared.r_squared == 1 or (self.design is not None and self.design.leaves_no_residual)

    @property
    def is_saturated(self) -> bool:
        """Whether it has a coefficient for each combination of regressors that occurs."""
        return self.design is not None and self.design.rank == len(self.design.distinct)

    def _leverage(self, threshold: Fraction) -> Iterator[tuple[Row, list[int], Fraction]]:
        """Each distinct row with its observations and leverage: in fractions where it is near a number that matters."""
        if self.design is None:
            return
        for (row, numbers), rough in zip(self.design.distinct.items(), self.design.leverage.tolist(), strict=True):
            near = min(abs(rough - float(one)) for one in (threshold, WHOLE, Fraction(1, len(numbers)))) < NEAR
            exact = near and self.design.is_small
            yield row, numbers, self.design.exactly(row) if exact else Fraction(rough)

    def undecided(self, threshold: Fraction | None) -> int:
        """The observations of a large model whose leverage is too near to the threshold for floats."""
        if self.design is None or threshold is None or self.design.is_small:
            return 0
        return sum(
            len(numbers) for _, numbers, one in self._leverage(threshold) if abs(one - threshold) < Fraction(NEAR)
        )

    def largest_leverage(self, threshold: Fraction | None) -> Fraction:
        """The largest leverage of a person; 0 without a design."""
        own = (one for *_, one in self._leverage(WHOLE if threshold is None else threshold))
        return max(own, default=Fraction(0))

    def targets(self, parameters: RegressionOutputParameters, *, show_values: bool) -> Iterator[_Target]:
        """Its possible disclosures: by its size, by its dummies, and by each combination of regressors."""
        if self.freedom is not None:
            says = "it has few observations for its coefficients"
            yield _Target(FailingCell(self.name, {}, "degrees of freedom", says=says), freedom=self.freedom)
        for label, people in self._dummies().items():
            if people:
                cell = FailingCell(self.name, {label: "1"}, "coefficient", says="few people have this dummy")
                yield _Target(cell, people=people)
        for row, numbers, leverage in self._leverage(parameters.leverage or WHOLE):
            is_mean = leverage * len(numbers) >= WHOLE
            cell = self._cell(row, numbers[0], len(numbers), is_mean=is_mean)
            if show_values and is_mean and self.design is not None and self.design.outcome is not None:
                explained = sum((self.design.outcome[one] for one in numbers), Fraction(0)) / len(numbers)
                cell = replace(cell, figures={"value": float(explained)})
            yield _Target(cell, leverage=leverage, people=len(numbers) if is_mean else None)

    def _dummies(self) -> Mapping[str, int]:
        """The number of people with each dummy: of the design, or as declared."""
        if self.design is None:
            return self.declared.dummies or {}
        columns = zip(self.design.columns, zip(*self.design.rows, strict=True), strict=True)
        return {name: int(sum(values)) for name, values in columns if {*values} == {0, 1}}

    def _cell(self, row: Row, number: int, people: int, *, is_mean: bool) -> FailingCell:
        """A combination of regressors by the dummies that it has; other regressors are values of people."""
        assert self.design is not None  # noqa: S101 - it has leverage
        dummies = self._dummies()
        labels = {
            name: str(int(value)) for name, value in zip(self.design.columns, row, strict=True) if name in dummies
        }
        says = "the fit gives the value of one person" if people == 1 else "the fit gives the mean of few people"
        if not is_mean:
            says = "the fit nearly gives the value of a person"
        return FailingCell(self.name, labels, "fit", line=self.design.lines[number], says=says)

    @property
    def regressors(self) -> object:
        """The regressors that must be equal for the sums of two fits to be comparable."""
        names = self.declared.dummies and sorted(self.declared.dummies)
        own = names if self.design is None else sorted(self.design.columns)
        count = self.declared.parameters if self.design is None else len(self.design.columns)
        about = self.declared.about.get("who")
        return self.declared.kind, self.declared.outcome, about, count, str(own)


def _differences(fits: Sequence[_Fit], earlier: Sequence[_Fit], *, show_values: bool) -> Iterator[_Target]:
    """Two models of the same coefficients, whose sums X'X b differ by those of the people that only one of them has."""
    for one, other in chain(combinations(fits, 2), product(fits, earlier)):
        if one.n is None or other.n is None or one.n == other.n or one.regressors != other.regressors:
            continue
        larger, smaller = (one, other) if one.n > other.n else (other, one)
        of_earlier = " of an earlier release" if any(other is fit for fit in earlier) else ""
        says = f"its sums and those of {other.name!r}{of_earlier} differ by few people"
        figures = _difference_of_sums(larger, smaller) if show_values else None
        cell = FailingCell(one.name, {}, "difference of fits", says=says, figures=figures)
        yield _Target(cell, people=abs(one.n - other.n))


def _difference_of_sums(larger: _Fit, smaller: _Fit) -> Mapping[str, float] | None:
    """X'X b of one fit less that of the other, by column; None where a design or an outcome is not known."""
    if larger.design is None or smaller.design is None:
        return None
    sums, others = larger.design.sums(), smaller.design.sums()
    if sums is None or others is None:
        return None
    less = dict(zip(smaller.design.columns, others, strict=True))
    return {name: float(one - less[name]) for name, one in zip(larger.design.columns, sums, strict=True)}


REGRESSION_OUTPUT = AggregateCheck(
    name="regression_output",
    title="Output of fitted models",
    disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
    parameters=RegressionOutputParameters,
    measure=regression_output,
    threshold="degrees_of_freedom",
    comparison=Comparison.AT_LEAST,
    label="fewest degrees of freedom of a model",
    further=(
        Limit("leverage", Comparison.BELOW, "largest leverage of a person"),
        Limit("k", Comparison.AT_LEAST, "number of people of a dummy, a fitted mean or a difference of models"),
    ),
    of_models=True,
    sentences=Sentences(
        passed=(
            "[{infinite?}No model says how many observations it has|{every} at least {observed:degree} of freedom]"
            "[{leverage>0?}; the largest leverage of a person is {details.leverage}][{fewest_people?}; the fewest "
            "people of a dummy, a fitted mean or a difference of models {fewest_people:is|are} {fewest_people}]."
            "[{without_design>0?} Whether a fit passes through one person was not looked at in {without_design:model}: "
            "it needs the design.]"
        ),
        parts={"every": "Every model has"},
    ),
    guide=built_in_guide(__file__, "regression_output.md"),
)

CHECKS: list[Check] = [REGRESSION_OUTPUT]
