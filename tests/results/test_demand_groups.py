"""Groups of demands: which are one entry, how they are ranked, and the people whom they expose together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit import audit, failing_records
from tcdp_audit.core.base.audit_figures import GROUP, demand_groups
from tcdp_audit.core.base.outcome import Comparison, Outcome, Severity, Status, Tally
from tcdp_audit.core.results.demand_groups import DemandGroup

KNOWN, SECRET = {"role": "quasi_identifier", "scale": "nominal"}, {"role": "sensitive", "scale": "nominal"}
COLUMNS = [f"answer_{number}" for number in range(6)]


def survey(records: int = 300, homes: int = 100) -> pa.Table:
    draw = np.random.default_rng(11)
    table = {"age": draw.integers(0, 12, records), "sex": draw.integers(0, 2, records)}
    table |= {"home": draw.integers(0, homes, records)}
    return pa.table(table | {name: draw.integers(0, 2 + at, records) for at, name in enumerate(COLUMNS)})


def policy(*expect: dict[str, Any], **more: Any) -> dict[str, Any]:
    attributes = {"age": KNOWN, "sex": KNOWN, "home": {"role": "insensitive"}, **dict.fromkeys(COLUMNS, SECRET)}
    return {"version": 1, "unit_name": "person", "attributes": attributes, "expect": [*expect], **more}


DIVERSITY = {"distinct_l_diversity": {"l": 4}}
CLOSENESS = {"t_closeness": {"t": 0.35}}


def test_a_group_exposes_those_of_any_of_its_demands_once() -> None:
    marked = failing_records(survey(), policy({"k_anonymity": {"k": 9}}, DIVERSITY, CLOSENESS))
    masks = [np.zeros(0, bool) if mask is None else mask for _, mask in marked]

    diversity, closeness = marked.audit.demand_groups

    for group in (diversity, closeness):
        failing = [masks[number - 1] for number in group.numbers]
        assert group.exposed is not None
        assert group.exposed.records == np.logical_or.reduce(failing).sum()
        assert not group.exposed.is_least
    assert diversity.exposed_people == "all 300 people"
    assert closeness.exposed is not None
    assert closeness.exposed.records > max(masks[number - 1].sum() for number in closeness.numbers)
    assert closeness.exposed_people == f"{closeness.exposed.records} of 300 people"


def test_units_of_a_group_are_counted_once() -> None:
    result = audit(survey(), policy(CLOSENESS, unit="home", conventions={"known_rows": "one"}))
    alone = [
        audit(
            survey(),
            policy({"t_closeness": {"t": 0.35, "attribute": name}}, unit="home", conventions={"known_rows": "one"}),
        )
        for name in COLUMNS
    ]

    (group,) = result.demand_groups

    assert group.exposed is not None
    assert result.exposed is not None
    assert group.exposed.units == result.exposed.units
    assert (group.exposed.units or 0) > max(one.exposed.units or 0 for one in alone if one.exposed)
    assert group.exposed_people == f"{group.exposed.units} of {group.exposed.units_of} people"


def test_the_homes_of_a_demand_that_names_them_are_counted_in_homes() -> None:
    expect: list[dict[str, Any]] = [{"t_closeness": {"t": 0.45, "unit": "home"}}, {"k_anonymity": {"k": 2}}]
    result = audit(survey(), policy(*expect))
    alone = audit(survey(), policy({"t_closeness": {"t": 0.45}}, unit="home"))

    (group,) = result.demand_groups

    assert group.exposed is not None
    assert alone.exposed is not None
    assert (group.exposed.units, group.exposed.records) == (alone.exposed.units, alone.exposed.records)
    assert "homes" in group.exposed_people


def test_of_several_scenarios_the_most_exposed_is_a_least_number() -> None:
    scenarios = {"neighbour": {"knows": ["age"]}, "boss": {"knows": ["age", "sex"]}}
    demand = {"t_closeness": {"t": 0.27}}
    result, of_boss = audit(survey(), policy(demand, scenarios=scenarios)), audit(survey(), policy(demand))

    (group,) = result.demand_groups

    assert group.subjects == "6 columns in 2 scenarios"
    assert group.exposed is not None
    assert of_boss.exposed is not None
    assert group.exposed.records == of_boss.exposed.records
    assert group.exposed.is_least
    assert group.exposed_people.startswith("at least ")
    assert {*group.exposed.counted, *group.exposed.left_out} == {
        number for number, one in enumerate(result.outcomes) if one.status is Status.FAILED
    }


def outcome(name: str, **changes: Any) -> Outcome:
    made = Outcome(check="t_closeness", title="t-closeness", status=Status.PASSED, attribute=name)
    return replace(made, **changes)


@pytest.mark.parametrize(
    ("changes", "is_one"),
    [
        ({}, True),
        ({"attribute": "other"}, True),
        ({"scenario": "boss", "title": "t-closeness against boss"}, True),
        ({"scenario": "knows age", "title": "t-closeness if an intruder knows age"}, True),
        ({"parameters": {"attribute": "x"}}, True),
        ({"parameters": {"t": 0.2}}, False),
        ({"severity": Severity.WARNING}, False),
        ({"unit": "home"}, False),
        ({"title": "t-closeness, ordered distance"}, False),
        ({"check": "other"}, False),
    ],
)
def test_demands_of_a_group_differ_in_what_they_are_on(changes: dict[str, Any], is_one: bool) -> None:
    others = [outcome(f"c{number}") for number in range(GROUP - 1)]
    assert bool(demand_groups([*others, outcome("last", **changes)])) is is_one


def test_few_demands_are_no_group() -> None:
    assert demand_groups([outcome(f"c{number}") for number in range(GROUP - 1)]) == []


def test_the_worst_fail_with_most_records_and_then_furthest_from_the_demand() -> None:
    def failing(name: str, records: int, observed: float) -> Outcome:
        tally = Tally(9, records)
        figures = {"observed": observed, "threshold": 2, "comparison": Comparison.AT_MOST}
        return outcome(name, status=Status.FAILED, records=tally, **figures)

    given = [outcome("passed"), failing("few", 1, 9.0), failing("near", 5, 3.0), failing("far", 5, 4.0)]
    given.append(outcome("warned", status=Status.FAILED, severity=Severity.WARNING, records=Tally(9, 9)))
    group = DemandGroup((1, 2, 3, 4, 5), tuple(given))

    assert [one.attribute for _, one in group.ranked] == ["far", "near", "few", "warned", "passed"]
    assert group.result == "3 of 5 fail, 1 warns"
    assert group.state == "failed"
    assert group.exposed_people == "all 9 records"


@pytest.mark.parametrize(
    ("statuses", "result"),
    [
        ([Status.PASSED] * 5, "all 5 hold"),
        ([Status.MEASURED] * 5, "5 measured"),
        ([Status.PASSED] * 4 + [Status.ERROR], "1 of 5 could not be checked"),
        ([Status.PASSED] * 4 + [Status.FAILED], "1 of 5 fails"),
    ],
)
def test_how_many_hold(statuses: list[Status], result: str) -> None:
    group = DemandGroup(tuple(range(1, 6)), tuple(outcome("c", status=one) for one in statuses))
    assert group.result == result
    assert group.exposed_people == ""


def test_an_audit_of_few_demands_has_no_group() -> None:
    assert audit(survey(), policy({"k_anonymity": {"k": 2}})).demand_groups == ()
