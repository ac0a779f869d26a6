"""The people who fail at each threshold of a demand, as audits at it count them; profiles that ask for more."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
import session_questions as asked
from hypothesis import given, settings, strategies as st

import tcdp_audit
from tcdp_audit import open_session
from tcdp_audit.core.base.outcome import COLUMN_DEMANDS, Comparison, Severity
from tcdp_audit.core.check.demands import covering
from tcdp_audit.core.policy.policy import profiles
from tcdp_audit.core.session.registry import Plugins

F = Fraction
FIRST = len(COLUMN_DEMANDS)  # the position of the first outcome of an expectation
T = {"t_closeness": {"t": "1/2", "attribute": "ill"}}
POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {"zip": {"role": "quasi_identifier"}, "ill": {"role": "sensitive"}, "pay": {"role": "sensitive"}},
    "expect": [{"k_anonymity": {"k": 3}}, T],
}


def failing(table: pa.Table, policy: dict[str, Any], check: str, parameters: dict[str, Any]) -> int | None:
    """How many people an audit with one demand exposes."""
    asked_alone = {**policy, "expect": [{check: {**parameters, "severity": "error"}}]}
    audit = tcdp_audit.audit(table, asked_alone)
    if any(one.status is tcdp_audit.Status.ERROR for one in audit.outcomes[FIRST:]):
        return None
    return 0 if audit.exposed is None else audit.exposed.people


def compare_with_audits(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - tables to test on
    table, policy, levels = asked.table(draw, draw.choice([1, 6, 40])), asked.policy(draw), asked.levels(draw)
    masked = asked.masked(table, levels)
    with open_session(table, policy) as session:
        for entry in policy["expect"]:
            ((check, parameters),) = entry.items()
            name = f"{check}:{parameters['attribute']}" if "attribute" in parameters else check
            if sum(name.partition(":")[0] in one for one in policy["expect"]) > 1 and ":" not in name:
                continue
            try:
                answer = session.levels(levels).thresholds(name)
            except tcdp_audit.CheckError:
                bare = {one: value for one, value in parameters.items() if one in ("attribute", "distance")}
                assert failing(masked, policy, check, bare) is None
                continue
            assert answer.own in {one.threshold for one in answer.counts}
            for one in answer.counts:
                at = {**parameters, answer.parameter: str(one.threshold)}
                at[answer.parameter] = int(one.threshold) if one.threshold.denominator == 1 else str(one.threshold)
                assert one.failing == failing(masked, policy, check, at), (seed, name, one)


@settings(max_examples=4)
@given(seed=st.integers(0, 10**6))
def test_each_count_is_that_of_an_audit_at_the_threshold(seed: int) -> None:
    compare_with_audits(seed)


@pytest.mark.long
@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_each_count_of_many_tables_is_that_of_an_audit_at_the_threshold(seed: int) -> None:
    compare_with_audits(seed)


def classes_of(table: pa.Table, name: str) -> dict[Any, list[Any]]:
    classes: dict[Any, list[Any]] = {}
    for key, value in zip(table["zip"].to_pylist(), table[name].to_pylist(), strict=True):
        classes.setdefault(key, []).append(value)
    return classes


def distances(table: pa.Table) -> dict[Any, Fraction]:
    """Half the difference of shares of each class and the table, exactly."""
    whole = Counter(table["ill"].to_pylist())
    result = {}
    for key, values in classes_of(table, "ill").items():
        own = Counter(values)
        shares = (abs(F(own[one], len(values)) - F(whole[one], table.num_rows)) for one in whole)
        result[key] = sum(shares, F(0)) / 2
    return result


@settings(max_examples=10)
@given(rows=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=2, max_size=20))
def test_fractions_are_compared_exactly(rows: list[tuple[str, str]]) -> None:
    zips, ills = zip(*rows, strict=True)
    table = pa.table({"zip": zips, "ill": ills, "pay": ills})
    exact = distances(table)
    sizes = {key: len(values) for key, values in classes_of(table, "ill").items()}
    with open_session(table, POLICY) as session:
        k, t = session.thresholds("k_anonymity"), session.thresholds("t_closeness:ill")
    assert (k.least, k.most) == (min(sizes.values()), max(sizes.values()))
    for one in k.counts:
        assert one.failing == sum(size for size in sizes.values() if size < one.threshold)
    assert t.most == pytest.approx(float(max(exact.values())))
    assert t.least == pytest.approx(float(min(exact.values())), rel=5e-3)
    for one in t.counts:
        assert one.failing == sum(sizes[key] for key, figure in exact.items() if figure > one.threshold)


def test_a_fraction_at_a_round_threshold_keeps_it() -> None:
    """The shares of x are 1/2 in a class of ten and 3/10 in the table: they differ by exactly one fifth."""
    rows = [("a", "x")] * 5 + [("a", "y")] * 5 + [("b", "x")] + [("b", "y")] * 9
    table = pa.table({"zip": [one for one, _ in rows], "ill": [one for _, one in rows], "pay": ["p"] * 20})
    with open_session(table, POLICY) as session:
        answer = session.thresholds("t_closeness:ill")
    assert (answer.least, answer.most, answer.own) == (0.2, 0.2, F(1, 2))
    assert [(one.threshold, one.failing) for one in answer.counts] == [(F(1, 5), 0), (F(1, 2), 0)]
    assert answer.as_row()["failing"] == [[0.2, 0], [0.5, 0]]


def test_the_names_of_demands() -> None:
    table = pa.table({"zip": ["a", "a", "b"], "ill": ["x", "y", "x"], "pay": ["1", "2", "3"]})
    twice = {**POLICY, "expect": [T, {"t_closeness": {"t": 0.3, "attribute": "pay"}}, {"k_anonymity": {}}]}
    with open_session(table, twice) as session:
        assert session.thresholds("t_closeness:pay").own == F(3, 10)
        measured = session.thresholds("k_anonymity")
        assert measured.own is None
        assert [(int(one.threshold), one.failing) for one in measured.counts] == [(1, 0), (2, 1)]
        for name, why in {
            "t_closeness": "asks for 't_closeness' 2 times; name the attribute of one, such as t_closeness:ill",
            "k_anonymty": "the policy does not ask for 'k_anonymty'; did you mean 'k_anonymity'",
            "t_closeness:zip": "the policy does not ask for 't_closeness:zip'",
            3: "must be the name of a check",
        }.items():
            with pytest.raises(tcdp_audit.UsageError) as caught:
                session.thresholds(name)  # type: ignore[arg-type]
            assert why in str(caught.value)


def test_a_demand_that_warns_and_one_on_the_release_as_a_whole() -> None:
    table = pa.table({"zip": ["a", "a", "b"], "ill": ["x", "y", "x"], "pay": ["1", "2", "3"]})
    expect = [{"k_anonymity": {"k": 2, "severity": "warning"}}, {"homogeneity": {"at_most": "1/2"}}]
    with open_session(table, {**POLICY, "expect": expect}) as session:
        assert [one.failing for one in session.thresholds("k_anonymity").counts] == [0, 1]
        share = session.thresholds("homogeneity")
    assert share.least == share.most == pytest.approx(1 / 3)
    assert [float(one.threshold) for one in share.counts] == [0.02, 0.05, 0.1, 0.2, 0.5, 1]
    assert [one.failing for one in share.counts] == [1, 1, 1, 1, 0, 0]


def test_a_check_on_the_table_counts_records_where_it_says_which() -> None:
    original = pa.table({"zip": ["a", "b", "c", "d"], "ill": ["x", "y", "x", "z"], "pay": ["1", "2", "3", "4"]})
    attributes = {**POLICY["attributes"], "zip": {"role": "quasi_identifier", "scale": "nominal"}}
    expect: list[dict[str, Any]] = [{"distance_record_linkage": {}}]
    policy = {**POLICY, "attributes": attributes, "rows_aligned": True, "expect": expect}
    with open_session(original, policy, original) as session:
        answer = session.thresholds("distance_record_linkage")
    assert answer.least == answer.most == 1
    assert [one.failing for one in answer.counts] == [None if one.threshold < 1 else 0 for one in answer.counts]
    population = pa.table({"zip": [zip_ for number, zip_ in enumerate("abcd") for _ in range(number + 1)]})
    with open_session(original, {**POLICY, "expect": [{"k_map": {"k": 2}}]}, population=population) as session:
        counts = session.thresholds("k_map").counts
    assert [(int(one.threshold), one.failing) for one in counts] == [(1, 0), (2, 1), (5, 4), (10, 4)]


def test_a_check_that_asks_detectors() -> None:
    table = pa.table({"zip": ["a", "b"] * 10, "mail": [f"p{number}@example.org" for number in range(20)]})
    attributes = {"zip": {"role": "quasi_identifier"}, "mail": {"role": "insensitive"}}
    expect = [{"k_anonymity": {"k": 2}}, {"direct_identifiers": {"at_most": 0}}]
    with open_session(table, {"version": 1, "attributes": attributes, "expect": expect}) as session:
        assert session.what_if().alone == 0
        answer = session.thresholds("direct_identifiers")
    assert answer.least == answer.most == 1
    assert {one.failing for one in answer.counts if one.threshold >= 1} == {0}


def test_a_demand_that_cannot_be_evaluated() -> None:
    table = pa.table({"zip": ["a", "a"], "pay": ["1", "2"]})
    with (
        open_session(table, POLICY) as session,
        pytest.raises(tcdp_audit.CheckError, match="column 'ill' is not in the release"),
    ):
        session.thresholds("t_closeness")


@given(low=st.fractions(min_value=0, max_value=1000), high=st.fractions(min_value=F(1, 1000), max_value=1000))
def test_round_numbers_cover_a_range(low: Fraction, high: Fraction) -> None:
    low, high = sorted((low, high))
    steps = covering(low, high)
    assert steps == sorted(set(steps))
    assert steps[0] <= low <= high <= steps[-1]
    assert len([one for one in steps if one >= high]) == 1 == len([one for one in steps if one <= low]) or low in steps
    assert {str(one.numerator * one.denominator).rstrip("0") for one in steps if one} <= {"1", "2", "5"}


TABLE = pa.table({"zip": ["a"], "ill": ["x"], "pay": ["1"]})


@pytest.mark.parametrize("k", [None, 1, 3, 10, 11, 15, 20, 25])
def test_profiles_that_ask_for_a_larger_k(k: int | None) -> None:
    policy = {**POLICY, "expect": [{"k_anonymity": {} if k is None else {"k": k}}, {"t_closeness": {"t": 1}}]}
    with open_session(TABLE, policy) as session:
        asked_for = {one.profile: one for one in session.stricter_profiles() if one.check == "k_anonymity"}
    larger = {
        key: demand
        for key, profile in profiles().items()
        for demand in profile.demands
        if demand.check == "k_anonymity" and int(demand.parameters["k"]) > (k or 0)
    }
    assert asked_for.keys() == larger.keys()
    for key, one in asked_for.items():
        assert (one.threshold, one.own, one.comparison) == (larger[key].parameters["k"], k, Comparison.AT_LEAST)
        assert one.says == larger[key].says
        assert one.as_row()["own"] == k


@pytest.mark.parametrize("key", sorted(profiles()))
def test_a_policy_that_names_a_profile_is_as_strict_as_it(key: str) -> None:
    plugins = Plugins.load(external=False)
    policy = tcdp_audit.load_policy({**POLICY, "attributes": POLICY["attributes"]})
    with open_session(TABLE, policy) as session:
        before = {one.check for one in session.stricter_profiles() if one.profile == key}
        try:
            named = tcdp_audit.load_policy({**POLICY, "profile": key})
        except tcdp_audit.PolicyError:  # what the profile needs, this policy does not name
            return
        assert not [one for one in session.stricter_profiles(named) if one.profile == key]
    assert before <= {one.check for one in profiles()[key].demands} <= {*plugins.checks}


def test_a_demand_that_only_warns_is_not_as_strict_as_one_that_fails() -> None:
    expect = [{"k_anonymity": {"k": 11, "severity": "warning"}}]
    with open_session(TABLE, {**POLICY, "expect": expect}) as session:
        stricter = {one.profile: one for one in session.stricter_profiles()}
    assert stricter["cms_cell_size@2024-01"].own is None
    assert stricter["cms_cell_size@2024-01"].severity is Severity.ERROR


def test_another_parameter_is_another_demand() -> None:
    """A profile asks for categories of 200,000 people, and for pairs of 1,000."""
    expect = [{"category_frequency": {"max_size": 2, "at_least": 5000}}]
    policy = {**POLICY, "population": "people.csv", "expect": expect}
    with open_session(TABLE, {**POLICY, "expect": [{"k_anonymity": {"k": 3}}]}) as session:
        stricter = [one for one in session.stricter_profiles(policy) if one.check == "category_frequency"]
    asked_for = {(one.parameters["max_size"], int(one.threshold or 0), one.own) for one in stricter}
    assert asked_for == {(1, 200_000, None), (3, 100, None)}
