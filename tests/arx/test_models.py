"""Privacy models of ARX become demands that decide as ARX does, on random tables; others say why they do not."""

from __future__ import annotations

import random
from collections.abc import Callable

import pyarrow as pa
import pytest
import yaml
from arx import arx_decisions as arx

from tcdp_audit import audit
from tcdp_audit.arx.models import ModelContext, plain, translate

ILLNESS = " for attribute 'illness'"
PAY = " for attribute 'pay'"
PARENTS = {"flu": "lungs", "asthma": "lungs", "ulcer": "stomach", "gastritis": "stomach"}
CONTEXT = ModelContext(["illness", "pay"], ["pay"], ["illness"], has_population=True)

DECISIONS: dict[str, Callable[[arx.Rows, arx.Rows], bool]] = {
    "3-anonymity": lambda rows, _: arx.k_anonymity(rows, 3),
    f"distinct-2-diversity{ILLNESS}": lambda rows, _: arx.distinct(rows, 2),
    f"shannon-entropy-1.9-diversity{ILLNESS}": lambda rows, _: arx.entropy(rows, 1.9),
    f"entropy-2.0-diversity{ILLNESS}": lambda rows, _: arx.entropy(rows, 2),
    f"recursive-(2.0,2)-diversity{ILLNESS}": lambda rows, _: arx.recursive(rows, 2, 2),
    f"recursive-(3.5,3)-diversity{ILLNESS}": lambda rows, _: arx.recursive(rows, 3.5, 3),
    f"0.3-closeness with equal ground-distance{ILLNESS}": lambda rows, _: arx.equal_closeness(rows, 0.3),
    f"0.2-closeness with ordered distance{PAY}": lambda rows, _: arx.ordered_closeness(rows, 0.2),
    f"0.25-closeness with hierarchical ground-distance{ILLNESS}": lambda rows, _: arx.hierarchical_closeness(
        rows, 0.25, PARENTS
    ),
    f"1.0-disclosure privacy{ILLNESS}": lambda rows, _: arx.disclosure(rows, 1),
    f"basic-1.0-likeness{ILLNESS}": lambda rows, _: arx.likeness(rows, 1, enhanced=False),
    f"enhanced-1.5-likeness{ILLNESS}": lambda rows, _: arx.likeness(rows, 1.5, enhanced=True),
    "(0.05)-sample-uniqueness": lambda rows, _: arx.sample_uniqueness(rows, 0.05),
    "(0.25, 0.25 (0.25), 0.2)-avg-reidentification-risk": lambda rows, _: arx.average_risk(rows, 0.25, 0.25, 0.2),
    "(0.25, 0.3333333333333333 (0.33), 0.1)-avg-reidentification-risk": lambda rows, _: arx.average_risk(
        rows, 0.25, 0.33, 0.1
    ),
    "(0.2,0.8)-presence": lambda rows, population: arx.presence(rows, population, 0.2, 0.8),
    "(4)-map": lambda rows, population: arx.k_map(rows, population, 4),
}


def tables(seed: int) -> tuple[arx.Rows, arx.Rows]:
    """A release and its population. Every class of the population has a record of the release or none."""
    drawn = random.Random(seed)  # noqa: S311 - repeatable tables
    classes = "abcd"[: drawn.randint(1, 4)]
    most = drawn.choice([4, 12, 40])

    def row(one: str) -> tuple[str, str, int]:
        return one, drawn.choice(list(PARENTS)[: drawn.choice([2, 4, 4])]), drawn.randrange(1, 6)

    rows = [row(one) for one in classes for _ in range(drawn.randint(1, most))]
    further = [row(one) for one in classes + "e" * drawn.choice([0, 1]) for _ in range(drawn.randint(1, 6))]
    return rows, [*rows, *further]


def columns(rows: arx.Rows) -> dict[str, list[str]]:
    return {name: [str(row[place]) for row in rows] for place, name in enumerate(("class", "illness", "pay"))}


