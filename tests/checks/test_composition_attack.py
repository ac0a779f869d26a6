"""Composition attacks: the hospitals of Ganta et al., several releases, other categories, what cannot be compared."""

from __future__ import annotations

from itertools import product
from math import log2
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st
from release_tables import ROLES, Columns, asked, audited, classes_of, overlap, release

from tcdp_audit import PolicyError, Status

A = release("pab", "xxx", ["cancer", "flu", "hiv"])
B = release("pcd", "yyy", ["cancer", "ulcer", "asthma"])
NO_KEY = {"key": None}
RANGES = {"zip": {"role": "quasi_identifier", "scale": "numeric"}, "disease": {"role": "sensitive"}}


def test_two_hospitals_leave_one_disease():
    one = asked("composition_attack", B, A, at_least=2)
    assert (one.status, one.observed, one.records.total, one.records.failing) == (Status.FAILED, 1, 1, 1)
    assert one.details["with_one"] == 1
    assert one.details["least_entropy"] == 0


def test_each_hospital_by_itself_is_diverse():
    assert asked("distinct_l_diversity", A, policy=NO_KEY, l=3).status is Status.PASSED


def test_without_a_key_the_classes_that_overlap_are_intersected():
    alike = {**B, "zip": ["x"] * 3}
    one = asked("composition_attack", alike, A, policy=NO_KEY, at_least=2)
    assert (one.status, one.observed, one.records.total, one.records.failing) == (Status.FAILED, 1, 3, 3)
    assert one.details["by_key"] is False


def test_a_person_in_two_releases_is_said_and_not_passed():
    one = asked("composition_attack", release("z", "x", ["flu"]), A, at_least=2)
    assert (one.status, "no one who is in this release" in one.message) == (Status.ERROR, True)
    one = asked("composition_attack", B, A, policy=NO_KEY, at_least=2)
    assert (one.status, "no class of this release overlaps" in one.message) == (Status.ERROR, True)


def test_a_value_that_changed_leaves_none():
    now, earlier = (release("pa", "xx", [one, "hiv"]) for one in ("flu", "gout"))
    one = asked("composition_attack", now, earlier, at_least=1)
    assert (one.status, one.observed) == (Status.PASSED, 1)
    one = asked("composition_attack", release("p", "x", ["flu"]), release("p", "x", ["gout"]), at_least=1)
    assert (one.status, one.observed, one.details["with_none"]) == (Status.FAILED, 0, 1)
    assert one.details["least_entropy"] is None


def test_three_releases_leave_less_than_two():
    first = release("pabc", "xxxx", ["flu", "hiv", "gout", "acne"])
    second = release("pabc", "xxxx", ["flu", "hiv", "gout", "cold"])
    third = release("pd", "xx", ["flu", "acne"])
    assert asked("composition_attack", second, first).observed == 3
    assert asked("composition_attack", third, second, first).observed == 1
    away = {**second, "id": list("qrst")}
    assert asked("composition_attack", third, away, first).observed == 2


def test_the_least_entropy_weighs_candidates_by_their_shares():
    first = release("pabc", "xxxx", ["flu", "flu", "flu", "hiv"])
    second = release("pd", "xx", ["flu", "hiv"])
    one = asked("composition_attack", second, first, at_least=2)
    assert (one.status, one.observed) == (Status.PASSED, 2)
    assert one.details["least_entropy"] == pytest.approx(-0.75 * log2(0.75) - 0.25 * log2(0.25))


def test_anyone_who_has_no_value_is_not_in_a_release():
    first = {**A, "disease": [None, "flu", "hiv"]}
    assert asked("composition_attack", B, first).status is Status.ERROR
    own_category = {"conventions": {"missing_sensitive": "own_category"}}
    assert asked("composition_attack", B, first, policy=own_category).observed == 0
    fail = {"conventions": {"missing_sensitive": "fail"}}
    assert "'disease' has no value in some records" in asked("composition_attack", B, first, policy=fail).message


def test_of_several_sensitive_attributes_the_worst_counts():
    roles = {**ROLES, "pay": {"role": "sensitive"}}
    first, second = {**A, "pay": list("112")}, {**B, "pay": list("123")}
    policy = {"attributes": roles}
    assert asked("composition_attack", second, first, policy=policy, sensitive="pay").observed == 2
    both = asked("composition_attack", second, first, policy=policy)
    assert (both.observed, both.details["sensitive"]) == (1, ["disease", "pay"])


HIERARCHY = {"*": {"north": ["1", "2"], "south": ["3"]}}


@pytest.mark.parametrize(("zips", "left"), [("1", 2), ("south", 1), ("*", 1), ("{1, 2}", 2), ("{2, 3}", 1)])
def test_categories_of_a_hierarchy_and_sets_overlap(zips: str, left: int):
    attributes = {**ROLES, "zip": {"role": "quasi_identifier", "hierarchy": HIERARCHY}}
    now = {"id": list("abcd"), "zip": list("1133"), "disease": ["flu", "hiv", "flu", "gout"]}
    earlier = {"id": list("ab"), "zip": [zips] * 2, "disease": ["flu", "hiv"]}
    one = asked("composition_attack", now, earlier, policy={"key": None, "attributes": attributes})
    assert one.observed == left


@pytest.mark.long
@pytest.mark.parametrize(
    ("earlier", "overlaps"),
    [("[30, 40)", False), ("[29, 40)", True), ("20-25", False), ("20-26", True), ("(29, 31]", False), ("<26", False),
     ("<=26", True), ("*", True)],
)  # fmt: skip
def test_ranges_overlap_where_they_have_a_number_in_common(earlier: str, overlaps: bool):
    now = {"zip": ["[26, 29]"] * 2, "disease": ["flu", "hiv"]}
    before = {"zip": [earlier] * 2, "disease": ["flu", "hiv"]}
    one = asked("composition_attack", now, before, policy={"key": None, "attributes": RANGES})
    assert (one.status is not Status.ERROR) == overlaps


