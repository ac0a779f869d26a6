"""What is released: means, medians and modes, the same for all records of a cluster, whatever order they came in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings, strategies as st
from microaggregated import PLUGINS, microaggregated, points, policy_of

import tcdp_audit
from tcdp_audit import load_policy
from tcdp_audit.core.base.errors import PolicyError
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit.testing import check_conforms
from tcdp_audit_plugins.remedies.microaggregation import MICROAGGREGATION
from tcdp_audit_plugins.remedies.microaggregation.mdav import mdav
from tcdp_audit_plugins.remedies.microaggregation.points import means, medians
from tcdp_audit_plugins.remedies.microaggregation.refined import refined_clusters

K2 = {"k_anonymity": {"k": 2}}
LEVELS = {"role": "quasi_identifier", "scale": "ordinal", "order": ["low", "mid", "high"]}
ZIPS = {"role": "quasi_identifier", "scale": "nominal", "hierarchy": {"*": {"1*": ["10", "11"], "2*": ["20", "21"]}}}
MIXED: Mapping[str, Any] = {"age": "numeric", "level": LEVELS, "town": "nominal", "zip": ZIPS}


def _conforming() -> list[dict[str, Any]]:
    """The defaults are tried with those of every other remedy."""
    return [{"closeness": "first", "attribute": "salary"}, {"method": "mdav", "closeness": "none", "rounded": False}]


@pytest.mark.long
@pytest.mark.parametrize("parameters", _conforming(), ids=lambda one: one["closeness"])
def test_it_conforms(parameters: dict[str, Any]) -> None:
    check_conforms(MICROAGGREGATION, parameters)


def test_every_scale_has_its_centroid() -> None:
    table = pa.table(
        {
            "age": [20, 21, 24, 70, 71],
            "level": ["low", "high", "mid", "high", "mid"],
            "town": ["a", "b", "b", "c", "d"],
            "zip": ["10", "11", "11", "20", "21"],
        }
    )
    result = microaggregated(table, policy_of(MIXED, K2))
    assert result.column("age") == [22, 22, 22, 70, 70]  # 65 / 3 and, half to even, 70.5
    assert result.column("level") == ["mid"] * 5  # of two the lower one
    assert result.column("town") == ["b", "b", "b", "c", "c"]
    assert result.column("zip") == ["11", "11", "11", "20", "20"]
    assert result.table.schema.field("age").type == pa.int64()
    assert result.audit().passed


def test_means_of_whole_numbers_are_whole_unless_asked_otherwise() -> None:
    table = pa.table({"age": [20, 21, 70, 74], "weight": [50.0, 51.5, 80.0, 90.0]})
    policy = policy_of({"age": "numeric", "weight": "numeric"}, K2)
    assert microaggregated(table, policy).column("age") == [20, 20, 72, 72]
    assert microaggregated(table, policy).column("weight") == [50.75, 50.75, 85.0, 85.0]
    assert microaggregated(table, policy, rounded=False).column("age") == [20.5, 20.5, 72.0, 72.0]


def test_a_missing_value_counts_as_the_mean_and_gets_the_centroid() -> None:
    """The mean of all ages is 40: those without one stand between 38 and 42, and get the mean of who has one."""
    table = pa.table({"age": [10, 12, 38, None, 42, None, 68, 70], "town": ["a", "a", None, "b", "b", "b", "c", None]})
    result = microaggregated(table, policy_of({"age": "numeric", "town": "nominal"}, K2), method="mdav")
    assert result.column("age") == [11, 11, 38, 38, 42, 42, 69, 69]
    assert result.column("town") == ["a", "a", "b", "b", "b", "b", "c", "c"]
    assert result.audit().passed


def test_where_no_record_has_a_value_there_is_none_and_the_core_suppresses_it() -> None:
    table = pa.table({"age": [1, 2, None, None], "town": ["a", "a", "z", "z"]})
    policy = policy_of({"age": "numeric", "town": "nominal"}, K2, remedy=[{"microaggregation": {}}])
    assert microaggregated(table, policy).column("age") == [2, 2, None, None]
    fixed = tcdp_audit.fix(table, policy, plugins=PLUGINS, keep_order=True)
    assert fixed.passed
    assert fixed.released["age"].to_pylist() == ["2", "2", "*", "*"]


def test_generalised_cells_count_as_the_middle_of_what_they_cover() -> None:
    table = pa.table({"age": ["[10, 20]", "17", "*", "60", "[60, 70)", ">=80"], "town": list("aaabbb")})
    result = microaggregated(table, policy_of({"age": "numeric", "town": "nominal"}, K2), k=3)
    assert result.column("age") == ["16", "16", "16", "68", "68", "68"]  # 205 / 3


def test_suppressed_labels_are_no_labels() -> None:
    table = pa.table({"age": [1, 1, 1, 9, 9, 9], "town": ["*", "*", "a", "*", "b", "c"]})
    assert microaggregated(table, policy_of({"age": "numeric", "town": "nominal"}, K2), k=3).column("town") == [
        *"aaa",
        *"bbb",
    ]


@pytest.mark.long
@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 10**6)), min_size=3, max_size=40), st.sampled_from([2, 3])
)
def test_unrounded_means_keep_sums(rows: list[tuple[int, int]], k: int) -> None:
    records = points([(row, ()) for row in rows])
    for clusters in (mdav(records, k), refined_clusters(records, k)):
        sizes = np.bincount(clusters)
        assert k <= sizes.min() <= sizes.max() < 2 * k
        for column in records.numbers.T:
            released = means(column, clusters, len(sizes))[clusters]
            assert released.sum() == pytest.approx(column.sum(), abs=1e-6)


def test_unrounded_means_keep_sums_in_the_release(data: Path) -> None:
    census = pyarrow.csv.read_csv(data / "casc" / "census.csv").select(["AGI", "FEDTAX"])
    policy = policy_of({"AGI": "numeric", "FEDTAX": "numeric"}, {"k_anonymity": {"k": 7}})
    result = microaggregated(census, policy, rounded=False)
    for name in ("AGI", "FEDTAX"):
        assert sum(result.column(name)) == pytest.approx(sum(census[name].to_pylist()), rel=1e-12)
    assert min(Counter(zip(result.column("AGI"), result.column("FEDTAX"), strict=True)).values()) >= 7


@pytest.mark.long
@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(["mdav", "refined"]), st.sampled_from(["merge", "first"]))
def test_the_order_of_the_records_decides_nothing(seed: int, method: str, closeness: str) -> None:
    random = np.random.default_rng(seed)
    rows = {"age": random.integers(0, 6, 30), "zip": np.array(["10", "11", "20", "21"])[random.integers(0, 4, 30)]}
    table = pa.table({**rows, "town": random.choice(["x", "y"], 30), "ill": random.choice(["p", "q"], 30)})
    attributes = {"age": "numeric", "zip": ZIPS, "town": "nominal", "ill": {"role": "sensitive"}}
    policy = policy_of(attributes, K2, {"t_closeness": {"t": 0.4, "attribute": "ill"}})
    one = microaggregated(table, policy, method=method, closeness=closeness)
    other = microaggregated(table.take(random.permutation(30)), policy, method=method, closeness=closeness)
    assert Counter(map(str, one.table.to_pylist())) == Counter(map(str, other.table.to_pylist()))
    assert one.notes == other.notes


def test_equal_values_have_exactly_their_own_mean() -> None:
    clusters = np.array([0, 0, 0, 1, 1, 2])
    values = np.array([0.1, 0.1, 0.1, 1.0, np.nan, np.nan])
    assert means(values, clusters, 3).tolist()[:2] == [0.1, 1.0]
    assert np.isnan(means(values, clusters, 3)[2])
    assert medians(np.array([3.0, 1.0, 2.0, 5.0, 4.0, np.nan]), clusters, 3).tolist()[:2] == [2.0, 4.0]


def test_some_attributes_only_where_the_others_do_not_vary() -> None:
    table = pa.table({"age": [1, 2, 8, 9], "town": ["a"] * 4, "sex": ["f", "m", "f", "m"]})
    policy = policy_of({"age": "numeric", "town": "nominal", "sex": "nominal"}, K2)
    with pytest.raises(RemedyError, match="'sex' varies and would not be aggregated"):
        microaggregated(table, policy, attributes=["age", "town"])
    result = microaggregated(table, policy, attributes=["age", "sex"])
    assert result.column("town") == ["a"] * 4
    assert result.audit().passed


def test_too_few_records() -> None:
    with pytest.raises(RemedyError, match="no cluster has k = 5 records, because the release has 3"):
        microaggregated(pa.table({"age": [1, 2, 3]}), policy_of({"age": "numeric"}, {"k_anonymity": {"k": 5}}))


def test_the_policy_says_k() -> None:
    table = pa.table({"age": list(range(12)), "ill": ["a", "b", "c"] * 4})
    attributes = {"age": "numeric", "ill": {"role": "sensitive"}}
    stricter = policy_of(attributes, K2, {"p_sensitive_k_anonymity": {"p": 1, "k": 4, "attribute": "ill"}})
    assert microaggregated(table, stricter).notes["k"] == 4
    assert microaggregated(table, stricter, k=3).notes["k"] == 3
    trivial = policy_of(attributes, {"k_anonymity": {"k": 1}})
    assert microaggregated(table, trivial).notes["smallest"] == 2
    silent = policy_of(attributes, {"distinct_l_diversity": {"l": 2}})
    with pytest.raises(RemedyError, match="demands no k"):
        microaggregated(table, silent)


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        ({}, "the policy demands no k of its classes"),
        ({"k": 2, "attributes": ["ill"]}, "'ill' is no quasi-identifier"),
        ({"k": 2, "closeness": "first"}, "the policy has 2 sensitive attributes"),
        ({"k": 2, "closeness": "first", "attribute": "age"}, "'age' is no sensitive attribute"),
        ({"k": 2, "attribute": "ill"}, "only `closeness: first` starts from"),
        ({"k": 1}, "greater than or equal to 2|at least 2"),
    ],
)
def test_faults_of_a_policy(parameters: dict[str, Any], fault: str) -> None:
    attributes = {"age": "numeric", "ill": {"role": "sensitive"}, "pay": {"role": "sensitive"}}
    document = policy_of(attributes, {"distinct_l_diversity": {"l": 2}}, remedy=[{"microaggregation": parameters}])
    with pytest.raises(PolicyError, match=fault):
        load_policy(document, PLUGINS)


def test_fix_plans_it_for_numbers_and_keeps_a_passing_release(data: Path) -> None:
    census = pyarrow.csv.read_csv(data / "casc" / "census.csv").select(["AGI", "FEDTAX", "FICA", "TAXINC"])
    attributes = {
        **dict.fromkeys(["AGI", "FEDTAX", "TAXINC"], "numeric"),
        "FICA": {"role": "sensitive", "scale": "numeric"},
    }
    expect = [{"k_anonymity": {"k": 4}}, {"t_closeness": {"t": 0.15, "distance": "ordered", "attribute": "FICA"}}]
    policy = policy_of(attributes, *expect)
    fixed = tcdp_audit.fix(census, policy, plugins=PLUGINS)
    assert fixed.passed
    named = policy_of(attributes, *expect, remedy=[{"microaggregation": {}}])
    again = tcdp_audit.fix(tcdp_audit.fix(census, named, plugins=PLUGINS).released, named, plugins=PLUGINS)
    assert again.passed
    assert not again.log.steps
