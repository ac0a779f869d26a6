"""Individual risk: formulas in high precision, households, and the figures of sdcMicro."""

from __future__ import annotations

import json
from fractions import Fraction
from math import prod
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, strategies as st
from population_tables import NAMES, outcome, shuffled, table

from tcdp_audit import PolicyError
from tcdp_audit_plugins.checks._shared.class_risks import benedetti_franconi, household_risks

TABLE = table([("x",), ("y",), ("y",), ("z",), ("z",), ("z",)], w=[2.0, 3.0, 1.0, 4.0, 4.0, 4.0])


def series(f: int, p: Fraction) -> float:
    """The posterior mean of 1/F for f = 1 and f = 2 as a power series in 1 - p, in fractions."""
    q, terms = 1 - p, range(1, 400)
    if f == 1:
        return float(p * sum(q ** (j - 1) / j for j in terms))
    return float(p * sum(q ** (j - 1) / (j * (j + 1)) for j in terms))


@pytest.mark.parametrize("f", [1, 2])
@pytest.mark.parametrize("p", ["0.9999999999", "0.999", "0.91", "0.9", "0.89", "0.5"])
def test_small_classes_to_the_last_digits_also_where_p_nears_one(f: int, p: str):
    population = np.array([f / float(p)])
    exact = Fraction(f) / Fraction(population[0])

    assert benedetti_franconi(np.array([f]), population)[0] == pytest.approx(series(f, exact), rel=1e-12)


def test_large_classes_stay_finite():
    sample = np.array([3, 1000, 10**9])
    risks = benedetti_franconi(sample, sample * 10.0)

    assert risks.tolist() == pytest.approx([0.1 / 2.1, 0.1 / 999.1, 0.1 / (10**9 - 0.9)], rel=1e-12)


@given(st.integers(1, 50), st.floats(0.001, 1.5))
def test_risks_lie_between_one_over_the_two_sizes(f: int, p: float):
    risk = benedetti_franconi(np.array([f]), np.array([f / p]))[0]

    assert min(p / f, 1 / f) <= risk * (1 + 1e-12)
    assert risk <= 1 / f + 1e-12
    if f / p <= f:
        assert risk == 1 / f


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 0.99)), min_size=1, max_size=20))
def test_a_household_is_identified_if_one_of_its_members_is(members: list[tuple[int, float]]):
    unit, risk = np.array([one for one, _ in members]), np.array([one for _, one in members])
    expected = [1 - prod(1 - r for u, r in members if u == wanted) for wanted in sorted({u for u, _ in members})]

    assert household_risks(risk, unit).tolist() == pytest.approx(expected, abs=1e-14)


def test_a_member_who_is_certain_makes_the_household_certain():
    assert household_risks(np.array([1.0, 0.5]), np.array([0, 0])).tolist() == [1.0]


@pytest.mark.parametrize(
    ("measure", "at_most", "status"),
    [
        ("highest", "0.69314718", "failed"),
        ("highest", "0.6931471806", "passed"),
        ("expected", 2, "passed"),
        ("expected", 1.5, "failed"),
    ],
)
def test_weights_add_up_to_the_population(measure: str, at_most: object, status: str):
    result = outcome("individual_risk", TABLE, policy={"weight": "w"}, measure=measure, at_most=at_most)

    # p = 1/2: ln 2; 1 - ln 2 each of two; p = 1/4: (1/4) / (3 - 3/4) each of three
    assert result.status.value == status
    assert result.details["highest"] == pytest.approx(0.6931471805599453, rel=1e-14)
    assert result.details["expected"] == pytest.approx(0.6931471805599453 + 2 * 0.3068528194400547 + 1 / 3, rel=1e-14)
    assert result.details["average"] * 6 == pytest.approx(result.details["expected"], rel=1e-15)
    assert result.details["uniques"] == 1


def test_the_demand_on_every_record_counts_those_above():
    result = outcome("individual_risk", TABLE, policy={"weight": "w"}, at_most=0.2)

    assert result.records is not None
    assert result.records.failing == 3


@pytest.mark.parametrize(("at_most", "status"), [("1/3", "passed"), ("0.3333333333333333", "failed")])
def test_a_release_of_the_whole_population_is_compared_exactly(at_most: str, status: str):
    thrice = table([("z",)] * 3)
    policy = {"sampling_fraction": 1}

    assert outcome("individual_risk", thrice, policy=policy, at_most=at_most).status.value == status
    assert outcome("individual_risk", thrice, policy=policy, measure="average", at_most=at_most).status.value == status


def test_households_are_the_unit_of_the_verdict():
    release = TABLE.append_column("home", pa.array(["1", "1", "2", "2", "3", "3"]))
    attributes = {"a": {"role": "quasi_identifier"}, "w": {"role": "insensitive", "scale": "numeric"}}
    policy = {"attributes": attributes, "weight": "w", "unit": "home", "conventions": {"known_rows": "one"}}

    result = outcome("individual_risk", release, policy=policy, at_most=0.5)
    again = outcome("individual_risk", shuffled(release), policy=policy, at_most=0.5)

    one = 1 - (1 - 0.6931471805599453) * 0.6931471805599453
    two = 1 - 0.6931471805599453 * (8 / 9)
    three = 1 - (8 / 9) ** 2
    assert result.observed == pytest.approx(one, rel=1e-14)
    assert (result.details["units"], result.status.value) == (3, "failed")
    assert result.details["unit_expected"] == pytest.approx(one + two + three, rel=1e-14)
    assert result.details["through_unit_expected"] == pytest.approx(2 * (one + two + three), rel=1e-14)
    assert again == result


def test_with_a_population_the_exact_risk_is_next_to_the_estimate():
    population = table([("x",)] * 4 + [("y",)] * 2 + [("z",)] * 6)
    result = outcome("individual_risk", TABLE.select(["a"]), population)

    assert (result.details["exact_highest"], result.details["exact_average"]) == (
        Fraction(1, 2),
        Fraction(7, 24),
    )


def test_nothing_is_guessed_about_the_population():
    result = outcome("individual_risk", TABLE.select(["a"]), at_most=1)

    assert result.status.value == "error"
    assert result.message.startswith("nothing says how large the population is; add `weight:`")


def test_a_risk_above_one_is_refused():
    with pytest.raises(PolicyError, match="a risk is at most 1"):
        outcome("individual_risk", TABLE, policy={"weight": "w"}, at_most=2)


@pytest.mark.parametrize(("name", "file"), [("francdat", "francdat"), ("free1_w", "free1")])
def test_sdcmicro_agrees(data: Path, name: str, file: str):
    truth = json.loads((data / "truth/individual_risk.json").read_text(encoding="utf-8"))[name]
    whole = pa.csv.read_csv(data / f"casc/{file}.csv").select([*truth["keyVars"], truth["weight"]])
    release = whole.rename_columns([*NAMES[: len(truth["keyVars"])], "w"])

    result = outcome("individual_risk", release, policy={"weight": "w"})

    assert result.observed == pytest.approx(truth["indivRisk_approx"]["max"], rel=1e-9)
    assert result.details["average"] == pytest.approx(truth["indivRisk_approx"]["mean"], rel=1e-9)
    assert result.details["expected"] == pytest.approx(truth["indivRisk_approx"]["sum"], rel=1e-9)
    assert result.details["uniques"] == truth["n1_records_fk1"]
    assert outcome("individual_risk", shuffled(release), policy={"weight": "w"}) == result
