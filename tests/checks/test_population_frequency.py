"""Categories and regions by the people of the population that they stand for."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import Outcome, PolicyError, audit

ROLES = {name: {"role": "quasi_identifier"} for name in "abc"}
Row = tuple[str, ...]


def outcome(check: str, release: dict[str, Any], population: dict[str, Any] | None, **parameters: Any) -> Outcome:
    policy = {"version": 1, "attributes": {name: ROLES[name] for name in release}, "expect": [{check: parameters}]}
    people = None if population is None else pa.table(population)
    return audit(pa.table(release), policy, population=people).expectations[0]


def region(people: list[Any], regions: str = "xy", **parameters: Any) -> Outcome:
    register = {"a": list(regions), "people": people}
    return outcome("region_population", {"a": ["x", "y"]}, register, column="a", count="people", **parameters)


@pytest.mark.parametrize(("people", "status"), [(20_000, "failed"), (20_001, "passed"), (20_002, "passed")])
def test_more_than_twenty_thousand_people(people: int, status: str) -> None:
    result = region([30_000, people], at_least=20_001)
    assert (result.status.value, result.observed, result.details["population_records"]) == (
        status,
        people,
        30_000 + people,
    )
    assert result.records is not None
    assert result.records.failing == (status == "failed")


def test_a_region_that_no_one_lives_in_has_none() -> None:
    assert region([9, 5], regions="xz", at_least=1).observed == 0
    assert region([9, 5], regions="xz", at_least=1).status.value == "failed"


@pytest.mark.parametrize("people", [[9.0, 5.5], [9, -1], [9, None], [2**53, 2**53]])
def test_people_are_whole_numbers(people: list[Any]) -> None:
    assert region(people).message == "column 'people' of the population must be a whole number of people in every row"


def test_what_reveals_nothing_is_no_region() -> None:
    release, register = {"a": ["x", "*", ""]}, {"a": ["x", "x"]}
    assert outcome("region_population", release, register, column="a").observed == 2
    blank = outcome("region_population", {"a": ["*", ""]}, register, column="a")
    assert blank.message == "no record of the release has a value of 'a'"


def test_a_population_is_needed() -> None:
    result = outcome("category_frequency", {"a": ["x"]}, None, at_least=1)
    assert (result.status.value, result.message) == (
        "error",
        "no population is given; name it in the policy as `population:`",
    )


@pytest.mark.parametrize(
    ("check", "parameters", "message"),
    [
        ("region_population", {}, "name the column that says where a person lives: `column: region`"),
        ("region_population", {"column": "z"}, "the policy declares no attribute 'z'"),
        ("category_frequency", {"attributes": ["z"]}, "the policy declares no attribute 'z'"),
        ("category_frequency", {"max_size": 4}, "must be at most 3"),
        ("category_frequency", {"at_least": 0}, "must be at least 1"),
    ],
)
def test_faults(check: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        outcome(check, {"a": ["x"]}, {"a": ["x"]}, **parameters)


rows = st.lists(st.tuples(*[st.sampled_from(["x", "y", "", "*"])] * 3), min_size=1, max_size=8)


@pytest.mark.long
@settings(max_examples=25, deadline=None)  # an audit takes a while
@given(rows, rows, st.integers(1, 3), st.integers(1, 4))
def test_by_plain_counting(release: list[Row], population: list[Row], order: int, at_least: int) -> None:
    columns = [dict(zip("abc", map(list, zip(*one, strict=True)), strict=True)) for one in (release, population)]
    result = outcome("category_frequency", *columns, max_size=order, at_least=at_least)
    least, exposed = [], set()
    for size in range(1, order + 1):
        for chosen in combinations(range(3), size):
            people = Counter(tuple(row[i] for i in chosen) for row in population)
            for number, row in enumerate(release):
                values = tuple(row[i] for i in chosen)
                if not {"", "*"} & set(values):
                    least.append(people[values])
                    exposed |= {number} if people[values] < at_least else set()
    if not least:
        assert result.status.value == "error"
    else:
        assert result.records is not None
        assert (result.observed, result.records.failing) == (min(least), len(exposed))
        assert result.status.value == ("passed" if min(least) >= at_least else "failed")
