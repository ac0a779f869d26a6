"""Charts hold any distribution: bins meet at the demand, labels neither overlap nor leave the plot on a phone."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import inf

import pytest
from hypothesis import given, strategies as st

from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit_reports.charts import cumulative, histogram
from tcdp_audit_reports.charts.drawing import LETTER, SMALL_LETTER, Measured, axis_for
from tcdp_audit_reports.charts.histogram import binned, compact

SIZES = [(1, 181, 181), (2, 90, 180), (3, 58, 174), (4, 41, 164), (5, 30, 150), (17, 9, 153), (250, 4, 1000)]


def measured(distribution, threshold=None, comparison=Comparison.AT_LEAST, failing=None, label="records in the class"):
    demand = None if threshold is None else Fraction(threshold)
    return Measured(sorted(distribution), demand, comparison, failing, label)


def clear_of_each_other(drawing, letter):
    """No two labels on one line overlap, and none leaves the plot."""
    for label in drawing.labels:
        start, end = label.extent(letter)
        assert start >= -0.5, label
        assert end <= 100.5, label
    for one, other in combinations(drawing.labels, 2):
        if abs(one.y - other.y) < 10:
            first, second = sorted((one.extent(letter), other.extent(letter)))
            assert first[1] <= second[0] + 0.01, (one, other)


def test_bins_are_single_figures_below_the_demand_and_rounder_above():
    bins = binned(SIZES, 5, 9)
    assert [one.label for one in bins] == ["1", "2", "3", "4", "5–9", "10–19", "20–49", "50–99", "100+"]
    assert [one.classes for one in bins] == [181, 90, 58, 41, 30, 9, 0, 0, 4]
    assert [one.failing for one in bins] == [True] * 4 + [False] * 5


@given(
    st.dictionaries(st.integers(0, 10**7), st.integers(1, 10**6), min_size=1, max_size=200),
    st.one_of(st.none(), st.integers(0, 10**7)),
    st.integers(4, 9),
)
def test_bins_lose_no_class_and_never_straddle_the_demand(sizes, threshold, number):
    bins = binned([(size, classes, classes) for size, classes in sorted(sizes.items())], threshold, number)
    assert len(bins) <= number
    assert sum(one.classes for one in bins) == sum(sizes.values())
    failing = sum(classes for size, classes in sizes.items() if threshold is not None and size < threshold)
    assert sum(one.classes for one in bins if one.failing) == failing


def test_compact_numbers_have_at_most_five_letters():
    assert [compact(n) for n in (0, 9_999, 12_345, 123_456, 3_400_000, 5 * 10**9)] == [
        *("0", "9,999", "12k", "123k", "3.4M", "5.0G")
    ]


@given(
    st.dictionaries(st.integers(0, 10**7), st.integers(1, 10**6), min_size=1, max_size=60),
    st.one_of(st.none(), st.integers(1, 10**6)),
)
def test_a_histogram_fits_a_phone(sizes, threshold):
    rows = [(size, classes, classes * max(size, 1)) for size, classes in sizes.items()]
    clear_of_each_other(histogram.chart(measured(rows, threshold)).drawing, SMALL_LETTER)


@given(
    st.dictionaries(
        st.one_of(st.floats(0, 1), st.floats(1e-6, 1e6), st.just(inf)),
        st.integers(1, 10**6),
        min_size=1,
        max_size=60,
    ),
    st.one_of(st.none(), st.decimals(0, 1, places=4), st.integers(1, 10**6)),
    st.sampled_from(list(Comparison)),
)
def test_a_curve_fits_a_phone(figures, threshold, comparison):
    rows = [(figure, records, records) for figure, records in figures.items()]
    failing = None if threshold is None else (1, sum(figures.values()))
    chart = cumulative.chart(measured(rows, threshold, comparison, failing, "distance from the table"))
    clear_of_each_other(chart.drawing, LETTER)
    assert all(area.x >= -0.01 and area.x + area.width <= 100.01 for area in chart.drawing.areas)


def test_a_histogram_says_what_fails():
    chart = histogram.chart(measured(SIZES, 5, failing=(370, 699)))
    assert chart.title == "370 of 413 groups are below 5"
    assert chart.data.body[0] == ["1", "181", "181", "9.0%"]
    assert chart.data.body[-1] == ["50 or more", "4", "1,000", "50.0%"]
    assert sum(area.style == "hatched" for area in chart.drawing.areas) == 4


def test_a_single_failing_class_takes_the_singular():
    assert histogram.chart(measured([(1, 1, 1), (9, 2, 18)], 5)).title == "1 of 3 groups is below 5"


def test_without_failures_nothing_is_hatched():
    chart = histogram.chart(measured([(9, 2, 18)], 5))
    assert chart.title == "No group is below 5"
    assert [area.style for area in chart.drawing.areas] == ["bar"]


def test_the_failing_side_is_right_where_less_is_safer():
    rows = [(0.1, 2, 20), (0.3, 1, 10)]
    chart = cumulative.chart(measured(rows, "0.2", Comparison.AT_MOST, (1, 10)))
    hatched = chart.drawing.areas[0]
    assert chart.title == "33.3% of records are in groups that go beyond 0.2"
    assert (hatched.style, round(hatched.x + hatched.width)) == ("hatched-soft", 100)
    assert [label.text for label in chart.drawing.labels][-2:] == ["allowed: 0.2", "10 records go beyond"]


def test_the_failing_side_is_left_where_more_is_safer():
    chart = cumulative.chart(measured([(1.5, 2, 1), (3.5, 1, 10)], 3, failing=(2, 1)))
    assert chart.drawing.areas[0].x == chart.drawing.left
    assert [label.text for label in chart.drawing.labels][-2:] == ["demanded: 3", "1 record falls short"]


def test_infinite_figures_stand_apart_with_their_share():
    chart = cumulative.chart(measured([(1.5, 1, 30), (inf, 1, 10)], 2, Comparison.AT_MOST, (1, 10)))
    texts = [label.text for label in chart.drawing.labels]
    assert "∞" in texts
    assert "25.0%" in texts
    assert chart.data.body[-1] == ["infinite", "10", "25.0%"]
    assert [area.style for area in chart.drawing.areas] == ["hatched-soft", "bad", "hatched"]


def test_a_distribution_of_nothing_but_infinity_is_drawn():
    chart = cumulative.chart(measured([(inf, 3, 30)], None, Comparison.AT_MOST))
    assert chart.title == "Half of the records are in groups at ∞ or below"
    assert chart.drawing.curve == ""


def test_an_axis_is_logarithmic_only_over_orders_of_magnitude():
    assert not axis_for([0.001, 0.9], 0.5, 100).logarithmic
    assert axis_for([0.5, 400.0], None, 100).logarithmic
    assert axis_for([0.001, 0.9], 0.01, 100).logarithmic
    assert not axis_for([0.0, 400.0], None, 100).logarithmic


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=9), st.one_of(st.none(), st.floats(0, 1e6)))
def test_an_axis_holds_every_figure(values, threshold):
    axis = axis_for(values, threshold, 82)
    held = [*values, *([] if threshold is None else [threshold])]
    assert axis.low <= min(held) * (1 + 1e-9)
    assert max(held) <= axis.high * (1 + 1e-9)
    assert all(0 <= axis.place(value) <= 82.001 for value in held)


def test_five_thousand_sizes_make_at_most_nine_bars():
    rows = [(size, 1, size) for size in range(1, 5001)]
    chart = histogram.chart(measured(rows, 7))
    assert sum(area.style in ("bar", "bad") for area in chart.drawing.areas) <= 9


def test_counts_on_both_sides_of_a_demand_add_up_to_the_total():
    rows = [(0.2, 20, 100), (0.4, 5, 30), (0.6, 2, 10)]  # of the 30 at 0.4 after rounding, ten go beyond
    chart = cumulative.chart(measured(rows, "0.4", Comparison.AT_MOST, (4, 20)))
    at_limit = next(row for row in chart.data.body if row[0] == "≤ 0.4")
    assert at_limit[1] == "120"
    below = [int(row[1]) for row in chart.data.body]
    assert below == sorted(below)
    more = cumulative.chart(measured([(1.5, 1, 30), (3.0, 1, 40), (3.5, 1, 30)], 3, failing=(1, 30)))
    assert ["< 3", "30", "30.0%"] in [list(row) for row in more.data.body]


@pytest.mark.parametrize("comparison", [Comparison.AT_MOST, Comparison.AT_LEAST])
@pytest.mark.parametrize("threshold", ["0.01", "0.4", "0.99"])
def test_no_text_is_on_the_curve(comparison, threshold):
    rows = [(number / 100, 1, 1) for number in range(1, 100)]
    drawing = cumulative.chart(measured(rows, threshold, comparison, (50, 50))).drawing
    inside = [one for one in drawing.labels if drawing.top < one.y - 9 < drawing.top + drawing.tall]
    assert all(one.extent()[1] <= drawing.left for one in inside)


def test_the_curve_is_as_wide_as_its_axis():
    chart = cumulative.chart(measured([(1.0, 1, 30), (2.0, 1, 30), (inf, 1, 10)], 2, Comparison.AT_MOST, (1, 10)))
    (tick,) = (one for one in chart.drawing.labels if one.text == "2")
    steps = [float(one) for one in re.findall(r"h(\d+)", chart.drawing.curve)]
    assert chart.drawing.left + chart.drawing.span * sum(steps) / 1000 == pytest.approx(tick.x, abs=0.2)


def test_counts_of_a_histogram_are_written_out_where_they_have_room():
    rows = [(size, 12_345, 12_345 * size) for size in (2, 3, 4)]
    texts = [one.text for one in histogram.chart(measured(rows, 3, failing=(12_345, 24_690))).drawing.labels]
    assert texts.count("12,345") == 3
    assert "37,035" in texts


def test_a_long_noun_is_whole_beside_its_row():
    drawing = histogram.chart(replace(measured(SIZES, 5), noun="household")).drawing
    (name,) = (one for one in drawing.labels if one.text == "households")
    assert name.extent(SMALL_LETTER)[1] < min(one.x for one in drawing.areas)
