"""Checks that need no quasi-identifier and read those that there are: judged against each intruder who knows any."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from tcdp_audit import Audit, audit

ROLES = {
    "person": {"role": "insensitive"},
    "ward": {"role": "quasi_identifier"},
    "job": {"role": "insensitive"},
    "disease": {"role": "sensitive"},
}
VISITS = pd.DataFrame(
    {"person": [1, 1, 2, 2, 3, 3, 4, 4], "ward": [*"aabbaabb"], "job": [*"xyzwxxzz"], "disease": [*"fgfgfgfg"]}
)


def judged(check: str, scenarios: dict[str, Any] | None, **parameters: Any) -> list[tuple[str, float | None, str]]:
    expect = [{check: parameters}, {"k_anonymity": {"k": 2}}]  # something is demanded against each intruder
    policy: dict[str, Any] = {"version": 1, "attributes": ROLES, "unit": "person", "expect": expect}
    result = audit(VISITS, policy if scenarios is None else {**policy, "scenarios": scenarios})
    return [(one.scenario, one.observed, one.status.value) for one in result.expectations if one.check == check]


def test_events_that_an_intruder_knows_are_judged_and_not_the_default_ones() -> None:
    """Judged with every quasi-identifier, which no declared intruder knows, this release would pass."""
    assert judged("known_events", None, m=2, k=2) == [("", 2, "passed")]
    assert judged("known_events", {"boss": {"knows": ["job"]}}, m=2, k=2) == [("boss", 1, "failed")]


@pytest.mark.parametrize(
    ("check", "parameters"),
    [
        ("known_events", {"m": 2, "k": 2}),
        ("unicity", {"points": 2, "at_most": 0.5}),
        ("km_anonymity", {"m": 2, "k": 2}),
    ],
)
def test_each_is_judged_as_in_a_policy_of_only_that_one(check: str, parameters: dict[str, Any]) -> None:
    scenarios = {"neighbour": {"knows": ["ward"]}, "boss": {"knows": ["job", "ward"]}}
    alone = []
    for name, one in scenarios.items():
        roles = {
            column: {"role": "quasi_identifier" if column in one["knows"] else declared["role"]}
            for column, declared in ROLES.items()
        }
        policy = {"version": 1, "attributes": roles, "unit": "person", "expect": [{check: parameters}]}
        (outcome,) = audit(VISITS, policy).expectations
        alone.append((name, outcome.observed, outcome.status.value))

    assert judged(check, scenarios, **parameters) == alone


def test_columns_that_a_demand_names_are_known_to_every_intruder() -> None:
    scenarios = {"neighbour": {"knows": ["ward"]}, "boss": {"knows": ["job"]}}

    assert judged("known_events", scenarios, m=2, k=2, attributes=["job"]) == [("", 1, "failed")]


def of_tables(scenarios: dict[str, Any]) -> Audit:
    tables = {
        "people": {"attributes": {"sex": {"role": "quasi_identifier"}}},
        "visits": {"belongs_to": "people", "attributes": {name: ROLES[name] for name in ("ward", "job", "disease")}},
    }
    policy = {
        "version": 1,
        "unit": "person",
        "tables": tables,
        "scenarios": scenarios,
        "expect": [{"known_events": {"m": 2, "k": 2}}, {"k_anonymity": {"k": 2}}],
    }
    people = pd.DataFrame({"person": [1, 2, 3, 4], "sex": [*"ffmm"]})
    return audit({"people": people, "visits": VISITS}, policy)


def test_an_intruder_who_knows_nothing_of_events_is_left_out_where_another_does() -> None:
    result = of_tables({"neighbour": {"knows": ["people.sex"]}, "boss": {"knows": ["people.sex", "visits.job"]}})

    events = [one for one in result.expectations if one.check == "known_events"]
    assert [(one.scenario, one.observed) for one in events] == [("boss", 1)]


def test_events_of_which_no_intruder_knows_anything_are_an_error() -> None:
    result = of_tables({"neighbour": {"knows": ["people.sex"]}})

    assert [(one.scenario, one.status.value) for one in result.expectations[:1]] == [("neighbour", "error")]
    assert result.exit_code() == 3
