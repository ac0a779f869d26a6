"""Workbooks: cells as other libraries have them, sheets, what is hidden, and files that are broken or hostile."""

from __future__ import annotations

import datetime as dt
import re
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
import xlrd
import xlwt
from openpyxl.comments import Comment
from openpyxl.workbook.defined_name import DefinedName
from workbook_files import (
    part_of,
    random_rows,
    with_part,
    write_ods,
    write_xls,
    write_xls_records,
    write_xlsb,
    write_xlsx,
    xls_book,
)

from tcdp_audit import audit
from tcdp_audit.cli.run import run
from tcdp_audit.core.base.errors import DataError, TcdpAuditError, UsageError
from tcdp_audit.core.repair.fixing import fix
from tcdp_audit.core.results.verdict import verdict_title
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.core.session.tables import open_table
from tcdp_audit_plugins.engines.workbooks.contents import SheetContents, letters_of
from tcdp_audit_plugins.engines.workbooks.writing import require_workbook, write_workbook

PLUGINS = Plugins.load(external=False)
MEMORY = 2**28
MOMENT = dt.datetime(2020, 1, 1)  # noqa: DTZ001 - workbooks know no zones
SHEET = "xl/worksheets/sheet1.xml"
PEOPLE = [["age", "city", "ill"], *([20 + n % 2, "Ulm", "flu" if n % 3 else "hiv"] for n in range(12))]
POLICY = {
    "version": 1,
    "attributes": {
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "city": {"role": "quasi_identifier"},
        "ill": {"role": "sensitive"},
    },
    "expect": [{"k_anonymity": {"k": 3}}, {"distinct_l_diversity": {"l": 2}}],
}


def read(path: Path | str, memory: int = MEMORY) -> pa.Table:
    with open_table(str(path), "release", memory, PLUGINS) as engine:
        return engine.source_table()


def further_content(path: Path | str) -> Sequence[str]:
    with open_table(str(path), "release", MEMORY, PLUGINS) as engine:
        return list(engine.further_content or ())


def fault(path: Path | str, kind: type[TcdpAuditError] = DataError, memory: int = MEMORY) -> str:
    with pytest.raises(kind) as raised:
        read(path, memory)
    return str(raised.value).replace(f"{Path(str(path).partition('#')[0]).parent}/", "")


