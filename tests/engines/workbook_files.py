"""Workbooks for tests, written by other libraries than the one that reads or writes them."""

from __future__ import annotations

import datetime as dt
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import openpyxl
import xlwt
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P
from xlwt.CompoundDoc import XlsDoc

Row = Sequence[Any]
Record = tuple[int, bytes]  # a kind and a body
NOTHING: Mapping[str, Sequence[Record]] = {}
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
    book = xls_book(rows)
    book.save(str(path))
    return path


def xls_book(rows: Sequence[Row]) -> Any:
    """A workbook of xlwt that names no person."""
    book = xlwt.Workbook()
    book.owner = ""
    sheet = book.add_sheet("People")
    day = xlwt.easyxf(num_format_str="YYYY-MM-DD HH:MM:SS")
    for row, cells in enumerate(rows):
        for column, value in enumerate(cells):
            if value is not None:
                sheet.write(row, column, value, *([day] if isinstance(value, dt.date) else []))
    return book


def write_xls_records(path: Path, rows: Sequence[Row], of_book: Sequence[Record], of_sheet: Sequence[Record]) -> Path:
    """An .xls file with further records at the end of the workbook's part and of the sheet's."""
    stream, written, first = xls_book(rows).get_biff_data(), b"", True
    added = b"".join(struct.pack("<HH", kind, len(body)) + body for kind, body in of_book)
    start = 0
    while start < len(stream):
        kind, size = struct.unpack_from("<HH", stream, start)
        record = stream[start : start + 4 + size]
        if kind == 0x0085:  # where the sheet begins
            record = record[:4] + struct.pack("<I", struct.unpack_from("<I", record, 4)[0] + len(added)) + record[8:]
        if kind == 0x000A:
            further = added if first else b"".join(struct.pack("<HH", kind, len(one)) + one for kind, one in of_sheet)
            written, first = written + further, False
        written, start = written + record, start + 4 + size
    with path.open("wb") as file:
        XlsDoc().save(file, written)
    return path


def write_xlsb(path: Path, rows: Sequence[Row], changed: Mapping[str, Sequence[Record]] = NOTHING) -> Path:
    """An .xlsb file of numbers, texts, truths, days and moments by its published format, with some records changed.

    Args:
        path: the file.
        rows: the cells.
        changed: records to put into `workbook`, and into `columns`, `rows` and `merged` of the sheet.
    """
    ends = 0, len(rows) - 1, 0, max(map(len, rows)) - 1
    sheet = [(129, b""), (148, struct.pack("<4I", *ends)), (390, b""), *changed.get("columns", ()), (391, b"")]
    sheet.append((145, b""))
    for row, cells in enumerate(rows):
        sheet.append((0, struct.pack("<IIHHBI", row, 0, 300, 0, 0, 0)))
        sheet += [_xlsb_cell(column, value) for column, value in enumerate(cells) if value is not None]
    sheet += [*changed.get("rows", ()), (146, b""), *changed.get("merged", ()), (130, b"")]
    listed = struct.pack("<II", 0, 1) + _wide("rId1") + _wide("People")
    book = [(131, b""), (143, b""), (156, listed), (144, b""), *changed.get("workbook", ()), (132, b"")]
    formats = struct.pack("<6HI", 0, 0, 0, 0, 0, 0, 0), struct.pack("<6HI", 0, 22, 0, 0, 0, 0, 0)
    styles = [(278, b""), (617, struct.pack("<I", 2)), *((47, one) for one in formats), (618, b""), (279, b"")]
    relation = '<Relationship Id="{}" Type="{}/{}" Target="{}"/>'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relations = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
    own = relation.format("rId1", office, "worksheet", "worksheets/sheet1.bin")
    own += relation.format("rId2", office, "styles", "styles.bin")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr(
            "_rels/.rels", relations.format(relation.format("r", office, "officeDocument", "xl/workbook.bin"))
        )
        package.writestr("xl/_rels/workbook.bin.rels", relations.format(own))
        for part, records in {"workbook": book, "worksheets/sheet1": sheet, "styles": styles}.items():
            package.writestr(f"xl/{part}.bin", b"".join(_xlsb_record(*one) for one in records))
    return path


def _xlsb_record(kind: int, body: bytes) -> bytes:
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size = len(body)
    while size >= 128:
        head, size = head + bytes([size & 0x7F | 0x80]), size >> 7
    return head + bytes([size]) + body


def _xlsb_cell(column: int, value: Any) -> Record:
    match value:
        case bool():
            return 4, struct.pack("<IIB", column, 0, value)
        case int() | float():
            return 5, struct.pack("<IId", column, 0, value)
        case dt.datetime() | dt.date():
            moment = value if isinstance(value, dt.datetime) else dt.datetime.combine(value, dt.time())
            days = (moment - dt.datetime(1899, 12, 30)) / dt.timedelta(days=1)  # noqa: DTZ001 - as above
            return 5, struct.pack("<IId", column, 1, days)
    return 6, struct.pack("<II", column, 0) + _wide(value)


def _wide(text: str) -> bytes:
    content = text.encode("utf-16-le")
    return struct.pack("<I", len(content) // 2) + content


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
