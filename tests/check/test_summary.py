"""Summaries of shards merge to the summary of the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from tcdp_audit.core.check.summary import WORST_SHOWN, ClassSummary, _worst_first, merge, summarise
from tcdp_audit.core.classes.histogram import AlikeClasses
from tcdp_audit.plugin.sentences import Comparison

CLASSES = st.lists(
    st.tuples(st.one_of(st.integers(1, 4), st.floats(0, 1), st.just(float("inf"))), st.integers(1, 50), st.booleans()),
    max_size=60,
)


def summary(classes, comparison):
    values, records, failing = ([one[i] for one in classes] for i in range(3))
    sizes = np.array(records, np.int64)
    return summarise(np.array(values, float), AlikeClasses(sizes, sizes), np.array(failing, bool), comparison)


@given(CLASSES, CLASSES, st.sampled_from(Comparison))
def test_merging_is_summarising_the_whole(one, other, comparison):
    merged = merge([summary(one, comparison), summary(other, comparison)], comparison)
    assert merged == summary(one + other, comparison)


@given(CLASSES, st.lists(st.integers(1, 12), min_size=60, max_size=60), st.sampled_from(Comparison))
def test_a_class_may_stand_for_several(classes, times, comparison):
    several = [one for one, number in zip(classes, times, strict=False) for _ in range(number)]
    values, records, failing = (np.array([one[i] for one in classes]) for i in range(3))
    sizes, matches = records.astype(np.int64), np.array(times[: len(classes)], np.int64)
    alike = AlikeClasses(sizes, sizes, None, matches)
    result = summarise(values.astype(float), alike, failing.astype(bool), comparison)
    assert result == summary(several, comparison)


@given(CLASSES, st.sampled_from(Comparison))
def test_nothing_is_neutral(classes, comparison):
    whole = summary(classes, comparison)
    assert merge([ClassSummary(), whole], comparison) == merge([whole, ClassSummary()], comparison) == whole


@given(CLASSES, st.sampled_from(Comparison))
def test_counts_and_worst_are_those_of_a_plain_loop(classes, comparison):
    result = summary(classes, comparison)
    sign = 1 if comparison.higher_is_safer else -1
    worst = sorted(((sign * value, -records) for value, records, _ in classes))[:WORST_SHOWN]
    assert [(sign * one.value, -one.records) for one in result.worst] == worst
    assert (result.classes, result.records) == (len(classes), sum(records for _, records, _ in classes))
    assert result.failing_classes == sum(failing for *_, failing in classes)
    assert result.failing_records == sum(records for _, records, failing in classes if failing)
    assert sum(count for count, _ in result.distribution.values()) == len(classes)


def test_figures_are_binned_to_three_digits_and_whole_numbers_stay():
    classes = [(0.12345, 1, False), (0.12349, 2, False), (12345.0, 3, True), (0.0, 4, False), (float("inf"), 5, True)]
    result = summary(classes, Comparison.AT_MOST)
    assert result.distribution == {0.0: (1, 4), 0.123: (2, 3), 12345.0: (1, 3), float("inf"): (1, 5)}
    assert result.observed == float("inf")


@given(st.integers(-11, 300), st.sampled_from([1.0, 0.9994, 0.9996, 0.99951, 1.0049, 2.345, 9.996]), st.booleans())
def test_figures_near_powers_of_ten_keep_three_digits(exponent, factor, below):
    exact = float(f"1e{exponent}") * factor
    figure = float(np.nextafter(exact, 0)) if below else exact
    assume(not (figure.is_integer() and figure < 2**22))
    (binned,) = summary([(figure, 1, False)], Comparison.AT_MOST).distribution
    assert abs(binned - figure) <= figure * 0.005001
    assert binned == pytest.approx(float(f"{binned:.2e}"), rel=1e-15)


def test_a_figure_that_is_no_number_keeps_no_one_waiting():
    worst, _ = _worst_first(np.array([1.0, np.nan, 2.0]), np.ones(3, np.int64), Comparison.AT_MOST)
    assert len(worst) == 3


def test_a_summary_of_nothing_has_no_figure():
    assert ClassSummary().observed is None


def test_figures_that_round_to_one_bin_from_two_sides_are_all_counted():
    result = summary(
        [(0.09996, 3, False), (0.1001, 5, False), (0.9996, 7, False), (1.0, 11, False)], Comparison.AT_MOST
    )

    assert result.distribution == {0.1: (2, 8), 1.0: (2, 18)}
