"""Homogeneity: whoever is in a class of one value is exposed, counted in records and classes."""

from __future__ import annotations

import pytest
from class_rows import Rows, evidence, outcome, tables, with_gaps
from hypothesis import given

from tcdp_audit_plugins.checks.homogeneity import HomogeneityParameters, homogeneous

T20 = [[2, 0, 0], [0, 2, 1]]  # Barcelona: cancer, cancer; Tarragona: AIDS, AIDS, heart attack


@given(tables)
def test_homogeneous_classes_have_one_value(rows: Rows):
    expected = [sum(map(bool, row)) == 1 for row in rows]

    assert homogeneous(evidence(rows), HomogeneityParameters()).tolist() == expected


@pytest.mark.parametrize(
    ("at_most", "status"), [("2/5", "passed"), ("0.4", "passed"), ("0.39", "failed"), (None, "measured")]
)
def test_the_five_record_table_of_torra_exposes_two(at_most: object, status: str):
    result = outcome("homogeneity", T20, at_most=at_most)

    assert (result.status.value, result.observed) == (status, 0.4)
    assert (result.details["victims"], result.details["victim_classes"]) == (2, 1)


def test_no_victim_is_reported_as_such():
    result = outcome("homogeneity", [[1, 1], [2, 3]], at_most=0)

    assert (result.status.value, result.details["victims"]) == ("passed", 0)


def test_a_missing_value_adds_no_diversity():
    result = with_gaps("homogeneity", at_most=0)

    assert result.status.value == "failed"
    assert (result.details["victims"], result.details["victim_classes"]) == (3, 2)  # a, and c with nothing at all
