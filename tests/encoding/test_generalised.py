"""Generalised cells: how they are written, what they cover, and how the audit reads them."""

from __future__ import annotations

from math import inf
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tcdp_audit import audit
from tcdp_audit.core.encoding.generalised import (
    EVERYTHING,
    Interval,
    OrderedLabels,
    Ranges,
    interval_label,
    members,
    number_or_interval,
    number_text,
    parse_interval,
    set_label,
)


@pytest.mark.parametrize(
    ("label", "low", "high", "low_open", "high_open"),
    [
        ("[20, 35)", 20, 35, False, True),
        ("[20,35]", 20, 35, False, False),
        ("(-1.5, 2e3]", -1.5, 2000, True, False),
        ("[-inf, 3)", -inf, 3, False, True),
        ("20-34", 20, 34, False, False),
        ("<20", -inf, 20, False, True),
        (">= 65", 65, inf, False, False),
        (">65", 65, inf, True, False),
        ("≤ 7", -inf, 7, False, False),
        ("≥65", 65, inf, False, False),
        ("[50, 55[", 50, 55, False, True),
        ("]50, 55]", 50, 55, True, False),
        ("]50;55[", 50, 55, True, True),
        ("(-∞, 20)", -inf, 20, True, True),
        ("[65, ∞)", 65, inf, False, True),
        ("20–34", 20, 34, False, False),
        ("65+", 65, inf, False, False),
        ("476**", 47600, 47699, False, False),
        ("02***", 2000, 2999, False, False),
    ],
)
def test_labels_of_intervals(label: str, low: float, high: float, low_open: bool, high_open: bool) -> None:
    assert parse_interval(label) == Interval(low, high, low_open, high_open)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "20",
        "[35, 20)",
        "[20, 20)",
        "[a, b]",
        "34-20",
        "2020-01-01",
        "[1, 2",
        "*",
        "**",
        "4*6",
        "+",
        "a+",
        "[2, 1[",
        "]1, 1]",
        "1-2-3",
    ],
)
def test_what_is_no_interval(text: str) -> None:
    assert parse_interval(text) is None


def test_bins_are_half_open_with_an_inclusive_last_one() -> None:
    below, inside, last = (parse_interval(label) for label in ("[15, 20)", "[20, 35)", "[35, 50]"))
    assert below is not None
    assert inside is not None
    assert last is not None
    assert [one.contains(20) for one in (below, inside, last)] == [False, True, False]
    assert [one.contains(50) for one in (below, inside, last)] == [False, False, True]


BRACKETS = {"[": False, "(": True, "]": True}, {"]": False, ")": True, "[": True}


