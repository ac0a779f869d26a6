"""Demands on merged classes: what is answered from counts is what the records give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings, strategies as st

from tcdp_audit import load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.demands import Demands
from tcdp_audit.core.remedy.merged import MergedDemands
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
ATTRIBUTES: Mapping[str, Any] = {
    "place": {"role": "quasi_identifier", "scale": "nominal"},
    "answer": {"role": "sensitive", "scale": "nominal", "hierarchy": {"*": {"x": ["a", "b"], "y": ["c", "d"]}}},
    "pay": {"role": "sensitive", "scale": "numeric"},
    "person": {"role": "insensitive"},
}
UNORDERED: list[Mapping[str, Any]] = [
    {"distinct_l_diversity": {"l": 2, "attribute": "answer"}},
    {"k_anonymity": {"k": 3}},
    {"entropy_l_diversity": {"l": 1.5}},
    {"homogeneity": {"at_most": 0.5, "attribute": "answer"}},
    {"implied_epsilon": {"at_most": 2}},
]
EXPECT: list[Mapping[str, Any]] = [
    *UNORDERED,
    {"t_closeness": {"t": 0.4, "attribute": "answer", "distance": "hierarchical"}},
    {"t_closeness": {"t": 0.3, "attribute": "pay", "distance": "ordered"}},
]
POLICIES: list[Mapping[str, Any]] = [
    {"expect": EXPECT},
    {"expect": EXPECT, "unit": "person"},
    {"expect": EXPECT, "conventions": {"multiple_sensitive": "others_as_quasi_identifiers"}},
    {"expect": EXPECT, "conventions": {"multiple_sensitive": "joint"}},
    {"expect": UNORDERED, "conventions": {"missing_sensitive": "own_category"}},
]
Drawn = list[tuple[Any, ...]]


def _has_values(drawn: Drawn) -> bool:
    """Whether a record has both values, without which some reference is empty."""
    return any(None not in row for row in drawn)


rows = st.lists(
    st.tuples(
        st.sampled_from([*"abcd", None]), st.sampled_from([1, 2, 3, None]), st.sampled_from("pqr"), st.integers(0, 5)
    ),
    min_size=4,
    max_size=24,
).filter(_has_values)
mergings = st.lists(st.integers(0, 3), min_size=6, max_size=6)


@contextmanager
def demanded(drawn: Drawn, **policy: Any) -> Iterator[tuple[Demands, np.ndarray]]:
    """The demands of a policy on a table of (answer, pay, person, base class), and the base classes."""
    answer, pay, person, base = zip(*drawn, strict=True)
    table = pa.table(
        {
            "place": [f"c{one}" for one in base],
            "answer": pa.array(answer, pa.string()),
            "pay": pa.array(pay, pa.int64()),
            "person": list(person),
        }
    )
    bound = load_policy({"version": 1, "attributes": ATTRIBUTES, **policy}, PLUGINS)
    with open_engine(table, 2**28) as engine:
        yield RemedyView(Release(engine, bound), (), 0, lambda _: ()).demands, np.array(base)


@pytest.mark.long
@settings(max_examples=25)
@given(drawn=rows, policy=st.sampled_from(POLICIES), merging=mergings)
def test_unions_are_judged_as_their_records_are(drawn: Drawn, policy: Mapping[str, Any], merging: list[int]) -> None:
    with demanded(drawn, **policy) as (demands, base):
        merged = np.array(merging)
        assert (
            MergedDemands(demands, base, 6).satisfied_by(merged, 4).tolist()
            == demands.satisfied_by(merged[base], 4).tolist()
        )


@pytest.mark.long
@settings(max_examples=25)
@given(
    drawn=rows,
    policy=st.sampled_from(POLICIES),
    merging=mergings,
    removal=st.lists(st.booleans(), min_size=6, max_size=6),
    asked_before=st.booleans(),
)
def test_unions_without_some_classes_are_judged_as_the_records_that_are_left(
    drawn: Drawn, policy: Mapping[str, Any], merging: list[int], removal: list[bool], asked_before: bool
) -> None:
    removed, merged = np.array(removal), np.array(merging)
    assume(_has_values([row for row in drawn if not removal[row[3]]]))
    with demanded(drawn, **policy) as (demands, base):
        whole = MergedDemands(demands, base, 6)
        if asked_before:  # counts are then taken over, not counted anew
            whole.satisfied_by(merged, 4)
        left = ~removed[base]
        expected = demands.without(~left).satisfied_by(merged[base][left], 4)
        assert whole.without(removed).satisfied_by(merged, 4).tolist() == expected.tolist()


TEN = [("a", 1, "p", 0)] * 4 + [("b", 1, "p", 1)] * 2 + [("b", 2, "p", 2)] * 4


def test_titles_of_what_fails_and_the_least_size() -> None:
    with demanded(TEN, expect=EXPECT[:2]) as (demands, base):
        merged = MergedDemands(demands, base, 3)
        assert merged.least_size == 3
        assert merged.satisfied_by(np.array([0, 1, 2]), 3).tolist() == [False, False, False]
        assert merged.failed(np.array([0, 1, 2]), 3) == ["Distinct l-diversity", "k-anonymity"]
        assert merged.failed(np.array([0, 0, 1]), 2) == ["Distinct l-diversity"]
        assert merged.failed(np.array([0, 0, 0]), 1) == []


def test_where_too_many_records_fail_by_size_nothing_else_is_asked() -> None:
    with demanded(TEN, expect=EXPECT[:2]) as (demands, base):
        merged = MergedDemands(demands, base, 3)
        assert merged.satisfied_by(np.array([0, 1, 2]), 3, stop_after=1).tolist() == [True, False, True]
        assert merged.satisfied_by(np.array([0, 1, 2]), 3, stop_after=2).tolist() == [False, False, False]


def test_a_demand_on_values_alone_says_nothing_of_sizes() -> None:
    with demanded(TEN, expect=EXPECT[:1]) as (demands, base):
        assert MergedDemands(demands, base, 3).least_size == 1


def test_where_entities_count_no_size_in_records_is_too_small() -> None:
    with demanded(TEN, expect=EXPECT[1:2], unit="person") as (demands, base):
        assert MergedDemands(demands, base, 3).least_size == 1


@pytest.mark.parametrize(
    ("policy", "monotone"),
    [
        ({"expect": EXPECT}, True),
        ({"expect": EXPECT[1:2], "unit": "person"}, True),
        ({"expect": EXPECT[:2], "unit": "person"}, False),  # counts of entities do not add up
        ({"expect": [{"delta_disclosure": {"delta": 1, "absent_values": "ignored"}}]}, False),
    ],
)
def test_demands_are_monotone_where_every_check_is(policy: Mapping[str, Any], monotone: bool) -> None:
    with demanded(TEN, **policy) as (demands, _):
        assert demands.monotone is monotone
