"""The conformance suite of checks on tables of figures catches what it claims to: each broken check lacks one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
import pytest
from pydantic import Field

from tcdp_audit import CheckError
from tcdp_audit.plugin.aggregate import AggregateCheck, CellFigure, CellsView, FailingCell
from tcdp_audit.plugin.check import DisclosureType, Guide, Parameters
from tcdp_audit.plugin.sentences import Comparison
from tcdp_audit.testing import ConformanceError, check_conforms, properties_of
from tcdp_audit.testing.aggregate_checks import figure_cases

Measure = Callable[[CellsView, Any], CellFigure]


class RowParameters(Parameters):
    k: Annotated[int | None, Field(ge=1, description="The fewest people of a published count.")] = None


def smallest(view: CellsView, parameters: RowParameters) -> CellFigure:
    """The smallest published count that is not 0."""
    counts = [
        (int(figures.high[cell]), view.failing_cell(table.name, name, int(cell)))
        for table in view.tables.values()
        for name, figures in table.figures.items()
        if figures.measure.counts == "people"
        for cell in np.flatnonzero(figures.shown & (figures.high > 0))
    ]
    if not counts:
        raise CheckError("no table has counts of people")
    failing = [cell for count, cell in counts if count < (parameters.k or 0)]
    return CellFigure(Fraction(min(count for count, _ in counts)), len(counts), failing)


SMALLEST = AggregateCheck(
    name="smallest",
    title="Smallest count",
    disclosure_type=DisclosureType.IDENTITY_MODEL,
    parameters=RowParameters,
    measure=smallest,
    threshold="k",
    comparison=Comparison.AT_LEAST,
    label="people in the smallest count",
    guide=Guide(
        definition="Counts of few people.",
        formula="min x_c >= k",
        reading="The smallest count.",
        choosing="10.",
        source="tests, 1",
        example="- smallest: {k: 10}",
    ),
)


def refused(property_: str, check: Any) -> str:
    """What the property of this name says of a check."""
    (conforms,) = (one for one in properties_of(check) if one.name == property_)
    with pytest.raises(ConformanceError) as caught:
        conforms()
    return str(caught.value)


def changed(measure: Measure) -> AggregateCheck[Any]:
    """The check with another measure."""
    return replace(SMALLEST, measure=measure)


def test_a_sound_check_conforms() -> None:
    check_conforms(SMALLEST)


def test_the_cases_are_of_every_kind() -> None:
    cases = {one.name: one for one in figure_cases()}
    assert len(cases) == 8
    assert cases["hidden figures"].tables["admissions"]["patients"].to_pylist().count("<5") > 1
    assert {"income", "smokers"} <= set(cases["statistics"].tables["incomes"].column_names)


def test_a_threshold_without_a_least_value_is_refused() -> None:
    class Unbounded(Parameters):
        k: Annotated[int | None, Field(description="The fewest people.")] = None

    assert "'k' needs a least value" in refused("bounds", replace(SMALLEST, parameters=Unbounded))


def test_a_figure_that_is_no_figure_is_refused() -> None:
    nan = changed(lambda view, own: replace(smallest(view, own), value=float("nan")))
    assert "not NaN" in refused("figure", nan)
    few = changed(lambda view, own: replace(smallest(view, replace_k(own)), cells=0))
    assert "its cells must be a whole number" in refused("figure", few)
    further = changed(lambda view, own: replace(smallest(view, own), further={"q": Fraction(1)}))
    assert "`further` must have" in refused("figure", further)


def replace_k(parameters: RowParameters) -> RowParameters:
    return parameters.model_copy(update={"k": 1000})


def test_a_check_that_refuses_everything_is_refused() -> None:
    def refuse(_: CellsView, __: Any) -> CellFigure:
        raise CheckError("not today")

    assert "it refused all tables of the suite" in refused("refusal", changed(refuse))


def test_a_check_that_remembers_is_refused() -> None:
    calls = iter(range(10**6))
    counting = changed(lambda view, own: replace(smallest(view, own), value=Fraction(next(calls))))
    assert "the second call on the same tables gave another figure" in refused("determinism", counting)


def test_a_check_that_writes_is_refused() -> None:
    def write(view: CellsView, own: Any) -> CellFigure:
        for table in view.tables.values():
            for figures in table.figures.values():
                figures.low[:] = 0
        return smallest(view, own)

    assert "inputs are left alone" in refused("inputs are left alone", changed(write))


def test_cells_that_no_table_has_are_refused() -> None:
    def elsewhere(view: CellsView, own: Any) -> CellFigure:
        figure = smallest(view, own)
        return replace(
            figure, failing=[replace(one, labels=dict.fromkeys(one.labels, "nowhere")) for one in figure.failing[:1]]
        )

    assert "no table or model has the failing cell" in refused("cells", changed(elsewhere))
    twice = changed(lambda view, own: replace((f := smallest(view, own)), failing=[*f.failing, *f.failing]))
    assert "named twice" in refused("cells", twice)
    silent = changed(lambda view, own: replace(smallest(view, own), failing=()))
    assert "neither a cell nor a violation says where" in refused("cells", silent)


def test_figures_that_were_not_asked_for_are_refused() -> None:
    def show(view: CellsView, own: Any) -> CellFigure:
        figure = smallest(view, own)
        return replace(figure, failing=[replace(one, figures={"value": 1}) for one in figure.failing])

    assert "they were not asked for" in refused("no figure unless asked", changed(show))


def test_a_figure_of_the_order_of_rows_is_refused() -> None:
    def first(view: CellsView, _: Any) -> CellFigure:
        table = next(iter(view.tables.values()))
        cell = int(np.argmin(np.where(table.line > 0, table.line, 10**6)))
        return CellFigure(Fraction(int(next(iter(table.figures.values())).low[cell])), 1)

    assert "in another order" in refused("order of rows", changed(first))


def test_a_stricter_demand_that_passes_is_refused() -> None:
    def moody(view: CellsView, own: Any) -> CellFigure:
        figure = smallest(view, own)
        return replace(figure, value=Fraction(10**6)) if own.k == 10 else figure

    assert "a stricter demand passes" in refused("stricter demands", changed(moody))


def test_a_failing_cell_of_a_model_exists() -> None:
    def of_model(_: CellsView, own: Any) -> CellFigure:
        cell = FailingCell("income", {}, "degrees of freedom", says="few")
        return CellFigure(Fraction(2), 1, [cell] if own.k else [])

    check_conforms(replace(SMALLEST, measure=of_model, of_models=True))
