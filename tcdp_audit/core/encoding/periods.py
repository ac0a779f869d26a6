"""Periods of the calendar: days, weeks, months, quarters, half years and years, as cells write them.

A day is `2024-03-31`, with or without a time of day; its month `2024-03`, week `2024-W13`, quarter `2024-Q1`, half year
`2024-H1`, and year `2024`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass

YEAR = re.compile(r"(\d{4})")
DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?")
WEEK = re.compile(r"(\d{4})-W(\d{2})")
PARTS_OF_YEAR = re.compile(r"(\d{4})-([QH])?(\d{1,2})")
MONTHS: Mapping[str, int] = MappingProxyType({"month": 1, "quarter": 3, "half_year": 6, "year": 12})
PERIODS = ("week", *MONTHS)  # the finest first
LAST = date.max.toordinal()  # the last day of the calendar, which some tables write for no end


@dataclass(frozen=True)
class Period:
    """A period of the calendar.

    Args:
        first: its first day, as days since 0001-01-01.
        last: its last day, likewise.
    """

    first: int
    last: int

    def contains(self, other: Period) -> bool:
        """Whether every day of another period is one of this."""
        return self.first <= other.first and other.last <= self.last

    def label(self, period: str) -> str | None:
        """The one of `PERIODS` that contains every day of this, as a cell writes it; None where several do."""
        first = label_of(self.first, period)
        return first if first == label_of(self.last, period) else None

    def is_made_of(self, period: str) -> bool:
        """Whether this is one or several whole weeks, months, quarters, half years or years."""
        starts = self.first == 1 or label_of(self.first - 1, period) != label_of(self.first, period)
        ends = self.last == LAST or label_of(self.last, period) != label_of(self.last + 1, period)
        return starts and ends


def period_of(text: str) -> Period | None:
    """The period that a cell names; None if it names none.

    Example:
        >>> march, quarter = period_of("2024-03"), period_of("2024-Q1")
        >>> quarter.contains(march), period_of("2024-13"), period_of("17")
        (True, None, None)
    """
    text = text.strip()
    try:
        if day := DAY.fullmatch(text):
            ordinal = date.fromisoformat(day[1]).toordinal()
            return Period(ordinal, ordinal)
        if week := WEEK.fullmatch(text):
            monday = date.fromisocalendar(int(week[1]), int(week[2]), 1).toordinal()
            return Period(monday, min(monday + 6, LAST))
        if year := YEAR.fullmatch(text):
            return _months(int(year[1]), 1, 12)
        return _part_of_year(PARTS_OF_YEAR.fullmatch(text))
    except (ValueError, OverflowError):
        return None


def _part_of_year(match: re.Match[str] | None) -> Period | None:
    """A month, a quarter or a half year."""
    if match is None or (len(match[3]) == 1) != (match[2] is not None):
        return None
    size = {None: 1, "Q": 3, "H": 6}[match[2]]
    number = int(match[3])
    return _months(int(match[1]), (number - 1) * size + 1, size) if 1 <= number <= 12 // size else None


def _months(year: int, first: int, months: int) -> Period:
    """Some months of a year."""
    last = date(year, 12, 31) if first + months > 12 else date(year, first + months, 1) - timedelta(1)
    return Period(date(year, first, 1).toordinal(), last.toordinal())


def label_of(day: int, period: str) -> str:
    """The period of a day, as a cell writes it.

    Args:
        day: days since 0001-01-01.
        period: one of `PERIODS`.

    Example:
        >>> day = period_of("2024-12-31").first
        >>> [label_of(day, one) for one in PERIODS]
        ['2025-W01', '2024-12', '2024-Q4', '2024-H2', '2024']
    """
    when = date.fromordinal(day)
    if period == "week":
        calendar = when.isocalendar()
        return f"{calendar.year:04}-W{calendar.week:02}"
    number = (when.month - 1) // MONTHS[period] + 1
    part = {"month": f"-{number:02}", "quarter": f"-Q{number}", "half_year": f"-H{number}", "year": ""}[period]
    return f"{when.year:04}{part}"


def within(labels: Sequence[str], others: Sequence[str]) -> list[NDArray[np.intp]]:
    """The positions of the periods among `others` that each of some labels contains; none for what is no period.

    Cost: O((labels + others) log others), and the positions.
    """
    periods = [period_of(one) for one in others]
    known = np.array([place for place, one in enumerate(periods) if one is not None], dtype=np.intp)
    first = np.array([one.first for one in periods if one is not None], dtype=np.int64)
    last = np.array([one.last for one in periods if one is not None], dtype=np.int64)
    order = np.argsort(first, kind="stable")
    known, first, last = known[order], first[order], last[order]
    inside = []
    for label in labels:
        period = period_of(label) if len(known) else None
        low, high = (0, 0) if period is None else np.searchsorted(first, [period.first, period.last + 1])
        inside.append(known[low:high][last[low:high] <= (period.last if period is not None else 0)])
    return inside
