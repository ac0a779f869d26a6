"""New pseudonyms: whose rows they join, that nothing of the old ones is left, and where they are refused."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from histories import (
    KNOWN,
    PLUGINS,
    UNIT,
    clinic,
    clinic_policy,
    figures_of,
    histories_of,
    repaired,
    small_clinic,
    treated,
)

from tcdp_audit import PolicyError, RemedyError, fix, load_policy


@pytest.mark.parametrize(
    ("parameters", "pseudonyms", "figures"),
    [
        ({"per": "window", "width": "half_year"}, 3062, (1, 271, 514)),
        ({"per": "row"}, 4977, (176, 0, 24)),
    ],
)
def test_golden_numbers(parameters: dict[str, Any], pseudonyms: int, figures: tuple[int, int, int]) -> None:
    table = clinic()
    released, treatment = treated(table, clinic_policy(), "redraw_pseudonym", **parameters)
    histories = histories_of(released)
    assert len(histories) == treatment.notes["pseudonyms"] == pseudonyms
    assert figures_of(histories.values()) == figures
    assert treatment.notes["units"] == 2000
    assert not set(histories) & set(histories_of(table))
    assert released.select([*KNOWN, "diagnosis"]).equals(table.select([*KNOWN, "diagnosis"]))


def slowly_divided(table: pa.Table, months: int) -> set[frozenset[int]]:
    """The positions of rows that are joined in windows of so many months."""
    joined = defaultdict(set)
    for place, row in enumerate(table.to_pylist()):
        joined[row[UNIT], (int(row["month"][5:7]) - 1) // months].add(place)
    return {frozenset(rows) for rows in joined.values()}


@pytest.mark.parametrize(("width", "months"), [("month", 1), ("quarter", 3), ("half_year", 6), ("year", 12)])
def test_windows_equal_plain_python(width: str, months: int) -> None:
    for seed in range(5):
        table = small_clinic(seed)
        if months > 3:  # the table has half a year
            with pytest.raises(RemedyError, match="no patient has rows in two windows"):
                treated(table, clinic_policy(), "redraw_pseudonym", per="window", width=width)
            continue
        released, _ = treated(table, clinic_policy(), "redraw_pseudonym", per="window", width=width)
        joined = defaultdict(set)
        for place, pseudonym in enumerate(released[UNIT].to_pylist()):
            joined[pseudonym].add(place)
        assert {frozenset(rows) for rows in joined.values()} == slowly_divided(table, months)


def test_windows_of_days_and_of_numbers() -> None:
    table = pa.table({UNIT: [1, 1, 1, 2, 2], "month": ["1970-01-10", "1970-01-11", "1969-12-31", "", "1970-01-02"]})
    table = table.append_column("ward", [[*"abcde"]]).append_column("diagnosis", [[*"aaaaa"]])
    released, treatment = treated(table, clinic_policy(), "redraw_pseudonym", per="window", width=10)
    first, *rest = released[UNIT].to_pylist()
    assert len({first, *rest}) == treatment.notes["pseudonyms"] == 5
    numbers = table.set_column(1, "month", pa.array([9.5, 9.75, 10, None, -0.25]))
    asked = clinic_policy()
    asked["attributes"]["month"]["scale"] = "numeric"
    released, _ = treated(numbers, asked, "redraw_pseudonym", per="window", width=10)
    first, second, third, fourth, fifth = released[UNIT].to_pylist()
    assert first == second
    assert len({first, third, fourth, fifth}) == 4


def test_no_pseudonym_of_the_input_is_in_any_written_file(tmp_path: Path) -> None:
    table = small_clinic(3, 60)
    output = tmp_path / "released.csv"
    asked = clinic_policy({"coarsen_time": {"to": "year"}}, {"redraw_pseudonym": {"per": "row"}}, k=2)
    result = fix(table, asked, output=output, plugins=PLUGINS)
    result.write(tmp_path / "report.html")
    result.write(tmp_path / "report.json")
    assert [step.remedy for step in result.log.steps] == ["coarsen_time", "redraw_pseudonym"]
    assert output.exists()
    written = [path.read_text() for path in tmp_path.iterdir()]
    assert len(written) == 3
    pseudonyms = set(table[UNIT].to_pylist())
    assert not [name for name in pseudonyms for text in written if name in text]


def test_pseudonyms_do_not_depend_on_the_order_of_rows_or_on_the_old_ones() -> None:
    table = small_clinic(1)
    renamed = table.set_column(0, UNIT, pa.array([f"x{name[::-1]}" for name in table[UNIT].to_pylist()]))
    turned = renamed.take(np.arange(len(table))[::-1])
    asked = clinic_policy({"redraw_pseudonym": {"per": "window", "width": "quarter"}}, k=1_000_000, seed=7)
    names = table.column_names

    def released(some: pa.Table) -> list[dict[str, Any]]:
        treated_table, _ = treated(some, asked, "redraw_pseudonym", per="window", width="quarter")
        return treated_table.sort_by([(name, "ascending") for name in names]).to_pylist()

    assert released(table) == released(renamed) == released(turned)


def test_numbers_stay_numbers_and_text_stays_text() -> None:
    released, _ = treated(clinic(), clinic_policy(), "redraw_pseudonym", per="row")
    assert pa.types.is_integer(released[UNIT].type)
    small = clinic().set_column(0, UNIT, clinic()[UNIT].cast(pa.int16()))
    result = repaired(small, {"redraw_pseudonym": {"per": "row"}}, k=5)
    assert result.passed
    assert pa.types.is_integer(result.released[UNIT].type)
    released, _ = treated(small_clinic(0), clinic_policy(), "redraw_pseudonym", per="row")
    assert {name[0] for name in released[UNIT].to_pylist()} == {"u"}


def test_classes_of_one_patients_rows_are_refused() -> None:
    table = pa.table({UNIT: [1] * 5 + [2, 3, 4, 5, 6], "month": ["2024-01"] * 5 + ["2024-02"] * 5})
    table = table.append_column("ward", [["n"] * 10]).append_column("diagnosis", [[*"abcdeabcde"]])
    with pytest.raises(RemedyError, match="1 class would have 5 or more new pseudonyms of fewer than 5 patients"):
        treated(table, clinic_policy(), "redraw_pseudonym", per="row")


def test_another_column_that_joins_the_rows_is_named() -> None:
    table = small_clinic(2)
    cases = pa.array([f"case {name}" for name in table[UNIT].to_pylist()])
    asked = clinic_policy()
    asked["attributes"]["case"] = {"role": "insensitive"}
    with pytest.raises(RemedyError, match="'case' joins rows of one patient as well; drop it first"):
        treated(table.append_column("case", cases), asked, "redraw_pseudonym", per="row")
    shared = pa.array(["none", *cases.to_pylist()[1:-1], "none"])  # the first row and the last are of two patients
    with pytest.raises(RemedyError, match="'case' joins rows of one patient as well; drop it first"):
        treated(table.append_column("case", shared), asked, "redraw_pseudonym", per="row")
    result = fix(table.append_column("case", cases), {**asked, "expect": [{"k_anonymity": {"k": 2}}]}, plugins=PLUGINS)
    assert result.log.left_out["Redrawn pseudonyms"] == "'case' joins rows as well"


@pytest.mark.parametrize(
    ("parameters", "changes", "sentence"),
    [
        ({"per": "window"}, {}, "needs the `width` of a window"),
        ({"per": "row", "width": "year"}, {}, "it has no `width`"),
        ({"per": "window", "width": 0}, {}, "greater than 0"),
        ({"per": "window", "width": "decade"}, {}, "half_year"),
        ({"per": "window", "width": "year"}, {"time": None}, "windows are windows of time"),
    ],
)
def test_what_a_policy_cannot_say(parameters: dict[str, Any], changes: dict[str, Any], sentence: str) -> None:
    asked = {**clinic_policy({"redraw_pseudonym": parameters}), **changes}
    with pytest.raises(PolicyError, match=sentence):
        load_policy({name: value for name, value in asked.items() if value is not None}, PLUGINS)


@pytest.mark.parametrize(
    ("parameters", "changes", "sentence"),
    [
        ({"per": "row"}, {"unit": None, "time": None}, "the policy names no `unit:`"),
        ({"per": "row"}, {"unit_released": False}, "'patient' is dropped before release"),
        ({"per": "window", "width": 30}, {}, "over the border of a window in"),
        ({"per": "window", "width": "week"}, {}, "over the border of a week in 4,977 records"),
    ],
)
def test_what_cannot_be_redrawn(parameters: dict[str, Any], changes: dict[str, Any], sentence: str) -> None:
    asked = {name: value for name, value in {**clinic_policy(), **changes}.items() if value is not None}
    with pytest.raises(RemedyError, match=sentence):
        treated(clinic(), asked, "redraw_pseudonym", **parameters)


def test_a_release_of_one_row_each_is_refused() -> None:
    table = clinic().group_by(UNIT).aggregate([(name, "min") for name in (*KNOWN, "diagnosis")])
    with pytest.raises(RemedyError, match="no value of 'patient' stands in two rows"):
        treated(table.rename_columns([UNIT, *KNOWN, "diagnosis"]), clinic_policy(), "redraw_pseudonym", per="row")
