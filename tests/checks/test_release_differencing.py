"""Release differencing: counts that differ by a few, coarser releases, what cannot be compared."""

from __future__ import annotations

from itertools import product
from math import inf
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings, strategies as st
from release_tables import Columns, asked, classes_of, overlap

from tcdp_audit import Status

ZIP = {"key": None, "attributes": {"zip": {"role": "quasi_identifier"}}}
AGE = {"key": None, "attributes": {"zip": {"role": "quasi_identifier", "scale": "numeric"}}}
TREE = {"*": {"north": ["a", "b"], "south": ["c", "d"]}}
TREES = {"key": None, "attributes": {"zip": {"role": "quasi_identifier", "hierarchy": TREE}}}


def counted(**classes: int) -> Columns:
    return {"zip": [name for name, records in classes.items() for _ in range(records)]}


def test_those_who_came_and_those_who_went_are_isolated():
    one = asked("release_differencing", counted(x=5, y=8), counted(x=5, y=7, z=3), policy=ZIP, k=5)
    assert (one.status, one.observed) == (Status.FAILED, 1)
    assert (one.classes.total, one.classes.failing, one.records.failing) == (3, 2, 4)
    assert (one.details["gained"], one.details["lost"], one.details["only_before"]) == (1, 1, 1)
    assert [tuple(row) for row in one.details["distribution"]] == [(1, 1, 1), (3, 1, 3)]


@pytest.mark.parametrize(("now", "passes"), [(12, True), (11, False), (2, True), (3, False)])
def test_a_difference_of_k_is_enough_in_either_direction(now: int, passes: bool):
    one = asked("release_differencing", counted(x=9, y=now), counted(x=9, y=7), policy=ZIP, k=5)
    assert (one.status is Status.PASSED) == passes


def test_equal_counts_isolate_no_one():
    one = asked("release_differencing", counted(x=2, y=3), counted(x=2, y=3), policy=ZIP, k=5)
    assert (one.status, one.observed, one.details["differing"]) == (Status.PASSED, inf, 0)


def test_a_coarser_release_is_compared_with_what_is_below_it():
    fine = counted(a=10, b=9, c=7, d=7)
    assert asked("release_differencing", fine, counted(north=20, south=14), policy=TREES, k=5).observed == 1
    assert asked("release_differencing", counted(north=20, south=14), fine, policy=TREES, k=5).observed == 1
    mixed = counted(a=10, b=9, south=20)
    one = asked("release_differencing", mixed, fine, policy=TREES, k=5)
    assert (one.status, one.observed, one.classes.total) == (Status.PASSED, 6, 3)


def test_numbers_are_compared_with_ranges():
    ages = {"zip": [20] * 6 + [25] * 5 + [31] * 8}
    ranges = {"zip": ["[20, 30)"] * 13 + ["[30, 40)"] * 8}
    one = asked("release_differencing", ages, ranges, policy=AGE, k=2)
    assert (one.status, one.observed, one.classes.total, one.details["differing"]) == (Status.PASSED, 2, 2, 1)


def test_every_earlier_release_is_compared():
    one = asked("release_differencing", counted(x=9), counted(x=19), counted(x=8), policy=ZIP, k=5)
    assert (one.status, one.observed, one.classes.total) == (Status.FAILED, 1, 2)


def test_a_suppressed_cell_is_a_category_of_its_own_unless_the_column_is():
    some = {"zip": ["x"] * 5 + ["y"] * 17 + ["*"] * 3}
    one = asked("release_differencing", some, counted(x=5, y=7, z=13), policy=ZIP, k=3)
    assert (one.observed, one.classes.total, one.classes.failing) == (3, 4, 0)
    roles = {"key": None, "attributes": {name: {"role": "quasi_identifier"} for name in ("age", "zip")}}
    now, earlier = {"age": [1] * 9, "zip": ["*"] * 9}, {"age": [1] * 8, "zip": ["x"] * 5 + ["y"] * 3}
    assert asked("release_differencing", now, earlier, policy=roles).observed == 1


def test_releases_with_nothing_in_common_are_not_passed():
    one = asked("release_differencing", counted(x=9), counted(y=9), policy=ZIP, k=5)
    assert (one.status, "no class of this release overlaps" in one.message) == (Status.ERROR, True)


def test_ranges_that_overlap_in_a_chain_are_not_passed():
    now, earlier = {"zip": ["[0, 10]", "[20, 30]"]}, {"zip": ["[5, 25]", "[30, 40]"]}
    one = asked("release_differencing", now, earlier, policy=AGE, k=5)
    assert (one.status, "from one end to the other" in one.message) == (Status.ERROR, True)


def test_an_earlier_release_without_records_or_columns_is_not_passed():
    one = asked("release_differencing", counted(x=9), {"zip": pa.array([], pa.string())}, policy=ZIP, k=5)
    assert (one.status, "has no records" in one.message) == (Status.ERROR, True)
    one = asked("release_differencing", counted(x=9), {"town": ["x"]}, policy=ZIP, k=5)
    assert (one.status, "column 'zip' is not in" in one.message) == (Status.ERROR, True)


def groups(now: dict[Any, Any], earlier: dict[Any, Any]) -> list[tuple[int, int]]:
    """The records of this release and of the earlier one in groups of boxes that overlap, merged one by one."""
    actual = [({box}, set()) for box in now] + [(set(), {box}) for box in earlier]
    for a, b in product(now, earlier):
        if overlap(a, b):
            one, other = next(g for g in actual if a in g[0]), next(g for g in actual if b in g[1])
            if one is not other:
                actual = [g for g in actual if g is not one and g is not other]
                actual.append((one[0] | other[0], one[1] | other[1]))
    return [(sum(len(now[box]) for box in g[0]), sum(len(earlier[box]) for box in g[1])) for g in actual]


LABELS = st.tuples(st.integers(0, 9), st.integers(0, 2)).map(
    lambda ends: f"[{ends[0]}, {ends[0] + ends[1]}]" if ends[1] else str(ends[0])
)
TABLES = st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=7).map(
    lambda rows: {"age": [one[0] for one in rows], "zip": [one[1] for one in rows]}
)
ROLES = {"key": None, "attributes": {name: {"role": "quasi_identifier", "scale": "numeric"} for name in ("age", "zip")}}


@pytest.mark.long
@given(TABLES, TABLES)
@settings(max_examples=60)
def test_as_by_merging_boxes_one_by_one(now: Columns, earlier: Columns):
    classes = [classes_of(table, ["age", "zip"]) for table in (now, earlier)]
    result = groups(*classes)
    one = asked("release_differencing", now, earlier, policy=ROLES, k=2)
    chained = len(result) == 1 and min(map(len, classes)) > 1
    comparable = not chained and any(min(sides) for sides in result)
    assert (one.status is Status.ERROR) == (not comparable)
    assume(comparable)
    sizes = [abs(a - b) for a, b in result if a != b]
    assert (one.observed, one.classes.total) == (min(sizes, default=inf), len(result))
    assert one.records.failing == sum(size for size in sizes if size < 2)
