"""Data shuffling: columns keep their values, correlations stay, and a record's own values are told by nothing."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings, strategies as st
from masked import PLUGINS, masked, paired_policy

from tcdp_audit import PolicyError, fix, load_policy
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit_plugins.remedies._shared.masking import correlations
from tcdp_audit_plugins.remedies.data_shuffling import new_scores, scores


@settings(max_examples=30)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_a_score_is_that_of_the_mean_rank(values: list[int]) -> None:
    ordered, n = sorted(values), len(values)
    ranks = [ordered.index(one) + 1 + (ordered.count(one) - 1) / 2 for one in values]
    expected = [NormalDist().inv_cdf(rank / (n + 1)) for rank in ranks]
    assert scores(np.array(values, dtype=float)) == pytest.approx(expected, abs=1e-9)


def drawn(proximity: float, n: int = 20_000) -> tuple[Any, Any, Any]:
    """Two related attributes, one that stays, and the two drawn anew."""
    random = np.random.default_rng(6)
    stays = random.standard_normal((n, 1))
    own = 0.6 * stays + random.standard_normal((n, 2)) @ np.array([[1.0, 0.5], [0.0, 0.7]])
    own = (own - own.mean(axis=0)) / own.std(axis=0)
    return own, stays, new_scores(own, stays, proximity, random)


@pytest.mark.parametrize("proximity", [0.0, 0.5, 0.9])
def test_correlations_stay_whatever_the_proximity(proximity: float) -> None:
    own, stays, new = drawn(proximity)
    before, after = correlations(np.hstack([own, stays])), correlations(np.hstack([new, stays]))
    assert after == pytest.approx(before, abs=0.03)
    own_again = np.array([np.corrcoef(own[:, one], new[:, one])[0, 1] for one in range(2)])
    reported = before[:2, 2] ** 2
    assert own_again == pytest.approx(reported + proximity * (1 - reported), abs=0.03)


def test_without_proximity_the_new_scores_tell_no_more_than_what_stays() -> None:
    own, stays, new = drawn(0.0)
    for column in range(2):
        left = [x - np.polyval(np.polyfit(stays[:, 0], x, 1), stays[:, 0]) for x in (own[:, column], new[:, column])]
        assert np.corrcoef(*left)[0, 1] == pytest.approx(0, abs=0.03)


def test_an_attribute_that_does_not_vary_is_no_obstacle() -> None:
    own = np.column_stack([np.zeros(50), np.arange(50.0)])
    assert np.isfinite(new_scores(own, np.zeros((50, 1)), 0.3, np.random.default_rng(1))).all()


AGES = {"age": {"role": "quasi_identifier", "scale": "numeric"}, "wage": {"role": "sensitive", "scale": "numeric"}}


@settings(max_examples=3)
@given(
    st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 9)), st.integers(0, 9)), min_size=4, max_size=30),
    st.sampled_from([Fraction(0), Fraction(1, 2)]),
)
def test_columns_keep_their_values_and_missing_cells_their_place(rows: list[Any], proximity: Fraction) -> None:
    ages, wages = ([row[column] for row in rows] for column in range(2))
    table = pa.table({"age": pa.array(ages, pa.int64()), "wage": pa.array(wages, pa.int64())})
    done = masked(table, AGES, "data_shuffling", proximity=proximity)
    assert done.column("wage") == wages
    assert [one is None for one in done.column("age")] == [one is None for one in ages]
    assert sorted(x for x in done.column("age") if x is not None) == sorted(x for x in ages if x is not None)
    assert done.notes["changed"] == sum(a != b for a, b in zip(ages, done.column("age"), strict=True))
    assert done.notes["given"] == 1


def test_the_seed_decides_and_the_order_of_records_does_not_matter() -> None:
    random = np.random.default_rng(4)
    table = pa.table({"age": random.integers(0, 9, 40), "wage": random.integers(0, 50, 40)})
    order = random.permutation(40)
    one, again, other = (masked(table, AGES, "data_shuffling", proximity=0, seed=seed).table for seed in (1, 1, 2))
    assert one.equals(again)
    assert not one.equals(other)
    shuffled = masked(table.take(order), AGES, "data_shuffling", proximity=0, seed=1).table
    keys = [("age", "ascending"), ("wage", "ascending")]
    assert one.sort_by(keys).equals(shuffled.sort_by(keys))


def test_what_stays_can_be_named() -> None:
    table = pa.table({"age": list(range(40)), "wage": list(range(40))})
    related = masked(table, AGES, "data_shuffling", proximity=0, given=["wage"])
    assert related.column("age") == list(range(40))  # the wage tells all of the age
    swapped = masked(table, AGES, "data_shuffling", proximity=0, attributes=["wage"])
    assert swapped.column("age") == list(range(40))


@pytest.mark.parametrize(
    ("table", "parameters", "sentence"),
    [
        ({"age": [1, 2], "wage": [1, 2]}, {"proximity": 0}, "at least 3 records, and the release has 2"),
        ({"age": [1, 2, 3], "wage": [1, 2, 3]}, {}, "compare the release with its original"),
    ],
)
def test_what_cannot_be_done_is_refused(table: dict[str, Any], parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RemedyError, match=sentence):
        masked(pa.table(table), AGES, "data_shuffling", **parameters)


def test_no_attribute_is_shuffled_and_stays() -> None:
    parameters = {"attributes": ["age"], "given": ["age"]}
    policy = paired_policy(AGES, {"exact_match_rate": {"at_most": 0}}, remedy=[{"data_shuffling": parameters}])
    with pytest.raises(PolicyError, match="'age' is shuffled, so that it cannot stay"):
        load_policy(policy, PLUGINS)


def test_census_keeps_correlations_and_meets_both_demands(data: Path) -> None:
    census = pyarrow.csv.read_csv(data / "casc" / "census.csv")
    attributes = {name: {"role": "quasi_identifier", "scale": "numeric"} for name in census.column_names}
    demands = [
        {"distance_record_linkage": {"at_most": 0.1}},
        {"rank_interval_disclosure": {"p": 10, "at_most": 0.2}},
    ]
    policy = paired_policy(attributes, *demands, remedy=[{"data_shuffling": {}}], seed=7)
    done = fix(census, policy, census, plugins=PLUGINS)
    assert done.passed
    assert done.log.loss["correlation_change"]["value"] < 0.06
    assert 0 < done.log.steps[0].notes["proximity"] < 0.9