def test_numbers_meet_ranges_of_the_other_release():
    numbers = {"zip": [26, 26, 40, 40], "disease": ["flu", "hiv", "acne", "cold"]}
    ranges = {"zip": ["[20, 30)"] * 2, "disease": ["flu", "acne"]}
    policy = {"key": None, "attributes": RANGES}
    for now, earlier in ((numbers, ranges), (ranges, numbers)):
        assert asked("composition_attack", now, earlier, policy=policy).observed == 1


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (release("ppa", "xxx", ["flu"] * 3), "1 value of the key 'id' in more than one record"),
        ({**B, "id": ["p", None, "d"]}, "the key 'id' is missing in 1 record"),
        ({"zip": ["x"], "disease": ["flu"]}, "column 'id' is not in"),
    ],
)
def test_people_who_cannot_be_followed(now: Columns, said: str):
    one = asked("composition_attack", now, A, at_least=2)
    assert (one.status, said in one.message) == (Status.ERROR, True)


@pytest.mark.parametrize(("convention", "left"), [("own_category", 3), ("wildcard", None), ("fail", None)])
def test_a_missing_quasi_identifier_is_a_category_or_cannot_be_compared(convention: str, left: int | None):
    gap = {**A, "zip": [None] * 3}
    one = asked("composition_attack", A, gap, policy={"conventions": {"missing_quasi_identifier": convention}})
    assert (one.observed, "a quasi-identifier is missing in one of" in one.message) == (left, left is None)


@pytest.mark.parametrize(
    ("policy", "parameters", "said"),
    [
        ({}, {}, "no earlier release is named; add `previous:`"),
        ({"previous": "b.csv", "attributes": {"zip": {"role": "quasi_identifier"}}}, {}, "has the role sensitive"),
        ({"previous": "b.csv"}, {"sensitive": "zip"}, "declares no sensitive attribute 'zip'"),
        ({"previous": []}, {}, "previous"),
    ],
)
def test_a_policy_without_what_it_needs_is_refused(policy: dict[str, Any], parameters: dict[str, Any], said: str):
    with pytest.raises(PolicyError, match=said):
        audited("composition_attack", A, policy=policy, **parameters)


def test_no_cell_is_in_what_is_said():
    reported = str(audited("composition_attack", B, A, at_least=2).as_json()["outcomes"])
    assert not any(cell in reported for cell in ("cancer", "ulcer", "asthma"))


PEOPLE = st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("xy"), st.sampled_from("123")), max_size=7,
                  min_size=1, unique_by=lambda one: one[0])  # fmt: skip


def columns(rows: list[tuple[str, str, str]]) -> Columns:
    return release("".join(one[0] for one in rows), "".join(one[1] for one in rows), [one[2] for one in rows])


def candidates(tables: list[Columns], person: str) -> set[str] | None:
    """What is left of somebody's disease; None for whoever is not in the first release and another."""
    classes = [(table, rows) for table in tables for rows in classes_of(table, ["zip"]).values()]
    own = [(table, rows) for table, rows in classes if person in [table["id"][row] for row in rows]]
    actual = [{table["disease"][row] for row in rows} for table, rows in own]
    return set.intersection(*actual) if person in tables[0]["id"] and len(actual) > 1 else None


@pytest.mark.long
@given(st.lists(PEOPLE.map(columns), min_size=2, max_size=3))
@settings(max_examples=60)
def test_with_a_key_as_by_sets(tables: list[Columns]):
    left = [match for one in "abcdefg" if (match := candidates(tables, one)) is not None]
    one = asked("composition_attack", *tables, at_least=2)
    assert (one.status is Status.ERROR) == (not left)
    assume(left)
    sizes = [len(match) for match in left]
    assert (one.observed, one.records.total) == (min(sizes), len(left))
    assert one.records.failing == sum(size < 2 for size in sizes)
    assert (one.details["with_one"], one.details["with_none"]) == (sizes.count(1), sizes.count(0))


LABELS = st.tuples(st.integers(0, 6), st.integers(0, 3)).map(
    lambda ends: f"[{ends[0]}, {ends[0] + ends[1]}]" if ends[1] else str(ends[0])
)
BOXES = st.lists(st.tuples(LABELS, LABELS, st.sampled_from("123")), min_size=1, max_size=7)


@pytest.mark.long
@given(BOXES, BOXES)
@settings(max_examples=60)
def test_without_a_key_as_by_all_pairs_of_boxes(now: list[Any], earlier: list[Any]):
    tables = [{name: [one[place] for one in rows] for place, name in enumerate(("age", "zip", "disease"))}
              for rows in (now, earlier)]  # fmt: skip
    roles = {**{name: {"role": "quasi_identifier", "scale": "numeric"} for name in ("age", "zip")},
             "disease": {"role": "sensitive"}}  # fmt: skip
    boxes = [classes_of(table, ["age", "zip"]) for table in tables]
    values = [{box: {table["disease"][row] for row in rows} for box, rows in classes.items()}
              for table, classes in zip(tables, boxes, strict=True)]  # fmt: skip
    sizes = [len(values[0][a] & values[1][b]) for a, b in product(*boxes) if overlap(a, b)]
    one = asked("composition_attack", *tables, policy={"key": None, "attributes": roles})
    least = min((size for size in sizes if size), default=None)
    assert (one.observed, one.status is Status.ERROR) == (least, least is None)
