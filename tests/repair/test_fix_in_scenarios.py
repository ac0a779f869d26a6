"""A repair keeps the demands of every scenario, and counts the loss of every column that some intruder knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tcdp_audit import fix

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
