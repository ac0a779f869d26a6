"""Prosecutor, journalist and marketer: over records and not over classes, and exact at thresholds."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings, strategies as st
from population_tables import NAMES, Row, outcome, shuffled, table

from tcdp_audit import PolicyError
from tcdp_audit_plugins.checks._shared.sampling import mean_of_reciprocals
from tcdp_audit_plugins.checks.reidentification import RiskClasses

ONE_AND_NINE: list[Row] = [("x",)] + [("y",)] * 9

rows = st.lists(st.sampled_from([("p",), ("q",), ("r",), ("s",)]), min_size=1, max_size=30)


def test_the_average_is_over_records():
    result = outcome("reidentification_risk", table(ONE_AND_NINE), measure="average", at_most="1/5")

    assert (result.status.value, result.observed, result.details["average"]) == ("passed", 0.2, Fraction(1, 5))
    assert result.details["distribution"] == [[1.0, 1, 1], [9.0, 1, 9]]


@pytest.mark.parametrize(("risk", "above"), [("0.2", 4), ("1/5", 4), ("0.2000001", 4), ("0.1999999", 9), ("0.25", 0)])
def test_a_class_of_five_is_not_above_one_fifth(risk: str, above: int):
    release = table([("x",)] * 4 + [("y",)] * 5 + [("z",)] * 6)
    result = outcome("reidentification_risk", release, measure="share_above", threshold_risk=risk, at_most="4/15")

    assert (result.details["records_above"], result.details["share_above"]) == (above, Fraction(above, 15))
    assert result.status.value == ("passed" if above <= 4 else "failed")


def test_a_threshold_is_not_moved_by_a_hundredth():
    sizes = np.array([99, 100, 101])

    assert RiskClasses(sizes, sizes).above(Fraction("0.01")) == 99


def test_records_beyond_the_highest_risk_allowed_are_counted():
    result = outcome("reidentification_risk", table(ONE_AND_NINE), at_most=0.2)

    assert result.records is not None
    assert (result.status.value, result.observed, result.records.failing) == ("failed", 1.0, 1)
    assert outcome("reidentification_risk", table(ONE_AND_NINE), at_most=0).records == type(result.records)(10, 10)


@pytest.mark.long
@settings(max_examples=15, deadline=None)  # an audit takes a while
@given(rows, rows)
def test_scenarios_by_plain_counting(release: list[Row], others: list[Row]):
    sample, population = Counter(release), Counter([*release, *others])
    whole = table([*release, *others])

    prosecutor = outcome("reidentification_risk", table(release))
    journalist = outcome("reidentification_risk", table(release), whole, scenario="journalist")
    marketer = outcome("reidentification_risk", table(release), whole, scenario="marketer", measure="average")
    alone = outcome("reidentification_risk", table(release), scenario="marketer", measure="average")

    assert prosecutor.details["highest"] == Fraction(1, min(sample.values()))
    assert prosecutor.details["average"] == Fraction(len(sample), len(release))
    assert journalist.details["highest"] == max(Fraction(1, population[one]) for one in sample)
    expected = sum(Fraction(1, population[one]) for one in release) / len(release)
    assert journalist.details["average"] == marketer.details["average"] == expected
    assert (marketer.details["classes_are_of"], alone.details["classes_are_of"]) == ("population", "release")
    assert alone.details["average"] == prosecutor.details["average"]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 99)), min_size=1, max_size=20))
def test_means_of_reciprocals_are_exact(classes: list[tuple[int, int]]):
    records, size = np.array([one for one, _ in classes]), np.array([one for _, one in classes])
    expected = sum(Fraction(one, of) for one, of in classes) / int(records.sum())

    assert mean_of_reciprocals(records, size) == expected


def test_five_rows_of_one_person_are_one_member():
    release = pa.table({"a": ["x"] * 5 + ["y"] * 2, "person": ["p"] * 5 + ["q", "r"]})
    policy = {"attributes": {"a": {"role": "quasi_identifier"}}, "unit": "person"}

    result = outcome("reidentification_risk", release, policy=policy)

    assert (result.observed, result.details["average"]) == (1.0, Fraction(1 + 2 * Fraction(1, 2), 3))


def test_order_of_records_makes_no_difference():
    one = outcome("reidentification_risk", table(ONE_AND_NINE), at_most=0.2)

    assert outcome("reidentification_risk", shuffled(table(ONE_AND_NINE)), at_most=0.2) == one


def test_a_journalist_needs_a_population():
    result = outcome("reidentification_risk", table(ONE_AND_NINE), scenario="journalist", at_most=1)

    assert (result.status.value, result.message) == (
        "error",
        "no population is given; name it in the policy as `population:`",
    )


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"scenario": "marketer"}, "use `measure: average`"),
        ({"measure": "share_above"}, "`share_above` needs the risk"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(parameters: dict[str, str], sentence: str):
    with pytest.raises(PolicyError, match=sentence):
        outcome("reidentification_risk", table(ONE_AND_NINE), **parameters)


ADULT = ("adult_A1", "adult_A2", "adult_A3", "adult_A4", "adult_all9", "adult_subset_all9")


@pytest.mark.parametrize("roles", [*ADULT, "adult_A6_age_sex_race", "adult_A7_age_sex_race_edu_country"])
def test_arx_agrees_on_adult(data: Path, roles: str):
    truth = json.loads((data / "truth/arx_risk_adult.json").read_text(encoding="utf-8"))[roles]
    columns = pa.csv.read_csv(data / truth["file"]).select(truth["qi"])
    release = columns.rename_columns(NAMES[: len(truth["qi"])])
    unique = outcome("sample_uniqueness", release)
    assert (unique.observed, unique.details["victims"]) == (
        truth["sample"]["sample_unique_fraction"],
        truth["sample"]["sample_unique_n"],
    )
    for risk in ("0.05", "0.1", "0.2", "0.5"):
        figures = truth[f"summary_{risk}"]
        above = outcome("reidentification_risk", release, measure="share_above", threshold_risk=risk)
        assert above.observed == figures["records_at_risk"]
        assert float(above.details["highest"]) == figures["highest"]
        assert float(above.details["average"]) == figures["success_rate"] == figures["marketer"]
    journalist = outcome("reidentification_risk", release, release, scenario="journalist")
    assert journalist.observed == truth["sample"]["journalist_est"]