@given(
    st.sampled_from([*BRACKETS[0]]),
    st.sampled_from([*BRACKETS[1]]),
    st.integers(-50, 50),
    st.integers(1, 50),
    st.integers(-200, 200),
)
def test_every_bracket_keeps_or_leaves_out_its_own_end(
    left: str, right: str, low: int, width: int, number: int
) -> None:
    high, interval = low + width, parse_interval(f"{left}{low}, {low + width}{right}")
    assert interval is not None
    inside = low < number < high or (number == low and left == "[") or (number == high and right == "]")
    assert interval.contains(number) == inside


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(0, 10**11))
def test_masked_digits_hold_the_numbers_with_these_digits(digits: int, hidden: int, number: int) -> None:
    interval = parse_interval(f"{digits}{'*' * hidden}")
    assert interval is not None
    assert interval.contains(number) == (number // 10**hidden == digits)
    assert interval.contains(digits * 10**hidden)
    assert interval.contains((digits + 1) * 10**hidden - 1)


def test_bins_of_either_notation_are_in_order_and_do_not_overlap() -> None:
    for bins in (
        ["[9, 20[", "[20, 100[", "[100, 200]"],
        ["]9, 20]", "]20, 100]", "]100, 200]"],
        ["9-19", "20-99", "100+"],
    ):
        result = audited(
            [bins[0], bins[2], bins[0], bins[1]],
            {"role": "sensitive", "scale": "numeric"},
            [{"t_closeness": {"distance": "ordered"}}],
        )
        assert result.expectations[0].observed == 0.125


@given(st.integers(-1000, 1000), st.integers(1, 1000), st.booleans())
def test_a_label_is_read_as_it_was_written(low: int, width: int, open_end: bool) -> None:
    assert parse_interval(interval_label(low, low + width, open_end=open_end)) == Interval(
        low, low + width, high_open=open_end
    )
    assert number_or_interval(interval_label(low, low)) == Interval(low, low)


def test_numbers_as_text() -> None:
    assert [number_text(one) for one in (39, 39.0, 0.1, -2.5, 1e22, "x")] == ["39", "39", "0.1", "-2.5", "1e+22", "x"]


def test_ranges_of_an_order_may_have_values_with_commas() -> None:
    labels = OrderedLabels(["low", "low, rising", "high"])
    assert labels.parse("[low, high]") == Interval(0, 2)
    assert labels.parse("[low, rising, high]") == Interval(1, 2)
    assert labels.parse("high") == Interval(2, 2)
    assert [labels.parse(one) for one in ("[high, low]", "[low, low]", "other", "[low]")] == [None] * 4


def test_sets_of_values() -> None:
    assert members(set_label(["a", "b, c"]), {"a", "b, c"}) == ["a", "b, c"]
    assert members("{a}", {"a"}) is None
    assert members("a, b", {"a", "b"}) is None
    assert members("{a, z}", {"a"}) is None
    assert members("{z, b, c, a}", {"a", "b, c"}, unknown=True) == ["z", "b, c", "a"]
    assert members("{z}", {"a"}, unknown=True) is None


def test_the_middle_of_a_range_lies_within_the_ends_of_all() -> None:
    ranges = Ranges.of([Interval(2, 4), Interval(-inf, 4), Interval(2, inf), Interval(9, 9), EVERYTHING])
    assert ranges.limits == (2, 9)
    assert ranges.middles(*ranges.limits).tolist() == [3, 3, 5.5, 9, 5.5]


def test_without_a_finite_end_there_are_no_limits() -> None:
    ranges = Ranges.of([EVERYTHING])
    assert ranges.limits == (0, 0)
    assert ranges.middles(*ranges.limits).tolist() == [0]


def test_an_interval_contains_numbers() -> None:
    assert EVERYTHING.contains(-1e300)


# How the audit reads them


def audited(values: list[str], declaration: dict[str, Any], expect: list[dict[str, Any]]) -> Any:
    table = pa.table({"zip": ["a", "a", "b", "b"], "x": values})
    attributes = {"zip": {"role": "quasi_identifier"}, "x": declaration}
    return audit(table, {"version": 1, "attributes": attributes, "expect": expect})


@pytest.mark.parametrize(
    ("values", "declaration"),
    [
        (["20", "[20, 35)", "*", ">=65"], {"scale": "numeric"}),
        (["low", "[low, high]", "*", "high"], {"scale": "ordinal", "order": ["low", "middle", "high"]}),
    ],
)
def test_generalised_cells_keep_their_scale(values: list[str], declaration: dict[str, Any]) -> None:
    result = audited(values, {"role": "quasi_identifier", **declaration}, [{"k_anonymity": {"k": 1}}])
    assert result.status == "measured"
    assert result.expectations[0].classes.total == 4


def test_text_that_is_neither_a_number_nor_a_range_does_not() -> None:
    result = audited(
        ["20", "[20, 35)", "old", "[35, 20)"],
        {"role": "quasi_identifier", "scale": "numeric"},
        [{"k_anonymity": {"k": 1}}],
    )
    (wrong,) = [one for one in result.structure if one.check == "wrong_scale"]
    assert wrong.message == (
        "column 'x' holds a value that is neither of its scale nor a range of it in 2 records, first in record 3 "
        "(a range is written [20, 35), [20, 35[, 20-34, <20, >=65, 65+ or 476**)"
    )


def test_buckets_are_ordered_by_what_they_cover() -> None:
    buckets = ["[9, 20)", "[100, 200]", "[9, 20)", "[20, 100)"]
    result = audited(buckets, {"role": "sensitive", "scale": "numeric"}, [{"t_closeness": {"distance": "ordered"}}])
    # ranks 0, 1, 2 hold 1/2, 1/4, 1/4; a class of 1/2, 0, 1/2 moves a quarter over one step of two
    assert result.expectations[0].observed == 0.125


def test_ranges_that_overlap_have_no_order() -> None:
    overlapping = ["[9, 20)", "[15, 40]", "[9, 20)", "30"]
    result = audited(
        overlapping, {"role": "sensitive", "scale": "numeric"}, [{"t_closeness": {"t": 1, "distance": "ordered"}}]
    )
    assert result.status == "error"
    assert result.expectations[0].message == (
        "cannot be evaluated: generalised values of 'x' overlap, so that they have no order"
    )
    equal = audited(overlapping, {"role": "sensitive", "scale": "numeric"}, [{"t_closeness": {"distance": "equal"}}])
    assert equal.expectations[0].observed == 0.25


def test_ranges_that_only_touch_are_ordered_whichever_of_them_leaves_the_number_out() -> None:
    """`pandas.cut` leaves out the lower end: of "(9, 20]" and "(20, 40]" only the first holds 20."""
    declaration = {"role": "sensitive", "scale": "numeric"}
    expect = [{"t_closeness": {"t": 1, "distance": "ordered"}}]
    lower_open = audited(["(9, 20]", "(20, 40]", "(9, 20]", "(40, 50]"], declaration, expect)
    upper_open = audited(["[9, 20)", "[20, 40)", "[9, 20)", "[40, 50]"], declaration, expect)
    assert lower_open.expectations[0].observed == upper_open.expectations[0].observed == 0.125
    assert audited(["[9, 20]", "[20, 40]"] * 2, declaration, expect).status == "error"


def test_a_numeric_distance_has_no_numbers_in_ranges() -> None:
    result = audited(
        ["[9, 20)", "30", "40", "50"],
        {"role": "sensitive", "scale": "numeric"},
        [{"t_closeness": {"t": 1, "distance": "numeric"}}],
    )
    assert (result.status, result.expectations[0].message) == (
        "error",
        "the numeric distance needs numbers; the attribute is not numeric, or holds ranges",
    )
