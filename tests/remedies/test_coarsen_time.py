"""Coarser times: the period of each date, golden classes of histories, and what is no date."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pyarrow as pa
import pytest
from histories import PLUGINS, UNIT, clinic, clinic_policy, figures_of, histories_of, treated

from tcdp_audit import PolicyError, RemedyError, fix, load_policy


@pytest.mark.parametrize(
    ("to", "figures"), [("quarter", (1, 105, 389)), ("half_year", (1, 3, 69)), ("year", (25, 0, 14))]
)
def test_golden_numbers(to: str, figures: tuple[int, int, int]) -> None:
    released, treatment = treated(clinic(), clinic_policy(), "coarsen_time", to=to)
    assert figures_of(histories_of(released).values()) == figures
    assert treatment.notes["values_after"] == {"quarter": 4, "half_year": 2, "year": 1}[to]


def slowly(day: date, to: str) -> str:
    calendar = day.isocalendar()
    return {
        "week": f"{calendar.year}-W{calendar.week:02}",
        "month": f"{day.year}-{day.month:02}",
        "quarter": f"{day.year}-Q{(day.month + 2) // 3}",
        "half_year": f"{day.year}-H{1 if day.month < 7 else 2}",
        "year": str(day.year),
    }[to]


@pytest.mark.parametrize("to", ["week", "month", "quarter", "half_year", "year"])
def test_every_day_of_some_years(to: str) -> None:
    days = [date(2023, 12, 1) + timedelta(one) for one in range(800)]
    table = pa.table({UNIT: [0] * 800, "month": days, "ward": ["n"] * 800, "diagnosis": ["a"] * 800})
    released, _ = treated(table, clinic_policy(), "coarsen_time", to=to)
    assert released["month"].to_pylist() == [slowly(day, to) for day in days]


def test_coarser_cells_stay_and_missing_ones_too() -> None:
    cells = ["2024-02-03", "2024-Q1", "2024", "", "*", "2024-02-03 10:30:00", "2024-W06"]
    table = pa.table({UNIT: [0] * 7, "month": cells, "ward": ["n"] * 7, "diagnosis": ["a"] * 7})
    released, _ = treated(table, clinic_policy(), "coarsen_time", to="month")
    assert released["month"].to_pylist() == ["2024-02", "2024-Q1", "2024", "", "*", "2024-02", "2024-02"]
    with pytest.raises(RemedyError, match="reaches over the border of a week in 1 record;"):
        treated(table, clinic_policy(), "coarsen_time", to="week")  # a quarter that began on a Monday has whole weeks


def test_the_finest_period_that_suffices() -> None:
    _, treatment = treated(clinic(), clinic_policy(k=5), "coarsen_time")
    assert treatment.notes["to"] == "year"
    with pytest.raises(RemedyError, match="no period is coarse enough; k_anonymity 25, where >= 26 is demanded"):
        treated(clinic(), clinic_policy(k=26), "coarsen_time")


def test_what_it_loses_is_the_share_of_values_that_a_period_covers() -> None:
    table = clinic()
    asked = clinic_policy({"coarsen_time": {"to": "quarter"}}, {"suppress_units": {}})
    result = fix(table, asked, plugins=PLUGINS)
    assert result.passed
    assert result.log.suppressed == 2074  # those of 560 patients
    lost = result.log.loss["attributes"]["month"]["cell_loss"]
    assert lost == pytest.approx((2074 + (4977 - 2074) * 3 / 12) / 4977)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"time": None}, "the policy names no `time:`"),
        ({"time": "ward"}, "the time 'ward' is no date \\(such as 2026-11-20 or 2026-11\\) in 4,977 records"),
    ],
)
def test_what_cannot_be_coarsened(changes: dict[str, Any], sentence: str) -> None:
    asked = {name: value for name, value in {**clinic_policy(), **changes}.items() if value is not None}
    with pytest.raises(RemedyError, match=sentence):
        treated(clinic(), asked, "coarsen_time", to="year")


def test_days_since_entry_are_no_dates() -> None:
    table = pa.table({UNIT: [1, 1, 2], "month": [3, 400, 3], "ward": [*"nns"], "diagnosis": [*"aab"]})
    asked = clinic_policy()
    asked["attributes"]["month"]["scale"] = "numeric"
    with pytest.raises(RemedyError, match="are numbers, and only dates have weeks, months and years"):
        treated(table, asked, "coarsen_time", to="year")
    assert "only dates have weeks" in fix(table, asked, plugins=PLUGINS).log.left_out["Coarser times"]


def test_what_a_policy_cannot_say() -> None:
    with pytest.raises(PolicyError, match="half_year"):
        load_policy(clinic_policy({"coarsen_time": {"to": "decade"}}), PLUGINS)
    asked = clinic_policy({"coarsen_time": {"to": "year"}})
    asked["attributes"]["month"]["role"] = "insensitive"
    with pytest.raises(PolicyError, match="the time 'month' is neither a quasi-identifier nor a sensitive"):
        load_policy(asked, PLUGINS)
