"""A table is written as a fresh workbook: one sheet with one row of names, and nothing else.

Every cell is a number, a text, a truth, a day or a moment; none is a formula. A text that a spreadsheet would run, or
read as something else, has the prefix of quoted text, which shows in no reader.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from tcdp_audit.plugin.engine import EngineOpener, UsageError

pc: Any = pyarrow.compute  # it makes its functions when it is imported, so that no type checker knows them
MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 2**20, 2**14, 32_767
EXACT = 2**53
FIRST = dt.date(1900, 3, 1)  # before it spreadsheets count a day that never was
CREATED = dt.datetime(1980, 1, 1)  # noqa: DTZ001 - the same in all workbooks, so that equal tables are equal files
RUN = ("=", "+", "-", "@", "\t", "\r")  # how a text begins that a spreadsheet may run
ROWS = 10_000  # at a time
_UNWRITABLE = re.compile("[\ufffe\uffff\ud800-\udfff]")
_ESCAPED = re.compile("_x[0-9A-Fa-f]{4}_")
Write = Callable[[Any, int, int, Any], None]


class _ShortestNumber(float):
    """A number that is written with all digits that distinguish it; XlsxWriter by itself writes 16."""

    __slots__ = ()

    def __format__(self, _: str) -> str:
        return repr(float(self)).removesuffix(".0")


def require_workbook(table: pa.Table, shown: str) -> None:
    """Refuse a table that a workbook cannot hold exactly, or without the library.

    Args:
        table: the table.
        shown: the file in messages.

    Raises:
        UsageError: XlsxWriter is not installed, the table has too many rows or columns, or a column's cells would
            change.
    """
    _xlsxwriter(shown)
    if table.num_rows >= MOST_ROWS or table.num_columns > MOST_COLUMNS:
        raise UsageError(
            f"{shown}: a sheet has at most {MOST_ROWS - 1:,} records and {MOST_COLUMNS:,} columns, and the table has "
            f"{table.num_rows:,} and {table.num_columns:,}; write .csv or .parquet"
        )
    for name in table.column_names:
        fault = _fault(_plain(table.column(name))) or _fault_of_texts([name])
        if fault:
            raise UsageError(f"{shown}: column {name!r} holds {fault}; write .csv or .parquet")


def _xlsxwriter(shown: str) -> Any:
    try:
        return import_module("xlsxwriter")
    except ImportError:
        pass
    raise UsageError(f'{shown}: needs XlsxWriter; pip install "tcdp-audit[excel]", or write .csv')


def _fault(column: pa.ChunkedArray) -> str:
    """The reason why no workbook keeps a column; empty if there is none."""
    kind = column.type
    if pa.types.is_string(kind):
        return _fault_of_texts(pc.unique(column).to_pylist())
    if pa.types.is_integer(kind):
        ends = pc.min_max(column).as_py()
        far = [end for end in ends.values() if end is not None and abs(end) > EXACT]
        return "whole numbers above 2^53, which a workbook does not keep" if far else ""
    if pa.types.is_floating(kind):
        return "infinity" if pc.any(pc.is_inf(column)).as_py() else ""
    if pa.types.is_boolean(kind) or pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_null(kind):
        return ""
    return f"cells that a workbook does not keep ({kind})"


def _fault_of_texts(texts: list[str | None]) -> str:
    for text in filter(None, texts):
        if len(text) > MOST_CHARACTERS:
            return f"a text of more than {MOST_CHARACTERS:,} characters"
        if _UNWRITABLE.search(text):
            return "a character that no workbook holds"
    return ""


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in the types that cells have: text, numbers, truths, days and moments."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        column = column.cast(kind.storage_type)
        kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(column.cast(kind.value_type))
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string())
    if pa.types.is_float16(kind) or pa.types.is_float32(kind):
        return pa.chunked_array(
            [[None if one is None else float(str(np.float32(one))) for one in column.to_pylist()]], pa.float64()
        )
    if pa.types.is_decimal(kind) or pa.types.is_time(kind):
        return _texts(column)
    return column


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pa.chunked_array([[None if one is None else str(one) for one in column.to_pylist()]], pa.string())


def write_workbook(table: pa.Table, path: Path) -> None:
    """Write a table to a new workbook.

    Days before March 1900, moments finer than milliseconds or with a zone, times of day and decimal fractions become
    text, as a CSV file would have them; a moment with a zone in UTC.

    Args:
        table: a table that `require_workbook` accepts.
        path: the file.

    Cost: O(cells) in Python; the memory of some rows.
    """
    table = EngineOpener.text_form().write_numbers(table)
    options = {"constant_memory": True, "tmpdir": str(path.parent), "nan_inf_to_errors": False}
    workbook = _xlsxwriter(str(path)).Workbook(str(path), options)
    workbook.set_properties({"created": CREATED})
    sheet = workbook.add_worksheet("Sheet1")
    formats = {
        "quoted": workbook.add_format({"quote_prefix": True}),
        "day": workbook.add_format({"num_format": "yyyy-mm-dd"}),
        "moment": workbook.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        "fraction": workbook.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"}),
    }
    columns = [_plain(table.column(position)) for position in range(table.num_columns)]
    columns = [_texts_of_moments(column) if _is_no_date(column) else column for column in columns]
    writers = [_writer(column.type, formats) for column in columns]
    for position, name in enumerate(table.column_names):
        _write_text(formats)(sheet, 0, position, name)
    rows = chain.from_iterable(_rows(columns, start) for start in range(0, table.num_rows, ROWS))
    for row, cells in enumerate(rows, 1):
        for position, cell in enumerate(cells):
            if cell is not None:
                writers[position](sheet, row, position, cell)
    workbook.close()


def _rows(columns: list[pa.ChunkedArray], start: int) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.slice(start, ROWS).to_pylist() for column in columns), strict=True)


def _is_no_date(column: pa.ChunkedArray) -> bool:
    """Whether a column of days or moments has one that is no date of a workbook."""
    kind = column.type
    if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return False
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return True
    first = pc.min(column).as_py()
    if first is not None and (first.date() if isinstance(first, dt.datetime) else first) < FIRST:
        return True
    if pa.types.is_timestamp(kind) and kind.unit in ("us", "ns"):
        return not pc.all(pc.equal(column.cast(pa.timestamp("ms"), safe=False).cast(kind), column)).as_py()
    return False


def _texts_of_moments(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Days and moments as text, as in a CSV file."""
    kind = column.type
    if pa.types.is_date(kind):
        return column.cast(pa.date32()).cast(pa.string())
    texts = [None if one is None else _text_of_moment(one) for one in column.cast(pa.string()).to_pylist()]
    return pa.chunked_array([[one + "+00" * (kind.tz is not None) if one else one for one in texts]], pa.string())


