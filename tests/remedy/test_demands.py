"""Demands on classes that do not exist yet are the auditor's own verdicts on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, reject, settings, strategies as st

from tcdp_audit import CheckError, audit, load_policy
from tcdp_audit.core.encoding.keys import fold
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.demands import Demands
from tcdp_audit.core.remedy.merged import MergedDemands
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
DISEASES = {"any": {"stomach": ["ulcer", "gastritis"], "lung": ["flu", "cold"]}}
ATTRIBUTES = {
    "zip": {"role": "quasi_identifier", "scale": "nominal"},
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "disease": {"role": "sensitive", "scale": "nominal", "hierarchy": DISEASES},
    "pay": {"role": "sensitive", "scale": "numeric"},
    "person": {"role": "insensitive"},
}
EXPECT: list[dict[str, Any]] = [
    {"k_anonymity": {"k": 2}},
    {"distinct_l_diversity": {"l": 2, "attribute": "disease"}},
    {"entropy_l_diversity": {"l": 1.5, "attribute": "pay"}},
    {"t_closeness": {"t": 0.4, "attribute": "pay", "distance": "ordered"}},
    {"t_closeness": {"t": 0.4, "attribute": "disease", "distance": "hierarchical"}},
    {"implied_epsilon": {"at_most": 3}},
    {"homogeneity": {"at_most": 0, "attribute": "disease"}},
]
OTHERS = {"conventions": {"multiple_sensitive": "others_as_quasi_identifiers"}}
JOINT = {"conventions": {"multiple_sensitive": "joint"}}
MORE: list[dict[str, Any]] = [{}, {"unit": "person"}, OTHERS, {"unit": "person", **OTHERS}]


def policy_of(expectation: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """A policy whose units, if it has any, are known by one row each: classes of rows are what a remedy proposes."""
    known = {"known_rows": "one"} if "unit" in more else {}
    conventions = {**known, **more.get("conventions", {})}
    return {"version": 1, "attributes": ATTRIBUTES, "expect": [expectation], **more, "conventions": conventions}


def records(draw: st.DrawFn) -> dict[str, list[Any]]:
    n = draw(st.integers(2, 14))

    def column(values: list[Any]) -> list[Any]:
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    return {
        "zip": column(["a", "b"]),
        "age": column(["1", "2", "3"]),
        "disease": column(["ulcer", "gastritis", "flu", "cold", None]),
        "pay": column(["10", "20", "30", None]),
        "person": column(["p", "q", "r", "s"]),
    }


Asked = tuple[Demands, np.ndarray, int]


@contextmanager
def demands_of(table: pa.Table, policy: dict[str, Any]) -> Iterator[Asked]:
    """The demands on a table, and its present equivalence classes as one number per record."""
    with open_engine(table, 2**28) as engine:
        view = RemedyView(Release(engine, load_policy(policy, PLUGINS)), (), 0, lambda _: ())
        columns = view.quasi_identifiers
        keys = fold([one.codes for one in columns], [one.domain.size + 1 for one in columns]).values
        classes, number = np.unique(keys, return_inverse=True)
        yield view.demands, number, len(classes)


@pytest.mark.long
@settings(max_examples=60)
@given(data=st.data(), expectation=st.sampled_from(EXPECT), more=st.sampled_from(MORE))
def test_all_classes_keep_the_demands_where_the_audit_passes(
    data: st.DataObject, expectation: dict[str, Any], more: dict[str, Any]
) -> None:
    table = pa.table(data.draw(st.composite(records)()))
    policy = policy_of(expectation, more)
    outcomes = audit(table, policy, plugins=PLUGINS).expectations
    with demands_of(table, policy) as (demands, number, count):
        if any(one.status.value == "error" for one in outcomes):
            with pytest.raises(CheckError):
                demands.satisfied_by(number, count)
            reject()
        assume(demands)  # an attack that succeeds on the whole table is left to the audit
        retained = demands.satisfied_by(number, count)
        assert retained.all() == all(one.status.value != "failed" for one in outcomes)
        assert len(outcomes) > 1 or "others" in str(more) or (~retained).sum() == outcomes[0].classes.failing


@pytest.mark.long
@settings(max_examples=60)
@given(data=st.data(), expectation=st.sampled_from(EXPECT), more=st.sampled_from([OTHERS, JOINT, {}]))
def test_proposed_classes_of_persons_are_judged_as_the_audit_of_a_table_with_those_classes(
    data: st.DataObject, expectation: dict[str, Any], more: dict[str, Any]
) -> None:
    drawn = data.draw(st.composite(records)())
    proposed = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(drawn["zip"]), max_size=len(drawn["zip"]))))
    numbers, classes = np.unique(proposed, return_inverse=True)
    treated = {**drawn, "zip": [f"class {one}" for one in classes], "age": ["1"] * len(classes)}
    policy = policy_of(expectation, {"unit": "person", **more})
    outcomes = audit(pa.table(treated), policy, plugins=PLUGINS).expectations
    assume(all(one.status.value != "error" for one in outcomes))
    with demands_of(pa.table(drawn), policy) as (demands, _, _):
        assume(len(demands.tasks) == len(outcomes))  # an attack that succeeds on the whole table is left to the audit
        retained = demands.satisfied_by(classes, len(numbers))
        assert retained.all() == all(one.status.value != "failed" for one in outcomes)
        merged = MergedDemands(demands, np.arange(len(classes)), len(classes))
        assert merged.satisfied_by(classes, len(numbers)).tolist() == retained.tolist()


@pytest.mark.long
@settings(max_examples=20)
@given(data=st.data())
def test_demands_without_some_records_are_those_on_the_table_without_them(data: st.DataObject) -> None:
    result = data.draw(st.composite(records)())
    table = pa.table(result)
    removed = np.array(data.draw(st.lists(st.booleans(), min_size=table.num_rows, max_size=table.num_rows)))
    assume(not removed.all())
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": EXPECT[:5]}
    part = table.filter(pa.array(~removed))
    for one in ("disease", "pay"):
        assume(part[one].null_count < part.num_rows)
    with demands_of(table, policy) as (demands, number, _), demands_of(part, policy) as (rest, renumbered, fewer):
        here = np.unique(number[~removed], return_inverse=True)[1]
        assert (
            demands.without(removed).satisfied_by(here, fewer).tolist() == rest.satisfied_by(renumbered, fewer).tolist()
        )


def test_classes_of_persons_are_judged_against_their_own_mixture() -> None:
    """Both proposed classes are half flu; in the classes by zip, p's flu counts once, so that flu is 1 of 3."""
    drawn = {"zip": ["a", "b", "a", "b"], "person": ["p", "p", "p", "q"], "disease": ["flu", "cold", "flu", "cold"]}
    table = pa.table({"age": ["1"] * 4, "pay": ["10"] * 4, **drawn})
    expect = [{"t_closeness": {"t": 0.1, "attribute": "disease", "distance": "equal"}}]
    policy = {"version": 1, "unit": "person", "attributes": ATTRIBUTES, "expect": expect}
    with demands_of(table, policy) as (demands, _, _):
        halves = np.array([0, 0, 1, 1])
        assert demands.satisfied_by(halves, 2).tolist() == [True, True]
        assert MergedDemands(demands, np.arange(4), 4).satisfied_by(halves, 2).tolist() == [True, True]


