"""Periods of the calendar as cells write them."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given, strategies as st

from tcdp_audit.core.encoding.periods import PERIODS, label_of, period_of, within


@given(st.dates(date(1000, 1, 8), date(9999, 12, 20)), st.sampled_from(PERIODS))
def test_a_day_is_in_its_period_and_the_days_around_it_are_not(day: date, period: str) -> None:
    label = label_of(day.toordinal(), period)
    period_of_label = period_of(label)
    assert period_of_label is not None
    assert period_of_label.first <= day.toordinal() <= period_of_label.last
    assert {label_of(one, period) for one in (period_of_label.first, period_of_label.last)} == {label}
    assert label not in {label_of(one, period) for one in (period_of_label.first - 1, period_of_label.last + 1)}


@pytest.mark.parametrize(
    "text",
    ["", "17", "2024-13", "2024-1", "2024-Q5", "2024-H3", "2024-W54", "2023-02-29", "20240101", "2024-Q12", "day"],
)
def test_what_is_no_period(text: str) -> None:
    assert period_of(text) is None


@pytest.mark.parametrize("text", ["2024-02-29", "2024-02-29 10:15", "2024-02-29T10:15:30.25+01:00", " 2024-02-29 "])
def test_a_day_with_a_time_is_the_day(text: str) -> None:
    period = period_of(text)
    assert period is not None
    assert period.first == period.last == date(2024, 2, 29).toordinal()


def test_periods_within_others_equal_plain_python() -> None:
    days = [date(2023, 11, 1) + timedelta(13 * one) for one in range(40)]
    others = [*map(str, days), *(label_of(day.toordinal(), period) for day in days for period in PERIODS), "none"]
    labels = sorted({label_of(day.toordinal(), period) for day in days for period in PERIODS} | {"none"})
    positions = within(labels, others)
    for label, places in zip(labels, positions, strict=True):
        whole = period_of(label)
        slow = [
            place
            for place, other in enumerate(others)
            if whole is not None and (part := period_of(other)) is not None and whole.contains(part)
        ]
        assert sorted(places.tolist()) == slow


@pytest.mark.parametrize(
    ("text", "label", "made_of_months"),
    [
        ("9999-12-31", "9999-12", False),
        ("9999-12", "9999-12", True),
        ("9999-W52", "9999-12", False),
        ("9999", None, True),
    ],
)
def test_the_calendar_ends_with_the_last_day(text: str, label: str | None, *, made_of_months: bool) -> None:
    """Tables write 9999-12-31 for what has no end."""
    period = period_of(text)
    assert period is not None
    assert period.last == date.max.toordinal()
    assert (period.label("month"), period.is_made_of("month")) == (label, made_of_months)
