"""`fix` for demands that are not on classes, but kept by larger ones: a k is tried, reported, and written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit import audit, fix

DRAW = np.random.default_rng(5)
TABLE = pa.table(
    {
        "age": DRAW.integers(20, 80, 300),
        "zip": [f"{zip_}" for zip_ in DRAW.integers(10, 22, 300)],
        "sex": DRAW.choice(["f", "m"], 300).tolist(),
    }
)
ATTRIBUTES = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "zip": {"role": "quasi_identifier"},
    "sex": {"role": "quasi_identifier"},
}


def policy(*expect: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": 1, "attributes": ATTRIBUTES, "expect": list(expect), **more}


RISK = {"reidentification_risk": {"at_most": 0.2}}


@pytest.mark.parametrize(
    ("expect", "k"),
    [
        ([RISK], 5),
        ([{"k_anonymity": {"k": 3}}, RISK], 5),
        ([{"reidentification_risk": {"at_most": 0.1, "measure": "average"}}], 10),
        ([{"reidentification_risk": {"measure": "share_above", "threshold_risk": 0.34, "at_most": 0}}], 3),
        ([{"individual_risk": {"at_most": 0.2}}], 2),
        ([{"suda": {"at_most": 0}}], 2),
        ([{"population_uniqueness": {"at_most": 0, "estimator": "zayatz"}}], 2),
        ([{"uniqueness_profile": {"at_most": 0}}], 2),
        ([{"quasi_identifier_strength": {"at_most": 0}}], 2),
    ],
)
def test_classes_of_some_k_keep_a_demand_on_risk(expect: list[dict[str, Any]], k: int) -> None:
    more = {"sampling_fraction": 0.1} if "uniqueness" in str(expect) or "individual" in str(expect) else {}
    asked = policy(*expect, **more)
    result = fix(TABLE, asked)
    assert result.passed, result.log.reason
    assert [(one.remedy, dict(one.parameters)) for one in result.log.steps] == [("mondrian", {"k": k})]
    again = fix(TABLE, {**asked, "remedy": [{"mondrian": {"k": k}}]})
    assert again.passed
    assert again.released.equals(result.released)


@pytest.mark.parametrize(
    "remedy",
    [
        {"suppression": {"of": "cells", "k": 5}},
        {"suppression": {"of": "records", "k": 5}},
        {"generalization": {"k": 5, "suppression": 0.5}},
        {"mondrian": {"k": 5}},
    ],
)
def test_a_remedy_takes_a_k_of_its_own(remedy: dict[str, Any]) -> None:
    table = pa.table({"age": DRAW.integers(20, 26, 90), "zip": DRAW.choice(["1", "2"], 90), "sex": ["f"] * 90})
    trees = {
        "age": {"*": {"20-22": dict.fromkeys(["20", "21", "22"]), "23-25": dict.fromkeys(["23", "24", "25"])}},
        "zip": {"*": {"1": None, "2": None}},
    }
    asked = policy(RISK, remedy=[remedy])
    asked["attributes"] = {
        name: {**one, **({"hierarchy": trees[name]} if name in trees else {})} for name, one in ATTRIBUTES.items()
    }
    result = fix(table, asked)
    assert result.passed, result.log.reason
    sizes = result.released.group_by(["age", "zip", "sex"]).aggregate([([], "count_all")])["count_all"].to_pylist()
    assert min(sizes) >= 5
    assert audit(result.released, asked).passed


def test_without_a_k_a_named_remedy_says_what_it_needs() -> None:
    result = fix(TABLE, policy(RISK, remedy=[{"mondrian": {}}]))
    assert not result.passed
    assert "unless `k` is given" in result.log.tried[-1].unhelped


def test_a_demand_that_no_size_keeps_is_left_with_what_was_tried() -> None:
    result = fix(TABLE, policy({"reidentification_risk": {"at_most": 0.001}}))
    assert not result.passed
