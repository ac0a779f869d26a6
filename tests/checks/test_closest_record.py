"""How close released records come to originals: against plain Python, with and without a hold-out, without a key."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, dist
from pathlib import Path
from statistics import stdev

import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st
from synthetic_tables import ORIGINAL, PEOPLE, REMEMBERED, STRANGERS, TAUGHT, asked

from tcdp_audit.core.base.outcome import Status

CHECKS = ("exact_match_rate", "distance_to_closest_record", "nearest_neighbour_distance_ratio")


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


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(st.lists(points, min_size=1, max_size=30), st.lists(points, min_size=3, max_size=30))
def test_figures_are_those_of_plain_python(released: list[tuple[int, int]], original: list[tuple[int, int]]):
    assume(min(len(set(column)) for column in zip(*original, strict=True)) > 1)
    frames = [pd.DataFrame(rows, columns=["x", "y"]) for rows in (released, original)]
    rate, distance, ratio = plainly(released, original)
    actual = [asked(check, *frames).observed for check in CHECKS]
    assert actual[0] == float(rate)
    assert actual[1:] == pytest.approx([distance, ratio], abs=1e-9)


@pytest.mark.parametrize("check", CHECKS)
def test_order_of_rows_plays_no_part(holdout: Path, check: str):
    shuffled = REMEMBERED.sample(frac=1, random_state=2), TAUGHT.sample(frac=1, random_state=3)
    assert asked(check, *shuffled, holdout) == asked(check, REMEMBERED, TAUGHT, holdout)


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


def test_two_copies_in_the_original_single_out_no_one():
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
