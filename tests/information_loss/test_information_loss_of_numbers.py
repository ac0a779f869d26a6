"""IL1s, correlations and the propensity score: examples by hand, the published masked files, another solver."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from information_loss_reference import loss_of
from scipy.optimize import minimize
from scipy.special import expit

from tcdp_audit.core.information_loss import propensity

NUMERIC = {"scale": "numeric"}
ROOT_2 = np.sqrt(2)


def columns(path: Path) -> dict[str, list[float]]:
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def test_il1s_by_hand():
    # standard deviations 2 and 10: deviations 1/2 and 0 of the first, 0 and 1 of the second
    before = {"a": [0.0, 2.0, 4.0], "b": [10.0, 20.0, 30.0]}
    loss = loss_of(before, {"a": [1, 2, 4], "b": [10, 20, 40]}, a=NUMERIC, b=NUMERIC)

    assert loss.deviation.value == pytest.approx((1 / 2 + 1) / ROOT_2 / 6)
    assert loss.deviation.attributes == pytest.approx({"a": 1 / 2 / ROOT_2 / 3, "b": 1 / ROOT_2 / 3})
    assert (loss.deviation.cells, loss.deviation.cells_left_out, loss.deviation.records_left_out) == (6, 0, 0)


def test_il1s_leaves_out_what_has_no_number():
    before = {"a": [0, 2, 4, None], "b": [7, 7, 7, 7]}
    after = {"a": ["[0, 2]", "*", "5"], "b": [7, 7, 8]}
    actual = loss_of(before, after, records_retained=[0, 1, 3], a=NUMERIC, b=NUMERIC).deviation

    assert actual.value == pytest.approx(1 / 2 / ROOT_2)  # the middle of [0, 2] is 1 from 0
    assert (actual.cells, actual.cells_left_out, actual.records_left_out) == (1, 5, 1)
    assert list(actual.attributes) == ["a"]


@pytest.mark.parametrize(
    ("masking", "published"),
    [
        ("mdav_k3", 0.115),
        ("mdav_k5", 0.146),
        ("mdav_k10", 0.183),
        ("addnoise_additive_5", 0.028),
        ("addnoise_additive_20", 0.113),
        ("rankswap_P1", 0.021),
        ("rankswap_P5", 0.089),
        ("rankswap_P15", 0.222),
    ],
)
def test_il1s_of_masked_census_files(masking: str, published: float, data: Path):
    before = columns(data / "casc" / "census.csv")
    after = columns(data / "casc" / "census_masked" / f"{masking}.csv")
    loss = loss_of(before, after, **dict.fromkeys(before, NUMERIC))

    assert round(loss.deviation.value or 0, 3) == published
    assert loss.deviation.cells == 1080 * 13
    old, new = (np.corrcoef(list(one.values()))[np.triu_indices(13, 1)] for one in (before, after))
    assert loss.correlation_change.value == pytest.approx(np.abs(old - new).mean(), abs=1e-12)
    assert loss.correlation_change.pairs == 78


def test_a_correlation_that_is_turned_and_one_that_is_gone():
    before = {"a": [1, 2, 3], "b": [1, 2, 3], "c": [1, 1, 1]}
    numeric = dict.fromkeys("abc", NUMERIC)
    turned = loss_of(before, {**before, "b": [3, 2, 1]}, **numeric).correlation_change
    gone = loss_of(before, {**before, "b": ["[1, 3]"] * 3}, **numeric).correlation_change

    assert (turned.value, turned.pairs) == (pytest.approx(2), 1)
    assert (gone.value, gone.pairs) == (pytest.approx(1), 1)


def test_one_numeric_attribute_has_no_correlations():
    loss = loss_of({"a": [1, 2], "b": ["x", "y"]}, {"a": [1, 3], "b": ["x", "y"]}, a=NUMERIC)

    assert (loss.correlation_change.value, loss.correlation_change.pairs) == (None, 0)


def test_the_propensity_score_of_one_attribute_is_that_of_its_frequencies():
    # 40 a and 60 b before, 60 a and 40 b after: a record with a is one after with probability 0.6, one with b with 0.4
    actual = loss_of({"town": list("a" * 40 + "b" * 60)}, {"town": list("a" * 60 + "b" * 40)}).propensity

    assert actual.value == pytest.approx(0.01, rel=1e-4)
    assert actual.expected == pytest.approx(1 * 0.5**2 * 0.5 / 200)
    assert actual.ratio == pytest.approx(16, rel=1e-4)
    assert (actual.parameters, actual.records) == (2, 200)


def test_tables_of_different_size_that_cannot_be_distinguished():
    actual = loss_of({"town": list("aabb" * 5)}, {"town": list("ab" * 5)}, records_retained=range(5, 15)).propensity

    assert actual.value == pytest.approx(0, abs=1e-12)
    assert actual.expected == pytest.approx((2 / 3) ** 2 * (1 / 3) / 30)


def test_tables_that_share_no_value_are_distinguished():
    actual = loss_of({"town": list("ab" * 20)}, {"town": list("cd" * 20)}).propensity

    assert actual.value == pytest.approx(0.25, abs=1e-3)
    assert actual.reason == ""


def test_extreme_numbers_have_finite_figures():
    cells: list[Any] = [1e308, -1e308, 0.0, 1e200]
    loss = loss_of(
        {"a": cells, "b": [1, 2, 3, 4]}, {"a": cells[::-1], "b": [1, 1e300, 3, -1e300]}, a=NUMERIC, b=NUMERIC
    )
    reported = loss.as_json()

    assert 0 < reported["total"] <= 1
    assert all(np.isfinite(reported[name]["value"]) for name in ("il1s", "correlation_change", "propensity"))


def test_a_regression_that_does_not_converge_has_a_reason_and_no_value(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(propensity, "MOST_ITERATIONS", 1)
    actual = loss_of({"town": list("ab" * 20)}, {"town": list("cd" * 20)}).propensity

    assert (actual.value, actual.expected, actual.ratio) == (None, None, None)
    assert actual.reason == "the regression did not converge in 1 iterations"


def test_of_large_tables_the_same_records_are_taken_on_both_sides(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(propensity, "MOST_RECORDS", 10)
    ages = [float(age) for age in np.random.default_rng(0).permutation(100)]
    order = np.random.default_rng(1).permutation(100)
    actual = loss_of(
        {"age": ages}, {"age": [ages[i] for i in order]}, records_retained=order.tolist(), age=NUMERIC
    ).propensity

    assert actual.records == 20
    assert actual.value == pytest.approx(0, abs=1e-20)


def test_features_that_are_retained_give_the_very_figures_of_those_made_anew(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(propensity, "BLOCK", 7)
    before = {"age": [float(age) for age in range(40)], "town": list("abcd" * 10)}
    after = {"age": [age // 3 for age in before["age"]], "town": list("abcc" * 10)}
    records_retained = loss_of(before, after, age=NUMERIC).propensity
    monkeypatch.setattr(propensity, "CACHED_BYTES", 0)

    assert records_retained.value > 0
    assert loss_of(before, after, age=NUMERIC).propensity == records_retained


def test_rare_values_share_a_coefficient():
    towns = [f"t{number:02}" for number in range(30)]
    actual = loss_of({"town": towns * 2 + ["t00"]}, {"town": towns * 2 + ["t00"]}).propensity

    assert actual.parameters == 1 + propensity.MOST_VALUES


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_regression_is_that_of_another_solver(seed: int):
    draw = np.random.default_rng(seed)
    features = np.hstack([np.ones((300, 1)), draw.normal(size=(300, 4)), draw.integers(0, 2, (300, 1))])
    truth = (draw.random(300) < expit(features @ draw.normal(size=6))).astype(float)
    times = draw.integers(1, 4, 300).astype(float)

    def cost(coefficients: np.ndarray) -> float:
        logits = features @ coefficients
        likelihood = times @ (truth * logits - np.logaddexp(0, logits))
        return -likelihood / times.sum() + propensity.RIDGE * coefficients @ coefficients / 2

    ends = [slice(start, start + 70) for start in range(0, 300, 70)]
    blocks = [(features[here], truth[here], times[here]) for here in ends]
    result = propensity.fit(lambda: iter(blocks), 6)

    assert result.converged
    assert result.coefficients == pytest.approx(minimize(cost, np.zeros(6), tol=1e-12).x, abs=1e-4)


def test_an_overshooting_step_is_halved():
    # Found by search: here Newton's plain steps go to and fro without end, each making the likelihood less.
    features = np.array([[1, 7.9, -0.8], [1, 0.1, 0.1], [1, -1.4, 1.2], [1, -0.8, -0.4]])
    truth = np.array([1.0, 1, 1, 0])
    result = propensity.fit(lambda: iter([(features, truth, np.ones(4))]), 3)
    gradient = features.T @ (truth - propensity.probabilities(features, result.coefficients)) / 4

    assert result.converged
    assert gradient == pytest.approx(propensity.RIDGE * result.coefficients, abs=1e-7)


def test_whether_there_is_a_number_distinguishes_tables():
    actual = loss_of({"age": [1, 3] * 20}, {"age": ["1", "3", "*", "*"] * 10}, age=NUMERIC).propensity

    # 20 of 60 records with a number are released ones, and all 20 without: the mean is 1/2
    assert actual.value == pytest.approx((60 * (1 / 3 - 1 / 2) ** 2 + 20 * (1 - 1 / 2) ** 2) / 80, rel=1e-3)


def test_an_attribute_of_one_decimal_value_has_no_deviation():
    actual = loss_of({"age": [0.1, 0.1, 0.1]}, {"age": [0.1, 0.1, 0.2]}, age=NUMERIC).deviation  # 0.3 / 3 is not 0.1

    assert (actual.value, actual.cells, actual.cells_left_out) == (None, 0, 3)
