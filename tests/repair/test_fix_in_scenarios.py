"""A repair keeps the demands of every scenario, and counts the loss of every column that some intruder knows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

from tcdp_audit import fix
from tcdp_audit.cli.schema import result_schema
from tcdp_audit.core.repair.loop import ALL, RepairLoop

ROLES: dict[str, Any] = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "sex": {"role": "quasi_identifier"},
    "job": {"role": "insensitive"},
    "region": {"role": "quasi_identifier"},
    "disease": {"role": "sensitive"},
}
SCENARIOS: dict[str, Any] = {
    "neighbour": {"knows": ["age", "sex", "region"]},
    "employer": {"knows": ["job", "age"], "attempt": 0.5},
}


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    draw = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": draw.integers(20, 60, 300),
            "sex": draw.choice(["f", "m"], 300),
            "job": draw.choice(list("abcdefgh"), 300),
            "region": draw.choice(list("nswe"), 300),
            "disease": draw.choice(list("xyz"), 300),
        }
    )


def smallest(table: Any, known: list[str]) -> int:
    """The smallest group of records that agree in some columns, by plain pandas."""
    return int(table.to_pandas().fillna("*").groupby(known).size().min())


def policy(*expect: dict[str, Any], **further: Any) -> dict[str, Any]:
    return {"version": 1, "attributes": ROLES, "scenarios": SCENARIOS, "expect": [*expect], **further}


def test_a_size_of_classes_is_reached_in_each(people: pd.DataFrame) -> None:
    result = fix(people, policy({"k_anonymity": {"k": 3}}))

    assert result.passed
    assert [one.scenario for one in result.after.expectations] == ["neighbour", "employer"]
    for name, one in SCENARIOS.items():
        (judged,) = [outcome for outcome in result.after.expectations if outcome.scenario == name]
        assert judged.observed == smallest(result.released, one["knows"]) >= 3
    assert "job" in result.log.loss["attributes"]


def test_a_risk_needs_smaller_classes_where_an_attack_is_rarely_tried(people: pd.DataFrame) -> None:
    rarely = {name: {**one, "attempt": 0.5} for name, one in SCENARIOS.items()}
    risk = {"reidentification_risk": {"at_most": 0.1}}
    sizes = {}
    for name, scenarios in {
        "always": {n: {"knows": one["knows"]} for n, one in SCENARIOS.items()},
        "half": rarely,
    }.items():
        result = fix(people, {**policy(risk), "scenarios": scenarios})
        assert result.passed
        sizes[name] = min(smallest(result.released, one["knows"]) for one in SCENARIOS.values())
    assert sizes["always"] >= 10 > sizes["half"] >= 5


def test_a_demand_against_one_of_them_is_repaired(people: pd.DataFrame) -> None:
    result = fix(people, policy({"k_anonymity": {"k": 20, "against": "employer"}}, {"distinct_l_diversity": {"l": 2}}))

    assert result.passed
    assert smallest(result.released, ["job", "age"]) >= 20


DISPUTED: dict[str, Any] = {  # the neighbour is after what a colleague knows
    "neighbour": {"knows": ["sex", "region"]},
    "colleague": {"knows": ["sex", "pay"]},
}
WITH_PAY: dict[str, Any] = {**ROLES, "pay": {"role": "sensitive", "scale": "numeric"}}


def with_pay(people: pd.DataFrame) -> pd.DataFrame:
    return people.assign(pay=np.random.default_rng(5).integers(1, 30, len(people)))


def disputed(*expect: dict[str, Any], **further: Any) -> dict[str, Any]:
    return {"version": 1, "attributes": WITH_PAY, "scenarios": DISPUTED, "expect": [*expect], **further}


@pytest.mark.parametrize("remedy", [None, [{"mondrian": {}}]])
def test_a_column_that_one_knows_and_another_is_after_is_repaired(
    people: pd.DataFrame, remedy: list[dict[str, Any]] | None
) -> None:
    expect = [{"k_anonymity": {"k": 5}}, {"distinct_l_diversity": {"l": 3, "attribute": "pay"}}]
    result = fix(with_pay(people), disputed(*expect, **({} if remedy is None else {"remedy": remedy})))

    assert result.passed
    assert smallest(result.released, DISPUTED["colleague"]["knows"]) >= 5
    assert smallest(result.released, DISPUTED["neighbour"]["knows"]) >= 5
    released = result.released.to_pandas()
    assert released.groupby(DISPUTED["neighbour"]["knows"])["pay"].nunique().min() >= 3
    assert "pay" in result.log.loss["attributes"]


def test_a_repair_that_takes_the_secret_its_order_is_refused(people: pd.DataFrame) -> None:
    """The classes of a colleague need ranges of pay, and overlapping ranges have no order to measure closeness by."""
    closeness = {"t_closeness": {"t": 0.2, "attribute": "pay", "distance": "ordered"}}
    result = fix(with_pay(people), disputed({"k_anonymity": {"k": 5}}, closeness))

    assert not result.passed
    assert "still fail" in result.log.reason


def test_columns_of_an_intruder_whom_the_release_withstands_stay_as_they_are(
    people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    expect = policy({"k_anonymity": {"k": 5}})
    expect["scenarios"] = {"neighbour": {"knows": ["sex", "region"]}, "employer": {"knows": ["job", "age"]}}
    result = fix(people, expect)

    assert result.passed
    assert {name for name, cells in result.log.cells.items() if cells} <= {"job", "age"}
    assert smallest(result.released, ["job", "age"]) >= 5
    monkeypatch.setattr(RepairLoop, "_routes", lambda *_: [ALL])
    whole = fix(people, expect)
    assert whole.passed
    assert result.log.loss["total"] < whole.log.loss["total"] / 2


def compare_with_one_route(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(seed)
    records = int(draw.integers(30, 90))
    columns = {"age": [20, 30, 40, 50], "sex": ["f", "m"], "job": list("abc"), "region": list("ns"), "pay": range(1, 9)}
    frame = pd.DataFrame({name: draw.choice([*values], records) for name, values in columns.items()})
    frame["disease"] = draw.choice(list("xyz"), records)
    names = [*columns]
    known = {f"s{n}": {"knows": [*map(str, draw.choice(names, 2, replace=False))]} for n in range(2)}
    demands = [{"k_anonymity": {"k": 3}}, {"distinct_l_diversity": {"l": 2, "attribute": "disease"}}]
    asked = {"version": 1, "attributes": WITH_PAY, "scenarios": known, "expect": demands[: 1 + seed % 2]}
    result = fix(frame, asked)
    if result.passed and result.log.steps:
        assert all(smallest(result.released, one["knows"]) >= 3 for one in known.values())
    with monkeypatch.context() as patched:
        patched.setattr(RepairLoop, "_routes", lambda *_: [ALL])
        whole = fix(frame, asked)
    assert result.passed or not whole.passed
    if whole.passed:
        assert result.log.loss["total"] <= whole.log.loss["total"] + 1e-9


def test_more_routes_lose_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    compare_with_one_route(0, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_more_routes_lose_no_more_on_many_tables(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(6):
        compare_with_one_route(100 + 10 * part + seed, monkeypatch)


def test_a_step_says_against_whom_it_acted(people: pd.DataFrame) -> None:
    expect = policy({"k_anonymity": {"k": 5}})
    expect["scenarios"] = {"neighbour": {"knows": ["sex", "region"]}, "employer": {"knows": ["job", "age"]}}
    result = fix(people, expect)

    (step,) = result.log.steps
    assert step.against == ("employer",)
    assert step.name == f"{step.title} against employer"
    written = json.loads(result.after.render(".json"))["change_log"]
    assert written["steps"][0]["against"] == ["employer"]
    assert "against employer" in result.after.render(".html")


def test_what_is_tried_in_scenarios_has_the_form_of_results(people: pd.DataFrame) -> None:
    """What still fails after a step has a scenario, which the form of results did not know."""
    closeness = {"t_closeness": {"t": 0.2, "attribute": "pay", "distance": "ordered"}}
    result = fix(with_pay(people), disputed({"k_anonymity": {"k": 5}}, closeness))
    written = json.loads(result.after.render(".json"))
    Draft202012Validator(json.loads(result_schema())).validate(written)
    tried = written["change_log"]["tried"]
    assert any("scenario" in one for step in tried for one in step["failing"])


def test_the_remedies_of_a_plan_do_the_same_when_a_policy_names_them(people: pd.DataFrame) -> None:
    expect = [{"k_anonymity": {"k": 5}}, {"distinct_l_diversity": {"l": 3, "attribute": "pay"}}]
    planned = fix(with_pay(people), disputed(*expect))
    remedy = [{one.remedy: dict(one.parameters)} for one in planned.log.steps]
    named = fix(with_pay(people), disputed(*expect, remedy=remedy))

    assert named.released.equals(planned.released)


RANGES = {f"[{start}, {start + 5})": [str(pay) for pay in range(start, start + 5)] for start in range(0, 30, 5)}


@pytest.mark.parametrize("remedy", [None, [{"global_recoding": {"breaks": {"pay": [5, 10, 15, 20, 25]}}}]])
def test_ranges_apart_leave_a_secret_its_order(people: pd.DataFrame, remedy: list[dict[str, Any]] | None) -> None:
    asked = disputed({"k_anonymity": {"k": 5}}, {"t_closeness": {"t": 0.4, "attribute": "pay", "distance": "ordered"}})
    asked["attributes"] = {**WITH_PAY, "pay": {**WITH_PAY["pay"], "hierarchy": {"[0, 30)": RANGES}}}
    result = fix(with_pay(people), asked if remedy is None else {**asked, "remedy": remedy})

    assert result.passed
    assert smallest(result.released, DISPUTED["colleague"]["knows"]) >= 5
    (step,) = result.log.steps
    assert step.against == ("colleague",)
