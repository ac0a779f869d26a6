"""Hierarchies hold every value of a form between round ends, and are hierarchies that a policy takes."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit.core.encoding.domain import RawDomain
from tcdp_audit.core.encoding.hierarchy import load_hierarchy
from tcdp_audit.drafting.column import ColumnFacts
from tcdp_audit.drafting.hierarchies import DAYS, DraftHierarchy, form_of_days, hierarchy_of
from tcdp_audit.drafting.vocabulary import topic_of


def facts(name: str, values: list[object]) -> ColumnFacts:
    """A column of a table in memory."""
    records = Counter(values)
    distinct = sorted(records, key=str)
    kind = object if any(isinstance(one, str) for one in values) else None
    counts = np.array([records[one] for one in distinct], np.int64)
    return ColumnFacts(name, RawDomain(np.array(distinct, kind), counts, 0), len(values))


def hierarchy(name: str, values: list[object]) -> DraftHierarchy | None:
    return hierarchy_of(facts(name, values), topic_of(name))


def covers(outcome: DraftHierarchy | None, values: list[object], folder: Path) -> int:
    """The height of a hierarchy that a policy accepts and that lacks no value."""
    assert outcome is not None
    path = folder / "hierarchy.csv"
    path.write_text(outcome.csv, encoding="utf-8")
    hierarchy = load_hierarchy("hierarchy.csv", path)
    assert hierarchy.unknown([str(one) for one in values]) == []
    return hierarchy.height


def test_ages_have_bins_of_5_10_and_20_years(tmp_path: Path):
    levels = hierarchy("age", [17, 39, 90])

    assert covers(levels, [17, 39, 90], tmp_path) == 4
    assert levels is not None
    assert levels.paths[39] == ("39", "35-39", "30-39", "20-39", "*")
    assert len(levels.paths) == 100


@pytest.mark.parametrize("form", DAYS)
def test_days_have_months_years_and_decades(form: str, tmp_path: Path):
    days: list[object] = [date(1931, 12, 31).strftime(form), date(1945, 2, 28).strftime(form)]
    levels = hierarchy("dob", days)

    assert covers(levels, days, tmp_path) == 4
    assert levels is not None
    assert len(levels.paths) == sum(365 + (year % 4 == 0) for year in range(1930, 1950))
    assert levels.paths[0][1:] == ("1930-01", "1930", "1930-1939", "*")


@settings(max_examples=10)
@given(st.sets(st.dates(date(1990, 1, 1), date(2009, 12, 31)), min_size=1, max_size=5))
def test_of_a_day_at_either_end_of_a_decade_nothing_else_is_reported(days: set[date]):
    texts: list[object] = [one.isoformat() for one in days]
    levels = hierarchy("date", texts)

    assert levels is not None
    first, last = min(days).year // 10 * 10, max(days).year // 10 * 10 + 9
    count = (date(last, 12, 31) - date(first, 1, 1)) // timedelta(days=1) + 1
    assert (levels.paths[0][0], levels.paths[-1][0], len(levels.paths)) == (f"{first}-01-01", f"{last}-12-31", count)


def test_a_day_that_two_forms_could_mean_is_in_none():
    assert form_of_days(["01/02/2003"]) is None
    assert form_of_days(["01/02/2003", "13/02/2003"]) == "%d/%m/%Y"
    assert form_of_days(["2003-02-30"]) is None
    assert form_of_days([]) is None


def test_one_day_that_is_none_leaves_no_hierarchy():
    many: list[object] = [(date(2000, 1, 1) + timedelta(days=one)).isoformat() for one in range(1200)]

    assert hierarchy("date", many) is not None
    assert hierarchy("date", [*many, "2999-99-99"]) is None
    assert hierarchy("date", [*many[:1100], "unknown", *many[1100:]]) is None


def test_years_have_decades_and_half_centuries(tmp_path: Path):
    levels = hierarchy("birth_year", [1931, 1987])

    assert covers(levels, [1931, 1987], tmp_path) == 3
    assert levels is not None
    assert levels.paths[0] == ("1900", "1900-1909", "1900-1949", "*")


@pytest.mark.long
def test_postal_codes_lose_one_digit_at_a_time(tmp_path: Path):
    levels = hierarchy("zip", ["02139", "94105"])

    assert covers(levels, ["02139", "94105"], tmp_path) == 5
    assert levels is not None
    assert levels.paths[2139] == ("02139", "0213*", "021**", "02***", "0****", "*")
    assert len(levels.paths) == 100_000


def test_icd_codes_have_categories_and_letters(tmp_path: Path):
    assert covers(hierarchy("diagnosis", ["E11", "E11.9", "U07.1"]), ["E11", "E11.9", "U07.1"], tmp_path) == 3


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("zip", ["02139", "2139"]),
        ("zip", ["0213a", "02139"]),
        ("zip", ["123456"]),
        ("age", ["20-29", "30"]),
        ("age", [30.5]),
        ("age", [200]),
        ("age", [-1]),
        ("diagnosis", ["flu"]),
        ("year", [1000]),
        ("x", ["a"]),
        ("x", []),
    ],
)
def test_what_has_no_one_form_has_no_hierarchy(name: str, values: list[object]):
    assert hierarchy(name, values) is None


def test_a_hierarchy_says_nothing_about_which_values_are_there():
    assert hierarchy("zip", ["02139"]) == hierarchy("zip", ["94105", "00000"])
    assert hierarchy("age", [21, 22]) == hierarchy("age", [39])
