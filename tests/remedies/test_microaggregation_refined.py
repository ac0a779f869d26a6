"""Cuts of a path against all partitions, local search against its own promise, and both together against MDAV."""

from __future__ import annotations

from itertools import chain, pairwise, product
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest
from hypothesis import assume, given, strategies as st
from microaggregated import (
    Record,
    flat,
    least_loss,
    microaggregated,
    parts,
    plain_loss,
    points,
    policy_of,
    squared,
)

from tcdp_audit_plugins.remedies.microaggregation import refined
from tcdp_audit_plugins.remedies.microaggregation.exchange import (
    Members,
    Pricing,
    best_disjoint_pairs,
    exchange_records,
    nearest_others,
    sum_of_squares,
)
from tcdp_audit_plugins.remedies.microaggregation.points import LabelDistances, Points
from tcdp_audit_plugins.remedies.microaggregation.refined import cut, refined_clusters, tour, ward_path

MDAV = {3: 5.6922, 5: 9.0884, 10: 14.1559}
REACHED = {3: 5.0, 5: 7.8, 10: 12.3}  # 4.93, 7.69 and 12.14 where this was written

seeds = st.integers(0, 10**6)


def _records(seed: int, count: int, numbers: int = 2, labels: int = 1) -> list[Record]:
    random = np.random.default_rng(seed)
    drawn = random.normal(size=(count, numbers)).tolist()
    return [(tuple(row), tuple(random.integers(0, 3, labels).tolist())) for row in drawn]


def _of(records: list[Record]) -> Points:
    return points(records, [flat(3)] * len(records[0][1]))


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=8), st.integers(2, 3))
def test_a_single_attribute_is_aggregated_optimally(values: list[int], k: int) -> None:
    """Hansen, Mukherjee (2003): no partition into clusters of at least k has a smaller loss."""
    assume(len(values) >= k)
    records: list[Record] = [((float(one),), ()) for one in values]
    result = parts(refined_clusters(points(records), k))
    assert plain_loss(records, result) == pytest.approx(least_loss(records, k), abs=1e-9)


def test_a_single_attribute_by_hand() -> None:
    """Clusters 1 2, 8 9 9, 20 21: 0.5 + 2/3 + 0.5."""
    records: list[Record] = [((float(one),), ()) for one in (9, 1, 20, 8, 2, 21, 9)]
    result = refined_clusters(points(records), 2)
    assert parts(result) == {frozenset({1, 4}), frozenset({0, 3, 6}), frozenset({2, 5})}
    assert sum_of_squares(points(records), result) == pytest.approx(5 / 3)


@given(seeds, st.integers(2, 4), st.integers(0, 9))
def test_the_cut_of_a_path_is_the_best_of_all_cuts(seed: int, k: int, more: int) -> None:
    records = _records(seed, k + more)
    n = len(records)
    path = np.random.default_rng(seed).permutation(n)
    result = cut(_of(records), path, k)
    losses = []
    for ends in product((False, True), repeat=n - 1):
        bounds = [0, *(i + 1 for i, end in enumerate(ends) if end), n]
        runs = [frozenset(path[a:b].tolist()) for a, b in pairwise(bounds)]
        if min(map(len, runs)) >= k:
            losses.append(plain_loss(records, set(runs)))
    assert plain_loss(records, parts(result)) == pytest.approx(min(losses), abs=1e-9)
    assert {len(one) for one in parts(result)} <= set(range(k, 2 * k))


@given(seeds, st.integers(2, 4), st.integers(5, 30))
def test_local_search_never_loses_and_keeps_sizes(seed: int, k: int, count: int) -> None:
    records = _records(seed, max(count, k))
    before = cut(_of(records), np.arange(len(records)), k)
    after = exchange_records(_of(records), before, k)
    assert plain_loss(records, parts(after)) <= plain_loss(records, parts(before)) + 1e-9
    assert {len(one) for one in parts(after)} <= set(range(k, 2 * k))


@given(seeds, st.integers(2, 4), st.integers(8, 24), st.booleans())
def test_a_gain_is_what_the_move_lessens_the_loss_by(seed: int, k: int, count: int, kinds: bool) -> None:
    records = _records(seed, max(count, 2 * k))
    before = cut(_of(records), np.random.default_rng(seed).permutation(len(records)), k)
    members = Members(_of(records), before, 2 * k - 1)
    kind = np.arange(len(records)) % 2
    pricing = Pricing(members, np.array([[0, 1]]), k, kind if kinds else None)
    pricing.look(np.array([0]))
    best = _best_move(records, before.tolist(), k, kind.tolist() if kinds else [0] * len(records), give=not kinds)
    assert float(pricing.gain[0]) == pytest.approx(max(best, 0), abs=1e-9)
    if pricing.gain[0] > 0:
        pricing.make(np.array([0]))
        lessened = plain_loss(records, parts(before)) - plain_loss(records, parts(members.clusters))
        assert float(pricing.gain[0]) == pytest.approx(lessened, abs=1e-9)
        assert members.loss == pytest.approx(sum_of_squares(_of(records), members.clusters))


