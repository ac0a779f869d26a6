"""Groups in which no one has a value: counted, said to be that, and nothing that an intruder learns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import Audit, audit

CHECKS: tuple[Mapping[str, Any], ...] = (
    {"distinct_l_diversity": {"l": 2}},
    {"entropy_l_diversity": {"l": 1.5}},
    {"recursive_cl_diversity": {"c": 3, "l": 2}},
    {"t_closeness": {"t": 0.3}},
    {"t_closeness": {"t": 2, "distance": "multiplicative"}},
    {"alpha_k_anonymity": {"alpha": 0.7, "k": 2}},
    {"p_sensitive_k_anonymity": {"p": 2, "k": 2}},
    {"skewness": {"at_most": 2}},
    {"basic_beta_likeness": {"beta": 1}},
    {"enhanced_beta_likeness": {"beta": 1}},
    {"delta_disclosure": {"delta": 1, "absent_values": "ignored"}},
    {"background_knowledge": {"at_least": 1}},
    {"homogeneity": {"at_most": 0}},
)
ROLES = {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive", "label": "diagnosis"}}
FORMATS = (".html", ".md", ".json", ".junit.xml", ".sarif", ".codequality.json", ".openlineage.jsonl", ".odcs.yaml")


def audited(rows: Sequence[tuple[str, str | None]], *expect: Mapping[str, Any], **more: Any) -> Audit:
    policy = {"version": 1, "unit_name": "person", "attributes": ROLES, "expect": [*expect], **more}
    zips, diseases = zip(*rows, strict=True)
    return audit(pa.table({"zip": [*zips], "disease": pa.array(diseases, pa.string())}), policy)


def table(seed: int) -> list[tuple[str, str | None]]:
    random = Random(seed)  # noqa: S311 - the same tables every time
    rows = [(f"z{random.randrange(8)}", random.choice("uvwxy")) for _ in range(40)]
    empty = {f"z{random.randrange(8)}" for _ in range(random.randrange(1, 4))}
    return [(place, None if place in empty or random.random() < 0.1 else value) for place, value in rows]


@pytest.mark.parametrize("seed", range(6))
def test_groups_without_a_value_are_counted_as_plain_counting_does(seed: int) -> None:
    rows = table(seed)
    groups = defaultdict(list)
    for place, value in rows:
        groups[place].append(value)
    empty = [own for own in groups.values() if not any(own)]
    for outcome in audited(rows, *CHECKS).expectations:
        details = outcome.details
        assert details["classes_without_value"] == len(empty)
        assert details["records_without_value"] == sum(map(len, empty))
        assert outcome.classes is not None
        assert outcome.classes.failing is not None
        assert outcome.classes.failing >= len(empty)
        assert details["worst_with_value"]["members"] in {len(own) for own in groups.values() if any(own)}


@pytest.mark.parametrize("shards", [1, 3, 7])
def test_they_are_the_same_whatever_the_shards(shards: int) -> None:
    policy = {"version": 1, "attributes": ROLES, "expect": [*CHECKS]}
    zips, diseases = zip(*table(1), strict=True)
    release = pa.table({"zip": [*zips], "disease": pa.array(diseases, pa.string())})
    whole, parts = (audit(release, policy, shards=number).expectations for number in (None, shards))
    assert [one.as_json() for one in parts] == [one.as_json() for one in whole]


ROWS = [("a", None)] * 5 + [("b", "x")] * 3 + [("c", "x"), ("c", "y"), ("c", "z")] * 4


def test_homogeneity_does_not_take_them_for_known() -> None:
    (outcome,) = audited(ROWS, {"homogeneity": {"at_most": 0}}).expectations
    assert outcome.observed == 0.4  # 8 of 20 fail, as a group without a value does
    assert outcome.message == (
        "3 of 20 people are in a group that has a single value of diagnosis: finding the group is enough to know it. "
        "In 1 more group, of 5 people, no one has a value of diagnosis; it counts as failing, as there is "
        "nothing to compare."
    )
    assert outcome.individual_impact.endswith(
        "in the largest such group, of 3 people, all have the same diagnosis, which is then known for certain."
    )


def test_where_only_they_fail_that_is_said() -> None:
    (outcome,) = audited([one for one in ROWS if one[0] != "b"], {"distinct_l_diversity": {"l": 3}}).expectations
    assert outcome.message == (
        "In 1 group, of 5 people, no one has a value of diagnosis; it counts as failing, as there is nothing to "
        "compare. Every other group keeps the demand."
    )


def test_without_a_demand_they_are_said_and_do_not_fail() -> None:
    (outcome,) = audited(ROWS, {"distinct_l_diversity": {}}).expectations
    assert outcome.message.endswith("In 1 more group, of 5 people, no one has a value of diagnosis.")


def test_a_missing_value_that_counts_as_one_is_said() -> None:
    (outcome,) = audited(
        ROWS, {"homogeneity": {"at_most": 0}}, conventions={"missing_sensitive": "own_category"}
    ).expectations
    assert outcome.message.startswith("8 of 20 people are in 2 groups that have a single value of diagnosis")
    assert outcome.message.endswith(" A missing value counts as a value, and 5 people have no other.")
    assert "classes_without_value" not in outcome.details


def test_no_value_at_all_is_no_single_value() -> None:
    page = audited(ROWS, *CHECKS).render(".html")
    same = "3 people are in groups in which everyone has the same diagnosis"
    assert f"{same}; 5 people are in groups in which no one has any" in page
    assert "learn too much about the diagnosis of 3 people" in page
    assert "diagnosis of 8 people" not in page


def test_the_translation_counts_them_too() -> None:
    result = audited(ROWS, {"homogeneity": {"at_most": 0}})
    page = result.render(".html", language="de")
    assert "In 1 weiteren Gruppe mit 5 Personen hat niemand einen Wert von diagnosis" in page
    assert "no one has a value" not in page.partition("application/json")[0]


def test_units_with_several_rows_are_said_by_group() -> None:
    rows = [("a", None, 1), ("a", None, 2), ("b", "x", 3), ("b", "x", 4), ("b", "y", 4), ("c", "x", 1), ("c", "y", 5)]
    zips, diseases, people = zip(*rows, strict=True)
    release = pa.table({"zip": [*zips], "disease": pa.array(diseases, pa.string()), "person": [*people]})
    policy = {
        "version": 1,
        "unit": "person",
        "conventions": {"known_rows": "one"},
        "attributes": {**ROLES, "person": {"role": "identifier"}},
        "expect": [{"homogeneity": {"at_most": 0}}],
    }
    (outcome,) = audit(release, policy).expectations
    assert "2 groups in which all share a value of diagnosis, or no one has any" in outcome.message


# What is said of a few people lets nobody compute a cell

SALARY = {"zip": {"role": "quasi_identifier"}, "pay": {"role": "sensitive", "scale": "numeric", "measured_in": "euros"}}
PAY: tuple[Mapping[str, Any], ...] = (
    {"t_closeness": {"t": 0.05, "distance": "ordered"}},
    {"entropy_l_diversity": {"l": 2}},
    {"distinct_l_diversity": {"l": 2}},
    {"alpha_k_anonymity": {"alpha": 0.5, "k": 2}},
    {"homogeneity": {"at_most": 0}},
)


def of_pay(members: int) -> Audit:
    """An audit of a table in which the worst group has so many members, who earn the most."""
    pays = [*range(1000, 1025)] * 2
    release = pa.table({"zip": ["a"] * members + ["b"] * len(pays), "pay": [1024] * members + pays})
    return audit(release, {"version": 1, "unit_name": "person", "attributes": SALARY, "expect": [*PAY]})


@pytest.mark.parametrize("members", [1, 2, 9, 10])
def test_moves_shares_and_shifts_are_of_ten_people_at_least(members: int) -> None:
    is_enough, (closeness, *others) = members >= 10, of_pay(members).expectations
    assert ("flow" in closeness.details) is is_enough
    assert ("by" in closeness.details["shift"]) is is_enough
    assert all(("worst_group" in one.details) is is_enough for one in (closeness, *others[:3]))
    shares = [one.details["shared_value"]["in_reference"] for one in others if "shared_value" in one.details]
    assert shares
    assert is_enough or all(abs(round(20 * one) - 20 * one) < 1e-9 for one in shares)


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_says_how_many_euros_few_people_earn(form: str) -> None:
    def texts(members: int) -> str:
        return of_pay(members).render(form).partition('type="application/json"')[0]

    assert " euros" not in texts(9)
    assert "1,024" not in texts(9)
    assert "1024" not in texts(9)
    if form in (".html", ".md", ".json"):
        assert " euros above everyone" in texts(10)
