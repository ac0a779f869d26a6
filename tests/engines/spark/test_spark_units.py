"""Rows of a unit are read together on a cluster as in memory, and columns that no demand needs are looked at there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from answers import PLUGINS, answer

from tcdp_audit import audit

QUASI = {"role": "quasi_identifier"}
HOUSES = 60
ROOFS, AGES = ["straw", "tin", "tile"], ["[20, 40)", "[30, 50)", "*"]


def survey() -> pa.Table:
    """Three rows of each house: half of the roofs suppressed or missing, ages in ranges that overlap, missing debts."""
    draw = np.random.default_rng(3)
    houses = np.repeat(np.arange(HOUSES), 3)
    roofs = np.repeat(draw.choice(ROOFS, HOUSES), 3).astype(object)
    roofs[draw.random(3 * HOUSES) < 1 / 3] = "*"
    roofs[draw.random(3 * HOUSES) < 1 / 6] = None
    debts = draw.choice(["high", "low", "*", ""], 3 * HOUSES)
    columns = {"house": houses, "roof": roofs, "age": draw.choice(AGES, 3 * HOUSES), "debt": debts}
    order = draw.permutation(3 * HOUSES)
    return pa.table({name: column[order] for name, column in columns.items()})


def policy(unit_role: str = "insensitive", **conventions: str) -> dict[str, Any]:
    return {
        "version": 1,
        "unit": "house",
        "conventions": {"known_rows": "one", **conventions},
        "attributes": {
            "house": {"role": unit_role},
            "roof": QUASI,
            "age": {**QUASI, "scale": "numeric"},
            "debt": {"role": "sensitive", "scale": "nominal"},
        },
        "expect": [{"k_anonymity": {"k": 3}}, {"distinct_l_diversity": {"l": 2}}, {"t_closeness": {"t": 0.4}}],
    }


def smallest(outcomes: list[dict[str, Any]]) -> Any:
    return next(one["observed"] for one in outcomes if one["check"] == "k_anonymity")


@pytest.mark.parametrize("missing", ["own_category", "wildcard"])
def test_the_rows_of_a_unit_are_read_together(spark: Any, missing: str) -> None:
    asked, table = policy(missing_quasi_identifier=missing), survey()
    remote = answer(spark.createDataFrame(table), asked)
    assert remote == answer(table, asked)
    written = audit(table, policy("identifier", missing_quasi_identifier=missing), plugins=PLUGINS).as_json()
    assert smallest(remote["outcomes"]) < smallest(written["outcomes"])  # which joins no rows


def test_columns_that_no_demand_needs_are_looked_at(spark: Any) -> None:
    table = pa.table({"zip": ["a"] * 40, "contact": [f"p{number}@example.org" for number in range(40)]})
    asked = {
        "version": 1,
        "attributes": {"zip": QUASI, "contact": {"role": "insensitive"}, "tags": {"role": "insensitive"}},
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    frame = spark.createDataFrame(table).selectExpr("*", "array(contact) AS tags")
    result = audit(frame, asked, plugins=PLUGINS)
    (outcome,) = [one for one in result.structure if one.check == "undeclared_identifiers"]
    assert (outcome.status.value, dict(outcome.details["kinds"])) == ("failed", {"contact": "e-mail addresses"})


def test_nested_columns_that_no_demand_needs_are_left_alone(spark: Any) -> None:
    asked = {
        "version": 1,
        "attributes": {"zip": QUASI, "tags": {"role": "insensitive"}},
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    frame = spark.createDataFrame(pa.table({"zip": ["a"] * 4, "tags": [["x"]] * 4}))
    assert answer(frame, asked) == answer(pa.table({"zip": ["a"] * 4, "tags": [["x"]] * 4}), asked)


def test_some_records_are_brought_without_a_count(spark: Any) -> None:
    from tcdp_audit_plugins.engines.spark.engine import SparkEngine

    engine = SparkEngine(spark.range(100).selectExpr("id", "array(id) AS list"), "release", "memory:release")
    with engine.glimpse(["id", "list"], 7) as some:
        assert (some.records, [one.name for one in some.columns]) == (7, ["id"])
    assert engine._count is None
    assert engine.with_codes(["id"]) is engine
