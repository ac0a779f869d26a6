"""Classes that are alike are measured as one: every check then says what it says of each class by itself."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from every_class_check import every_class_check
from hypothesis import given, settings, strategies as st

from tcdp_audit import audit, failing_records
from tcdp_audit.core.classes import grouping
from tcdp_audit.core.classes.grouping import Grouping
from tcdp_audit.core.classes.histogram import AlikeClasses

TREE = {"*": {"warm": ["a", "b"], "cold": ["c"]}}
record = st.tuples(
    st.integers(0, 5),
    st.sampled_from([1, 2, 9, None]),
    st.sampled_from(["a", "b", "c", None]),
    st.sampled_from("xyz"),
)
CONVENTIONS = {"missing_sensitive": ["excluded", "own_category"], "missing_quasi_identifier": ["own_category"]}
conventions = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in CONVENTIONS.items()})


def policy(*, unit: bool, conventions: dict[str, str]) -> dict[str, Any]:
    attributes = {
        "house": {"role": "quasi_identifier"},
        "wage": {"role": "sensitive", "scale": "numeric"},
        "job": {"role": "sensitive", "hierarchy": TREE},
    }
    named = {"unit": "person"} if unit else {}
    conventions = {**conventions, "known_rows": "one"}  # whole histories are classes of their units, not of records
    attributes |= {} if unit else {"person": {"role": "insensitive"}}
    expect = every_class_check("wage", 1, "job", ["wage"])
    return {"version": 1, **named, "attributes": attributes, "conventions": conventions, "expect": expect}


def answers(release: pa.Table, asked: dict[str, Any]) -> list[Any]:
    failing = failing_records(release, asked)
    return [
        [one.as_json() for one in failing.audit.expectations],
        failing.audit.exposed,
        [str(one) for one in failing.masks],
    ]


@settings(max_examples=8)
@given(st.lists(record, min_size=1, max_size=9), st.booleans(), st.booleans(), conventions)
def test_each_check_says_the_same(rows: list[Any], alone: bool, unit: bool, conventions: dict[str, str]) -> None:
    alike = [(100, 1, "a", "x"), (101, 1, "a", "y")]
    houses, wages, jobs, people = zip(*rows, *alike, strict=True)
    release = pa.table(
        {
            "house": list(range(len(houses))) if alone else houses,
            "wage": pa.array(wages, pa.int64()),
            "job": pa.array(jobs, pa.string()),
            "person": people,
        }
    )
    asked = policy(unit=unit, conventions=conventions)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "ALIKE", len(houses))
        used = watched(patch)
        by_value = answers(release, asked)
        assert {one.times is None for one in used} == {False}
        assert all(one.times.sum() > len(one.times) for one in used if one.times is not None)
        patch.setattr(grouping, "ALIKE", 0)
        used.clear()
        assert by_value == answers(release, asked)
        assert {one.times is None for one in used} == {True}


def watched(patch: pytest.MonkeyPatch) -> list[AlikeClasses]:
    """The classes of an attribute, once they are asked for."""
    used: list[AlikeClasses] = []
    alike = Grouping.alike

    def recorded(*arguments: Any) -> AlikeClasses:
        used.append(alike(*arguments))
        return used[-1]

    patch.setattr(Grouping, "alike", recorded)
    return used


@pytest.mark.parametrize("people", [2, 20])
def test_what_a_whole_history_makes_certain_fails_each_of_its_records(people: int) -> None:
    """Records alone with a harmless value are not alike: the history of each has a value that is not."""
    release = pa.table(
        {
            "person": [str(row // 2) for row in range(2 * people)],
            "day": list(range(2 * people)),
            "illness": ["flu", "hepatitis"] * people,
        }
    )
    roles = {"person": "insensitive", "day": "quasi_identifier", "illness": "sensitive"}
    demand = {"variant": "positive_disclosure", "c": 2, "l": 2, "dont_care": ["flu"]}
    asked = {
        "version": 1,
        "unit": "person",
        "attributes": {name: {"role": role} for name, role in roles.items()},
        "expect": [{"recursive_cl_diversity": demand}],
    }
    (outcome,) = audit(release, asked).expectations
    assert outcome.records.failing == outcome.records.total == 2 * people
