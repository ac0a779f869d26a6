"""The front of risk and loss: what outdoes what, what keeps a setting, and how it is told."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from math import inf, nan, nextafter
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "frontiers"))
from frontier_samples import K, T, frontier_of, trial

from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.results.frontier import points_table, remedies_table, settings_table
from tcdp_audit.core.results.setting_trial import Attempt, SettingTrial, VariedDemand, is_laxer, phrase_of

F = Fraction
OWN = (F(5), F(1, 5))
LAX, STRICT = (F(3), F(1, 2)), (F(10), F(1, 10))
POINTS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(0, 6)), max_size=12)


def at(k: int, t: int, loss: int) -> SettingTrial:
    return trial(OWN, (k, t / 10), loss / 10)


@settings(max_examples=20)
@given(POINTS)
def test_nothing_on_the_front_is_dominated_and_everything_else_is(rows: list[tuple[int, int, int]]):
    front = {(one.worst((K, T)), one.total_loss) for one in frontier_of([at(*row) for row in rows]).points}
    every = {((float(k), t / 10), loss / 10) for k, t, loss in rows}

    def dominated(one: tuple[tuple[float, float], float]) -> bool:
        (k, t), loss = one
        return any(a >= k and b <= t and other <= loss and ((a, b), other) != one for (a, b), other in every)

    assert front == {one for one in every if not dominated(one)}


@settings(max_examples=20)
@given(POINTS)
def test_a_safer_point_of_the_front_loses_more(rows: list[tuple[int, int, int]]):
    points = frontier_of([at(*row) for row in rows]).points
    assert [one.total_loss for one in points] == sorted(one.total_loss for one in points)
    for one in points:
        for other in points:
            (k, t), (a, b) = one.worst((K, T)), other.worst((K, T))
            assert k is not None
            assert t is not None
            if one is not other and a is not None and b is not None and a >= k and b <= t:
                assert other.total_loss > one.total_loss


@settings(max_examples=20)
@given(POINTS)
def test_a_laxer_setting_never_costs_more(rows: list[tuple[int, int, int]]):
    frontier = frontier_of([at(*row) for row in rows])
    grid = [(k, t) for k in K.levels for t in T.levels]
    for one in grid:
        for other in grid:
            stricter = frontier.least(other)
            if is_laxer((K, T), one, other) and stricter is not None and other != OWN:
                laxer = frontier.least(one)
                assert laxer is not None
                assert laxer.total_loss <= stricter.total_loss


def test_what_failed_is_on_no_front_and_keeps_nothing():
    failed = trial(OWN, (9, 0.05), 0.0, status="failed")
    unwritten = trial(OWN, (9, 0.05), 0.0, sha256="")
    assert frontier_of([failed, unwritten]).points == ()
    assert not failed.keeps((K, T), LAX)
    assert not unwritten.keeps((K, T), OWN)


@pytest.mark.parametrize(
    ("figure", "level", "keeps"),
    [
        (5.0, F(5), True),
        (4.0, F(5), False),
        (5.5, F(11, 2), False),  # a float that stands for something nearby
        (inf, F(5), True),
        (-inf, F(5), False),
        (nan, F(5), False),
        (None, F(5), False),
    ],
)
def test_whether_a_figure_keeps_a_least_threshold(figure: float | None, level: Fraction, keeps: bool):
    assert K.keeps(figure, level) is keeps


@pytest.mark.parametrize(
    ("figure", "keeps"),
    [(0.199, True), (0.2, False), (nextafter(0.2, 0), False), (0.0, True), (0.201, False), (inf, False)],
)
def test_a_distance_too_near_to_its_threshold_keeps_nothing(figure: float, keeps: bool):
    assert T.keeps(figure, F(1, 5)) is keeps


def test_a_threshold_that_figures_must_stay_below():
    below = VariedDemand("delta", "delta", "delta", Comparison.BELOW, F(1), (F(1),))
    assert not below.keeps(1.0, F(1))
    assert below.keeps(0.0, F(1))


def test_a_trial_keeps_its_own_setting_however_near_its_figures_are():
    result = trial(OWN, (5, 0.2), 0.1)
    assert result.keeps((K, T), OWN)
    assert result.keeps((K, T), LAX)
    assert not result.keeps((K, T), STRICT)


def test_the_exit_code():
    passed, failed = trial(OWN, (5, 0.2), 0.1), trial(OWN, (3, 0.2), 0.1, status="failed", sha256="")
    measured = trial(OWN, (5, 0.2), 0.1, status="measured")
    assert frontier_of([passed]).exit_code == 0
    assert frontier_of([passed], untried=(LAX,)).exit_code == 0
    assert frontier_of([failed]).exit_code == 1
    assert frontier_of([failed], untried=(LAX,)).exit_code == 3
    assert frontier_of([measured]).exit_code == 3
    assert frontier_of([failed, trial(STRICT, (12, 0.05), 0.4)]).exit_code == 0


def test_it_reports_what_the_policy_costs_and_what_was_not_tried():
    frontier = frontier_of([trial(OWN, (5, 0.19), 0.1)], [LAX, STRICT], untried=(STRICT,))
    assert frontier.sentence == (
        "3 settings, 1 point on the front; the policy itself (k ≥ 5, t ≤ 0.2) costs 10.0%, point 1; "
        "1 setting was not tried"
    )
    assert repr(frontier).splitlines()[1] == "1: k ≥ 5, t ≤ 0.2, 10.0% lost, by Mondrian partitioning"
    none = frontier_of([]).sentence
    assert "no release is known that keeps the policy itself" in none


def test_the_json_has_every_setting_point_and_trial():
    best, worse = trial(OWN, (6, 0.15), 0.1), trial(LAX, (5, 0.15), 0.2)
    result = json.loads(frontier_of([best, worse], [LAX, STRICT], untried=(STRICT,)).to_json())
    assert [one["trial"] for one in result["points"]] == [0]
    assert [(one["own"], one["tried"], one["least_loss"]) for one in result["settings"]] == [
        (True, True, 0.1),
        (False, True, 0.1),
        (False, False, None),
    ]
    assert result["points"][0]["lines"] == "expect:\n  - k_anonymity: {k: 5}\nremedy:\n  - mondrian: {}\n"
    assert result["complete"] is False
    assert len(result["trials"]) == 2


def test_a_trial_is_the_same_after_json():
    stopped = Attempt("a", "A", "{}", None, keeps=False, reason="stopped")
    one = trial((F(1, 3), F(5)), (None, inf), 0.25, constant_columns=("age",), attempts=(stopped,))
    again = SettingTrial.from_json(one.setting, json.loads(json.dumps(one.as_json())))
    assert again == one
    assert trial(OWN, (5, 0.2), 0, sha256="") == SettingTrial.from_json(
        OWN, trial(OWN, (5, 0.2), 0, sha256="").as_json()
    )


def test_reidentification_is_classes_by_records():
    assert trial(OWN, (5, 0.2), 0.1).reidentified == 0.1  # classes of 2 k = 10 records
    none = trial(OWN, (5, 0.2), 0.1).loss | {"average_class_size": {"before": None, "after": None, "k": None}}
    assert SettingTrial.from_json(OWN, {**trial(OWN, (5, 0.2), 0.1).as_json(), "loss": none}).reidentified is None


def test_settings_of_two_demands_span_a_table():
    grid = [(k, t) for k in K.levels for t in T.levels]
    frontier = frontier_of([trial(OWN, (5, 0.19), 0.1)], grid, untried=(STRICT,))
    rows = settings_table(frontier)
    assert rows.head == ("setting", "t ≤ 0.5", "t ≤ 0.2", "t ≤ 0.1")
    assert rows.body[1] == ("k ≥ 5", "10.0% (1)", "* 10.0% (1)", "–")
    assert rows.body[2][3] == "not tried"


def test_other_settings_have_a_row_each_the_laxest_first():
    frontier = frontier_of([trial(OWN, (5, 0.19), 0.1)], [STRICT, LAX])
    assert [row[0] for row in settings_table(frontier).body] == [phrase_of((K, T), one) for one in (LAX, OWN, STRICT)]


def test_the_tables_name_what_a_point_empties_and_what_each_remedy_loses():
    named = trial(OWN, (5, 0.19), 0.3, planned=False, attempts=())
    frontier = frontier_of([trial(OWN, (5, 0.19), 0.1, constant_columns=("age", "sex")), named])
    named_in_words = "Mondrian partitioning; empties age and sex"
    assert points_table(frontier).body == (("1", "5", "0.190", "10.0%", "10.0%", named_in_words),)
    assert points_table(frontier, detailed=True).body[0][5:8] == ("10.0%", "–", "0")
    assert remedies_table(frontier).head == ("setting", "Mondrian partitioning", "the policy's remedies")
    assert remedies_table(frontier).body == (("k ≥ 5, t ≤ 0.2", "10.0%", "30.0%"),)


def test_a_demand_with_its_attribute_is_reported_with_it():
    salary = VariedDemand("t_closeness:salary", "t-closeness", "t", Comparison.AT_MOST, F(1, 5), (F(1, 5),))
    assert salary.phrase(F(1, 5)) == "t of salary ≤ 0.2"
