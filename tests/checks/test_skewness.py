"""Skewness: how many times as frequent a sensitive value is in a class as in the table."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest
from class_rows import Rows, evidence, exact, frame, outcome, tables, totals, with_gaps
from hypothesis import given, strategies as st

from tcdp_audit import CheckError, PolicyError, audit, measure
from tcdp_audit_plugins.checks.homogeneity import SkewnessParameters, largest_factor

LABELS = ["v0", "v1", "v2", "v3", "v4", "v5"]


@given(tables, st.sets(st.integers(0, 5), min_size=1))
def test_the_largest_factor_by_definition(rows: Rows, chosen: set[int]):
    table = totals(rows)
    harmful = [code for code in chosen if code < len(table) and table[code]]
    codes = harmful or range(len(table))
    parameters = SkewnessParameters(sensitive_values=[LABELS[code] for code in harmful] or None)

    result = exact(largest_factor(evidence(rows, labels=LABELS[: len(table)]), parameters))

    q = [Fraction(weight, sum(table)) for weight in table]
    assert result == [max(Fraction(row[i], sum(row)) / q[i] for i in codes if q[i]) for row in rows]


def test_half_of_a_class_with_what_1_in_100_has():
    rows = [[1, 1], [97, 0], [1, 0]]

    result = outcome("skewness", rows, sensitive_values=["v1"], at_most=10)

    assert (result.status.value, result.observed, result.classes.failing) == ("failed", 50, 1)
    assert outcome("skewness", rows, sensitive_values=["v1"], at_most=50).status.value == "passed"
    assert outcome("skewness", rows, sensitive_values=["v0"]).observed == pytest.approx(100 / 99, abs=1e-15)


def test_a_harmful_value_that_the_table_lacks_is_an_error_and_no_pass():
    with pytest.raises(CheckError, match="the reference distribution has no record with the sensitive value 'v9'"):
        outcome("skewness", [[1, 1]], sensitive_values=["v9"], at_most=1)


def test_a_harmful_value_that_only_the_declared_order_has_is_an_error():
    with pytest.raises(CheckError, match="no record with the sensitive value 'v2'"):
        measure(
            "skewness",
            frame([[1, 1]]),
            quasi_identifiers=["place"],
            attribute="answer",
            scale="ordinal",
            order=["v0", "v1", "v2"],
            sensitive_values=["v2"],
            at_most=1,
        )


def test_harmful_values_of_one_among_several_attributes_need_its_name():
    sensitive = {"role": "sensitive"}
    policy = {
        "version": 1,
        "attributes": {"place": {"role": "quasi_identifier"}, "answer": sensitive, "other": sensitive},
        "expect": [{"skewness": {"sensitive_values": ["v1"], "at_most": 2}}],
    }

    with pytest.raises(PolicyError, match="sensitive_values: names values of one attribute; say which in `attribute`"):
        audit(frame([[1, 1]]), policy)


def test_a_value_to_which_the_reference_gives_no_weight():
    result = exact(largest_factor(evidence([[1, 1], [1, 0]], [5, 0]), SkewnessParameters()))

    assert result == [inf, 1]


def test_numbers_are_named_as_they_are_written():
    result = measure(
        "skewness",
        frame([[1, 1], [3, 1]], labels=[10, 20]),
        quasi_identifiers=["place"],
        attribute="answer",
        scale="numeric",
        sensitive_values=["20"],
    )

    assert result.observed == 1.5


def test_a_class_without_a_value_keeps_no_demand():
    assert with_gaps("skewness", at_most=100).status.value == "failed"