def _text_of_moment(text: str) -> str:
    """`2024-02-29 10:11:12.5`, without zeros at the end of the fraction, and without a zone."""
    text = text.removesuffix("Z")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _writer(kind: pa.DataType, formats: dict[str, Any]) -> Write:
    """The function that writes a cell of a type."""
    if pa.types.is_string(kind):
        return _write_text(formats)
    if pa.types.is_boolean(kind):
        return lambda sheet, row, column, cell: sheet.write_boolean(row, column, cell)
    if pa.types.is_date(kind):
        return lambda sheet, row, column, cell: sheet.write_datetime(row, column, cell, formats["day"])
    if pa.types.is_timestamp(kind):
        return _write_moment(formats)
    return _write_number


def _write_number(sheet: Any, row: int, column: int, cell: float) -> None:
    if cell == cell:  # noqa: PLR0124 - NaN is missing
        sheet.write_number(row, column, _ShortestNumber(cell))


def _write_text(formats: dict[str, Any]) -> Write:
    def write(sheet: Any, row: int, column: int, text: str) -> None:
        if not text:
            return
        sheet.write_string(row, column, text, formats["quoted"] if text.startswith(RUN) else None)

    return write


def _write_moment(formats: dict[str, Any]) -> Write:
    def write(sheet: Any, row: int, column: int, cell: dt.datetime) -> None:
        sheet.write_datetime(row, column, cell, formats["fraction" if cell.microsecond else "moment"])

    return write