def as_cells(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Rows with a day as the moment at its beginning, which is the same cell of a workbook."""
    return [[_as_cell(cell) for cell in row] for row in rows]


def _as_cell(cell: Any) -> Any:
    if isinstance(cell, dt.date) and not isinstance(cell, dt.datetime):
        return dt.datetime.combine(cell, dt.time())
    return None if cell == "" else cell


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("suffix", "write"), [(".xlsx", write_xlsx), (".xls", write_xls), (".xlsb", write_xlsb), (".ods", write_ods)]
)
def test_cells_are_those_that_another_library_wrote(
    tmp_path: Path, suffix: str, write: Callable[[Path, Any], Path], seed: int
) -> None:
    kinds = ("whole", "number", "text", "truth", "day", "moment")
    rows = random_rows(seed, kinds if suffix != ".ods" else tuple(one for one in kinds if one != "text"))

    table = read(write(tmp_path / f"people{suffix}", rows))

    for place, name in enumerate(rows[0]):
        expected = [row[place] for row in as_cells(rows[1:])]
        if any(cell is not None for cell in expected):
            assert [row[0] for row in as_cells(zip(table[name].to_pylist(), strict=True))] == expected, name


@pytest.mark.parametrize("seed", range(8))
def test_cells_are_written_as_another_library_reads_them(tmp_path: Path, seed: int) -> None:
    names, *rows = random_rows(seed)
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})

    write_workbook(table, tmp_path / "people.xlsx")

    sheet = openpyxl.load_workbook(tmp_path / "people.xlsx").active
    assert list(sheet.iter_rows(max_row=1, values_only=True)) == [tuple(names)]
    written = [[None if cell.value is None else cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
    assert [[*row, *[None] * (len(names) - len(row))] for row in written] == as_cells(rows)
    assert not any(cell.data_type == "f" for row in sheet.iter_rows() for cell in row)
    assert further_content(tmp_path / "people.xlsx") == []


def test_characters_that_xml_escapes_read_back(tmp_path: Path) -> None:
    texts = ["_x0041_", "a\rb", "a\r\nb", "x\x01y", "_x005F_"]
    write_workbook(pa.table({"x": texts}), tmp_path / "x.xlsx")

    assert read(tmp_path / "x.xlsx")["x"].to_pylist() == texts


def test_numbers_keep_their_last_digit(tmp_path: Path) -> None:
    numbers = [0.1 + 0.2, 2**53 - 1.0, 5e-324, 1.7976931348623157e308]
    write_workbook(pa.table({"x": numbers, "n": [2**53, -(2**53), 0, 1]}), tmp_path / "x.xlsx")

    assert read(tmp_path / "x.xlsx").to_pydict() == {"x": numbers, "n": [2**53, -(2**53), 0, 1]}


def test_texts_that_a_spreadsheet_would_run_are_quoted(tmp_path: Path) -> None:
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", "plain", "\tx"]
    write_workbook(pa.table({"=name": texts}), tmp_path / "x.xlsx")

    cells = [row[0] for row in openpyxl.load_workbook(tmp_path / "x.xlsx").active.iter_rows()]
    assert [cell.value for cell in cells] == ["=name", *texts]
    assert [cell.quotePrefix for cell in cells] == [True, True, True, True, True, False, True]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (pa.array([2**53 + 1]), "holds whole numbers above 2^53"),
        (pa.array([float("inf")]), "holds infinity"),
        (pa.array(["x" * 32_768]), "holds a text of more than 32,767 characters"),
        (pa.array(["\ufffe"]), "holds a character that no workbook holds"),
        (pa.array([b"x"]), "holds cells that a workbook does not keep (binary)"),
    ],
)
def test_what_a_workbook_cannot_hold_is_refused_before_the_work(cells: pa.Array, said: str) -> None:
    with pytest.raises(UsageError, match=r"^out.xlsx: column 'x' ") as raised:
        require_workbook(pa.table({"x": cells}), "out.xlsx")

    assert said in str(raised.value)


def test_days_before_march_1900_and_exact_moments_become_text(tmp_path: Path) -> None:
    days = [dt.date(1850, 1, 2), dt.date(2020, 2, 29)]
    exact = [MOMENT.replace(microsecond=1), None]
    zoned = pa.array([dt.datetime(2020, 1, 1, tzinfo=dt.UTC), None], pa.timestamp("s", "UTC"))
    write_workbook(pa.table({"day": days, "exact": exact, "zoned": zoned}), tmp_path / "x.xlsx")

    assert read(tmp_path / "x.xlsx").to_pydict() == {
        "day": ["1850-01-02", "2020-02-29"],
        "exact": ["2020-01-01 00:00:00.000001", None],
        "zoned": ["2020-01-01 00:00:00+00", None],
    }


def test_a_column_of_several_kinds_is_text(tmp_path: Path) -> None:
    cells = [1, 1.5, "07", True, dt.date(2020, 2, 29), MOMENT.replace(hour=10), None, "x"]
    path = write_xlsx(
        tmp_path / "x.xlsx", [["id", "mixed", "old"], *([n, one, "1850-03-04"] for n, one in enumerate(cells))]
    )

    table = read(path)

    expected = ["1", "1.5", "07", "TRUE", "2020-02-29", "2020-01-01 10:00:00", None, "x"]
    assert table.to_pydict() == {"id": [*range(8)], "mixed": expected, "old": ["1850-03-04"] * 8}


def test_the_table_begins_with_the_first_used_row_and_has_no_empty_ones(tmp_path: Path) -> None:
    rows = [[], [], [None, "a", None, "b"], [None, 1, None, "x"], [], [None, None, None, "y"], []]

    assert read(write_xlsx(tmp_path / "x.xlsx", rows)).to_pydict() == {"a": [1, None], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["a", None], [1, 2]], "x.xlsx: sheet 'People': cell B1 has no column name, and cells below it have values"),
        ([["a", "b", "a"], [1, 2, 3]], "x.xlsx: sheet 'People': cells A1 and C1 have the same column name 'a'"),
        ([["a"], [0.5], ["x" * 3]], ""),
        ([], "x.xlsx: the workbook has no cell; an empty release cannot be audited"),
        ([["a"], [2.0**60]], "x.xlsx: sheet 'People': cell A2 holds a whole number above 2^53"),
        ([["d"], [dt.date(2020, 1, 1)], [dt.time(3)]], "cell A3 holds a time without a day among days"),
        ([["d"], [dt.date(1900, 2, 28)]], "cell A2 holds 28 or 29 February 1900, which cannot be told apart"),
    ],
)
def test_headers_and_cells_without_one_meaning_are_refused(tmp_path: Path, rows: Any, said: str) -> None:
    path = write_xlsx(tmp_path / "x.xlsx", rows)

    assert said in fault(path) if said else read(path).num_rows == 2


def test_a_negative_number_under_the_format_of_a_date_is_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["t"])
    book.active.append([dt.time(3)])
    book.active.append([-0.5])
    book.active["A3"].number_format = "hh:mm:ss"
    book.save(tmp_path / "x.xlsx")

    assert "cell A3 holds a negative number under the format of a date or a time" in fault(tmp_path / "x.xlsx")


def test_errors_and_formulas_without_a_value_are_faults_with_their_cells(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1, "=A2+1"], [2, "=A3+1"]):
        book.active.append(row)
    book.save(tmp_path / "formula.xlsx")
    book.active["B2"], book.active["B3"] = "#N/A", 3
    book.active["B2"].data_type = "e"
    book.save(tmp_path / "error.xlsx")

    assert fault(tmp_path / "formula.xlsx") == (
        "formula.xlsx: sheet 'Sheet': cells B2 and B3 have a formula whose value is not stored in the file; open the "
        "workbook in a spreadsheet program and save it, or replace formulas by their values"
    )
    assert fault(tmp_path / "error.xlsx") == (
        "error.xlsx: sheet 'Sheet': cell B2 has an error such as #N/A; correct it, or empty the cell"
    )


def test_a_formula_with_a_stored_value_is_that_value(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "x.xlsx", [["a"], [1], ["s"]])
    sheet = part_of(path, SHEET).replace("<v>1</v>", "<f>3-2</f><v>1</v>")
    with_part(path, SHEET, sheet)

    assert read(path)["a"].to_pylist() == ["1", "s"]


def test_merged_cells_are_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1, 2], [None, 3]):
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    book.save(tmp_path / "x.xlsx")

    assert "sheet 'Sheet': cells A2:A3 are merged" in fault(tmp_path / "x.xlsx")


def test_a_sheet_is_named_or_asked_for(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Codes"
    book.active.append(["code"])
    book.create_sheet("2024 #1").append(["people"])
    book["2024 #1"].append(["x"])
    hidden = book.create_sheet("Old")
    hidden.sheet_state = "hidden"
    book.create_sheet("Empty")
    path = tmp_path / "x.xlsx"
    book.save(path)

    assert fault(path, UsageError) == (
        "x.xlsx: has the sheets 'Codes', '2024 #1', 'Old' (hidden), 'Empty'; name one, as x.xlsx#Codes"
    )
    assert fault(f"{path}#People", UsageError).startswith("x.xlsx: has no sheet 'People'; it has 'Codes', '2024 #1'")
    assert read(f"{path}#2024 #1").to_pydict() == {"people": ["x"]}
    assert further_content(f"{path}#2024 #1")[0] == "the further sheet 'Codes'"


def test_everything_besides_the_table_is_named(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in PEOPLE:
        book.active.append(row)
    book.active["A1"].comment = Comment("by Dr. Huber", "Huber")
    book.active.column_dimensions["B"].hidden = True
    book.active.row_dimensions[3].hidden = True
    book.create_sheet("Names").append(["Anna Meier"])
    book["Names"].sheet_state = "veryHidden"
    book.defined_names["people"] = DefinedName("people", attr_text="Sheet!$A$1:$C$13")
    path = tmp_path / "x.xlsx"
    book.save(path)
    for part in ("xl/pivotCache/pivotCacheRecords1.xml", "xl/externalLinks/externalLink1.xml"):
        with_part(path, part, "<x/>")

    held = [
        "the hidden sheet 'Names'",
        "1 hidden column (B)",
        "1 hidden row",
        "pivot caches that keep records",
        "comments",
        "links to other files with their values",
        "defined names",
        "document properties",
    ]
    assert sorted(further_content(path)) == sorted(held)
    result = audit(path, POLICY)
    assert result.passed
    assert verdict_title(result).startswith("Fit once its table is saved alone: the file also holds the hidden sheet")
    repaired = fix(path, POLICY, output=tmp_path / "out.xlsx")
    assert repaired.written is not None
    assert further_content(tmp_path / "out.xlsx") == []
    assert verdict_title(repaired.after) == "Fit for release"
    assert "Names" not in zipfile.ZipFile(tmp_path / "out.xlsx").read("xl/workbook.xml").decode()


def test_a_german_report_says_in_german_what_a_workbook_holds(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.properties.creator = None
    for row in PEOPLE:
        book.active.append(row)
    book.active.column_dimensions["A"].hidden = True
    book.active["B1"].comment = Comment("seen", "")
    for name in ("Names", "Keys"):
        sheet = book.create_sheet(name)
        sheet.append(["x"])
        sheet.sheet_state = "hidden"
    book.save(tmp_path / "x.xlsx")

    audit(tmp_path / "x.xlsx", POLICY).write(tmp_path / "x.md", language="de")

    assert (
        "| Warnung | Die Datei enthält mehr als die Tabelle | die Datei enthält auch die ausgeblendeten Blätter "
        "„Names“ und „Keys“, 1 ausgeblendete Spalte (A) und Kommentare: Nichts davon wurde geprüft;"
    ) in (tmp_path / "x.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("seed", range(8))
def test_an_xls_file_says_what_xlrd_shows_as_hidden(tmp_path: Path, seed: int) -> None:
    rng = Random(seed)  # noqa: S311 - no secret
    book = xls_book(random_rows(seed, ("whole", "number")))
    sheet = book.get_sheet(0)
    for column in rng.sample(range(5), rng.randrange(4)):
        sheet.col(column).hidden = True
    for row in rng.sample(range(1, 40), rng.randrange(4)):
        sheet.row(row).hidden = True
    path = tmp_path / "x.xls"
    book.save(str(path))

    shown = xlrd.open_workbook(str(path), formatting_info=True).sheet_by_index(0)
    columns = [letters_of(one) for one, column in sorted(shown.colinfo_map.items()) if column.hidden]
    rows = sum(row.hidden for row in shown.rowinfo_map.values())

    assert further_content(path) == SheetContents(tuple(columns), rows).says


CHART = [(0x0809, struct.pack("<HHHHII", 0x0600, 0x0020, 0, 0, 0, 0)), (0x0203, struct.pack("<HHHd", 0, 0, 0, -1))]
DRAWN = struct.pack("<HHI", 0xF, 0xF000, 24) + struct.pack("<HHI8x", 0, 0xF006, 8) + struct.pack("<HHI", 0xF, 0xF001, 0)


@pytest.mark.parametrize(
    ("of_book", "of_sheet", "says"),
    [
        ([], [(0x001C, bytes(12))], ["comments"]),
        ([], [(0x00B0, bytes(44))], ["pivot caches that keep records"]),
        ([], [*CHART, (0x000A, b"")], ["charts with their values"]),
        ([(0x0018, bytes(20))], [], ["defined names"]),
        ([(0x0018, b"\x20" + bytes(19))], [], []),  # Excel's own, such as the area that is printed
        ([(0x01AE, struct.pack("<HH", 1, 0x0401))], [], []),
        ([(0x01AE, struct.pack("<HH", 1, 7) + b"\0a.xls")], [], ["links to other files with their values"]),
        ([(0x00EB, DRAWN)], [], ["pictures"]),
        ([(0x005C, b"\3\0\0Eva" + b" " * 106)], [], ["document properties"]),
    ],
)
def test_an_xls_file_says_what_it_holds(
    tmp_path: Path, of_book: list[Any], of_sheet: list[Any], says: Sequence[str]
) -> None:
    path = write_xls_records(tmp_path / "x.xls", PEOPLE, of_book, of_sheet)

    assert xlrd.open_workbook(str(path)).sheet_by_index(0).nrows == len(PEOPLE)
    assert further_content(path) == says
    assert read(path).num_rows == len(PEOPLE) - 1


def test_the_further_sheets_of_an_xls_file_are_named(tmp_path: Path) -> None:
    book = xls_book(PEOPLE)
    for name, visibility in (("Codes", 0), ("Names", 1), ("Keys", 2), ("Blank", 2)):
        sheet = book.add_sheet(name)
        sheet.visibility = visibility
        if name != "Blank":
            sheet.write(0, 0, "x")
    book.save(str(tmp_path / "x.xls"))

    assert further_content(f"{tmp_path / 'x.xls'}#People") == [
        "the further sheet 'Codes'",
        "the hidden sheets 'Names' and 'Keys'",
    ]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({}, []),
        ({"columns": [(60, struct.pack("<IIIIH", 1, 2, 256, 0, 1))]}, ["2 hidden columns (B and C)"]),
        ({"columns": [(60, struct.pack("<IIIIH", 0, 0, 0, 0, 0))]}, ["1 hidden column (A)"]),
        ({"rows": [(0, struct.pack("<IIHHBI", 90, 0, 300, 0x1000, 0, 0))]}, ["1 hidden row"]),
        ({"workbook": [(39, bytes(30))]}, ["defined names"]),
        ({"workbook": [(39, b"\x20" + bytes(29))]}, []),
    ],
)
def test_an_xlsb_file_says_what_it_holds(tmp_path: Path, changed: dict[str, Any], says: Sequence[str]) -> None:
    path = write_xlsb(tmp_path / "x.xlsb", PEOPLE, changed)

    assert further_content(path) == says
    assert read(path).num_rows == len(PEOPLE) - 1


def test_errors_in_binary_workbooks_are_faults(tmp_path: Path) -> None:
    book = xls_book(PEOPLE)
    book.get_sheet(0).row(3).set_cell_error(3, 42)
    book.save(str(tmp_path / "x.xls"))
    error = (3, struct.pack("<IIB", 2, 0, 42))
    write_xlsb(tmp_path / "x.xlsb", PEOPLE, {"rows": [(0, struct.pack("<IIHHBI", 20, 0, 300, 0, 0, 0)), error]})

    said = "has an error such as #N/A; correct it, or empty the cell"
    assert fault(tmp_path / "x.xls") == f"x.xls: sheet 'People': cell D4 {said}"
    assert fault(tmp_path / "x.xlsb") == f"x.xlsb: sheet 'People': cell C21 {said}"


def test_merged_cells_of_binary_workbooks_are_faults(tmp_path: Path) -> None:
    book = xls_book(PEOPLE)
    book.get_sheet(0).write_merge(13, 14, 1, 1, "Ulm")
    book.save(str(tmp_path / "x.xls"))
    merged = (176, struct.pack("<4I", 3, 4, 1, 1))
    write_xlsb(tmp_path / "x.xlsb", PEOPLE, {"merged": [(177, struct.pack("<I", 1)), merged, (178, b"")]})

    assert fault(tmp_path / "x.xls").startswith("x.xls: sheet 'People': cells B14:B15 are merged")
    assert fault(tmp_path / "x.xlsb").startswith("x.xlsb: sheet 'People': cell B4 has been merged with others")


@pytest.mark.parametrize("suffix", [".xls", ".xlsb"])
def test_a_negative_number_as_a_date_is_refused_in_binary_workbooks(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    early = dt.datetime(1899, 12, 25, 6)  # noqa: DTZ001 - workbooks know no zones
    write_xlsb(path, [["day"], [early]])
    if suffix == ".xls":
        book = xls_book([["day"]])
        book.get_sheet(0).write(1, 0, -4.75, xlwt.easyxf(num_format_str="YYYY-MM-DD HH:MM:SS"))
        book.save(str(path))

    assert "cell A2 holds a negative number under the format of a date or a time" in fault(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04", "an .xlsx, .xlsb or .ods file under another name; rename it"),
        (b"<html><table>", "a page of HTML or XML under another name; open it in a spreadsheet program"),
        (b"a;b\n1;2\n", "a text under another name; rename it to .csv or .tsv"),
        (b"\t\2\6\0\0\0\x10\0", "of Excel 4 or earlier; save the sheet as CSV UTF-8"),
    ],
)
def test_other_files_that_are_called_xls_say_what_they_are(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "x.xls").write_bytes(content)

    assert fault(tmp_path / "x.xls").startswith(f"x.xls: the workbook is {said}")


@pytest.mark.parametrize("name", ["x.xls", "x.xlsb"])
def test_binary_workbooks_that_are_cut_off_are_refused(tmp_path: Path, name: str) -> None:
    whole = (write_xls if name == "x.xls" else write_xlsb)(tmp_path / name, PEOPLE).read_bytes()
    for share in (0.1, 0.5, 0.9):
        (tmp_path / name).write_bytes(whole[: int(len(whole) * share)])

        assert fault(tmp_path / name) == f"{name}: the workbook is cut off or damaged; save it again"


def test_commands_take_workbooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_xlsx(tmp_path / "people.xlsx", PEOPLE)

    assert run("init", ["people.xlsx"]) == 0
    (tmp_path / "p.tcdp.yaml").write_text(
        "version: 1\nrelease: people.xlsx#People\nattributes:\n  age: {role: quasi_identifier, scale: numeric}\n"
        "  city: {role: quasi_identifier}\n  ill: {role: sensitive}\nexpect:\n  - k_anonymity: {k: 7}\n"
        "  - distinct_l_diversity: {l: 2}\n"
    )
    assert run("check", ["--policy", "p.tcdp.yaml", "--report", "a.json"]) == 1
    assert run("fix", ["--policy", "p.tcdp.yaml", "--output", "out.xlsx"]) == 0
    assert run("check", ["out.xlsx", "--policy", "p.tcdp.yaml", "--report", "b.json"]) == 0
    assert run("diff", ["a.json", "b.json"]) == 0
    assert run("verify", ["b.json", "out.xlsx", "--policy", "p.tcdp.yaml"]) == 0
    assert run("fix", ["--policy", "p.tcdp.yaml", "--output", "people.xlsx"]) == 2
    assert "must be a file of its own" in capsys.readouterr().err


def test_without_the_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_xlsx(tmp_path / "x.xlsx", PEOPLE)
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)

    assert fault(path, UsageError) == (
        'x.xlsx: needs python-calamine; pip install "tcdp-audit[excel]", or save the sheet as CSV UTF-8'
    )
    with pytest.raises(
        UsageError, match=r'^out.xlsx: needs XlsxWriter; pip install "tcdp-audit\[excel\]", or write .csv$'
    ):
        require_workbook(pa.table({"x": [1]}), "out.xlsx")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, share: float) -> None:
    path = write_xlsx(tmp_path / "x.xlsx", PEOPLE)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])

    assert fault(path) == "x.xlsx: the workbook is cut off or damaged; save it again"


@pytest.mark.parametrize("suffix", [".xlsx", ".xls", ".ods", ".xlsb"])
@pytest.mark.parametrize("content", [b"no workbook", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(content)

    assert "workbook is " in fault(path)


def test_entities_are_refused(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "x.xlsx", PEOPLE)
    lol = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    for part in (SHEET, "xl/workbook.xml"):
        whole = path.read_bytes()
        with_part(path, part, lol + part_of(path, part))

        assert "declares a document type, which no spreadsheet program writes" in fault(path)
        path.write_bytes(whole)


def test_a_bomb_is_refused_before_it_unpacks(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "x.xlsx", PEOPLE)
    with zipfile.ZipFile(path) as package:
        parts = {one: package.read(one) for one in package.namelist()}
    head, tail = parts[SHEET].split(b"<sheetData>")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            with package.open(name, "w") as file:
                file.write(head + b"<sheetData>" if name == SHEET else content)
                for _ in range(40 if name == SHEET else 0):
                    file.write(b" " * 2**20)
                file.write(tail if name == SHEET else b"")

    assert path.stat().st_size < 2**17
    assert "unpacks to more than 8 times --memory" in fault(path, UsageError, memory=2**22)


def test_a_cell_in_the_last_corner_is_refused_before_there_is_room_made_for_all(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "x.xlsx", PEOPLE)
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    with_part(path, SHEET, part_of(path, SHEET).replace("</sheetData>", far))

    assert fault(path, UsageError) == (
        "x.xlsx: sheet 'People' has 1,048,576 rows and 16,384 columns up to its last cell, more than --memory has room "
        "for; give more memory, or save the sheet as CSV UTF-8"
    )


def test_cells_without_a_place_have_room_made_for_them(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "x.xlsx", PEOPLE)
    wide = f"<row>{'<c><v>1</v></c>' * 16_384}</row>{'<row/>' * 100_000}</sheetData>"
    with_part(path, SHEET, part_of(path, SHEET).replace("</sheetData>", wide))

    assert "sheet 'People' has 100,014 rows and 16,387 columns up to its last cell" in fault(path, UsageError)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"', "'"),
        lambda text: text.replace('="', ' = "'),
        lambda text: re.sub(r' r="[A-Z]*[0-9]+"', "", text),
        lambda text: re.sub(r"<(/?)([a-z]\w*)", r"<\1x:\2", text).replace("xmlns=", "xmlns:x="),
    ],
)
def test_other_ways_to_write_a_sheet_are_read(tmp_path: Path, change: Callable[[str], str]) -> None:
    path = write_xlsx(tmp_path / "x.xlsx", [["a", "b"], [1, "x"]])
    sheet = part_of(path, SHEET)
    with_part(path, SHEET, change(sheet))

    assert read(path).to_pydict() == {"a": [1], "b": ["x"]}
    with_part(path, SHEET, change(sheet.replace("<v>1</v>", "<f>1</f>")))
    assert "a formula whose value is not stored in the file" in fault(path)
    with_part(path, SHEET, change(sheet.replace('t="n"><v>1</v>', 't="e"><v>#N/A</v>')))
    assert "an error such as #N/A" in fault(path)


def test_a_part_that_is_longer_than_it_declares_is_refused(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "x.xlsx", PEOPLE)
    size = len(part_of(path, SHEET))
    path.write_bytes(path.read_bytes().replace(struct.pack("<I", size), struct.pack("<I", size - 100)))

    assert fault(path) == "x.xlsx: the workbook is cut off or damaged; save it again"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_parts_of_one_name_are_refused(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "x.xlsx", PEOPLE)
    with zipfile.ZipFile(path, "a") as package:
        package.writestr("XL/worksheets/sheet1.xml", "<worksheet/>")

    assert fault(path) == "x.xlsx: the workbook is cut off or damaged; save it again"


CALC = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"
SPANNED = '<table:table-cell office:value-type="string" table:number-columns-spanned="2"/>'
FAILED = f'<table:table-cell office:value-type="string" c:value-type="error" xmlns:c="{CALC}"/>'
ONE = '<table:table-cell office:value-type="float" office:value="1"/>'


@pytest.mark.parametrize(
    ("row", "kind", "said"),
    [
        (
            f'<table:table-row table:number-rows-repeated="99999999">{ONE}</table:table-row>',
            UsageError,
            "has 100,000,012 rows",
        ),
        (
            f'<table:table-row><table:table-cell table:number-columns-repeated="99999999"/>{ONE}</table:table-row>',
            UsageError,
            "and 100,000,000 columns up to its last cell",
        ),
        (
            '<table:table-row><table:table-cell table:formula="of:=1+1"/></table:table-row>',
            DataError,
            "cell A14 has a formula whose value is not stored",
        ),
        (
            f"<table:table-row>{SPANNED}</table:table-row>",
            DataError,
            "cell A14 has been merged with others",
        ),
        (
            f"<table:table-row>{FAILED}</table:table-row>",
            DataError,
            "cell A14 has an error",
        ),
    ],
)
def test_rows_of_ods_files_that_are_refused(tmp_path: Path, row: str, kind: type[TcdpAuditError], said: str) -> None:
    path = write_ods(tmp_path / "x.ods", PEOPLE)
    with_part(path, "content.xml", part_of(path, "content.xml").replace("</table:table>", f"{row}</table:table>"))

    assert said in fault(path, kind)


def test_what_an_ods_file_holds_is_named(tmp_path: Path) -> None:
    path = write_ods(tmp_path / "x.ods", PEOPLE)
    hidden = (
        '<table:table-row table:visibility="collapse"><table:table-cell office:value-type="float" office:value="3">'
        "<office:annotation><text:p>by Dr. Huber</text:p></office:annotation><text:p>3</text:p></table:table-cell>"
        '</table:table-row><table:table-row table:number-rows-repeated="1000000"><table:table-cell/></table:table-row>'
    )
    with_part(path, "content.xml", part_of(path, "content.xml").replace("</table:table>", f"{hidden}</table:table>"))

    assert further_content(path) == ["1 hidden row", "comments"]
    assert read(path).num_rows == len(PEOPLE)


def test_letters_of_columns() -> None:
    assert [letters_of(one) for one in (0, 25, 26, 701, 702, 16383)] == ["A", "Z", "AA", "ZZ", "AAA", "XFD"]


@pytest.mark.long
def test_a_million_rows_keep_within_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    cells = pa.table({"a": [*range(1_000_000)], "b": ["x", "y"] * 500_000, "c": [0.5] * 1_000_000})
    write_workbook(cells, path)
    code = (
        "import re; from pathlib import Path; from tcdp_audit.core.session.registry import Plugins\n"
        "from tcdp_audit.core.session.tables import open_table\n"
        f"with open_table({str(path)!r}, 'release', 2**30, Plugins.load()) as engine:\n"
        "    assert engine.records == 1_000_000\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])\n"
    )
    used = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)

    assert used * 1024 < 2**30 + 2**28
    assert "more than --memory has room for" in fault(path, UsageError, memory=2**27)
