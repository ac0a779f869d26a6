"""New pseudonyms of one person are not several people, whatever a policy demands."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import fix
from tests.remedies.histories import PLUGINS, UNIT, clinic_policy

Row = tuple[int, str, str, str]


def clinic(rows: list[Row]) -> pa.Table:
    return pa.table(dict(zip((UNIT, "month", "ward", "diagnosis"), zip(*rows, strict=True), strict=True)))


def asked(demand: dict[str, Any], *remedies: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A demand where the ward is known, and the month is not."""
    policy = clinic_policy(*remedies, expect=[demand], **more)
    policy["attributes"]["month"] = {"role": "insensitive"}
    return policy


def alone_in_a_ward() -> list[Row]:
    """One patient with two rows in a ward that no one else was in, and ten in another one."""
    rows = [(1, "2024-01", "a", "x"), (1, "2024-01", "a", "y"), (2, "2024-02", "b", "x")]
    return rows + [(patient, "2024-01", "b", "xy"[patient % 2]) for patient in range(2, 12)]


@pytest.mark.parametrize(
    "demand",
    [
        {"distinct_l_diversity": {"attribute": "diagnosis", "l": 2}},
        {"homogeneity": {"attribute": "diagnosis", "at_most": 0}},
        {"k_anonymity": {"k": 2, "known_rows": "one"}},
        {"known_events": {"k": 2, "m": 1}},
    ],
)
def test_rows_of_one_patient_do_not_hide_each_other(demand: dict[str, Any]) -> None:
    result = fix(clinic(alone_in_a_ward()), asked(demand, {"redraw_pseudonym": {"per": "row"}}), plugins=PLUGINS)
    assert not result.passed
    assert not result.log.steps
    assert "which no one who has the release alone could see" in result.log.tried[0].error
    assert "patient" not in {one.name for one in result.log.dropped}


def test_windows_of_one_patient_do_not_hide_each_other_where_one_row_is_known() -> None:
    """The histories of the windows differ, and so no class of them is too large."""
    months = range(1, 6)
    rows = [(1, f"2024-0{month}", ward, "x") for month in months for ward in ("a", f"b{month}")]
    rows += [(10 * month + other, "2024-01", f"b{month}", "y") for month in months for other in range(6)]
    remedy = {"redraw_pseudonym": {"per": "window", "width": "month"}}
    policy = asked({"k_anonymity": {"k": 5}}, remedy, conventions={"known_rows": "one"})
    result = fix(clinic(rows), policy, plugins=PLUGINS)
    assert not result.passed
    assert result.log.tried[0].error == (
        "k_anonymity would hold for new pseudonyms, and not for the units behind them, which no one who has the "
        "release alone could see; redraw pseudonyms last, or say `unit_released: false`"
    )


def test_windows_of_one_patient_do_not_hide_each_other_where_all_rows_are_known() -> None:
    """Only the first patient has a row in a and one in b in a window, twice, and others have either with c."""
    rows = [(1, month, ward, value) for month, value in (("2024-01", "x"), ("2024-02", "y")) for ward in "ab"]
    rows += [(10 + one, "2024-01", ward, "xy"[one % 2]) for one in range(12) for ward in ("ab"[one // 6], "c")]
    remedy = {"redraw_pseudonym": {"per": "window", "width": "month"}}
    demand = {"distinct_l_diversity": {"attribute": "diagnosis", "l": 2}}
    result = fix(clinic(rows), asked(demand, remedy), plugins=PLUGINS)
    assert not result.passed
    assert result.log.tried[0].error.startswith("distinct_l_diversity would hold for new pseudonyms")
    others = fix(clinic([*rows, *((2, *row[1:]) for row in rows[:4])]), asked(demand, remedy), plugins=PLUGINS)
    assert not others.passed  # each of two patients has both values
    honest = [(2 if row[:2] == (1, "2024-02") else row[0], *row[1:]) for row in rows]
    assert fix(clinic(honest), asked(demand), plugins=PLUGINS).before.passed


def test_rows_of_several_patients_do() -> None:
    rows = [*alone_in_a_ward(), (12, "2024-01", "a", "y"), (12, "2024-01", "b", "x")]
    demand = {"distinct_l_diversity": {"attribute": "diagnosis", "l": 2}}
    result = fix(clinic(rows), asked(demand, {"redraw_pseudonym": {"per": "row"}}), plugins=PLUGINS)
    dropped = fix(clinic(rows), asked(demand, unit_released=False), plugins=PLUGINS)
    assert result.passed is dropped.before.passed


def test_new_pseudonyms_of_households_have_a_cost() -> None:
    rows = [(home, 10 * home + place, "fm"[place % 2]) for home in range(12) for place in range(home % 3 + 1)]
    table = pa.table(dict(zip(("home", "person", "sex"), zip(*rows, strict=True), strict=True)))
    roles = {"sex": "quasi_identifier", "home": "insensitive", "person": "insensitive"}
    policy = {
        "version": 1,
        "unit": "person",
        "household": "home",
        "attributes": {name: {"role": role} for name, role in roles.items()},
        "expect": [{"k_anonymity": {"k": 5}}],
        "remedy": [{"redraw_pseudonym": {"per": "row"}}],
    }
    result = fix(table, policy, plugins=PLUGINS)
    assert result.passed
    assert result.log.loss["links"]["unit"] == "home"
    assert result.log.loss["total"] == pytest.approx(20 / 24 / 2)
    refused = fix(table, {**policy, "max_loss": "0.4"}, plugins=PLUGINS)
    assert not refused.passed
