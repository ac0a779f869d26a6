"""Ages above a cap."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import Outcome, PolicyError, audit
from tcdp_audit.core.encoding.generalised import number_or_interval
from tcdp_audit_plugins.checks.guidance_limits import least_age


def outcome(ages: list[Any], role: str = "quasi_identifier", **parameters: Any) -> Outcome:
    attributes = {"zip": {"role": "quasi_identifier"}, "age": {"role": role, "scale": "numeric"}}
    policy = {"version": 1, "attributes": attributes, "expect": [{"age_cap": {"column": "age", **parameters}}]}
    return audit(pa.table({"zip": ["a"] * len(ages), "age": ages}), policy).expectations[0]


CELLS = pytest.mark.parametrize(
    ("cell", "reported"),
    [
        ("89", 89),
        ("90", 90),
        ("89.5", 89),
        ("90+", 89),
        ("≥ 90", 89),
        (">89", 89),
        (">90", 90),
        ("95+", 94),
        ("80+", 79),
        ("85-89", 89),
        ("85-90", 90),
        ("[85, 90[", 89),
        ("[85, 90)", 89),
        ("[85, 90]", 90),
        ("[90, 100)", 99),
        ("<20", 19),
    ],
)


@CELLS
def test_the_largest_age_that_a_cell_reveals(cell: str, reported: int) -> None:
    cover = number_or_interval(cell)
    assert cover is not None
    assert least_age(cover.low, cover.high, low_open=cover.low_open, high_open=cover.high_open) == reported


def test_what_is_suppressed_reveals_no_age() -> None:
    assert outcome(["*"], at_most=0).observed == 0


@pytest.mark.long
@CELLS
def test_the_largest_age_decides(cell: str, reported: int) -> None:
    for at in (reported - 1, reported):
        result = outcome(["0", cell], at=at, at_most=0)
        assert (result.observed, result.status.value) == ((0, "passed") if reported <= at else (1, "failed"))


def test_numbers_as_stored() -> None:
    assert [outcome([30, age], at_most=0).status.value for age in (88, 89, 90)] == ["passed", "passed", "failed"]
    assert outcome([30.0, 89.9, None], at_most=0, role="insensitive").status.value == "passed"


def test_it_says_who_reveals_too_much() -> None:
    result = outcome(["30", "90", "95+"], at_most=0)
    assert result.records is not None
    assert (result.records.failing, result.observed) == (2, 2)
    statuses = [outcome(["30", "90", "95+"], at_most=one).status.value for one in (1, 2, 3)]
    assert statuses == ["failed", "passed", "measured"]  # every release of three records keeps the last
    assert outcome(["30"]).status.value == "measured"


def test_a_column_without_an_age_is_no_pass() -> None:
    result = outcome(["", ""], at_most=0)
    assert (result.status.value, result.message) == ("error", "column 'age' has no value in any record")


@pytest.mark.parametrize(
    ("parameters", "reported"),
    [
        ({"column": "years"}, "the policy declares no attribute 'years'"),
        ({"column": None}, "name the column with the ages: `column: age`"),
        (
            {"column": "zip"},
            "'zip' is not declared as numeric; ages are: `zip: {role: quasi_identifier, scale: numeric}`",
        ),
        ({"at": -1}, "must be at least 0"),
    ],
)
def test_faults(parameters: dict[str, Any], reported: str) -> None:
    with pytest.raises(PolicyError) as caught:
        outcome(["30"], **parameters)
    assert reported in str(caught.value)
