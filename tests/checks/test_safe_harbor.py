"""Safe Harbor's list: letters, thresholds, what is coarse enough, and what cannot be decided."""

from __future__ import annotations

import json
import sys
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import Outcome, Status, audit

TABLE = {
    "zip": [f"{10000 + 37 * i:05}" for i in range(60)],
    "admitted": [f"2026-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(60)],
    "mail": [f"p{i}@example.org" for i in range(60)],
    "sex": ["f", "m", "m"] * 20,
}


def outcome(parameters: dict[str, Any], table: dict[str, Any] = TABLE, **declared: Any) -> Outcome:
    attributes = {name: {"role": "insensitive"} for name in table} | declared
    document = {"version": 1, "attributes": attributes, "expect": [{"safe_harbor": parameters}]}
    (one,) = audit(pa.table(table), document).expectations
    return one


@pytest.mark.parametrize(
    ("at_most", "status"), [(None, Status.MEASURED), (2, Status.FAILED), (3, Status.PASSED), (4, Status.MEASURED)]
)
def test_columns_are_counted(at_most: int | None, status: Status):
    one = outcome({} if at_most is None else {"at_most": at_most})

    assert (one.status, one.observed) == (status, 3)  # at most 4 of 4 columns is what every release keeps
    assert one.details["letters"] == {"zip": "B", "admitted": "C", "mail": "F"}
    assert one.details["looked_at"] == 4


def test_it_says_what_to_do_and_no_cell():
    one = outcome({"at_most": 0})

    reported = json.dumps(one.as_json())
    assert not any(cell in reported for column in TABLE.values() for cell in column if len(cell) > 1)


def test_what_is_coarse_enough_passes():
    coarse = {"zip": ["100", "101", "102"] * 20, "admitted": [2024, 2025, 2026] * 20, "sex": TABLE["sex"]}
    one = outcome({"at_most": 0}, coarse)

    assert (one.status, one.observed) == (Status.PASSED, 0)
    assert one.message.startswith("No column says who a person is by an identifier")


def test_what_the_policy_knows_or_allows_is_left_out():
    one = outcome({"at_most": 0, "allowed": ["zip", "admitted"]}, mail={"role": "identifier"})
    assert (one.status, one.details["looked_at"]) == (Status.PASSED, 1)


def test_without_its_library_a_demand_is_an_error(monkeypatch: pytest.MonkeyPatch):
    table = {"code": [10**8 + 37 * (i // 2) for i in range(60)]}
    assert outcome({"at_most": 0}, table).status is Status.PASSED
    monkeypatch.setitem(sys.modules, "stdnum", None)

    measured, demanded = outcome({}, table), outcome({"at_most": 0}, table)
    assert (measured.status, measured.details["undecided"]) == (Status.MEASURED, ["code"])
    assert demanded.status is Status.ERROR
    assert "identifiers" in demanded.message


@pytest.mark.parametrize(
    ("column", "cells", "letter"),
    [
        ("city", [f"Town {chr(65 + i % 20)}" for i in range(60)], "B"),
        ("county", [f"{chr(65 + i % 20)}shire" for i in range(60)], "B"),
        ("census_tract", [f"{2500 + i % 40}" for i in range(60)], "B"),
        ("birth", [f"{1 + i % 12}/{1 + i % 28}/{50 + i % 40}" for i in range(60)], "C"),
        ("x", [f"Mar {1 + i % 28}, {1950 + i % 60}" for i in range(60)], "C"),
        ("x", [f"{1 + i % 28} March {1950 + i % 60}" for i in range(60)], "C"),
        ("x", [f"{1 + i % 28}-May-{1950 + i % 28}" for i in range(60)], "C"),
    ],
)
def test_places_and_dates_in_words_fail(column: str, cells: list[str], letter: str):
    """At d867cb5 each of these passed `at_most: 0`."""
    one = outcome({"at_most": 0}, {column: cells})
    assert (one.status, dict(one.details["letters"])) == (Status.FAILED, {column: letter})


@pytest.mark.parametrize("column", ["region", "state", "visit"])
def test_months_years_and_states_pass(column: str):
    cells = ["March 2021", "May 2022", "June 2023"] * 20
    assert outcome({"at_most": 0}, {column: cells}).status is Status.PASSED
