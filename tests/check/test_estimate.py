"""Intervals of estimates: they miss the whole table's figure at most once in a hundred, and decide at a threshold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.check.table_check import ERROR, Estimate, TableFigure, interval_of_mean
from tcdp_audit.core.check.threshold import Verdict
from tcdp_audit.core.engines.base import Sampling
from tcdp_audit_plugins.checks.record_linkage.exact_match_rate import CHECKS

SEEDS = 1_000


@pytest.mark.parametrize("records", [5, 23, 60])
def test_whatever_the_table_and_the_sample_the_interval_misses_at_most_once_in_a_hundred(records: int) -> None:
    """Every number of exposed records, and all samples of a size, counted: how many of them have a wrong interval."""
    for drawn in {1, 2, records // 2, records - 1}:
        ends = [interval_of_mean(inside / drawn, drawn, float(ERROR)) for inside in range(drawn + 1)]
        for exposed in range(records + 1):
            wrong = sum(
                comb(exposed, inside) * comb(records - exposed, drawn - inside)
                for inside, (low, high) in enumerate(ends)
                if not low <= exposed / records <= high
            )
            assert Fraction(wrong, comb(records, drawn)) <= ERROR


@pytest.mark.long
@pytest.mark.parametrize("low", [0, 0.9])
def test_the_interval_holds_the_mean_of_all_for_nearly_all_of_a_thousand_seeds(low: float) -> None:
    """Numbers between 0 and 1 of which one in fifty is another; drawn as engines draw."""
    texts = [f"person {number}" for number in range(600)]
    numbers = np.where(np.arange(600) % 50 == 0, 1.0 - low, low)
    held = 0
    for seed in range(SEEDS):
        some = numbers[Sampling("id", Fraction(1, 10), seed).drawn(texts)]
        start, end = interval_of_mean(float(some.mean()), len(some), float(ERROR))
        held += start <= numbers.mean() <= end
    assert held >= SEEDS * (1 - ERROR)


@given(st.floats(0, 1), st.integers(1, 10**9), st.sampled_from([0.01, 0.001, 0.3]))
def test_an_end_is_where_the_mean_diverges_as_much_as_its_error_allows(mean: float, number: int, error: float) -> None:
    low, high = interval_of_mean(mean, number, error)

    assert 0 <= low <= mean <= high <= 1
    for end in (low, high):
        if 1e-9 < end < 1 - 1e-9 and 1e-9 < mean < 1 - 1e-9 and number < 10**6:
            parts = [(mean, end), (1 - mean, 1 - end)]
            divergence = sum(p * log(p / q) for p, q in parts)
            assert divergence * number == pytest.approx(log(2 / error), rel=1e-5)


def test_nothing_exposed_in_a_sample_is_not_nothing() -> None:
    low, high = interval_of_mean(0, 1_000, 0.01)

    assert low == 0
    assert high == pytest.approx(1 - 0.005 ** (1 / 1_000), rel=1e-9)  # (1 - high)^n = error / 2


# Decisions


def decided(comparison: Comparison, demanded: Fraction | None, value: Fraction = Fraction(3, 10)) -> Verdict:
    figure = TableFigure(value, 100, estimate=Estimate(0.25, 0.375, 100, 1_000, 0, ""))
    check = replace(CHECKS[0], comparison=comparison)
    return check.verdict(figure, check.parameters(at_most=demanded))


@pytest.mark.parametrize(
    ("comparison", "demanded", "failed"),
    [
        (Comparison.AT_MOST, Fraction(3, 8), False),
        (Comparison.AT_MOST, Fraction(3, 8) - Fraction(1, 10**12), None),
        (Comparison.AT_MOST, Fraction(3, 10), None),
        (Comparison.AT_MOST, Fraction(1, 4), None),
        (Comparison.AT_MOST, Fraction(1, 4) - Fraction(1, 10**12), True),
        (Comparison.BELOW, Fraction(3, 8), None),
        (Comparison.BELOW, Fraction(1, 4), True),
        (Comparison.AT_LEAST, Fraction(1, 4), False),
        (Comparison.AT_LEAST, Fraction(1, 4) + Fraction(1, 10**12), None),
        (Comparison.AT_LEAST, Fraction(3, 8) + Fraction(1, 10**12), True),
        (Comparison.ABOVE, Fraction(1, 4), None),
        (Comparison.ABOVE, Fraction(3, 8), True),
    ],
)
def test_both_ends_decide(comparison: Comparison, demanded: Fraction, failed: bool | None) -> None:
    verdict = decided(comparison, demanded)

    assert (verdict.failed, verdict.undecided) == (failed, failed is None)


def test_without_a_demand_there_is_nothing_to_decide() -> None:
    verdict = decided(Comparison.AT_MOST, None)

    assert (verdict.failed, verdict.undecided) == (None, False)


def test_a_figure_outside_of_its_own_interval_is_an_error() -> None:
    with pytest.raises(CheckError, match="an interval that its own figure is not in"):
        decided(Comparison.AT_MOST, Fraction(1, 2), Fraction(2, 5))
