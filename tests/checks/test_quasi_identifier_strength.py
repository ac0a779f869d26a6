"""Strength of quasi-identifiers as a check: the printed figures, and demands at them and beside them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import Outcome, PolicyError, Status, audit

TABLE = {"age": [20, 30, 40, 20, 40], "sex": ["F", "F", "M", "M", "M"], "state": ["CA", "CA", "TX", "NY", "CA"]}


def outcome(parameters: dict[str, Any], table: dict[str, Any] = TABLE, **policy: Any) -> Outcome:
    attributes = {name: {"role": "quasi_identifier"} for name in table}
    expect = [{"quasi_identifier_strength": parameters}]
    (one,) = audit(pa.table(table), {"version": 1, "attributes": attributes, "expect": expect, **policy}).expectations
    return one


@pytest.mark.parametrize(
    ("parameters", "strongest", "observed"),
    [
        ({"max_order": 1}, ["state"], 0.4),  # TX and NY are alone, of ages only 30
        ({"max_order": 1, "measure": "distinction"}, ["age"], 0.6),
        ({"max_order": 1, "measure": "separation"}, ["age"], 0.8),
        ({"max_order": 2}, ["age", "state"], 1.0),
        ({"attributes": ["sex", "state"], "measure": "distinction"}, ["sex", "state"], 0.8),
        ({"attributes": ["sex", "state"], "measure": "separation"}, ["sex", "state"], 0.9),
    ],
)
def test_the_strongest_set(parameters: dict[str, Any], strongest: list[str], observed: float):
    one = outcome(parameters)
    assert (one.details["strongest"], one.observed) == (strongest, observed)


@pytest.mark.parametrize(
    ("at_most", "status"),
    [("7/10", Status.FAILED), ("0.79999", Status.FAILED), ("0.8", Status.PASSED), ("0.80001", Status.PASSED)],
)
def test_a_demand_at_the_figure_and_beside_it(at_most: str, status: Status):
    given = float(Fraction(at_most))
    assert outcome({"max_order": 1, "measure": "separation", "at_most": given}).status is status


def test_details_name_keys_and_contributions():
    details = outcome({}).details
    assert details["minimal_keys"] == [["age", "state"]]
    assert (details["sets"], details["number_of_minimal_keys"], details["unique_of_all"]) == (7, 1, 1.0)
    assert sum(details["shapley"].values()) == pytest.approx(1)
    assert details["leave_one_out"] == {"age": Fraction(2, 5), "sex": 0, "state": Fraction(2, 5)}


@pytest.mark.parametrize(
    ("parameters", "further", "sentence"),
    [
        ({"attributes": ["colour"]}, {}, "declares no attribute 'colour'"),
        ({"attributes": ["age", "age"]}, {}, "named twice"),
        ({}, {"conventions": {"missing_quasi_identifier": "wildcard"}}, "must not overlap"),
    ],
)
def test_what_it_cannot_measure_is_a_fault(parameters: dict[str, Any], further: dict[str, Any], sentence: str):
    with pytest.raises(PolicyError, match=sentence):
        outcome(parameters, **further)


def test_too_many_sets_are_refused():
    table = {f"c{number}": [1, 2] for number in range(120)}
    with pytest.raises(PolicyError, match="sets of attributes are too many"):
        outcome({}, table)


def test_of_many_columns_shapley_values_have_errors():
    table = {f"c{number}": [(i * (number + 3)) % 5 for i in range(40)] for number in range(11)}
    details = outcome({"max_order": 1}, table).details
    assert details["shapley_errors"].keys() == table.keys()
