"""Concentration: published sums and means that rest on one or a few contributors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, isfinite
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tcdp_audit.plugin.aggregate import (
    UNBOUNDED,
    AggregateCheck,
    CellFigure,
    CellsView,
    FailingCell,
    Figures,
    PublishedTable,
)
from tcdp_audit.plugin.check import Check, DisclosureType, Limit, Parameters, Ratios
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.guides import built_in_guide

PERCENT = 100
MOST_VALUES = 1_000  # values of a cell of which the least is looked up
NEAR = 1e-9  # relative distance of floats within which fractions decide
NO_SUMS = "no table has sums or means of a column, whose contributors could be few; leave this demand out"
Indices = NDArray[np.intp]


class DominanceParameters(Parameters):
    """Parameters of `dominance`."""

    n: Annotated[int, Field(ge=1, le=1000, description="How many of the largest contributors are added.")] = 1
    k: Annotated[
        Exact | None, Field(gt=0, le=100, description="The largest share that they may have of a figure, in percent.")
    ] = None


class PPercentParameters(Parameters):
    """Parameters of `p_percent`."""

    p: Annotated[
        Exact | None,
        Field(gt=0, description="The least error, in percent, of an estimate of the largest contribution."),
    ] = None
    coalition: Annotated[
        int, Field(ge=0, le=1000, description="How many of the next largest contributors estimate it together.")
    ] = 1


class PqRuleParameters(Parameters):
    """Parameters of `pq_rule`."""

    p: Annotated[
        Exact | None,
        Field(gt=0, description="The least error, in percent, of an estimate of the largest contribution."),
    ] = None
    q: Annotated[
        Exact, Field(gt=0, le=100, description="The error, in percent, of what is known of each other contribution.")
    ] = Fraction(100)

    @model_validator(mode="after")
    def _knows_something(self) -> PqRuleParameters:
        if self.p is not None and self.p >= self.q:
            raise ValueError("`p` must be below `q`: what is known already must not be enough")
        return self


class InfluenceParameters(Parameters):
    """Parameters of `contributor_influence`."""

    at_most: Annotated[
        Exact | None, Field(gt=0, description="The largest share by which one person may change a figure.")
    ] = None
    others_at_most: Annotated[
        Exact | None,
        Field(ge=0, description="The most that anyone but a person who is looked for has, as an intruder knows."),
    ] = None


@dataclass(frozen=True, repr=False)
class _Cells:
    """The published cells of a measure with contributors.

    Args:
        table: the table.
        measure: the measure.
        figures: its figures.
        cell: the numbers of the cells. Shape (cells,).
        people: how many contributors each has.
        size: the sum of their contributions, without signs, in steps.
        largest: their largest contributions, the largest first. Shape (cells, n).
        scale: the steps of one unit.
    """

    table: PublishedTable
    measure: str
    figures: Figures
    cell: Indices
    people: NDArray[np.int64]
    size: NDArray[np.int64]
    largest: NDArray[np.int64]
    scale: int

    @property
    def first(self) -> NDArray[np.int64]:
        """The largest contribution to each cell."""
        return np.asarray(self.largest[:, 0])


def _cells(view: CellsView, largest: int) -> Iterator[_Cells]:
    """The published cells of every sum and mean that have a contribution above 0.

    Raises:
        CheckError: the figures differ from the records, or contributions are negative and that is refused.
    """
    negative = view.policy.document.conventions.negative
    if view.records is None:
        raise CheckError("it needs the records behind the tables; name them under `microdata:`")
    for table, name, figures in _sums(view):
        column = str(figures.measure.column)
        own = view.records.contributions(table, column, largest, negative)
        cell = np.flatnonzero(figures.shown & (own.size > 0))
        yield _Cells(table, name, figures, cell, own.people[cell], own.size[cell], own.largest[cell], own.scale)


def _sums(view: CellsView) -> list[tuple[PublishedTable, str, Figures]]:
    """The measures that add up contributions.

    Raises:
        CheckError: there are none.
    """
    measures = [(table, name, one) for table in view.tables.values() for name, one in table.figures.items()]
    sums = [one for one in measures if one[2].measure.kind in ("sum", "mean")]
    if not sums:
        raise CheckError(NO_SUMS)
    return sums


def _judged(view: CellsView) -> int:
    """The published figures of sums and means, those without a contribution among them."""
    return sum(int(figures.shown.sum()) for _, _, figures in _sums(view))


def _worst(ratios: Ratios, *, largest: bool) -> Fraction | float | None:
    """The largest or smallest of some fractions, exactly; None where there are none."""
    values = ratios.values
    if not len(values):
        return None
    extreme = values.max() if largest else values.min()
    if not isfinite(extreme):
        return inf
    near = np.flatnonzero(np.abs(values - extreme) <= NEAR * max(abs(extreme), 1e-300))
    exact = [Fraction(int(ratios.numerator[one]), int(ratios.denominator[one])) for one in near]
    return max(exact) if largest else min(exact)


def _measured(
    view: CellsView,
    largest: int,
    ratios_of: Callable[[_Cells], Ratios],
    fails: Callable[[Ratios], NDArray[np.bool_]],
    named: tuple[str, str, Callable[[_Cells, int], Mapping[str, float]]],
    *,
    higher_is_worse: bool,
) -> tuple[Fraction | float, list[FailingCell]]:
    """The worst ratio of all cells, in percent, and the cells that fail, the worst first."""
    worst, failing = list[Fraction | float](), list[tuple[float, FailingCell]]()
    kind, says, further = named
    for cells in _cells(view, largest):
        ratios = ratios_of(cells)
        own = _worst(ratios, largest=higher_is_worse)
        worst += [] if own is None else [own]
        for place in np.flatnonzero(fails(ratios)).tolist():
            value = float(ratios.values[place])
            figures = {kind: PERCENT * value, **further(cells, place)}
            cell = view.failing_cell(cells.table.name, cells.measure, int(cells.cell[place]), says, figures)
            failing.append((value, cell))
    ordered = sorted(failing, key=lambda one: one[0], reverse=higher_is_worse)
    extreme = max(worst, default=Fraction(0)) if higher_is_worse else min(worst, default=inf)
    return PERCENT * extreme, [cell for _, cell in ordered]


def dominance(view: CellsView, parameters: DominanceParameters) -> CellFigure:
    """The largest share that the n largest contributors have of a published sum or mean, in percent.

    Returns:
        A percentage from 0 to 100, exact; 0 where no one contributes anything.

    Raises:
        CheckError: there are no sums and means; they are not those of the records; or contributions are negative.

    Cost: O(records log records) for each level of the tables.

    Source: Handbook on Statistical Disclosure Control, 2024, section 4.2, (n,k) rule.
    """
    k = None if parameters.k is None else Fraction(parameters.k) / PERCENT
    strictly = view.policy.document.conventions.boundary == "handbook"

    def fails(ratios: Ratios) -> NDArray[np.bool_]:
        if k is None:
            return np.zeros(len(ratios.numerator), np.bool_)
        signs = ratios.compare(k)
        return np.asarray(signs > 0 if strictly else signs >= 0)

    def protection(cells: _Cells, place: int) -> Mapping[str, float]:
        top = Fraction(int(cells.largest[place].sum()), cells.scale)
        return {"protection": float(top / (k or 1) - Fraction(int(cells.size[place]), cells.scale))}

    says = "its largest contributor has too large a share" if parameters.n == 1 else "few contributors have most of it"
    named = ("share", says, protection)
    worst, failing = _measured(
        view,
        parameters.n,
        lambda cells: Ratios(cells.largest.sum(axis=1), cells.size),
        fails,
        named,
        higher_is_worse=True,
    )
    at_k = not strictly and k is not None and worst == PERCENT * k
    violation = f"{len(failing)} published figures have a share of exactly k, which `boundary: acro` refuses."
    return CellFigure(worst, _judged(view), failing, violation=violation if at_k else "")


def p_percent(view: CellsView, parameters: PPercentParameters) -> CellFigure:
    """The least error with which others can estimate the largest contribution to a published sum or mean, in percent.

    The next m largest contributors take what they have off the sum. What is left is too much by the contributions of
    all others.

    Returns:
        100 (X - x_1 - … - x_(m+1)) / x_1, exact; infinite where no one contributes anything.

    Raises:
        CheckError: as `dominance`.

    Cost: as `dominance`.

    Source: Handbook on Statistical Disclosure Control, 2024, section 4.2, p % rule.
    """
    return _least_error(view, parameters.coalition, parameters.p, Fraction(1))


def pq_rule(view: CellsView, parameters: PqRuleParameters) -> CellFigure:
    """The same where others know each contribution to within q % of it.

    Returns:
        q (X - x_1 - x_2) / x_1, exact; infinite where no one contributes anything.

    Raises:
        CheckError: as `dominance`.

    Cost: as `dominance`.

    Source: Handbook on Statistical Disclosure Control, 2024, section 4.2, pq rule.
    """
    return _least_error(view, 1, parameters.p, Fraction(parameters.q) / PERCENT)


def _least_error(view: CellsView, coalition: int, p: Exact | None, known: Fraction) -> CellFigure:
    """The figure of the p % and the pq rule; `known` is the error of what is known of each contribution."""
    demanded = None if p is None else Fraction(p) / PERCENT / known

    def ratios_of(cells: _Cells) -> Ratios:
        return Ratios(cells.size - cells.largest.sum(axis=1), cells.first)

    def fails(ratios: Ratios) -> NDArray[np.bool_]:
        small = np.zeros(len(ratios.numerator), np.bool_)
        return small if demanded is None else np.asarray(ratios.compare(demanded) < 0)

    def protection(cells: _Cells, place: int) -> Mapping[str, float]:
        first = Fraction(int(cells.first[place]), cells.scale)
        rest = Fraction(int(cells.size[place]) - int(cells.largest[place].sum()), cells.scale)
        return {"protection": float((demanded or 0) * first - rest)}

    named = ("remainder", "others can estimate its largest contribution closely", protection)
    worst, failing = _measured(view, coalition + 1, ratios_of, fails, named, higher_is_worse=False)
    return CellFigure(known * worst if worst != inf else inf, _judged(view), failing)


# Influence


def contributor_influence(view: CellsView, parameters: InfluenceParameters) -> CellFigure:
    """The largest share by which one person changes a published mean or sum.

    The mean m of n people without person i is m_i = (X - x_i)/(n - 1); the person's influence is |m - m_i| / m_i. That
    on a sum is x_i / (X - x_i). Only the largest and the least contribution can have the largest influence. If no one
    but the person has more than U, a mean above U proves that the person is in it.

    Returns:
        A share, exact, infinite for a cell of one person, and where no records are known; further the largest mean, 0
        without any.

    Raises:
        CheckError: as `dominance`.

    Cost: as `dominance`.

    Source: Cook, Detection of influential observation in linear regression, Technometrics 19(1), 1977, for a mean.
    """
    failing: dict[tuple[str, str, int], FailingCell] = {}
    influence: Fraction | float = inf
    if view.records is not None:
        influence, influenced = _influence(view, parameters.at_most)
        failing |= {(one.table, one.measure, cell): one for cell, one in influenced}
    largest_mean, certain = _means(view, parameters.others_at_most)
    for cell, one in certain:
        failing.setdefault((one.table, one.measure, cell), one)
    details = {"certain_presence": len(certain), "influence_measured": view.records is not None}
    return CellFigure(
        influence, _judged(view), tuple(failing.values()), details, further={"others_at_most": largest_mean}
    )


def _influence(view: CellsView, at_most: Exact | None) -> tuple[Fraction | float, list[tuple[int, FailingCell]]]:
    worst, failing = Fraction(0), list[tuple[float, int, FailingCell]]()
    extreme: Fraction | float = worst
    for cells in _cells(view, 1):
        ratios = _influences(view, cells)
        own = _worst(ratios, largest=True)
        extreme = max(extreme, worst if own is None else own)
        if at_most is None:
            continue
        for place in np.flatnonzero(ratios.compare(Fraction(at_most)) > 0).tolist():
            cell, value = int(cells.cell[place]), float(ratios.values[place])
            figures = {"influence": value, **_with_and_without(cells, place)}
            says = "it rests on one person: without that person it would be another figure"
            failing.append((value, cell, view.failing_cell(cells.table.name, cells.measure, cell, says, figures)))
    return extreme, [(cell, one) for _, cell, one in sorted(failing, key=lambda one: one[0], reverse=True)]


def _with_and_without(cells: _Cells, place: int) -> Mapping[str, float]:
    """The figure with all people, and without the largest contribution."""
    number, size, first = int(cells.people[place]), int(cells.size[place]), int(cells.first[place])
    if cells.figures.measure.kind == "sum":
        return {"with": size / cells.scale, "without": (size - first) / cells.scale}
    others = {} if number == 1 else {"without": (size - first) / ((number - 1) * cells.scale)}
    return {"with": size / (number * cells.scale), **others}


def _influences(view: CellsView, cells: _Cells) -> Ratios:
    """The largest influence on each cell."""
    number, size, first = cells.people, cells.size, cells.first
    if int(number.max(initial=0)) * int(size.max(initial=0)) >= UNBOUNDED:
        number, size, first = (one.astype(object) for one in (number, size, first))
    if cells.figures.measure.kind == "sum":
        return Ratios(first, size - first)
    of_first = Ratios(number * first - size, number * (size - first))
    # that of the least contribution is at most 1/n: it is looked up where it can be the larger one
    doubtful = np.flatnonzero((number > 1) & (number * first - size < size - first))
    least = _least_contributions(view, cells, doubtful)
    above, below = of_first.numerator.copy(), of_first.denominator.copy()
    for place, smallest in zip(doubtful.tolist(), least, strict=True):
        n, total = int(number[place]), int(size[place])
        pair = (total - n * smallest, n * (total - smallest))
        if pair[0] * int(below[place]) > int(above[place]) * pair[1]:
            above[place], below[place] = pair
    return Ratios(above, below)


def _least_contributions(view: CellsView, cells: _Cells, chosen: Indices) -> Sequence[int]:
    """The least contribution to some cells; of a cell with many people 0, which is the least that it can be."""
    few = chosen[cells.people[chosen] <= MOST_VALUES]
    if not len(few):
        return [0] * len(chosen)
    assert view.records is not None  # noqa: S101 - the cells are of them
    conventions, most = view.policy.document.conventions, int(cells.people[few].max())
    own = view.records.contributions(cells.table, str(cells.figures.measure.column), most, conventions.negative)
    return [
        int(own.largest[cell, n - 1]) if n <= MOST_VALUES else 0
        for cell, n in zip(cells.cell[chosen].tolist(), cells.people[chosen].tolist(), strict=True)
    ]


def _means(view: CellsView, others: Exact | None) -> tuple[Fraction, list[tuple[int, FailingCell]]]:
    """The largest published mean, and the means that prove who is in them."""
    largest, certain = Fraction(0), list[tuple[int, FailingCell]]()
    for table, name, figures in _sums(view):
        if figures.measure.kind != "mean":
            continue
        low = figures.low[figures.shown]
        largest = max(largest, Fraction(int(low.max(initial=0)), figures.scale))
        if others is None:
            continue
        for cell in np.flatnonzero(figures.shown & (figures.low > 0)).tolist():
            least = Fraction(int(figures.low[cell]), figures.scale)
            if least > others:
                own = {"at_least": value} if (value := _least_of_one(table, figures, cell, Fraction(others))) else {}
                says = "a person who alone can have more than all others is certainly in it"
                certain.append((cell, view.failing_cell(table.name, name, cell, says, own)))
    return largest, certain


def _least_of_one(table: PublishedTable, figures: Figures, cell: int, others: Fraction) -> float | None:
    """The least that the one person has: n m - (n - 1) U; None where n is not published."""
    measure = figures.measure
    if measure.over is None:
        return None
    base = table.figures[measure.over]
    number = int(base.low[cell])
    total = number * Fraction(int(figures.low[cell]), figures.scale)
    if measure.integers and base.low[cell] == base.high[cell]:
        total = Fraction(ceil(total))
    return float(total - (number - 1) * others)


def _needs_influence(parameters: InfluenceParameters, _: PolicyDocument) -> bool:
    return parameters.at_most is not None or parameters.others_at_most is None


def _always(_: Any, __: PolicyDocument) -> bool:
    return True


def _can_be_exceeded(parameters: DominanceParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Yield a fault where no share can be too large."""
    if parameters.k == PERCENT and document.conventions.boundary == "handbook":
        yield "k", "no share is above 100 percent; lower `k`"


