"""A release on a cluster has the outcomes of the same release in a file, under every convention."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import adult_release
import pyarrow as pa
import pytest
import sources
from answers import PLUGINS, answer
from test_same_answer import CONVENTIONS, NAMES, policy

from tcdp_audit import audit


def test_adult_has_the_same_outcomes(spark: Any, data: Path) -> None:
    asked = adult_release.policy(data)
    assert answer(spark.createDataFrame(adult_release.table(data)), asked) == answer(adult_release.file(data), asked)


@pytest.fixture(scope="session")
def frame(spark: Any) -> Any:
    return spark.createDataFrame(sources.ARROW)


@pytest.mark.parametrize("convention", CONVENTIONS[::5], ids=NAMES[::5])
def test_conventions_mean_the_same(convention: dict[str, Any], frame: Any) -> None:
    asked = policy(convention)
    assert answer(frame, asked) == answer(sources.ARROW, asked)


@pytest.mark.parametrize("several", ["joint", "others_as_quasi_identifiers"])
def test_several_sensitive_attributes_mean_the_same(several: str, frame: Any) -> None:
    asked = {
        "version": 1,
        "attributes": {
            "zip": {"role": "quasi_identifier"},
            "sex": {"role": "quasi_identifier"},
            "disease": {"role": "sensitive"},
            "severity": {"role": "sensitive"},
            **{name: {"role": "insensitive"} for name in ("age", "cost", "person", "note")},
        },
        "conventions": {"missing_sensitive": "own_category", "multiple_sensitive": several},
        "expect": [{"distinct_l_diversity": {"l": 2}}, {"t_closeness": {"t": 0.3}}],
    }
    assert answer(frame, asked) == answer(sources.ARROW, asked)


def test_scenarios_mean_the_same(frame: Any) -> None:
    known = {"neighbour": {"knows": ["age", "sex"]}, "insurer": {"knows": ["zip", "severity"], "attempt": 0.5}}
    asked = policy(CONVENTIONS[0], scenarios=known)
    assert answer(frame, asked) == answer(sources.ARROW, asked)


def test_units_of_demands_mean_the_same(frame: Any) -> None:
    expect = [{"k_anonymity": {"k": 5}}, {"k_anonymity": {"k": 2, "unit": "person"}}]
    expect += [{"distinct_l_diversity": {"l": 2, "attribute": "disease", "unit": "person"}}]
    asked = policy({**CONVENTIONS[0], "unit": None}, expect=expect)
    assert answer(frame, asked) == answer(sources.ARROW, asked)


def test_checks_on_tables_have_the_same_outcomes(frame: Any) -> None:
    known = {name: {"role": "quasi_identifier"} for name in ("zip", "sex")}
    asked = {
        "version": 1,
        "attributes": {**known, "disease": {"role": "sensitive"}, "person": {"role": "insensitive"}},
        "conventions": {"reference": "original"},
        "expect": [
            {"sample_uniqueness": {"at_most": 0.5}},
            {"reidentification_risk": {}},
            {"k_map": {"k": 2}},
            {"t_closeness": {"t": 0.3}},
        ],
    }
    names = [*known, "disease", "person"]
    arrow, whole = sources.ARROW.select(names).slice(0, 900), sources.ARROW.select(names)
    few = frame.sparkSession.createDataFrame(arrow)
    local = audit(arrow, asked, whole, whole, plugins=PLUGINS).as_json()["outcomes"]
    remote = audit(few, asked, frame.select(*names), frame.select(*names), plugins=PLUGINS).as_json()["outcomes"]
    assert local == remote
    assert "error" not in {one["status"] for one in local}


def test_a_key_pairs_records_wherever_they_are(spark: Any) -> None:
    numbers = list(range(200))
    original = pa.table({"key": numbers, "age": [n % 40 + 20 for n in numbers]})
    release = pa.table({"key": numbers[::-1], "age": [n % 40 + 20 + n % 3 for n in numbers][::-1]})
    asked = {
        "version": 1,
        "attributes": {"age": {"role": "quasi_identifier", "scale": "numeric"}},
        "key": "key",
        "expect": [{"distance_record_linkage": {"at_most": 0.5}}, {"exact_match_rate": {}}],
    }
    local = audit(release, asked, original, plugins=PLUGINS).as_json()["outcomes"]
    remote = audit(spark.createDataFrame(release), asked, spark.createDataFrame(original), plugins=PLUGINS).as_json()[
        "outcomes"
    ]
    assert local == remote
    assert "error" not in {one["status"] for one in local}


def test_rows_that_are_aligned_need_an_order(spark: Any) -> None:
    table = pa.table({"age": [20, 30, 40]})
    asked = {
        "version": 1,
        "attributes": {"age": {"role": "quasi_identifier", "scale": "numeric"}},
        "rows_aligned": True,
        "expect": [{"distance_record_linkage": {}}],
    }
    outcome = audit(spark.createDataFrame(table), asked, table, plugins=PLUGINS).expectations[0]
    assert outcome.status.value == "error"
    assert "have no order where they are; declare a `key` instead" in outcome.message
