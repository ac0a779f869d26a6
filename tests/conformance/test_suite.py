"""The conformance suite catches what it claims to: each broken specification lacks one property."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from itertools import takewhile
from typing import Annotated, Any

import numpy as np
import pytest
from pydantic import BaseModel, Field

from tcdp_audit.core.check.class_check import AttackCheck
from tcdp_audit.core.check.evidence import SingletonClasses
from tcdp_audit.core.check.threshold import AttributeParameters, ShareParameters
from tcdp_audit.core.policy.model import Scale
from tcdp_audit.core.policy.scalars import Exact
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import ApproximateFigure, ClassEvidence, Parameters, Ratios, Threshold
from tcdp_audit.plugin.report import Reporter
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit.testing import ConformanceError, check_conforms, properties_of
from tcdp_audit.testing.reports import SAMPLE, SampleParameters

pytestmark = pytest.mark.long  # each tries whole suites

Measure = Callable[[ClassEvidence, Any], Any]
PARAMETER = SAMPLE.thresholds[0].parameter


def measuring(measure: Measure, comparison: Comparison = Comparison.AT_LEAST) -> Any:
    return replace(SAMPLE, thresholds=(Threshold(PARAMETER, comparison, measure),))


def refused(specification: Any, parameters: dict[str, Any] | None = None) -> str:
    with pytest.raises(ConformanceError) as caught:
        check_conforms(specification, parameters)
    assert isinstance(caught.value, AssertionError)
    return str(caught.value)


def distinct(evidence: ClassEvidence, _: Any) -> Any:
    return evidence.sensitive[0].distinct


def test_the_sample_check_conforms():
    check_conforms(SAMPLE)


# Figures


def raising(*_: Any) -> Any:
    raise ZeroDivisionError("nothing to divide")


def one_too_few(evidence: ClassEvidence, _: Any) -> Any:
    return distinct(evidence, _)[:-1]


def not_a_number(evidence: ClassEvidence, _: Any) -> Any:
    return np.where(evidence.size == evidence.size.max(), np.nan, 1.0)


def running(evidence: ClassEvidence, _: Any) -> Any:
    return np.cumsum(distinct(evidence, _))


def relative(evidence: ClassEvidence, _: Any) -> Any:
    return Ratios(evidence.size, np.full_like(evidence.size, evidence.size.sum()))


def greedy(evidence: ClassEvidence, _: Any) -> Any:
    evidence.sensitive[0].counts[:] = 1
    return evidence.sensitive[0].distinct


def overflowing(evidence: ClassEvidence, _: Any) -> Any:
    return Ratios(evidence.size, evidence.size.astype(np.int32))  # 2^31 becomes negative


class Moody:
    calls = 0

    def __call__(self, evidence: ClassEvidence, _: Any) -> Any:
        self.calls += 1
        return evidence.size + self.calls


def upside_down(evidence: ClassEvidence, _: Any) -> Any:
    values = evidence.size.astype(np.float64)
    return Wrong(values)


class Wrong(ApproximateFigure):
    def __init__(self, values: Any) -> None:
        super().__init__(values, lambda classes, _: np.zeros(len(classes), dtype=np.int8))

    def compare(self, threshold: Fraction) -> Any:
        return -super().compare(threshold)


@pytest.mark.parametrize(
    ("measure", "property_"),
    [
        (raising, "figures: the measure raised ZeroDivisionError"),
        (one_too_few, "one figure per class"),
        (not_a_number, "a class got NaN"),
        (running, "order of classes"),
        (relative, "a class alone"),
        (greedy, "inputs are left alone"),
        (Moody(), "determinism"),
        (overflowing, "a denominator is negative: expected at least 0, got ["),
        (overflowing, "usual cause: int64 overflow"),
        (upside_down, "comparison: a figure above a threshold must compare as above"),
    ],
)
def test_a_faulty_measure_is_named(measure: Measure, property_: str):
    message = refused(measuring(measure))
    assert message.startswith("check 'sample_check': ")
    assert property_ in message
    assert "case: " in message


def test_a_check_that_needs_a_missing_part_says_so():
    check = replace(measuring(distinct), on_attribute=False)
    assert "set `on_attribute=True`" in refused(check)


# Audits


class Loose(AttributeParameters):
    n: Annotated[Exact | None, Field(description="A figure.")] = None


def test_a_comparison_that_ignores_its_declared_operator_is_caught():
    def lenient(evidence: ClassEvidence, _: Any) -> Any:
        class Lenient(Ratios):
            def compare(self, _: Fraction) -> Any:
                return np.ones(len(self.numerator), dtype=np.int8)

        return Lenient(evidence.size, np.ones_like(evidence.size))

    assert "comparison" in refused(measuring(lenient))


@pytest.mark.parametrize("comparison", list(Comparison))
def test_every_operator_decides_at_the_threshold(comparison: Comparison):
    check_conforms(replace(measuring(distinct, comparison), parameters=Loose))


def test_a_threshold_that_takes_no_observed_figure_is_caught():
    class Distant(AttributeParameters):
        n: Annotated[int | None, Field(ge=10**6, description="Out of reach.")] = None

    check = replace(SAMPLE, parameters=Distant, guide=replace(SAMPLE.guide, example="- sample_check: {n: 1000000}"))
    assert "at the threshold: none of the observed figures is accepted" in refused(check)


def test_a_sentence_that_shows_a_cell_is_caught():
    check = replace(SAMPLE, sentences=Sentences(passed="the class of zqvalue0001 is the worst"))
    assert "no cell in evidence" in refused(check)


def test_an_empty_sentence_is_caught():
    assert "message: every outcome needs a sentence" in refused(replace(SAMPLE, sentences=Sentences(passed=" ")))


# Attacks, and checks that read a hierarchy


ATTACK = AttackCheck(
    name="sample_attack",
    title="Sample attack",
    disclosure_type=SAMPLE.disclosure_type,
    parameters=ShareParameters,
    on_attribute=True,
    victims=lambda evidence, _: evidence.sensitive[0].distinct == 1,
    guide=replace(SAMPLE.guide, example="- sample_attack: {at_most: 0.1}"),
)


def test_a_sound_attack_conforms():
    check_conforms(ATTACK)


@pytest.mark.parametrize(
    ("victims", "property_"),
    [
        (lambda evidence, _: evidence.sensitive[0].distinct == evidence.sensitive[0].distinct.min(), "a class alone"),
        (lambda evidence, _: np.arange(len(evidence.size)) == 0, "order of classes"),
        (lambda evidence, _: evidence.sensitive[0].distinct[1:] == 1, "one figure per class"),
        (lambda evidence, _: (evidence.sensitive[0].distinct == 1) * 1, "end to end"),
    ],
)
def test_a_faulty_attack_is_named(victims: Measure, property_: str):
    message = refused(replace(ATTACK, victims=victims))
    assert message.startswith("check 'sample_attack': ")
    assert property_ in message


def test_a_check_that_reads_a_hierarchy_is_given_one():
    def nodes(evidence: ClassEvidence, _: Any) -> Any:
        assert evidence.tree is not None
        assert evidence.tree.height == 2
        assert len(evidence.labels) == evidence.tree.nodes(0)
        return distinct(evidence, _)

    check_conforms(replace(measuring(nodes), needs_hierarchy=lambda _: True))
    assert "raised AssertionError" in refused(measuring(nodes))


# Parameters


class Kind(StrEnum):
    SOUND = "sound"
    BROKEN = "broken"


def test_every_value_of_a_choice_is_tried():
    class Chosen(SampleParameters):
        kind: Annotated[Kind, Field(strict=False, description="How.")] = Kind.SOUND

    def measure(evidence: ClassEvidence, parameters: Any) -> Any:
        return distinct(evidence, parameters)[: None if parameters.kind is Kind.SOUND else 0]

    message = refused(replace(measuring(measure), parameters=Chosen))
    assert "one figure per class" in message
    assert "kind=broken" in message
    check_conforms(replace(measuring(distinct), parameters=Chosen))


def test_parameters_that_cannot_be_guessed_are_given():
    class Needing(SampleParameters):
        width: Annotated[int, Field(ge=1, description="A width, in values.")]

    check = replace(SAMPLE, parameters=Needing)
    assert "example: the check's own parameters refuse it: width" in refused(check)
    with_example = replace(check, guide=replace(SAMPLE.guide, example="- sample_check: {n: 2, width: 3}"))
    check_conforms(with_example)
    check_conforms(with_example, {"width": 5})


def test_numbers_come_with_a_numeric_scale_only():
    def measure(evidence: ClassEvidence, _: Any) -> Any:
        assert evidence.values is not None
        assert np.all(np.diff(evidence.values) > 0)
        return distinct(evidence, _)

    numeric = frozenset({Scale.NUMERIC})
    check_conforms(replace(measuring(measure), scales=lambda _: numeric))
    assert "raised AssertionError" in refused(measuring(measure))


def undescribed() -> Any:
    class Undescribed(AttributeParameters):
        n: int | None = None

    return replace(SAMPLE, parameters=Undescribed)


def demanding() -> Any:
    class Demanding(AttributeParameters):
        n: Annotated[int | None, Field(description="A figure.")] = 3

    return replace(SAMPLE, parameters=Demanding)


def open_model() -> Any:
    class Open(AttributeParameters, extra="ignore"):
        n: Annotated[int | None, Field(description="A figure.")] = None

    return replace(SAMPLE, parameters=Open)


def changing() -> Any:
    class Changing(AttributeParameters, frozen=False):
        n: Annotated[int | None, Field(description="A figure.")] = None

    return replace(SAMPLE, parameters=Changing)


def other_base() -> Any:
    class Other(BaseModel):
        n: int | None = None

    return replace(SAMPLE, parameters=Other)


@pytest.mark.parametrize(
    ("broken", "property_"),
    [
        (replace(SAMPLE, name="Sample-Check"), "name: it must be snake_case"),
        (replace(SAMPLE, title=" "), "specification: `title`"),
        *(
            (replace(SAMPLE, guide=replace(SAMPLE.guide, **{name: ""})), f"guide: `{name}`")
            for name in ("formula", "reading", "source", "choosing", "definition", "example")
        ),
        (
            replace(SAMPLE, guide=replace(SAMPLE.guide, example="- other_check: {n: 2}")),
            "example: it must be one line",
        ),
        (
            replace(SAMPLE, guide=replace(SAMPLE.guide, example="- sample_check: {m: 2}")),
            "example: the check's own",
        ),
        (
            replace(SAMPLE, guide=replace(SAMPLE.guide, example="- sample_check: {")),
            "example: it is not YAML",
        ),
        (replace(SAMPLE, thresholds=()), "thresholds: there must be at least one"),
        (
            replace(SAMPLE, thresholds=(Threshold("m", Comparison.BELOW, distinct),)),
            "thresholds: 'm' is no field",
        ),
        (replace(SAMPLE, thresholds=SAMPLE.thresholds * 2), "thresholds: two of them name"),
        (replace(SAMPLE, scales=lambda _: frozenset()), "scales: there must be a scale"),
        (
            replace(SAMPLE, parameters=Parameters),
            "parameters: the model must derive from AttributeParameters",
        ),
        (undescribed(), "parameters: 'n' needs a description"),
        (demanding(), "thresholds: 'n' must be None by default"),
        (open_model(), "parameters: unknown names must be refused"),
        (changing(), "parameters: they must not change"),
        (other_base(), "`parameters` must be a class derived from Parameters, and is the class Other"),
    ],
)
def test_an_incomplete_specification_is_named(broken: Any, property_: str):
    lacks = []
    for one in takewhile(lambda one: one.name != "figures", properties_of(broken)):  # what needs no audit
        try:
            one()
        except ConformanceError as error:
            lacks.append(str(error))
    assert property_ in "\n".join(lacks)


# Demands that nothing can fail


class CommonestParameters(AttributeParameters):
    at_most: Annotated[Exact | None, Field(ge=0, description="The largest share of one value.")] = None


def commonest(evidence: ClassEvidence, _: Any) -> Ratios:
    histogram = evidence.sensitive[0]
    return Ratios(histogram.max(histogram.counts), histogram.total)


def of_the_commonest(**further: Any) -> Any:
    """A check on a share whose parameter does not say that it is one."""
    guide = replace(SAMPLE.guide, example=f"- {SAMPLE.name}: {{at_most: 0.5}}")
    figure = Threshold("at_most", Comparison.AT_MOST, commonest)
    return replace(SAMPLE, parameters=CommonestParameters, thresholds=(figure,), guide=guide, **further)


def the_whole_table(finest: SingletonClasses, _: Any) -> ClassEvidence:
    """Not the worst class, if there is more than one value."""
    histogram = finest.classes.sensitive[0]
    table = replace(histogram, offsets=np.array([0, len(histogram.values)]), counts=finest.records)
    return replace(finest.classes, size=finest.records.sum(keepdims=True), histogram=table)


def more_than_there_is(finest: SingletonClasses, _: Any) -> ClassEvidence:
    histogram = finest.classes.sensitive[0]
    return replace(finest.classes, histogram=replace(histogram, counts=finest.records + 1))


@pytest.mark.parametrize("further", [{}, {"monotone": lambda _: True}, {"worst_classes": lambda one, _: one.classes}])
def test_a_check_may_say_what_nothing_can_fail_or_nothing(further: Any):
    check_conforms(of_the_commonest(**further))


def test_a_demand_that_is_wrongly_said_to_be_unfailable_is_caught():
    assert "demands that nothing can fail: no grouping was said to fail at_most" in refused(
        of_the_commonest(worst_classes=the_whole_table)
    )


def test_a_check_that_is_wrongly_said_to_be_monotone_is_caught():
    """Of single records each has all that it can; the number of values of a class only grows."""
    wrong = replace(measuring(distinct, Comparison.AT_MOST), monotone=lambda _: True)
    assert "demands that nothing can fail: no grouping was said to fail" in refused(wrong)


def test_worst_classes_consist_of_records_that_there_are():
    assert "`worst_classes` has records that the release has not" in refused(
        of_the_commonest(worst_classes=more_than_there_is)
    )


def test_a_share_of_victims_that_is_said_too_small_is_caught():
    (homogeneity,) = (one for one in Plugins.load(external=False).checks.values() if one.name == "homogeneity")
    check_conforms(homogeneity)
    wrong = replace(homogeneity, worst=lambda _, __: Fraction(0))
    assert "demands that nothing can fail: no grouping was said to fail at_most" in refused(wrong)


# Other kinds


REPORTER = Reporter(name="lines", title="Lines", suffix=".txt", render=lambda audit: f"{audit.status}\n")


def test_a_sound_reporter_conforms():
    check_conforms(REPORTER)


@pytest.mark.parametrize(
    ("broken", "property_"),
    [
        (replace(REPORTER, suffix="txt"), "reporter 'lines': suffix"),
        (replace(REPORTER, suffix=".TXT"), "suffix: it must be a lower-case"),
        (replace(REPORTER, suffix=".a.b.txt"), "suffix: it must be a lower-case"),
        (replace(REPORTER, render_several=lambda _: ""), "rendering: it must give a text or bytes, and not empty ones"),
        (replace(REPORTER, render=lambda _: ""), "rendering: it must give a text"),
        (
            replace(REPORTER, render=raising),
            "rendering: an audit with the status passed raised ZeroDivisionError",
        ),
        (replace(REPORTER, suffix=".json"), "rendering: it is not well-formed JSON"),
        (
            replace(REPORTER, suffix=".xml", render=lambda audit: f"<a>{audit.outcomes[0].title}\x1b</a>"),
            "well-formed XML",
        ),
        (
            replace(REPORTER, suffix=".html", render=lambda audit: audit.expectations[0].title),
            "became markup",
        ),
        (replace(REPORTER, render=lambda audit: f"{audit.status} zqcellzq1"), "no cell in evidence"),
        (replace(REPORTER, render=lambda _: "51724863"), "evaluated as a template"),
    ],
)
def test_a_faulty_reporter_is_named(broken: Any, property_: str):
    assert property_ in refused(broken)


def test_a_reporter_that_differs_from_call_to_call_is_caught():
    calls = iter(range(1000))
    assert "determinism" in refused(replace(REPORTER, render=lambda _: f"{next(calls)}"))


def test_an_unknown_kind_is_refused_by_name():
    assert refused(3) == (
        "a int is no kind that the conformance suite knows; it knows ClassCheck, AttackCheck, TableCheck, "
        "AggregateCheck, LazyCheck, Remedy, Reporter, ReportSection, EngineOpener, ValueDetector and ColumnDetector"
    )
