"""Workbooks for tests, written by other libraries than the one that reads or writes them."""

from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import openpyxl
import xlwt
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P

Row = Sequence[Any]
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - workbooks know no zones
TEXTS = ("=1+1", "+3", "-4", "@x", " lead ", "t\tb", "a\nb", "é😀", "0012", "1.50", "TRUE", "'q", "<&>", "NA")


def random_rows(seed: int, kinds: Sequence[str] = ("whole", "number", "text", "truth", "day", "moment")) -> list[Row]:
    """A row of names, and rows of cells: a column of each of some kinds, with gaps."""
    rng = Random(seed)  # noqa: S311 - no secret
    make = {
        "whole": lambda: rng.choice([0, -5, 7, 2**49, rng.randrange(10**6)]),
        "number": lambda: rng.choice([1.5, 0.1, 1e300, -1e-300, rng.randrange(10**9) / 64]),
        "text": lambda: rng.choice(TEXTS),
        "truth": lambda: rng.random() < 0.5,
        "day": lambda: dt.date(1900, 3, 1) + dt.timedelta(rng.randrange(2_900_000)),
        "moment": lambda: EPOCH + dt.timedelta(seconds=rng.randrange(10**9)),
    }
    chosen = [*kinds, *rng.choices(kinds, k=3)]
    rows = [[None if rng.random() < 0.2 else make[kind]() for kind in chosen] for _ in range(rng.randrange(2, 30))]
    return [
        ["id", *(f"{kind} {place}" for place, kind in enumerate(chosen))],
        *([n, *row] for n, row in enumerate(rows, 1)),
    ]


def write_xlsx(path: Path, rows: Sequence[Row], sheet: str = "People") -> Path:
    book = openpyxl.Workbook()
    book.properties.creator = None
    _fill(book.active, rows)
    book.active.title = sheet
    book.save(path)
    return path


def _fill(sheet: Any, rows: Sequence[Row]) -> None:
    for row, cells in enumerate(rows, 1):
        for column, value in enumerate(cells, 1):
            if value is None:
                continue
            cell = sheet.cell(row, column, value)
            if isinstance(value, str):
                cell.data_type = "s"  # also where it begins with =
            if isinstance(value, dt.date):
                cell.number_format = "yyyy-mm-dd hh:mm:ss"


def write_xls(path: Path, rows: Sequence[Row]) -> Path:
    book = xlwt.Workbook()
    sheet = book.add_sheet("People")
    day = xlwt.easyxf(num_format_str="YYYY-MM-DD HH:MM:SS")
    for row, cells in enumerate(rows):
        for column, value in enumerate(cells):
            if value is not None:
                sheet.write(row, column, value, *([day] if isinstance(value, dt.date) else []))
    book.save(str(path))
    return path


def write_ods(path: Path, rows: Sequence[Row]) -> Path:
    book = OpenDocumentSpreadsheet()
    table = Table(name="People")
    for cells in rows:
        row = TableRow()
        for value in cells:
            row.addElement(_ods_cell(value))
        table.addElement(row)
    book.spreadsheet.addElement(table)
    book.meta.childNodes.clear()
    book.save(str(path))
    return path


def _ods_cell(value: Any) -> Any:
    match value:
        case None:
            return TableCell()
        case bool():
            return TableCell(valuetype="boolean", booleanvalue=str(value).lower())
        case int() | float():
            return TableCell(valuetype="float", value=repr(value))
        case dt.datetime() | dt.date():
            return TableCell(valuetype="date", datevalue=value.isoformat())
    cell = TableCell(valuetype="string")
    cell.addElement(P(text=value))
    return cell


def with_part(path: Path, name: str, content: bytes | str) -> Path:
    """Put a part into an .xlsx file, in place of the one of its name."""
    with zipfile.ZipFile(path) as package:
        parts = {one: package.read(one) for one in package.namelist()}
    parts[name] = content.encode() if isinstance(content, str) else content
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for one, text in parts.items():
            package.writestr(one, text)
    return path


def part_of(path: Path, name: str) -> str:
    with zipfile.ZipFile(path) as package:
        return package.read(name).decode()
