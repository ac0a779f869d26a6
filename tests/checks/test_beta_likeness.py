"""Basic and enhanced beta-likeness: relative gains, and gains that no beta allows."""

from __future__ import annotations

from fractions import Fraction
from math import inf, log

import pytest
from class_rows import Rows, evidence, exact, outcome, tables, totals
from hypothesis import given

from tcdp_audit_plugins.checks.beta_likeness import BetaParameters, largest_bounded_gain, largest_gain

NONE = BetaParameters()


def gains(row: list[int], table: list[int]) -> list[tuple[Fraction, Fraction]]:
    """Relative gain and share in the table of each value that is more frequent in the class."""
    shares = [(Fraction(c, sum(row)), Fraction(w, sum(table))) for c, w in zip(row, table, strict=True)]
    return [((p - q) / q, q) for p, q in shares if p > q]


@given(tables)
def test_the_basic_gain_by_definition(rows: Rows):
    expected = [max((gain for gain, _ in gains(row, totals(rows))), default=Fraction(0)) for row in rows]

    assert exact(largest_gain(evidence(rows), NONE)) == expected


@given(tables)
def test_the_enhanced_gain_by_definition(rows: Rows):
    expected = []
    for row in rows:
        result = gains(row, totals(rows))
        hopeless = any(gain > -log(q) for gain, q in result)
        expected.append(inf if hopeless else max((gain for gain, _ in result), default=Fraction(0)))

    assert exact(largest_bounded_gain(evidence(rows), NONE)) == expected


@given(tables)
def test_merging_two_classes_never_adds_gain(rows: Rows):
    merged = [[sum(pair) for pair in zip(rows[0], rows[-1], strict=True)], *rows[1:-1]] if len(rows) > 1 else rows

    for measure_of in (largest_gain, largest_bounded_gain):
        assert max(exact(measure_of(evidence(merged, totals(rows)), NONE))) <= max(
            exact(measure_of(evidence(rows), NONE))
        )


def test_the_example_that_no_beta_allows():
    rows = [[1, 0], [8, 1]]  # table (.9, .1), class (1, 0): gain 0.1111 > 0.1054
    result = outcome("enhanced_beta_likeness", rows, beta=1000)

    assert (result.status.value, result.observed) == ("failed", inf)
    assert result.details["unsatisfiable_classes"] == 1
    assert outcome("basic_beta_likeness", rows, beta="1/9").status.value == "passed"
    assert outcome("basic_beta_likeness", rows, beta="0.111111111111111").status.value == "failed"


def test_the_enhanced_figure_is_the_basic_one_where_a_beta_exists():
    rows = [[3, 1, 2], [2, 2, 2], [1, 3, 2]]

    result = outcome("enhanced_beta_likeness", rows, beta="1/2")

    assert (result.status.value, result.observed) == ("passed", 0.5)
    assert result.details["unsatisfiable_classes"] == 0
    assert outcome("enhanced_beta_likeness", rows, beta="0.4999999999999999999").status.value == "failed"


def test_a_gain_beside_minus_the_logarithm_is_decided_exactly():
    """q = 1/e to nine digits on either side, so that a gain of 1 is above or below -ln q by less than 1e-9."""
    for weight, hopeless in ((367_879_441, False), (367_879_442, True)):
        weights = [weight, 10**9 - weight]  # exp(-1) = 0.367879441171...
        row = [2 * weight, 10**9 - 2 * weight]
        result = exact(largest_bounded_gain(evidence([row], weights), NONE))
        assert result == [inf if hopeless else 1]


def test_a_value_to_which_the_reference_gives_no_weight():
    assert exact(largest_gain(evidence([[1, 1], [1, 0]], [5, 0]), NONE)) == [inf, 0]
    assert exact(largest_bounded_gain(evidence([[1, 1], [1, 0]], [5, 0]), NONE)) == [inf, 0]


def test_a_single_value_gains_nothing():
    assert exact(largest_bounded_gain(evidence([[3], [1]]), NONE)) == [0, 0]


@pytest.mark.parametrize("scale", [2**31, 2**40])
def test_large_counts_stay_exact(scale: int):
    rows = [[scale, scale + 1], [scale + 1, scale]]
    total = 4 * scale + 2

    result = exact(largest_gain(evidence(rows), NONE))

    assert result == [Fraction((scale + 1) * 2, 2 * scale + 1) - 1] * 2
    assert Fraction(total, 2) == 2 * scale + 1


def test_two_gains_that_floating_point_cannot_tell_apart():
    """c/w of 2^60/(2^60-1) and (2^60+1)/2^60 agree in float64; the first is the larger."""
    big = 2**60
    row, weights = [big, big + 1], [big - 1, big]
    expected = Fraction(big, 2 * big + 1) / Fraction(big - 1, 2 * big - 1) - 1

    assert big / (big - 1) == (big + 1) / big
    assert exact(largest_gain(evidence([row], weights), NONE)) == [expected]