def test_a_class_without_records_keeps_nothing() -> None:
    table = pa.table(
        {"zip": ["a", "a"], "age": ["1", "1"], "disease": ["flu", "flu"], "pay": ["1", "1"], "person": ["p", "q"]}
    )
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": EXPECT[:1]}
    with demands_of(table, policy) as (demands, _, _):
        assert demands.satisfied_by(np.array([2, 2]), 4).tolist() == [False, False, True, False]


def test_only_some_records_can_be_asked_about() -> None:
    table = pa.table({name: ["1", "1", "2", "2"] for name in ATTRIBUTES} | {"disease": ["flu", "cold", "flu", "flu"]})
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": EXPECT[1:2]}
    with demands_of(table, policy) as (demands, _, _):
        assert demands.satisfied_by(np.array([0, 0]), 1, np.array([0, 1])).tolist() == [True]
        assert demands.satisfied_by(np.array([0, 0]), 1, np.array([2, 3])).tolist() == [False]


def test_warnings_demand_nothing() -> None:
    table = pa.table({name: ["1", "2"] for name in ATTRIBUTES} | {"disease": ["flu", "cold"]})
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": [{"k_anonymity": {"k": 2, "severity": "warning"}}]}
    with demands_of(table, policy) as (demands, _, _):
        assert not demands


@pytest.mark.parametrize(
    "expectation",
    [
        {"k_anonymity": {"k": 1}},
        {"homogeneity": {"at_most": 1, "attribute": "disease"}},
        {"t_closeness": {"t": 1, "attribute": "disease"}},
    ],
)
def test_what_nothing_can_fail_is_no_demand(expectation: dict[str, Any]) -> None:
    table = pa.table(
        {"zip": ["a", "b"], "age": [1, 2], "disease": ["flu", "cold"], "pay": [1, 2], "person": ["p", "q"]}
    )
    with demands_of(table, {"version": 1, "attributes": ATTRIBUTES, "expect": [expectation]}) as (demands, _, _):
        assert not demands


def test_a_class_without_a_value_is_still_no_class_to_make() -> None:
    table = pa.table({"zip": ["a", "b"], "age": [1, 2], "disease": ["flu", None], "pay": [1, 2], "person": ["p", "q"]})
    expect = [{"distinct_l_diversity": {"l": 1, "attribute": "disease"}}]
    with demands_of(table, {"version": 1, "attributes": ATTRIBUTES, "expect": expect}) as (demands, number, count):
        assert sorted(demands.satisfied_by(number, count).tolist()) == [False, True]
