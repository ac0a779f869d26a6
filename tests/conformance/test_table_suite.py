"""The conformance suite of checks on tables catches what it claims to: each broken check lacks one property."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
import pytest
from pydantic import Field

from tcdp_audit import CheckError
from tcdp_audit.core.check.table_view import TableView
from tcdp_audit.core.policy.scalars import Exact
from tcdp_audit.plugin.check import DisclosureType, Guide, Parameters, TableCheck, TableFigure
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit.testing import ConformanceError, check_conforms, properties_of
from tcdp_audit.testing.releases import QUASI_IDENTIFIERS, RECORDS, table_cases

Measure = Callable[[TableView, Any], Any]


class LonelyParameters(Parameters):
    at_most: Annotated[Exact | None, Field(ge=0, le=1, description="The largest share of lonely records.")] = None


def lonely(view: TableView, _: Any) -> TableFigure:
    """The share of records that are alone in their class."""
    alone = int((view.classes.records == 1).sum())
    return TableFigure(Fraction(alone, view.records), view.records, alone)


LONELY = TableCheck(
    name="lonely",
    title="Lonely records",
    disclosure_type=DisclosureType.IDENTITY_DEGREE,
    parameters=LonelyParameters,
    measure=lonely,
    label="share of records alone in their class",
    guide=Guide(
        definition="Records that are alone in their class.",
        formula="#{i: n_E(i) = 1} / n",
        reading="The share that may be singled out.",
        choosing="Low.",
        source="tests, 1",
        example="- lonely: {at_most: 0.1}",
    ),
)


def refused(property_: str, check: Any) -> str:
    """What the property of this name says of a check."""
    (conforms,) = (one for one in properties_of(check) if one.name == property_)
    with pytest.raises(ConformanceError) as caught:
        conforms()
    return str(caught.value)


def measuring(measure: Measure, **changes: Any) -> Any:
    return replace(LONELY, measure=measure, **changes)


def test_a_sound_check_conforms():
    check_conforms(LONELY)


def test_the_suites_tables_have_as_many_records_and_differ():
    quasi_identifiers = [[case.release[name].tolist() for name in QUASI_IDENTIFIERS] for case in table_cases()]
    figures = [(len(columns[0]), len(set(zip(*columns, strict=True)))) for columns in quasi_identifiers]

    assert {records for records, _ in figures} == {RECORDS}
    assert {1, RECORDS} <= {classes for _, classes in figures}


class Moody:
    calls = 0

    def __call__(self, view: TableView, _: Any) -> TableFigure:
        self.calls += 1
        return TableFigure(Fraction(1, self.calls), view.records)


def raising(*_: Any) -> Any:
    raise ZeroDivisionError("nothing to divide")


def refusing(*_: Any) -> Any:
    raise CheckError("there is nothing to measure")


def silent(*_: Any) -> Any:
    raise CheckError(" ")


def refusing_with_a_cell(view: TableView, _: Any) -> Any:
    raise CheckError(f"{view.coded(['zip'])[0].domains['zip'].labels[0]} is too rare")


def greedy(view: TableView, _: Any) -> TableFigure:
    view.classes.size[:] = 1
    return lonely(view, _)


def of_the_first_record(view: TableView, _: Any) -> TableFigure:
    (table,) = view.coded(["age"])
    return TableFigure(Fraction(int(table.codes["age"][0]), 100), view.records)


def of_names(view: TableView, _: Any) -> TableFigure:
    (table,) = view.coded(["zip"])
    codes = table.codes["zip"][table.codes["zip"] < table.domains["zip"].size]
    return TableFigure(Fraction(int(codes.sum()), 10_000), view.records)


def with_figure(**changes: Any) -> Measure:
    return lambda view, parameters: replace(lonely(view, parameters), **changes)


def telling_a_cell(view: TableView, parameters: Any) -> TableFigure:
    labels = view.coded(["zip"])[0].domains["zip"].labels
    return replace(lonely(view, parameters), details={"rarest": labels[0]})


def of_the_threshold(view: TableView, parameters: Any) -> TableFigure:
    figure = lonely(view, parameters)
    return figure if parameters.at_most is None else replace(figure, value=Fraction(0))


class Lenient(TableCheck[Any]):
    def verdict(self, figure: TableFigure, parameters: Any) -> Any:
        return replace(super().verdict(figure, parameters), failed=False if self.demands(parameters) else None)


class Capricious(TableCheck[Any]):
    """A demand of more than a half fails, one of less does not."""

    def verdict(self, figure: TableFigure, parameters: Any) -> Any:
        verdict = super().verdict(figure, parameters)
        return replace(verdict, failed=None if verdict.threshold is None else verdict.threshold > Fraction(1, 2))


def of_kind(kind: type[TableCheck[Any]]) -> Any:
    return kind(**{field.name: getattr(LONELY, field.name) for field in fields(LONELY)})


@pytest.mark.long
@pytest.mark.parametrize(
    ("property_", "check", "sentence"),
    [
        ("figure", measuring(raising), "the measure raised ZeroDivisionError: nothing to divide"),
        ("figure", measuring(lambda *_: 0.5), "the check gave a float and not a TableFigure"),
        ("figure", measuring(with_figure(value=float("nan"))), "its value must be a number, not NaN"),
        ("figure", measuring(with_figure(value="much")), "whose `value` must be a Fraction or a number, and is a str"),
        (
            "figure",
            measuring(with_figure(records=-1)),
            "its records must be whole numbers, at least 0, and the failing no more: got 2 of -1",
        ),
        (
            "figure",
            measuring(with_figure(failing=RECORDS + 1)),
            "its records must be whole numbers, at least 0, and the failing no more: got 61",
        ),
        (
            "figure",
            measuring(with_figure(classes=(3, 4))),
            "its classes must be whole numbers, at least 0, and the failing no more: got 4 of 3",
        ),
        ("figure", measuring(with_figure(distribution=[[2, 1, 1], [1, 1, 1]])), "must ascend by its figures"),
        ("figure", measuring(with_figure(distribution=[[2, 1]])), "[figure, classes, records] triples"),
        ("figure", measuring(with_figure(details={"of": np.zeros(1)})), "the check gave a ndarray among its details"),
        ("refusal", measuring(refusing), "it refused all tables of the suite"),
        ("refusal", measuring(silent), "a CheckError must say why it cannot be measured"),
        ("refusal", measuring(refusing_with_a_cell), "a CheckError shows a cell"),
        ("determinism", measuring(Moody()), "the second call on the same tables gave another figure"),
        ("inputs are left alone", measuring(greedy), "the measure tried to write to them"),
        ("order of records", measuring(of_the_first_record), "shuffled records gave another outcome"),
        ("names of values", measuring(of_names), "other names for the values of text gave another outcome"),
        ("no cell in evidence", measuring(telling_a_cell), "an outcome shows a cell"),
        (
            "no cell in evidence",
            replace(LONELY, sentences=Sentences(passed="The value zqvalue-zip01 is rare")),
            "an outcome shows a cell",
        ),
        ("message", replace(LONELY, sentences=Sentences(passed=" ")), "every outcome needs a sentence"),
        (
            "end to end",
            replace(LONELY, sentences=Sentences(passed="{k}", failed="{k}", measured="{k}", values=raising)),
            "expected the status measured, got error",
        ),
        ("at the threshold", measuring(of_the_threshold), "the figure must not depend on the threshold"),
        ("at the threshold", of_kind(Lenient), "expected failed, got"),
        ("stricter demands", of_kind(Capricious), "a stricter at_most passes where a looser one fails"),
        (
            "demands that nothing can fail",
            replace(LONELY, worst=lambda *_: Fraction(0)),
            "no release was said to fail at_most: ",
        ),
        ("tables", replace(LONELY, on_attribute=True), "a check on tables gets no attribute"),
        ("thresholds", replace(LONELY, threshold="share"), "'share' is no field of the parameters"),
        ("thresholds", replace(LONELY, measure="soon"), "`measure` must be a function, and is a str"),
        (
            "example",
            replace(LONELY, guide=replace(LONELY.guide, example="- lonely: {at_most: 2}")),
            "the check's own parameters refuse it: at_most",
        ),
        ("figure", replace(LONELY, validate=lambda *_: [("", "no attribute 'income'")]), "a policy refuses it: : no"),
    ],
)
def test_each_property_catches_what_breaks_it(property_: str, check: Any, sentence: str):
    message = refused(property_, check)

    assert message.startswith("check 'lonely': ")
    assert sentence in message


@pytest.mark.long
@pytest.mark.parametrize("comparison", list(Comparison))
def test_every_comparison_decides_at_the_threshold(comparison: Comparison):
    check_conforms(replace(LONELY, comparison=comparison))


@pytest.mark.long
def test_every_failure_is_reported_at_once():
    broken = replace(LONELY, title=" ", sentences=Sentences(passed=" "), threshold="share")
    with pytest.raises(ConformanceError) as caught:
        check_conforms(broken)

    lines = str(caught.value).splitlines()
    assert len(lines) > 2
    assert {line.split(": ")[1] for line in lines} >= {"specification", "thresholds", "message"}
