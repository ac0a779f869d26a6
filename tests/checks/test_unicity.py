"""Unicity: printed figures by hand, on generated and on real tables, plain Python over every choice, and draws."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from history_tables import T1, Row, Table, f1, inst_eval, outcome_of, pbcseq, plain_unicity, synthetic
from hypothesis import assume, given, strategies as st
from test_known_events import age_band, tables

from tcdp_audit import PolicyError, Status
from tcdp_audit_plugins.checks.histories.chances import DRAWS, draws, estimated_chance, exact_chances
from tcdp_audit_plugins.checks.histories.nearby import NearbyEvents

# --- printed figures -------------------------------------------------------------------------------------------------


def test_six_patients():
    assert T1.with_time().unicity(1, 2, 3) == [0, Fraction(2, 9), Fraction(1, 3)]
    assert T1.with_time().unicity(3, leave_out=True) == [1]
    assert T1.unicity(2) == [Fraction(1, 18)]


def test_two_thousand_patients():
    assert f1().unicity(1, 2, 3, 4) == [0, 0, Fraction(1571, 8000), Fraction(17, 50)]


def test_generated_visits():
    table = synthetic(2000, label="month ward")
    assert table.unicity(1, 2, 3) == [Fraction(109, 24000), Fraction(1359, 4000), Fraction(4101, 8000)]
    assert table.unicity(3, leave_out=True) == [Fraction(1067, 1092)]
    assert synthetic(400, label="day ward").unicity(1, 2) == [Fraction(3713, 4800), Fraction(41, 50)]
    assert synthetic(400, label="ward").unicity(1, 2) == [0, Fraction(1, 480)]


def test_visits_of_a_trial(data: Path):
    table = pbcseq(data, age_band, lambda one: (int(one["day"]) // 365, one["edema"]))
    assert table.unicity(1, 2, 3, 4) == [
        Fraction(7484327, 224864640),
        Fraction(6174299, 56216160),
        Fraction(1203911, 5353920),
        Fraction(361453, 1081080),
    ]
    by_year = pbcseq(data, lambda one: one["sex"], lambda one: int(one["day"]) // 365)
    assert by_year.unicity(1, 2) == [Fraction(1, 4992), Fraction(1289, 1135680)]
    assert pbcseq(data, lambda one: one["sex"], lambda _: ()).unicity(1, 2) == [0, 0]


@pytest.mark.long
def test_ratings_of_lecturers(data: Path):
    assert [round(float(one), 9) for one in inst_eval(data).unicity(1, 2)] == [0.006956724, 0.067256808]


# --- plain Python ----------------------------------------------------------------------------------------------------


@given(tables(), st.integers(1, 4), st.booleans())
def test_by_definition(table: Table, points: int, leave_out: bool):
    expected = plain_unicity(table, points, leave_out=leave_out)
    assume(expected is not None)
    assert table.unicity(points, leave_out=leave_out) == [expected]


@pytest.mark.long
@given(tables(most=7), st.integers(1, 3), st.integers(0, 3))
def test_tolerances_by_definition(table: Table, points: int, tolerance: int):
    expected = plain_unicity(table, points, leave_out=False, tolerance=tolerance)
    assert table.unicity(points, tolerance=tolerance) == [expected]


@given(tables(), st.integers(1, 4))
def test_units_that_are_doubled_are_never_alone(table: Table, points: int):
    rows = [*table.rows, *(Row(row.unit + 5, row.label) for row in table.rows)]  # type: ignore[operator]
    double = Table(rows, {**table.static, **{unit + 5: known for unit, known in table.static.items()}})
    assert double.unicity(points) == [0]


@given(tables(), st.integers(1, 3), st.integers(1, 3))
def test_blocks_and_more_numbers_of_points_make_no_difference(table: Table, points: int, block: int):
    every = exact_chances(table.events(), [1, 2, 3, 4], leave_out=False, block=block)
    assert [every[points - 1].mean] == table.unicity(points)


@given(tables(), st.integers(1, 3))
def test_more_points_never_lower_the_chance(table: Table, points: int):
    fewer, more = table.unicity(points, points + 1)
    assert fewer <= more


def test_rows_that_can_be_chosen_in_very_many_ways_are_counted_exactly():
    many = 10**5
    rows = [Row("p", "a")] * many + [Row("q", "a")] * many + [Row("p", "b")]
    assert Table(rows).unicity(9) == [Fraction(comb(many, 8), comb(many + 1, 9)) / 2]


# --- draws -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("points", [1, 2, 3])
def test_draws_are_near_the_exact_chance(points: int):
    table = synthetic(2000, label="month ward")
    exact = table.unicity(points)[0]
    nearby = NearbyEvents.of(table.events(), 0)
    events = replace(table.events(), label=nearby.point)
    estimate = estimated_chance(events, points, np.random.default_rng(1), leave_out=False, nearby=nearby)
    assert estimate.margin == pytest.approx(sqrt(log(40) / (2 * DRAWS * 2000)))
    assert abs(float(estimate.mean - exact)) <= estimate.margin
    assert estimate.upper == pytest.approx(float(estimate.mean) + estimate.margin)


def test_every_choice_is_drawn_alike():
    drawn = np.sort(draws(np.full(200, 4), 2, np.random.default_rng(2)), axis=1)
    numbers = np.bincount(drawn[:, 0] * 4 + drawn[:, 1], minlength=16)
    assert drawn.shape == (200 * DRAWS, 2)
    assert numbers.nonzero()[0].tolist() == [1, 2, 3, 6, 7, 11]
    assert numbers[numbers > 0] == pytest.approx([200 * DRAWS / 6] * 6, rel=0.06)


@given(tables(times=st.integers(0, 4)), st.integers(1, 3), st.booleans())
def test_draws_of_whole_histories_are_exact(table: Table, tolerance: int, leave_out: bool):
    events, nearby = table.points(tolerance)
    longest = int(events.lengths.max())
    assume(not leave_out or (events.lengths >= longest).any())
    generator: Any = np.random.default_rng(3)
    estimate = estimated_chance(events, longest, generator, leave_out=leave_out, nearby=nearby)
    assert [estimate.mean] == table.unicity(longest, leave_out=leave_out, tolerance=tolerance)


# --- whole audits ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at_most", "status"), [("17/50", Status.PASSED), ("0.3399", Status.FAILED), ("0.35", Status.PASSED)]
)
def test_the_threshold_and_its_sides(at_most: str, status: Status):
    result = outcome_of(f1(), "unicity", {"at_most": at_most})
    assert (result.status, result.observed, result.details["estimated"]) == (status, 0.34, False)


def test_of_several_numbers_the_largest_chance_decides():
    result = outcome_of(T1.with_time(), "unicity", {"points": [3, 1, 2], "at_most": "1/3"})
    assert (result.status, result.details["worst_points"]) == (Status.PASSED, 3)
    assert [one["unicity"] for one in result.details["chances"]] == [0, Fraction(2, 9), Fraction(1, 3)]
    assert [one["always_alone"] for one in result.details["chances"]] == [0, 1, 2]


def test_short_histories_may_be_left_out():
    result = outcome_of(T1.with_time(), "unicity", {"points": 3, "short_histories": "leave_out"})
    assert (result.observed, result.details["chances"][0]["units"]) == (1, 1)
    assert "of 3 events drawn at random, a patient with as many is alone with a probability of 100%" in result.message
    none = outcome_of(T1, "unicity", {"points": 9, "short_histories": "leave_out"})
    assert (none.status, "no history has 9 events" in none.message) == (Status.ERROR, True)


def test_a_tolerance_of_days():
    observed = outcome_of(T1, "unicity", {"points": 2, "tolerance": {"day": 1}}).observed
    assert observed == float(T1.unicity(2, tolerance=1)[0])


def test_an_estimate_is_judged_at_its_upper_end():
    limit = {"max_combinations": 9_500, "points": [2, 4]}
    exact, estimated = outcome_of(f1(), "unicity", limit).details["chances"]
    margin = sqrt(log(40) / (2 * DRAWS * 2000))
    assert ("margin" in exact, estimated["margin"]) == (False, pytest.approx(margin))
    assert float(estimated["unicity"]) == pytest.approx(0.34, abs=margin)
    passes = float(estimated["unicity"]) + margin
    above = outcome_of(f1(), "unicity", {**limit, "at_most": round(passes + 1e-6, 7)})
    below = outcome_of(f1(), "unicity", {**limit, "at_most": round(passes - 1e-6, 7)})
    assert (above.status, below.status) == (Status.PASSED, Status.FAILED)
    assert "a probability of at most 34" in above.message
    assert above.details["seed"] == 0


@pytest.mark.parametrize(
    ("parameters", "policy", "sentence"),
    [
        ({}, {"unit": None}, "does not say which rows are a person's"),
        ({"points": 0}, {}, "at least 1"),
        ({"points": []}, {}, "points"),
        ({"tolerance": {"day": 1}}, {}, "more than 3 events whose times may be wrong"),
        ({"tolerance": {"day": 1}, "points": 2}, {"time": None}, "needs the times of events"),
    ],
)
def test_what_it_cannot_measure_is_a_fault(parameters: dict[str, Any], policy: dict[str, Any], sentence: str):
    with pytest.raises(PolicyError, match=sentence):
        outcome_of(T1, "unicity", parameters, **policy)


def test_what_every_release_keeps_is_measured():
    assert outcome_of(T1, "unicity", {"at_most": 1}).status is Status.MEASURED
    assert outcome_of(f1(), "unicity", {"at_most": 1, "max_combinations": 1}).status is Status.MEASURED


def test_events_of_which_nothing_is_known_are_an_error():
    attributes = {"static": {"role": "quasi_identifier", "of": "unit"}}
    result = outcome_of(T1, "unicity", {"at_most": 0.5}, attributes=attributes, unit_released=False, time=None)
    assert (result.status, "no column is known of an event" in result.message) == (Status.ERROR, True)