def _best_move(records: list[Record], clusters: list[int], k: int, kinds: list[int], *, give: bool) -> float:
    """What the best exchange or gift between clusters 0 and 1 gains, by trying all."""
    inside = [[i for i, one in enumerate(clusters) if one == c] for c in (0, 1)]
    start = plain_loss(records, {frozenset(inside[0]), frozenset(inside[1])})
    after = [
        [[*(i for i in inside[0] if i != a), b], [*(i for i in inside[1] if i != b), a]]
        for a, b in product(*inside)
        if kinds[a] == kinds[b]
    ]
    for one, other in ((0, 1), (1, 0)) if give else ():
        if len(inside[one]) > k and len(inside[other]) < 2 * k - 1:
            after += [[[i for i in inside[one] if i != a], [*inside[other], a]] for a in inside[one]]
    return max((start - plain_loss(records, {frozenset(one), frozenset(other)}) for one, other in after), default=0.0)


def test_moves_side_by_side_share_no_cluster() -> None:
    pairs = np.array([[0, 1], [1, 2], [2, 3], [4, 5], [0, 5]])
    gains = np.array([3.0, 4.0, 4.0, 1.0, 0.0])
    assert best_disjoint_pairs(pairs, gains, 6).tolist() == [1, 3]


def test_the_nearest_others_are_by_distance_or_by_loss_of_a_merger() -> None:
    middle = points([((float(one),), ()) for one in (0, 1, 3, 10)])
    near, squares = nearest_others(middle, np.array([0, 3]))
    assert [dict(zip(a, b, strict=True)) for a, b in zip(near.tolist(), squares.tolist(), strict=True)] == [
        {1: 1.0, 2: 9.0, 3: 100.0},
        {0: 100.0, 1: 81.0, 2: 49.0},
    ]
    near, losses = nearest_others(middle, np.array([0]), np.array([2.0, 6.0, 2.0, 2.0]))
    assert dict(zip(near[0].tolist(), losses[0].tolist(), strict=True)) == {1: 1.5, 2: 9.0, 3: 100.0}


@given(seeds, st.integers(2, 40), st.integers(2, 4))
def test_a_tour_leads_through_one_cluster_after_the_other(seed: int, count: int, k: int) -> None:
    records = _records(seed, max(count, k))
    clusters = cut(_of(records), np.arange(len(records)), k)
    path = tour(_of(records), clusters)
    assert sorted(path.tolist()) == list(range(len(records)))
    assert np.count_nonzero(np.diff(clusters[path])) == clusters.max()
    again = cut(_of(records), path, k)
    assert plain_loss(records, parts(again)) <= plain_loss(records, parts(clusters)) + 1e-9


def test_many_records_are_halved_into_cells_before_ward(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refined, "CELL", 20)
    records = _records(3, 130)
    path = ward_path(_of(records)).tolist()
    assert sorted(path) == list(range(130))
    steps = [squared(records[a], records[b]) for a, b in pairwise(path)]
    anyhow = [squared(records[a], records[b]) for a, b in pairwise(range(130))]
    assert sum(steps) < sum(anyhow) / 2


def test_distances_by_a_hierarchy() -> None:
    """Labels a, b under one node, c under another, height 2; d is missing."""
    distances_of_labels = LabelDistances(np.array([[0, 1, 2, 3], [0, 0, 1, 2]]))
    apart_by = [[0.0, 0.25, 1.0, 1.0], [0.25, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0]]
    assert [distances_of_labels.squared_from(label).tolist() for label in range(4)] == apart_by
    one, other = np.divmod(np.arange(16), 4)
    assert distances_of_labels.squared(one, other).tolist() == list(chain(*apart_by))
    everyone = points([((), (label,)) for label in range(4)], [distances_of_labels])
    assert everyone.blocks(np.arange(4)[None], everyone, np.arange(4)[None])[0].tolist() == apart_by
    assert everyone.centroids(np.array([0, 0, 0, 1]), 2).labels[0].tolist() == [0, 3]


@pytest.mark.parametrize("k", MDAV)
def test_it_loses_less_than_mdav_on_census(data: Path, k: int) -> None:
    census = pyarrow.csv.read_csv(data / "casc" / "census.csv")
    policy = policy_of(dict.fromkeys(census.column_names, "numeric"), {"k_anonymity": {"k": k}})
    result = microaggregated(census, policy)
    assert result.notes["information_loss"] < REACHED[k] < MDAV[k]
    assert result.notes["smallest"] >= k
    assert result.notes["largest"] <= 2 * k - 1
    assert result.audit().passed
