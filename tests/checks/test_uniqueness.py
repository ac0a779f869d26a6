"""Uniqueness: counted in a population, estimated from a sample, and each figure over its own denominator."""

from __future__ import annotations

import json
import re
from collections import Counter
from fractions import Fraction
from math import comb, exp, lgamma, log
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import assume, given, settings, strategies as st
from population_tables import Row, outcome, sampled, shuffled, simulated, table

from tcdp_audit import PolicyError
from tcdp_audit_plugins.checks._shared.pitman import (
    Pitman,
    data_intrusion_simulation,
    fit_pitman,
    log_linear_match,
    log_linear_uniques,
    zayatz,
)

ADULT_A4 = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
RELEASE: list[Row] = [("x", 1), ("x", 2), ("y", 1), ("y", 1)]
POPULATION: list[Row] = [*RELEASE, ("x", 2), ("x", 2), ("y", 3), ("z", 1), ("z", 1), ("y", 1)]

sizes = st.lists(st.integers(1, 6), min_size=1, max_size=30)
rows = st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from("uvw")), min_size=1, max_size=12)


def exact(value: Any) -> Fraction:
    assert isinstance(value, Fraction)
    return value


# Sample uniqueness


@pytest.mark.parametrize(
    ("at_most", "status"), [("1/2", "passed"), ("0.5", "passed"), ("0.49", "failed"), (None, "measured")]
)
def test_two_of_four_records_are_alone(at_most: object, status: str):
    result = outcome("sample_uniqueness", table(RELEASE), at_most=at_most)

    assert (result.status.value, result.observed) == (status, 0.5)


def test_five_rows_of_one_person_are_alone_together():
    release = pa.table({"a": ["x"] * 5 + ["y"] * 2, "person": ["p"] * 5 + ["q", "r"]})
    policy = {"attributes": {"a": {"role": "quasi_identifier"}}, "unit": "person"}

    by_rows = outcome("sample_uniqueness", release, policy={**policy, "conventions": {"known_rows": "one"}})
    result = outcome("sample_uniqueness", release, policy=policy)

    assert (by_rows.details["victims"], by_rows.observed) == (5, 1 / 3)  # one of three people, however many rows
    assert (result.details["victims"], result.observed) == (1, 1 / 3)


def test_no_one_alone_is_said():
    result = outcome("sample_uniqueness", table([("x",), ("x",)]), at_most=0)

    assert (result.status.value, result.message) == (
        "passed",
        "No record is alone with its 'a'.",
    )


# Counted in a population


def test_every_share_has_its_own_denominator():
    result = outcome("population_uniqueness", table(RELEASE), table(POPULATION))

    # classes (f, F): (1, 1), (1, 3), (2, 3); not released: (y, 3) once and (z, 1) twice
    assert {name: str(exact(result.details[name])) for name in result.details if "over" in name} == {
        "sample_uniques_over_records": "1/2",
        "population_uniques_over_population": "1/5",
        "released_population_uniques_over_records": "1/4",
        "released_population_uniques_over_population_uniques": "1/2",
    }
    assert (str(result.details["exact"]), str(result.details["match_probability"])) == ("1/2", "1/2")
    assert (result.observed, result.details["population_uniques"], result.details["sample_uniques"]) == (
        0.5,
        2,
        2,
    )


@pytest.mark.long
@settings(max_examples=15, deadline=None)  # an audit takes a while
@given(rows, rows)
def test_exact_shares_by_plain_counting(release: list[Row], others: list[Row]):
    sample, population = Counter(release), Counter([*release, *others])
    lone = [one for one, size in sample.items() if size == 1]

    result = outcome("population_uniqueness", table(release), table([*release, *others]))

    if lone:
        share = Fraction(sum(population[one] == 1 for one in lone), len(lone))
        theta = Fraction(len(lone), sum(population[one] for one in lone))
        assert (result.details["exact"], result.details["match_probability"]) == (share, theta)
        assert result.observed == float(share)
    else:
        assert (result.observed, result.details["undefined"]) == (0.0, "no record is alone in its class")


@pytest.mark.parametrize(("at_most", "status"), [("1/2", "passed"), ("0.49999999999999999", "failed")])
def test_the_exact_share_is_compared_exactly(at_most: str, status: str):
    result = outcome("population_uniqueness", table(RELEASE), table(POPULATION), at_most=at_most)

    assert result.status.value == status