DOMINANCE = AggregateCheck(
    name="dominance",
    title="Dominance of contributors",
    disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
    parameters=DominanceParameters,
    measure=dominance,
    threshold="k",
    comparison=Comparison.AT_MOST,
    label="largest share of the largest contributors, in percent",
    needs_microdata=_always,
    validate=_can_be_exceeded,
    sentences=Sentences(
        passed=(
            "The [{n>1?}{n} largest contributors have|largest contributor has] at most {observed} % of each of "
            "{cells:published figure}."
        ),
        failed=(
            "In {failing_cells/cells:published figure} the [{n>1?}{n} largest contributors have|largest "
            "contributor has] more than {k} %; at worst {observed} %."
        ),
    ),
    guide=built_in_guide(__file__, "dominance.md"),
)

P_PERCENT = AggregateCheck(
    name="p_percent",
    title="p % rule",
    disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
    parameters=PPercentParameters,
    measure=p_percent,
    threshold="p",
    comparison=Comparison.AT_LEAST,
    label="least error of an estimate of the largest contribution, in percent",
    needs_microdata=_always,
    sentences=Sentences(
        passed=(
            "[{infinite?}No one contributes anything to {cells:published figure}|Anyone who estimates the largest "
            "contribution to {cells:published figure} is wrong by at least {observed} % of it]."
        ),
        failed=(
            "The largest contribution to {failing_cells/cells:published figure} can be estimated to within {p} %; "
            "at worst to within {observed} %."
        ),
    ),
    guide=built_in_guide(__file__, "p_percent.md"),
)

