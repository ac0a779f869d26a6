"""m-invariance: changed signatures, repeated values, counterfeits, and what cannot be followed."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings, strategies as st
from release_tables import ROLES, Columns, asked, audited, classes_of, release

from tcdp_audit import PolicyError, Status

FIRST = release("pa", "xx", ["flu", "gastritis"])


def test_a_signature_that_changes_leaves_no_m():
    later = release("pb", "xx", ["flu", "dyspepsia"])
    one = asked("m_invariance", later, FIRST, m=2)
    assert (one.status, one.observed, one.details["changed_signatures"]) == (Status.FAILED, 0, 1)
    assert (one.details["smallest_class"], one.records.failing) == (2, 1)
    assert asked("distinct_l_diversity", later, policy={"key": None}, l=2).status is Status.PASSED
    assert asked("composition_attack", later, FIRST).observed == 1


def test_a_signature_that_stays():
    later = release("pb", "yy", ["flu", "gastritis"])
    one = asked("m_invariance", later, FIRST, m=2)
    assert (one.status, one.observed, one.records.failing) == (Status.PASSED, 2, 0)
    assert asked("m_invariance", later, FIRST, m=3).status is Status.FAILED


def test_a_counterfeit_keeps_a_signature():
    assert asked("m_invariance", release("pc", "xx", ["flu", "gastritis"]), FIRST, m=2).observed == 2
    assert asked("m_invariance", release("p", "x", ["flu"]), FIRST, m=2).observed == 0


def test_a_value_that_appears_twice_in_a_class_leaves_no_m():
    later = release("pab", "xxx", ["flu", "gastritis", "flu"])
    one = asked("m_invariance", later, FIRST, m=1)
    assert (one.status, one.observed, one.details["classes_with_repeated_values"]) == (Status.FAILED, 0, 1)
    assert (one.details["changed_signatures"], one.classes.failing, one.records.failing) == (0, 1, 3)


def test_a_class_of_an_earlier_release_counts():
    earlier = release("pacd", "xxyy", ["flu", "gastritis", "hiv", "hiv"])
    one = asked("m_invariance", FIRST, earlier, m=2)
    assert (one.status, one.observed, one.records.failing, one.classes.failing) == (Status.FAILED, 0, 0, 1)


def test_people_are_followed_through_all_releases():
    middle = release("zy", "xx", ["hiv", "acne"])
    last = release("pa", "xx", ["flu", "acne"])
    one = asked("m_invariance", last, middle, FIRST, m=2)
    assert (one.status, one.details["changed_signatures"]) == (Status.FAILED, 2)
    assert asked("m_invariance", FIRST, middle, FIRST, m=2).observed == 2


def test_all_sensitive_attributes_must_stay():
    roles = {"attributes": {**ROLES, "pay": {"role": "sensitive"}}}
    now, before = {**FIRST, "pay": list("12")}, {**FIRST, "pay": list("13")}
    assert asked("m_invariance", now, before, policy=roles, sensitive="disease").observed == 2
    assert asked("m_invariance", now, before, policy=roles).observed == 0


def test_a_person_in_two_releases_is_said_and_not_passed():
    one = asked("m_invariance", release("zy", "xx", ["flu", "gastritis"]), FIRST, m=2)
    assert (one.status, "no signature can change" in one.message) == (Status.ERROR, True)


@pytest.mark.parametrize(
    ("policy", "said"), [({"key": None, "previous": "b.csv"}, "add `key:`"), ({}, "add `previous:`")]
)
def test_a_policy_without_what_it_needs_is_refused(policy: dict[str, str], said: str):
    with pytest.raises(PolicyError, match=said):
        audited("m_invariance", FIRST, policy=policy, m=2)


PEOPLE = st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("xyz"), st.sampled_from("12")), max_size=7,
                  min_size=1, unique_by=lambda one: one[0])  # fmt: skip


def columns(rows: list[tuple[str, str, str]]) -> Columns:
    return release("".join(one[0] for one in rows), "".join(one[1] for one in rows), [one[2] for one in rows])


def signature_of(table: Columns, person: str) -> frozenset[str] | None:
    classes = classes_of(table, ["zip"]).values()
    return next((frozenset(table["disease"][row] for row in rows) for rows in classes
                 if person in (table["id"][row] for row in rows)), None)  # fmt: skip


@pytest.mark.long
@given(st.lists(PEOPLE.map(columns), min_size=2, max_size=3))
@settings(max_examples=60)
def test_as_by_definition(tables: list[Columns]):
    lives = {one: [actual for table in tables if (actual := signature_of(table, one))] for one in "abcdefg"}
    shared = [one for one, signatures in lives.items() if len(signatures) > 1]
    outcome = asked("m_invariance", *tables, m=2)
    followed = {*shared} & {*tables[0]["id"]}
    assert (outcome.status is Status.ERROR) == (not followed)
    assume(followed)
    changed = [one for one in shared if len({*lives[one]}) > 1]
    sizes = [len(rows) if len({table["disease"][row] for row in rows}) == len(rows) else 0
             for table in tables for rows in classes_of(table, ["zip"]).values()]  # fmt: skip
    assert outcome.observed == (0 if changed else min(sizes))
    assert (outcome.details["changed_signatures"], outcome.details["smallest_class"]) == (len(changed), min(sizes))