def test_no_sample_unique_is_undefined_and_no_risk():
    result = outcome("population_uniqueness", table([("x",), ("x",)]), table([("x",)] * 3), at_most=0)

    assert (result.status.value, result.observed, result.details["exact"]) == ("passed", 0.0, None)
    assert "undefined" in result.message


def test_a_class_that_the_population_lacks_is_an_error():
    result = outcome("population_uniqueness", table(RELEASE), table([*POPULATION[:1], *POPULATION[2:]][1:]), at_most=1)

    assert result.status.value == "error"
    assert result.message.startswith("the population lacks 1 class of the release, with 1 record;")


def test_a_population_smaller_than_the_release_is_an_error():
    result = outcome("population_uniqueness", table(RELEASE), table(RELEASE[:3]), at_most=1)

    assert (result.status.value, result.message[:57]) == (
        "error",
        "in 1 class the release has more records than the populati",
    )


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        ("exact", "the exact figure needs the population"),
        ("zayatz", "nothing says how large the population is"),
    ],
)
def test_what_an_estimator_lacks_is_named(estimator: str, sentence: str):
    result = outcome("population_uniqueness", table(RELEASE), estimator=estimator, at_most=1)

    assert result.status.value == "error"
    assert result.message.startswith(sentence)


def test_an_estimator_without_an_answer_is_an_error():
    policy = {"sampling_fraction": 0.1}
    result = outcome("population_uniqueness", table([("x",), ("y",)]), policy=policy, estimator="pitman", at_most=1)

    assert result.status.value == "error"
    assert "has no maximum" in result.message


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ({"conventions": {"suppressed": "exempt"}}, "it counts every record, and `suppressed: exempt`"),
    ],
)
def test_conventions_under_which_shares_have_no_meaning_are_refused(policy: dict[str, Any], sentence: str):
    with pytest.raises(PolicyError, match=sentence):
        outcome("population_uniqueness", table(RELEASE), policy=policy)


# Estimated


def plain_zayatz(size: list[int], population: int) -> float:
    records, classes = sum(size), Counter(size)

    def lone(i: int) -> Fraction:
        return Fraction(i * comb(population - i, records - 1), comb(population, records))

    return float(classes[1] * lone(1) / sum(number * lone(i) for i, number in classes.items()))


@given(sizes.filter(lambda size: 1 in size), st.integers(0, 40))
def test_zayatz_is_bayes_rule_in_fractions(size: list[int], unsampled: int):
    population = sum(size) + unsampled

    assert zayatz(np.array(size), float(population)) == pytest.approx(plain_zayatz(size, population), rel=1e-12)


def log_likelihood(size: list[int], theta: float, alpha: float) -> float:
    opened = sum(log(theta + i * alpha) for i in range(1, len(size)))
    placed = sum(log(theta + i) for i in range(1, sum(size)))
    return opened - placed + sum(log(k - alpha) for one in size for k in range(1, one))


@given(sizes.filter(lambda size: 1 < len(size) < sum(size)))
def test_pitman_is_where_the_likelihood_is_largest(size: list[int]):
    model = fit_pitman(np.array(size))
    assume(model is not None)
    best = log_likelihood(size, model.theta, model.alpha)

    for theta in (model.theta * 0.99, model.theta * 1.01, model.theta + 1e-3):
        for alpha in (model.alpha, max(model.alpha - 0.01, 0), min(model.alpha + 0.01, 0.999)):
            if theta > -alpha:
                assert log_likelihood(size, theta, alpha) <= best + 1e-9


def test_pitman_expects_uniques_as_its_gammas_say():
    model, population = Pitman(3.5, 0.4), 1000
    expected = population * exp(lgamma(4.5) + lgamma(3.9 + 999) - lgamma(3.9) - lgamma(1003.5))

    assert model.uniques(population) == pytest.approx(expected, rel=1e-9)
    assert model.uniques_asymptotic(population) == pytest.approx(exp(lgamma(4.5) - lgamma(3.9)) * 1000**0.4, rel=1e-12)


@pytest.mark.parametrize("size", [[1], [5], [1, 1, 1]])
def test_pitman_without_a_maximum(size: list[int]):
    assert fit_pitman(np.array(size)) is None


def test_the_log_linear_model_rests_on_the_products_of_shares():
    result = outcome("population_uniqueness", table(RELEASE), policy={"sampling_fraction": 0.5}, estimator="log_linear")

    # mu of (x, 1) is 4 (2/4) (3/4) = 3/2, of (x, 2) it is 1/2; (1-p) mu / p is mu
    assert result.observed == pytest.approx((exp(-1.5) + exp(-0.5)) / 2, rel=1e-15)
    assert result.details["match_probability_log_linear"] == pytest.approx(2 / (2.5 + 1.5), rel=1e-15)
    assert result.details["match_probability_dis"] == pytest.approx(1 / (1 + 1), rel=1e-15)


