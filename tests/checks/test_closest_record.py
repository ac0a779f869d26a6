"""How close released records come to originals: against plain Python, with and without a hold-out, without a key."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, dist
from pathlib import Path
from statistics import stdev
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st

import tcdp_audit
from tcdp_audit.outcome import Outcome, Status

CHECKS = ("exact_match_rate", "distance_to_closest_record", "nearest_neighbour_distance_ratio")


def asked(
    check: str,
    released: pd.DataFrame,
    original: pd.DataFrame | None,
    holdout: Path | None = None,
    **parameters: Any,
) -> Outcome:
    attributes = {
        name: {
            "role": "quasi_identifier",
            "scale": "numeric" if released[name].dtype.kind in "if" else "nominal",
        }
        for name in released
    }
    policy = {"version": 1, "attributes": attributes, "expect": [{check: parameters}]}
    if holdout is not None:
        policy["holdout"] = str(holdout)
    (outcome,) = tcdp_audit.audit(released, policy, original).expectations
    return outcome


ORIGINAL = pd.DataFrame({"v": [0, 1, 2, 3, 10], "c": ["a", "a", "b", "b", "b"]})


def test_copies_are_counted():
    released = pd.DataFrame({"v": [0, 0, 2, 5], "c": ["a", "b", "b", "b"]})
    outcome = asked("exact_match_rate", released, ORIGINAL, at_most="1/2")
    assert outcome.status is Status.PASSED
    assert outcome.observed == 0.5
    assert outcome.details["matches"] == outcome.details["matches_of_unique_originals"] == 2
    failed = asked("exact_match_rate", released, ORIGINAL, at_most=0.4999999999999999)
    assert failed.status is Status.FAILED
    assert (
        failed.message
        == "2 of 4 released records (50%) equal an original record; at most 49.99999999999999% is allowed."
    )


def test_distances_are_in_standard_deviations_of_the_original():
    released = pd.DataFrame({"v": [5], "c": ["a"]})
    sd = stdev(ORIGINAL["v"])
    to_one_in_a, to_three_in_b = 4 / sd, (1 + (2 / sd) ** 2) ** 0.5
    distance = asked("distance_to_closest_record", released, ORIGINAL)
    assert distance.observed == pytest.approx(to_one_in_a)
    assert distance.observed == pytest.approx(1.0095, abs=1e-4)
    ratio = asked("nearest_neighbour_distance_ratio", released, ORIGINAL)
    assert ratio.observed == pytest.approx(to_one_in_a / to_three_in_b)


def plainly(released: list[tuple[int, int]], original: list[tuple[int, int]]) -> tuple[Fraction, float, float]:
    """Match rate and 5th percentiles of distance and ratio, one pair at a time."""
    deviations = [stdev(column) for column in zip(*original, strict=True)]
    pairs = []
    for record in released:
        scaled = [tuple(v / s for v, s in zip(one, deviations, strict=True)) for one in (record, *original)]
        first, second = sorted(dist(scaled[0], other) for other in scaled[1:])[:2]
        pairs.append((first, first / second if second - first > 1e-12 else 1.0))
    fifth = ceil(len(released) / 20) - 1
    rate = Fraction(sum(record in original for record in released), len(released))
    return rate, sorted(one for one, _ in pairs)[fifth], sorted(ratio for _, ratio in pairs)[fifth]


points = st.tuples(st.integers(0, 6), st.integers(0, 6))


@settings(max_examples=40, deadline=None)
@given(st.lists(points, min_size=1, max_size=30), st.lists(points, min_size=3, max_size=30))
def test_figures_are_those_of_plain_python(released: list[tuple[int, int]], original: list[tuple[int, int]]):
    assume(min(len(set(column)) for column in zip(*original, strict=True)) > 1)
    frames = [pd.DataFrame(rows, columns=["x", "y"]) for rows in (released, original)]
    rate, distance, ratio = plainly(released, original)
    found = [asked(check, *frames).observed for check in CHECKS]
    assert found[0] == float(rate)
    assert found[1:] == pytest.approx([distance, ratio], abs=1e-9)


PEOPLE = pd.DataFrame(np.random.default_rng(0).normal(size=(900, 7)), columns=list("abcdefg")).round(2)
TAUGHT, STRANGERS = PEOPLE[:400], PEOPLE[400:800]
REMEMBERED = pd.concat([TAUGHT[:40], PEOPLE[800:]])


@pytest.fixture
def holdout(tmp_path: Path) -> Path:
    STRANGERS.to_csv(tmp_path / "holdout.csv", index=False)
    return tmp_path / "holdout.csv"


@pytest.mark.parametrize("check", CHECKS)
def test_order_of_rows_plays_no_part(holdout: Path, check: str):
    shuffled = REMEMBERED.sample(frac=1, random_state=2), TAUGHT.sample(frac=1, random_state=3)
    assert asked(check, *shuffled, holdout) == asked(check, REMEMBERED, TAUGHT, holdout)


def test_matches_with_a_holdout_stand_beside_those_with_the_original(holdout: Path):
    outcome = asked("exact_match_rate", REMEMBERED, TAUGHT, holdout)
    assert (outcome.observed, outcome.details["holdout_rate"]) == (pytest.approx(2 / 7), 0)


@pytest.mark.parametrize("check", CHECKS[1:])
def test_distances_to_a_holdout_stand_beside_those_to_the_original(holdout: Path, check: str):
    outcome = asked(check, REMEMBERED, TAUGHT, holdout)
    assert outcome.observed == 0
    assert outcome.details["holdout"]["percentile_5"] > 0.3
    assert outcome.details["holdout"]["records"] == 400
    same = asked(check, REMEMBERED, STRANGERS)
    assert same.observed == pytest.approx(outcome.details["holdout"]["percentile_5"], rel=0.1)
    honest = asked(check, PEOPLE[800:], TAUGHT, holdout)
    assert honest.observed == pytest.approx(honest.details["holdout"]["percentile_5"], rel=0.15)


def test_two_copies_in_the_original_single_out_nobody():
    original = pd.DataFrame({"v": [1, 1, 5, 9]})
    assert asked("nearest_neighbour_distance_ratio", pd.DataFrame({"v": [1]}), original).observed == 1
    assert asked("nearest_neighbour_distance_ratio", pd.DataFrame({"v": [5]}), original).observed == 0


@pytest.mark.parametrize("check", CHECKS)
def test_no_original_is_an_error(check: str):
    outcome = asked(check, ORIGINAL, None)
    assert outcome.status is Status.ERROR
    assert "no original is given" in outcome.message


def test_a_constant_original_is_an_error():
    outcome = asked("distance_to_closest_record", pd.DataFrame({"v": [1, 2]}), pd.DataFrame({"v": [3, 3]}))
    assert outcome.status is Status.ERROR
    assert "nothing to compare by" in outcome.message
