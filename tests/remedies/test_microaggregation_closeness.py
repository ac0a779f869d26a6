"""Clusters that keep more than k: merged until they do, or built from quantiles of the confidential attribute."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings, strategies as st
from microaggregated import PLUGINS, flat, microaggregated, parts, plain_loss, points, policy_of

import tcdp_audit
from tcdp_audit import load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit_plugins.remedies.microaggregation.merging import (
    ClusterDemands,
    Quantiles,
    halve_where_satisfied,
    merge_failing,
    places,
    smallest_size,
)

KNOWN = ["age", "education", "marital-status", "race", "sex", "native-country", "workclass"]


@pytest.fixture(scope="module")
def adult(data: Path) -> pa.Table:
    return pyarrow.csv.read_csv(data / "adult" / "adult_subset.csv")


def _policy(data: Path, *expect: Any) -> dict[str, Any]:
    attributes: dict[str, Any] = dict.fromkeys(KNOWN, "nominal") | {"age": "numeric"}
    hierarchy = str(data / "adult" / "hierarchies" / "occupation.csv")
    attributes["occupation"] = {"role": "sensitive", "scale": "nominal", "hierarchy": hierarchy}
    attributes["salary-class"] = {"role": "insensitive"}
    return policy_of(attributes, {"k_anonymity": {"k": 5}}, *expect)


@pytest.mark.parametrize("closeness", ["merge", "first"])
@pytest.mark.parametrize(
    "expect",
    [
        [{"t_closeness": {"t": 0.3}}],
        [{"entropy_l_diversity": {"l": 3}}, {"t_closeness": {"t": 0.2, "distance": "hierarchical"}}],
    ],
    ids=["equal", "hierarchical"],
)
def test_adult_keeps_its_policy(adult: pa.Table, data: Path, closeness: str, expect: list[Any]) -> None:
    result = microaggregated(adult, _policy(data, *expect), method="mdav", closeness=closeness)
    audit = result.audit()
    assert audit.passed
    assert [one.status.value for one in audit.expectations] == ["passed"] * (1 + len(expect))
    assert result.column("occupation") == adult["occupation"].to_pylist()
    assert result.notes["clusters"] >= 80
    assert ("quantiles" in result.notes) == (closeness == "first")


def test_each_way_is_better_where_the_guide_says(data: Path) -> None:
    """Few clusters fail at t = 0.3, nearly all at t = 0.05."""
    census = pyarrow.csv.read_csv(data / "casc" / "census.csv")
    attributes: dict[str, Any] = dict.fromkeys(census.column_names, "numeric")
    attributes["FICA"] = {"role": "sensitive", "scale": "numeric"}

    def loss(t: float, closeness: str) -> float:
        close = {"t_closeness": {"t": t, "distance": "ordered", "attribute": "FICA"}}
        result = microaggregated(census, policy_of(attributes, {"k_anonymity": {"k": 5}}, close), closeness=closeness)
        assert result.audit().passed
        return float(result.notes["information_loss"])

    assert loss(0.3, "merge") < loss(0.3, "first")
    assert loss(0.05, "first") < loss(0.05, "merge") < 80


def test_without_it_only_k_is_retained(adult: pa.Table, data: Path) -> None:
    result = microaggregated(adult, _policy(data, {"t_closeness": {"t": 0.3}}), method="mdav", closeness="none")
    outcomes = {one.check: one.status.value for one in result.audit().expectations}
    assert outcomes == {"k_anonymity": "passed", "t_closeness": "failed"}


def test_what_no_clusters_keep_is_refused_by_name() -> None:
    table = pa.table({"age": list(range(8)), "ill": ["a"] * 7 + ["b"]})
    policy = policy_of(
        {"age": "numeric", "ill": {"role": "sensitive"}},
        {"k_anonymity": {"k": 2}},
        {"distinct_l_diversity": {"l": 3}},
    )
    with pytest.raises(RemedyError, match="Distinct l-diversity would fail even if all records were one class"):
        microaggregated(table, policy)
    step = tcdp_audit.fix(table, {**policy, "remedy": [{"microaggregation": {}}]}, plugins=PLUGINS).log.tried[0]
    assert step.error is not None
    assert step.error.endswith("Attainable by that class: Distinct l-diversity of 'ill' 2, where >= 3 is demanded")


def test_an_entity_counts_once() -> None:
    """Two records of each of six persons: clusters of two records would be one person's."""
    table = pa.table({"age": [10, 10, 11, 11, 12, 12, 60, 60, 61, 61, 62, 62], "person": [*"aabbccddeeff"]})
    attributes = {"age": "numeric", "person": {"role": "insensitive"}}
    more = {"unit": "person", "conventions": {"known_rows": "one"}}
    result = microaggregated(table, policy_of(attributes, {"k_anonymity": {"k": 3}}, **more))
    assert result.column("age") == [11] * 6 + [61] * 6
    assert result.audit().passed


def _demands_of(sensitive: list[str], *expect: Any) -> ClusterDemands:
    """A judge of records that all have the same key."""
    table = pa.table({"key": ["x"] * len(sensitive), "ill": sensitive})
    policy = policy_of({"key": "nominal", "ill": {"role": "sensitive"}}, *expect)
    with open_engine(table, 2**28) as engine:
        view = RemedyView(Release(engine, load_policy(policy, PLUGINS)), (), 0, lambda _: ())
        demands = view.demands
        assert demands  # read while the table is open
    return ClusterDemands(demands, np.arange(len(sensitive)))


