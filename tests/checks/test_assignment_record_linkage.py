"""Linkage by optimal assignment: against all assignments of small tables, and order of rows plays no part."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st

import tcdp_audit
from tcdp_audit.core.base.outcome import Outcome, Status


def assigned(released: pd.DataFrame, original: pd.DataFrame, scale: str = "numeric", **parameters: Any) -> Outcome:
    attributes: dict[str, Any] = {
        name: {"role": "quasi_identifier", "scale": scale} for name in released if name != "id"
    }
    attributes["id"] = {"role": "insensitive"}
    expect = [{"assignment_record_linkage": parameters}]
    policy = {"version": 1, "key": "id", "attributes": attributes, "expect": expect}
    (outcome,) = tcdp_audit.audit(released, policy, original).expectations
    return outcome


def keyed(values: list[int]) -> pd.DataFrame:
    return pd.DataFrame({"v": values, "id": range(len(values))})


ORIGINAL, RELEASED = keyed([1, 2, 3, 10, 11, 12]), keyed([2, 2, 2, 11, 11, 11])


@pytest.mark.parametrize("seed", range(5))
def test_six_values_give_a_third_in_any_order_of_rows(seed: int):
    outcome = assigned(RELEASED.sample(frac=1, random_state=seed), ORIGINAL.sample(frac=1, random_state=seed + 9))
    assert outcome.details["expected_correct"] == 2
    assert outcome.details["lowest"] == outcome.details["highest"] == Fraction(1, 3)


def test_the_threshold_is_compared_exactly():
    assert assigned(RELEASED, ORIGINAL, at_most="1/3").status is Status.PASSED
    failed = assigned(RELEASED, ORIGINAL, at_most="3333333333333333/10000000000000000")
    assert failed.status is Status.FAILED
    assert failed.message.startswith("The best one-to-one assignment by 'v' finds the right person for 2 of 6 records")


def best_shares(released: list[int], original: list[int]) -> tuple[Fraction, Fraction]:
    """Lowest and highest mean credit over optimal assignments, by trying every one of them.

    Assignments that differ only in which of identical records goes where are one, and their credit is averaged.
    """
    together = [
        sum(a != original[j] for a, j in zip(released, order, strict=True))
        for order in permutations(range(len(original)))
    ]
    flows: dict[Any, list[int]] = {}
    for cost, order in zip(together, permutations(range(len(original))), strict=True):
        if cost == min(together):
            flow = tuple(sorted((a, original[j]) for a, j in zip(released, order, strict=True)))
            flows.setdefault(flow, []).append(sum(i == j for i, j in enumerate(order)))
    shares = [Fraction(sum(correct), len(correct) * len(released)) for correct in flows.values()]
    return min(shares), max(shares)


@pytest.mark.long
@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6),
    st.randoms(use_true_random=False),
)
def test_the_share_is_that_of_optimal_assignments(table: list[tuple[int, int]], random: Any):
    released, original = [[row[side] for row in table] for side in (0, 1)]
    assume(min(len(set(released)), len(set(original))) > 1)
    frames = [keyed(released), keyed(original)]
    outcome = assigned(*frames, scale="nominal")
    low, high = best_shares(released, original)
    assert (outcome.details["lowest"], outcome.details["highest"]) == (low, high)
    assert outcome.details["expected_correct"] == high * len(table)
    assert low <= outcome.details["mean"] <= high
    shuffled = [frame.iloc[random.sample(range(len(frame)), len(frame))] for frame in frames]
    assert assigned(*shuffled, scale="nominal") == outcome


TWO = (
    pd.DataFrame({"a": [24, 20], "b": [13, 12], "id": [0, 1]}),
    pd.DataFrame({"a": [22, 20], "b": [11, 12], "id": [0, 1]}),
)


@pytest.mark.parametrize("seed", [0, 5])
def test_a_demand_holds_for_every_optimal_assignment(seed: int):
    """Both ways are as near: one is right about both, the other about nobody."""
    outcome = assigned(*TWO, at_most="1/4", seed=seed)
    assert (outcome.observed, outcome.status) == (1, Status.FAILED)
    assert (outcome.details["lowest"], outcome.details["highest"]) == (0, 1)


def test_several_optima_have_the_same_ends_by_any_seed():
    rows = [[0, 0], [0, 1], [1, 0], [1, 1], [0, 2], [2, 0], [2, 2]]
    original = pd.DataFrame(rows, columns=["a", "b"]).assign(id=range(7))
    released = pd.DataFrame(rows[1:] + rows[:1], columns=["b", "a"]).assign(id=range(7))
    every = [assigned(released, original, scale="nominal", seed=seed).details for seed in range(8)]
    assert len({(one["lowest"], one["highest"]) for one in every}) == 1


def test_it_links_more_of_swapped_ranks_than_the_nearest_neighbour(data: Path):
    original = pd.read_csv(data / "casc/census.csv").assign(id=range(1080))
    released = pd.read_csv(data / "casc/census_masked/rankswap_P15.csv").assign(id=range(1080))
    outcome = assigned(released, original)
    assert outcome.observed > 431 / 1080
    assert assigned(released.sample(frac=1, random_state=0), original.sample(frac=1, random_state=1)) == outcome


def test_suppressed_records_leave_the_others_to_be_linked():
    outcome = assigned(RELEASED.iloc[[0, 4]], ORIGINAL)
    assert outcome.details["originals_not_released"] == 4
    assert outcome.details["random_baseline"] == Fraction(1, 6)
    assert outcome.records is not None
    assert outcome.records.total == 2


def test_beyond_the_limit_it_is_an_error_that_names_it():
    outcome = assigned(RELEASED, ORIGINAL, limit=5)
    assert outcome.status is Status.ERROR
    assert outcome.message == (
        "an optimal assignment of 6 records is beyond the limit of 5; raise `limit`, or use distance_record_linkage, "
        "which has none"
    )
