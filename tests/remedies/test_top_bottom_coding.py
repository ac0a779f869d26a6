"""Top and bottom coding: what extremes become, and what cannot be coded."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from masked import PLUGINS, masked

from tcdp_audit import fix
from tcdp_audit.core.remedy.remedy import RemedyError

AGES = [3, 17, 18, 29, 30, 64, 65, 99, None]


@pytest.mark.parametrize(
    ("parameters", "cells"),
    [
        ({"top": 65}, [3, 17, 18, 29, 30, 64, ">=65", ">=65", None]),
        ({"bottom": 17}, ["<=17", "<=17", 18, 29, 30, 64, 65, 99, None]),
        ({"bottom": 17, "top": 65}, ["<=17", "<=17", 18, 29, 30, 64, ">=65", ">=65", None]),
        ({"bottom": 17, "top": 65, "released_as": "bound"}, [17, 17, 18, 29, 30, 64, 65, 65, None]),
        ({"share": "1/4"}, ["<=17", "<=17", 18, 29, 30, 64, ">=65", ">=65", None]),
        ({"share": "1/2"}, ["<=29"] * 4 + [">=30"] * 4 + [None]),
    ],
)
def test_extremes_become_so_much_or_more(parameters: dict[str, Any], cells: list[Any]) -> None:
    declared = {"age": "numeric"}
    exact: dict[str, Any] = {name: Fraction(value) if name == "share" else value for name, value in parameters.items()}
    done = masked(pa.table({"age": AGES}), declared, "top_bottom_coding", attribute="age", **exact)
    assert [None if one is None else str(one) for one in done.column("age")] == [
        None if one is None else str(one) for one in cells
    ]
    again = masked(done.table, declared, "top_bottom_coding", attribute="age", **exact)
    assert again.table.equals(done.table)


def test_a_coded_column_of_numbers_keeps_its_type_and_counts_what_it_codes() -> None:
    table = pa.table({"age": pa.array([1, 5, 9, 9, None], pa.int16())})
    done = masked(table, {"age": "numeric"}, "top_bottom_coding", attribute="age", top=8, released_as="bound")
    assert done.table.schema == table.schema
    assert done.column("age") == [1, 5, 8, 8, None]
    assert done.notes == {"top": 2, "bottom": 0, "records": 2}


@pytest.mark.parametrize(
    ("ages", "parameters", "sentence"),
    [
        ([1, 1, 2, 2], {"share": Fraction(1, 10)}, "each have more records than the share"),
        (["[0, 10]", "[20, 30]"], {"top": 25}, "reaches over a threshold"),
        (["[0, 10]", "[20, 30]"], {"bottom": 5}, "reaches over a threshold"),
        ([1, 2], {}, "compare the release with its original"),
    ],
)
def test_extremes_that_cannot_be_coded(ages: list[Any], parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RemedyError, match=sentence):
        masked(pa.table({"age": ages}), {"age": "numeric"}, "top_bottom_coding", attribute="age", **parameters)


def test_a_plan_proposes_the_threshold_of_a_cap() -> None:
    ages = pa.table({"age": [30, 40, 50, 90, 95, 101] * 2, "sex": [*"mf"] * 6})
    attributes = {
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "sex": {"role": "quasi_identifier", "scale": "nominal"},
    }
    cap = {"age_cap": {"column": "age", "at": 89, "at_most": 0}}
    done = fix(ages, {"version": 1, "attributes": attributes, "expect": [cap]}, plugins=PLUGINS)
    assert done.passed
    assert [(one.remedy, one.parameters) for one in done.log.steps] == [
        ("top_bottom_coding", {"attribute": "age", "top": 90})
    ]
    assert sorted(done.released["age"].to_pylist()) == sorted(["30", "40", "50", ">=90", ">=90", ">=90"] * 2)
    given = {**attributes, "age": {"role": "insensitive", "scale": "numeric"}}
    other = fix(ages, {"version": 1, "attributes": given, "expect": [cap]}, plugins=PLUGINS)
    assert other.log.left_out["Top and bottom coding"] == "only for quasi-identifiers and sensitive attributes"


def test_a_plan_proposes_the_least_share_after_which_classes_pass() -> None:
    rare = pa.table({"age": [*[30] * 20, *[40] * 20, 81, 83, 99], "sex": [*"mf"] * 20 + [*"mmm"]})
    attributes = {
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "sex": {"role": "quasi_identifier", "scale": "nominal"},
    }
    document = {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": 3}}]}
    done = fix(rare, document, plugins=PLUGINS)
    proposed = [one for one in (*done.log.tried, *done.log.steps) if one.remedy == "top_bottom_coding"]
    assert [one.parameters["share"] for one in proposed[:1]] == [Fraction(75, 1000)]
    assert not proposed[0].failing
    every = fix(rare, {**document, "expect": [{"k_anonymity": {"k": 21}}]}, plugins=PLUGINS)
    assert every.log.left_out["Top and bottom coding"] == "proposes nothing for a release like this"