def _is_close(members: frozenset[int], ill: list[str], t: Fraction) -> bool:
    here, everywhere = Counter(ill[i] for i in members), Counter(ill)
    apart = [abs(Fraction(here[one], len(members)) - Fraction(n, len(ill))) for one, n in everywhere.items()]
    return sum(apart) / 2 <= t


@pytest.mark.long
@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_merged_and_halved_clusters_keep_what_is_demanded(seed: int) -> None:
    """And mergers are of whole clusters, halving never loses."""
    random = np.random.default_rng(seed)
    ill, t = random.choice(["p", "q", "r"], 24, p=[0.5, 0.3, 0.2]).tolist(), Fraction(1, 4)
    records = [((float(x), float(y)), ()) for x, y in random.normal(size=(24, 2))]
    judge = _judge_of(ill)
    start = np.arange(24) // 3
    coarse = merge_failing(points(records), start, judge)
    fine = halve_where_satisfied(points(records), coarse, 3, np.unique(ill, return_inverse=True)[1], judge)
    for clusters in (coarse, fine):
        assert all(_is_close(members, ill, t) for members in parts(clusters))
    assert all(any(one <= other for other in parts(coarse)) for one in parts(start))
    assert all(any(one <= other for other in parts(coarse)) for one in parts(fine))
    assert plain_loss(records, parts(fine)) <= plain_loss(records, parts(coarse)) + 1e-9
    assert min(len(one) for one in parts(fine)) >= 3


def _judge_of(ill: list[str]) -> ClusterDemands:
    return _demands_of(ill, {"t_closeness": {"t": "1/4", "attribute": "ill"}})


def test_unions_are_judged_as_one_cluster() -> None:
    judge = _demands_of([*"aabbab"], {"distinct_l_diversity": {"l": 2}})
    clusters = np.array([0, 0, 1, 1, 2, 2])
    assert judge.satisfied(clusters, 3).tolist() == [False, False, True]
    assert judge.unions_satisfied(clusters, 3, np.array([[0, 1], [0, 2], [1, 0]])).tolist() == [True, True, True]
    judge = _demands_of([*"aaaaab"], {"distinct_l_diversity": {"l": 2}})
    assert judge.unions_satisfied(clusters, 3, np.array([[0, 1], [1, 2]])).tolist() == [False, True]


@pytest.mark.long
@given(st.integers(4, 60), st.integers(2, 8), st.integers(0, 10**6))
def test_clusters_take_one_record_of_every_quantile(count: int, size: int, seed: int) -> None:
    size = min(size, count)
    random = np.random.default_rng(seed)
    values = random.integers(0, 10, count)
    quantiles = Quantiles(values, size)
    order = np.argsort(values, kind="stable")
    bounds = np.arange(size + 1) * count // size
    quantile = np.empty(count, dtype=int)
    for number, (low, high) in enumerate(pairwise(bounds)):
        quantile[order[low:high]] = number
    records = points(
        [((float(x),), (int(c),)) for x, c in zip(random.normal(size=count), values % 3, strict=True)], [flat(3)]
    )
    for clusters in (
        quantiles.cluster(records, exchange=False),
        quantiles.cluster(records, exchange=True),
        quantiles.drawn(random),
    ):
        assert len(parts(clusters)) == count // size
        regular = np.setdiff1d(np.arange(count), quantiles.surplus)
        assert len(quantiles.surplus) == count % size
        for members in parts(clusters):
            assert sorted(quantile[i] for i in members if i in regular) == list(range(size))


def test_the_fewest_quantiles_that_suffice() -> None:
    """Half a, half b: two quantiles make every cluster like the table, whatever is drawn."""
    ill = [*"ab" * 20]
    judge = _judge_of(ill)
    values = np.array([one == "b" for one in ill], dtype=np.int64)
    assert smallest_size(values, 2, judge, lambda: np.random.default_rng(0)) == 2
    assert smallest_size(values, 3, judge, lambda: np.random.default_rng(0)) == 3
    strict = _demands_of(ill, {"t_closeness": {"t": 0, "attribute": "ill"}})
    assert smallest_size(values, 3, strict, lambda: np.random.default_rng(0)) == 4


def test_labels_of_one_node_are_neighbours_in_the_confidential_order() -> None:
    tree = {"*": {"heart": ["d", "a"], "lung": ["c", "b"]}}
    table = pa.table({"key": ["x"] * 5, "ill": ["a", "b", "c", "d", None]})
    policy = policy_of({"key": "nominal", "ill": {"role": "sensitive", "hierarchy": tree}}, {"k_anonymity": {"k": 2}})
    with open_engine(table, 2**28) as engine:
        view = RemedyView(Release(engine, load_policy(policy, PLUGINS)), (), 0, lambda _: ())
        a, b, c, d, missing = places(view.sensitive, np.arange(5)).tolist()
    assert abs(a - d) == abs(b - c) == 1
    assert missing == 4
    assert places([], np.arange(3)).tolist() == [0, 0, 0]