@pytest.mark.parametrize("start", [0, pytest.param(100, marks=pytest.mark.long)])
def test_demands_decide_as_arx_does(start: int):
    decided = {model: set[bool]() for model in DECISIONS}
    tree = {"*": {"lungs": ["flu", "asthma"], "stomach": ["ulcer", "gastritis"]}}
    attributes = {
        "class": {"role": "quasi_identifier", "scale": "nominal"},
        "illness": {"role": "sensitive", "scale": "nominal", "hierarchy": tree},
        "pay": {"role": "sensitive", "scale": "numeric"},
    }
    for seed in range(start, start * 4 + 25):
        rows, population = tables(seed)
        expect = [_expectation(demand.line) for model in DECISIONS for demand in translate(model, CONTEXT).demands]
        result = audit(
            pa.table(columns(rows)),
            {"version": 1, "attributes": attributes, "expect": expect},
            population=pa.table(columns(population)),
        )
        outcomes = iter(result.expectations)
        for model, decide in DECISIONS.items():
            own = [next(outcomes) for _ in translate(model, CONTEXT).demands]
            statuses = {one.status.value for one in own}
            held = statuses <= {"passed", "measured"}
            assert statuses <= {"passed", "measured", "failed"}, (model, seed)
            assert held == decide(rows, population), (model, seed)
            decided[model].add(held)
    assert [model for model, both in decided.items() if len(both) < 2] == []


def _expectation(line: str) -> dict[str, dict[str, object]]:
    read = yaml.safe_load(line)
    assert isinstance(read, dict)
    return read


@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("(7)-map estimated as (3)-anonymity (Poisson distribution)", "k_anonymity: {k: 3}"),
        ("(7)-mapestimated as (3)-anonymity (Poisson distribution)", "k_anonymity: {k: 3}"),
        ("(7)-map (3-anonymity used Poisson)", "k_anonymity: {k: 3}"),
        ("(0.05)-sample-uniques", "sample_uniqueness: {at_most: 0.05}"),
        ("(<0.05)-sample-uniques", "sample_uniqueness: {at_most: 0.05}"),
        ("(<1.0E-4)-avg-reidentification-risk", "reidentification_risk: {measure: average, at_most: 0.0001}"),
        (f"0.2-closeness with equal distance{PAY}", "t_closeness: {t: 0.2, attribute: pay, distance: equal}"),
        (
            f"0.2-closeness with hierarchical distance{ILLNESS}",
            "t_closeness: {t: 0.2, attribute: illness, distance: hierarchical}",
        ),
        (f"2.0-basic likeness{PAY}", "basic_beta_likeness: {beta: 2, attribute: pay}"),
    ],
)
def test_forms_of_older_versions_are_known(model: str, line: str):
    assert [one.line for one in translate(model, CONTEXT).demands] == [line]


@pytest.mark.parametrize(
    ("model", "word"),
    [
        ("(1.0E-4)-population-uniqueness (dankar)", "sample uniques"),
        ("(1.0E-4)-population-uniques (dankar)", "sample uniques"),
        ("(<1.0E-4-population-uniques (dankar)", "sample uniques"),
        ("(<0.01)-population-uniques", "sample uniques"),
        ("(1.0,1.0E-5)-DP", "sampled_k_anonymity"),
        ("profitability (prosecutor)[benefit=1200.0, loss=300.0, gain=300.0, cost=4.0]", "No check weighs"),
        ("no-attack-profitability (journalist)[benefit=1.0, loss=3.0, gain=3.0, cost=4.0]", "No check weighs"),
        (f"grassberger-entropy-3.0-diversity{ILLNESS}", "stricter"),
        ("(7)-map estimated as (unknown)-anonymity (Poisson)", "which class size is enough"),
        ("17-something new", "not known here"),
        ("", "not known here"),
        ("5-anonymity\n6-anonymity", "not known here"),
        ("distinct-3-diversity for attribute 'name'", "not sensitive in the project"),
    ],
)
def test_what_has_no_counterpart_is_a_demand_with_a_reason(model: str, word: str):
    translated = translate(model, CONTEXT)

    assert translated.demands == ()
    assert translated.is_demand
    assert word in translated.reason


@pytest.mark.parametrize(
    "model",
    [
        "(4)-map",
        "(0.0,0.5)-presence",
        "Inclusion",
        f"0.2-closeness with ordered distance{ILLNESS}",
        f"0.2-closeness with hierarchical ground-distance{PAY}",
    ],
)
def test_what_needs_more_than_the_project_has_is_a_demand_with_a_reason(model: str):
    translated = translate(model, ModelContext(["illness", "pay"]))
    assert (list(translated.demands), translated.is_demand, bool(translated.reason)) == ([], True, True)


def test_the_research_sample_demands_nothing():
    assert not translate("Inclusion", CONTEXT).is_demand


@pytest.mark.parametrize(("java", "yaml"), [("5.0", "5"), ("1.0E-4", "0.0001"), ("100", "100"), ("0.0", "0")])
def test_numbers_of_java_are_plain(java: str, yaml: str):
    assert plain(java) == yaml