def test_estimates_of_a_census_are_certain():
    size, expected = np.array([1, 1, 2, 5]), np.array([0.3, 2.0])

    assert zayatz(size, 9.0) == 1.0
    assert log_linear_uniques(expected, 1.0) == log_linear_match(expected, 1.0) == 1.0
    assert data_intrusion_simulation(size, 1.0) == 1.0


def test_weights_stand_for_a_fraction():
    release = table(RELEASE, w=[2.0, 3.0, 1.0, 2.0])
    weighted = outcome("population_uniqueness", release, policy={"weight": "w"}, estimator="zayatz")
    declared = outcome("population_uniqueness", table(RELEASE), policy={"sampling_fraction": 0.5}, estimator="zayatz")

    assert (weighted.observed, weighted.details["sampling_fraction"]) == (declared.observed, 0.5)


# Truth


def test_adult_agrees_with_independent_figures(data: Path):
    truth = json.loads((data / "truth/population_uniqueness_adult_A4.json").read_text(encoding="utf-8"))["compare"]
    adult = pa.csv.read_csv(data / "adult/adult.csv").select(ADULT_A4)
    release = adult.rename_columns(list("abcdefgh"))
    for fraction, figures in truth.items():
        actual = outcome(
            "population_uniqueness",
            release,
            policy={"sampling_fraction": float(fraction)},
            estimator="zayatz",
        ).details
        assert actual["zayatz"] == pytest.approx(figures["zayatz_P_PU_given_SU"], rel=1e-9)
        assert actual["zayatz_population_uniques"] == pytest.approx(figures["zayatz_n"], rel=1e-9)
        assert actual["match_probability_dis"] == pytest.approx(figures["dis_theta_skinner_elliot"], rel=1e-12)
        asymptotic = actual["pitman_population_uniques_asymptotic"]
        assert asymptotic == pytest.approx(figures["arx_pitman_n"], rel=1e-9)
        if figures["pitman"] is not None:
            pitman = figures["pitman"]
            assert asymptotic == pytest.approx(pitman["uniques_asymptotic"], rel=1e-6)
            assert actual["pitman_population_uniques"] == pytest.approx(pitman["uniques_exact"], rel=1e-6)
            assert actual["pitman_theta"] == pytest.approx(pitman["theta"], rel=1e-6)


def test_a_simulated_population_shows_all_figures_side_by_side():
    population = simulated()
    release = sampled(population, 0.05)

    result = outcome("population_uniqueness", release, population)

    details = {name: round(float(value), 4) for name, value in result.details.items()}
    assert {name: details[name] for name in ("exact", "zayatz", "pitman", "log_linear", "disagreement")} == {
        "exact": 0.606,
        "zayatz": 0.9005,
        "pitman": 0.6709,
        "log_linear": 0.7741,
        "disagreement": 0.2945,
    }
    assert (details["match_probability"], details["match_probability_dis"]) == (0.4085, 0.3822)
    assert (details["sample_uniques_over_records"], details["population_uniques_over_population"]) == (
        0.8934,
        0.5397,
    )
    again = outcome("population_uniqueness", shuffled(release, 1), shuffled(population, 2))
    assert dict(again.details) == dict(result.details)


def test_the_page_on_uniqueness_reports_the_figures_of_that_sample():
    population = simulated()
    details = outcome("population_uniqueness", sampled(population, 0.05), population).details
    page = (Path(__file__).parents[2] / "docs" / "uniqueness.md").read_text(encoding="utf-8")

    reported = re.findall(r"^\|.*\| (0\.\d{4}) \| `(\w+)` \|$", page, re.MULTILINE)
    lines = page.splitlines()
    shares = next(re.findall(r"0\.\d{4}", line) for line in lines if line.startswith("| P(PU given SU) | 0"))
    matches = next(re.findall(r"0\.\d{4}", line) for line in lines if line.startswith("| θ | 0"))

    assert [(figure, name) for figure, name in reported] == [
        (f"{float(details[name]):.4f}", name) for _, name in reported
    ]
    assert len(reported) == 6
    assert shares == [f"{float(details[name]):.4f}" for name in ("exact", "zayatz", "pitman", "log_linear")]
    names = ("match_probability", "match_probability_dis", "match_probability_log_linear")
    assert matches == [f"{float(details[name]):.4f}" for name in names]
