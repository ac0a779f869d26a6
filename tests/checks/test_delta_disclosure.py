"""Delta-disclosure privacy: strict, in any base, with and without the values that a class lacks."""

from __future__ import annotations

from fractions import Fraction
from math import e, inf, log, log2

import numpy as np
import pytest
from class_rows import Rows, evidence, outcome, tables, totals
from hypothesis import given

from tcdp_audit_plugins.checks.delta_disclosure import DeltaParameters, largest_log_ratio


def by_definition(rows: Rows, *, published: bool) -> list[float]:
    table = totals(rows)
    figures = []
    for row in rows:
        shares = [(Fraction(c, sum(row)), Fraction(w, sum(table))) for c, w in zip(row, table, strict=True) if w]
        absent = inf if published and any(p == 0 for p, _ in shares) else 0.0
        figures.append(max(absent, *(abs(log(p / q)) for p, q in shares if p)))
    return figures


@given(tables)
def test_by_definition(rows: Rows):
    for published, absent_values in ((True, "published"), (False, "ignored")):
        actual = largest_log_ratio(evidence(rows), DeltaParameters(absent_values=absent_values)).values
        assert actual == pytest.approx(by_definition(rows, published=published), abs=1e-12)


@given(tables)
def test_a_table_taken_ten_times_gives_the_same_figures(rows: Rows):
    tenfold = [[10 * count for count in row] for row in rows]

    one, ten = (largest_log_ratio(evidence(some), DeltaParameters()).values for some in (rows, tenfold))

    assert one.tolist() == ten.tolist()


@given(tables)
def test_one_class_of_all_is_never_worse(rows: Rows):
    assert largest_log_ratio(evidence([totals(rows)]), DeltaParameters()).values.tolist() == [0]


@pytest.mark.parametrize(
    ("base", "expected"), [("natural", log(2)), (2, 1), (10, log(2) / log(10)), ("2.718281828459045", log(2))]
)
def test_a_share_that_halves(base: object, expected: float):
    result = outcome("delta_disclosure", [[1, 3], [3, 1]], log_base=base)

    assert result.observed == pytest.approx(expected, abs=1e-15)


def test_a_power_of_two_is_equal_to_a_whole_delta_and_fails_it():
    halved = [[1, 3], [3, 1]]

    assert outcome("delta_disclosure", halved, log_base=2, delta=1).status.value == "failed"
    assert outcome("delta_disclosure", halved, log_base=2, delta="1.0000000000000000000001").status.value == "passed"
    assert outcome("delta_disclosure", halved, log_base=4, delta="1/2").status.value == "failed"
    assert outcome("delta_disclosure", halved, log_base=4, delta="0.50000000000000000001").status.value == "passed"


@pytest.mark.parametrize(
    ("delta", "status"), [("0.693147180559945309417", "failed"), ("0.693147180559945309418", "passed")]
)
def test_a_delta_beside_a_logarithm_is_decided_beyond_floating_point(delta: str, status: str):
    assert outcome("delta_disclosure", [[1, 3], [3, 1]], delta=delta).status.value == status


def test_delta_0_is_equality_and_fails_even_a_class_that_is_as_the_table():
    assert outcome("delta_disclosure", [[2, 3], [4, 6]], delta=0).status.value == "failed"
    assert outcome("delta_disclosure", [[2, 3], [4, 6]], delta="0.00000000000000000001").status.value == "passed"


def test_many_classes_at_the_threshold_are_decided_together():
    rows = [[1, 3], [3, 1]] * 5000
    parameters = DeltaParameters(log_base=2)

    signs = largest_log_ratio(evidence(rows), parameters).compare(Fraction(1))

    assert signs.tolist() == [0] * 10_000


def test_a_value_that_a_class_lacks_is_infinite_or_ignored():
    rows = [[2, 0], [2, 4]]

    assert outcome("delta_disclosure", rows).observed == inf
    assert outcome("delta_disclosure", rows, absent_values="ignored").observed == pytest.approx(log(2))


def test_a_value_that_the_reference_lacks_is_infinite_under_both_readings():
    for absent_values in ("published", "ignored"):
        result = largest_log_ratio(evidence([[1, 1]], weights=[5, 0]), DeltaParameters(absent_values=absent_values))
        assert result.values.tolist() == [inf]


def test_a_value_without_weight_that_no_class_has_changes_nothing():
    assert largest_log_ratio(evidence([[1, 3, 0]], weights=[1, 1, 0]), DeltaParameters()).values == [log(2)]


def test_large_counts_do_not_overflow():
    rows = [[2**31, 3 * 2**31], [3 * 2**31, 2**31]]

    measured = largest_log_ratio(evidence(rows), DeltaParameters(log_base=2))

    assert measured.values.tolist() == [log2(2)] * 2
    assert measured.compare(Fraction(1)).tolist() == [0, 0]
    assert np.isclose(largest_log_ratio(evidence(rows), DeltaParameters(log_base=Fraction(e))).values, log(2)).all()