PQ_RULE = AggregateCheck(
    name="pq_rule",
    title="pq rule",
    disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
    parameters=PqRuleParameters,
    measure=pq_rule,
    threshold="p",
    comparison=Comparison.AT_LEAST,
    label="least error of an estimate of the largest contribution, in percent",
    needs_microdata=_always,
    sentences=Sentences(
        passed=(
            "[{infinite?}No one contributes anything to {cells:published figure}|Anyone who knows each contribution "
            "to {cells:published figure} to within {q} % is wrong by at least {observed} % of the largest one]."
        ),
        failed=(
            "Anyone who knows each contribution to within {q} % can estimate the largest one to "
            "{failing_cells/cells:published figure} to within {p} %; at worst to within {observed} %."
        ),
    ),
    guide=built_in_guide(__file__, "pq_rule.md"),
)

CONTRIBUTOR_INFLUENCE = AggregateCheck(
    name="contributor_influence",
    title="Influence of one contributor",
    disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
    parameters=InfluenceParameters,
    measure=contributor_influence,
    threshold="at_most",
    comparison=Comparison.AT_MOST,
    label="largest share by which one person changes a figure",
    further=(Limit("others_at_most", Comparison.AT_MOST, "largest published mean"),),
    needs_microdata=_needs_influence,
    sentences=Sentences(
        passed=(
            "[{influence_measured?}[{infinite?}A published sum or mean is of one person alone|One person changes a "
            "published sum or mean by up to {observed:%} of what it would be without that person]|"
            "How far one person changes a published figure was not looked at: it needs the records behind the tables]."
            "[{certain_presence>0?} {certain_presence:mean} {certain_presence:proves|prove} that a person with more "
            "than anyone else can have is in {certain_presence:it|them}.]"
        ),
    ),
    guide=built_in_guide(__file__, "contributor_influence.md"),
)

CHECKS: list[Check] = [DOMINANCE, P_PERCENT, PQ_RULE, CONTRIBUTOR_INFLUENCE]
