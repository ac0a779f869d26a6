"""A sheet of a workbook is converted to Parquet and read from there.

The first row with a cell has the names of the columns, and every further row with a cell is a record. A column of
whole numbers, numbers, days, moments, times of day, durations or true and false has that type. A column of several
kinds is text, in which a number is its shortest decimal, a day `2024-02-29`, and a truth `TRUE` or `FALSE`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit.plugin._internal import open_converted, texts_of
from tcdp_audit.plugin.engine import DataError, Engine, EngineOpener, TcdpAuditError, UsageError, redact_errors
from tcdp_audit.plugin.sentences import count, listing, visible
from tcdp_audit_plugins.engines.workbooks.binary import BinaryWorkbookFile, OldWorkbookFile
from tcdp_audit_plugins.engines.workbooks.contents import OpenXmlFile, SheetContents, letters_of
from tcdp_audit_plugins.engines.workbooks.open_document import OpenDocumentFile

ROWS = 20_000  # at a time
EXACT = 2**53  # every whole number up to here is a number of a workbook
LEAP = dt.date(1900, 2, 28)  # 29 February 1900, which spreadsheets count and no calendar has, is read as this day
MIDNIGHT = dt.time()
Package = OpenXmlFile | OldWorkbookFile
_KINDS = {
    bool: pa.bool_(),
    float: pa.float64(),
    str: pa.string(),
    dt.date: pa.date32(),
    dt.datetime: pa.timestamp("us"),
    dt.time: pa.time64("us"),
    dt.timedelta: pa.duration("us"),
}
UNSEEN = "what a workbook of Excel 95 keeps in addition to its cells, which is not looked through"


def open_workbook(location: str, memory: int) -> Engine:
    """The embedded engine over a sheet of a workbook.

    Args:
        location: the file, or `people.xlsx#Sheet`.
        memory: budget in bytes.

    Raises:
        UsageError: the file does not exist, python-calamine is not installed, or several sheets could be read.
        DataError: the workbook is damaged, or a cell has no value that could be read.

    Cost: the cells of the sheet in memory, once as calamine has them and once in Arrow.
    """
    name, sheet = EngineOpener.split_sheet(location)
    path = Path(name)
    if not path.is_file():
        raise UsageError(f"{path}: {'is a folder; name a file' if path.is_dir() else 'no such file'}")
    workbook = _Workbook(path, sheet, memory, _calamine(path))
    engine = open_converted(workbook.convert, path, memory)
    engine.further_content = workbook.further_content
    if sheet:
        engine.name, engine.uri = f"{engine.name}#{sheet}", f"{engine.uri}#{sheet}"
    return engine


def _calamine(path: Path) -> Any:
    try:
        return import_module("python_calamine")
    except ImportError:
        pass
    raise UsageError(f'{path}: needs python-calamine; pip install "tcdp-audit[excel]", or save the sheet as CSV UTF-8')


@dataclass
class _Workbook:
    """A workbook and its sheet that is read.

    Args:
        path: the file.
        sheet: the name of the sheet; empty for the only one with cells that is not hidden.
        memory: budget in bytes.
        calamine: the library.

    Attributes:
        further_content: what the file holds in addition to the cells of the sheet, once it is converted.
    """

    path: Path
    sheet: str
    memory: int
    calamine: Any
    further_content: Sequence[str] = field(init=False, default=())

    @property
    def suffix(self) -> str:
        """The extension, which is the kind of file."""
        return self.path.suffix.lower()

    def convert(self, folder: Path) -> Path:
        """Write the records of the sheet to a Parquet file."""
        from pyarrow import parquet  # noqa: PLC0415 - late, as everything large

        package = self._package()
        with self._spoken():
            workbook = self.calamine.CalamineWorkbook.from_path(str(self.path))
        with workbook:
            empty = self._empty(workbook) if package is None else package.empty_sheets
            name = self._chosen(workbook, empty)
            contents = SheetContents() if package is None else package.examine(name)
            with self._spoken():
                sheet = workbook.get_sheet_by_name(name)
            self._require_unmerged(sheet, name)
            table = _Records(f"{self.path}: sheet {visible(name)!r}", package, name).read(sheet)
            sheets = list(self._further(workbook, name, empty))
        self.further_content = [
            *sheets,
            *contents.says,
            *([UNSEEN] if package is None else package.further_content),
        ]
        table = EngineOpener.text_form().read_numbers(table, table.column_names, str(self.path))
        target = folder / "release.parquet"
        parquet.write_table(table, target)
        return target

    def _package(self) -> Package | None:
        """The parts or records of the file; None for an .xls of Excel 95 and before."""
        if self.suffix == ".xls":
            old = OldWorkbookFile(self.path, str(self.path), self.memory)
            return old if old.can_be_searched else None
        kind = {".ods": OpenDocumentFile, ".xlsb": BinaryWorkbookFile}.get(self.suffix, OpenXmlFile)
        return kind(self.path, str(self.path), self.memory)

    @contextmanager
    @redact_errors()
    def _spoken(self) -> Iterator[None]:
        """Turn errors of calamine, panics included, into sentences without their texts, which may quote cells."""
        kind = ""
        try:
            yield
        except (KeyboardInterrupt, MemoryError, TcdpAuditError):
            raise
        except BaseException as error:  # noqa: BLE001 - a panic is no Exception
            kind = type(error).__name__
        if kind == "PasswordError":
            raise DataError(f"{self.path}: the workbook is encrypted; save it without a password")
        if kind:
            raise DataError(f"{self.path}: the workbook is cut off or damaged; save it again")

    def _worksheets(self, workbook: Any) -> list[Any]:
        kinds = self.calamine.SheetTypeEnum
        return [one for one in workbook.sheets_metadata if one.typ == kinds.WorkSheet]

    def _empty(self, workbook: Any) -> frozenset[str]:
        with self._spoken():
            sheets = [workbook.get_sheet_by_name(one.name) for one in self._worksheets(workbook)]
        return frozenset(one.name for one in sheets if one.start is None)

    def _is_hidden(self, sheet: Any) -> bool:
        return bool(sheet.visible != self.calamine.SheetVisibleEnum.Visible)

    def _chosen(self, workbook: Any, empty: frozenset[str]) -> str:
        """The name of the sheet to read.

        Raises:
            UsageError: there is none, none of this name, or several without one being named.
        """
        sheets = self._worksheets(workbook)
        names = [one.name for one in sheets]
        listed = ", ".join(f"{visible(one.name)!r}{' (hidden)' if self._is_hidden(one) else ''}" for one in sheets)
        if self.sheet:
            if self.sheet not in names:
                raise UsageError(f"{self.path}: has no sheet {visible(self.sheet)!r}; it has {listed or 'none'}")
            return self.sheet
        shown = [one.name for one in sheets if one.name not in empty and not self._is_hidden(one)]
        if len(shown) == 1:
            return str(shown[0])
        if not shown and not any(name not in empty for name in names):
            raise DataError(f"{self.path}: the workbook has no cell; an empty release cannot be audited")
        example = visible(next(iter(shown or names)))
        raise UsageError(f"{self.path}: has the sheets {listed}; name one, as {self.path.name}#{example}")

    def _further(self, workbook: Any, chosen: str, empty: frozenset[str]) -> Iterator[str]:
        """The other sheets with cells, as noun phrases."""
        for is_hidden in (False, True):
            others = [
                repr(visible(one.name))
                for one in workbook.sheets_metadata
                if one.name != chosen and one.name not in empty and self._is_hidden(one) is is_hidden
            ]
            if others:
                named = listing(others)
                if is_hidden:
                    yield f"the hidden sheets {named}" if len(others) > 1 else f"the hidden sheet {named}"
                else:
                    yield f"the further sheets {named}" if len(others) > 1 else f"the further sheet {named}"

    def _require_unmerged(self, sheet: Any, name: str) -> None:
        """Refuse merged cells, of which only the first has the value that all of them show."""
        merged = sheet.merged_cell_ranges or []
        if merged:
            (top, left), (bottom, right) = merged[0]
            first = f"{letters_of(left)}{top + 1}:{letters_of(right)}{bottom + 1}"
            more = f" and {count(len(merged) - 1, 'other range')}" if len(merged) > 1 else ""
            raise DataError(
                f"{self.path}: sheet {visible(name)!r}: cells {first}{more} are merged, so that all but the first are "
                "empty; unmerge them, and give each record its value"
            )


class _Records:
    """The records of a sheet as columns of Arrow.

    Args:
        where: the sheet in messages.
        package: the parts of the file, if they are looked through.
        sheet: the sheet's name.
    """

    def __init__(self, where: str, package: Package | None, sheet: str) -> None:
        self._where, self._package, self._sheet = where, package, sheet
        self._top, self._left = 0, 0
        self._negative: frozenset[str] | None = None
        self._large: dict[int, int] = {}  # the row of the first number above 2^53 of a column

    def read(self, sheet: Any) -> pa.Table:
        """All records.

        Raises:
            DataError: a column has no name or no value that can be read exactly.
        """
        if sheet.start is None:
            raise DataError(f"{self._where}: has no cell; an empty release cannot be audited")
        self._top, self._left = sheet.start
        rows = islice(sheet.iter_rows(), self._top, None)  # it begins with the first row of the sheet
        names = list(next(rows))
        parts: list[list[pa.Array]] = [[] for _ in names]
        kinds: list[set[type]] = [set() for _ in names]
        first = self._top + 1
        while part := list(islice(rows, ROWS)):
            records = [place for place, row in enumerate(part) if any(cell != "" for cell in row)]
            places = np.array(records, np.int64) + first
            for position, column in enumerate(zip(*(part[place] for place in records), strict=True)):
                parts[position].append(self._column(column, position, places, kinds[position]))
            first += len(part)
        used = [position for position, name in enumerate(names) if name != "" or kinds[position]]
        headers = [self._name(names[position], position) for position in used]
        self._require_distinct(headers, used)
        columns = [_joined(parts[position], kinds[position]) for position in used]
        for position, column in zip(used, columns, strict=True):
            if position in self._large and not pa.types.is_floating(column.type):
                raise DataError(
                    f"{self._where}: cell {self._place(self._large[position], position)} holds a whole number above "
                    "2^53, whose last digits a workbook does not keep; make it text"
                )
        return pa.Table.from_arrays(columns, headers)

    def _place(self, row: int, position: int) -> str:
        return f"{letters_of(self._left + position)}{row + 1}"

    def _name(self, cell: Any, position: int) -> str:
        name = _text_of(cell)
        if not name.strip():
            raise DataError(
                f"{self._where}: cell {self._place(self._top, position)} has no column name, and cells below it have "
                "values; the first row with cells must have the names of all columns"
            )
        return name

    def _require_distinct(self, names: Sequence[str], positions: Sequence[int]) -> None:
        for place, name in enumerate(names):
            if name in names[:place]:
                cells = [self._place(self._top, positions[one]) for one in (names.index(name), place)]
                raise DataError(
                    f"{self._where}: cells {listing(cells)} have the same column name {visible(name)!r}; rename one"
                )

    def _column(self, cells: Sequence[Any], position: int, rows: Any, seen: set[type]) -> pa.Array:
        """Some cells of a column in the type of their kind; as text where they are of several."""
        kinds = set(map(type, cells))
        if str in kinds:
            cells = [None if cell == "" else cell for cell in cells]
            kinds = set(map(type, cells)) - {type(None)}
        if int in kinds:
            cells = [float(cell) if type(cell) is int else cell for cell in cells]
            kinds = kinds - {int} | {float}
        if not kinds:
            return pa.nulls(len(cells))
        self._require_readable(cells, kinds, position, rows)
        seen |= kinds
        if kinds == {dt.date, dt.datetime}:
            cells, kinds = [_moment(cell) for cell in cells], {dt.datetime}
        if len(kinds) > 1:
            return pa.array([None if cell is None else _text_of(cell) for cell in cells], pa.string())
        return pa.array(cells, _KINDS[kinds.pop()])

    def _require_readable(self, cells: Sequence[Any], kinds: set[type], position: int, rows: Any) -> None:
        """Refuse cells that calamine reads as the same value as others."""
        if float in kinds and position not in self._large:
            large = (place for place, cell in enumerate(cells) if type(cell) is float and abs(cell) > EXACT)
            for place in islice(large, 1):
                self._large[position] = int(rows[place])
        if kinds & {dt.date, dt.datetime}:
            self._refuse(
                (type(cell) in (dt.date, dt.datetime) and _day(cell) == LEAP for cell in cells),
                *(position, rows, "28 or 29 February 1900, which cannot be told apart; write the day as text"),
            )
            self._refuse(
                (type(cell) is dt.time for cell in cells),
                *(position, rows, "a time without a day among days; write all cells of the column alike"),
            )
        if kinds & {dt.date, dt.datetime, dt.time}:
            below = self._below_zero
            self._refuse(
                (bool(below) and self._place(row, position) in below for row in rows),
                *(position, rows, "a negative number under the format of a date or a time; write it as text"),
            )

    @property
    def _below_zero(self) -> frozenset[str]:
        negative = self._negative
        if negative is None:
            negative = frozenset() if self._package is None else self._package.negative_cells(self._sheet)
            self._negative = negative
        return negative

    def _refuse(self, wrong: Iterable[bool], position: int, rows: Any, what: str) -> None:
        place = next((place for place, one in enumerate(wrong) if one), None)
        if place is not None:
            raise DataError(f"{self._where}: cell {self._place(int(rows[place]), position)} holds {what}")


def _day(cell: dt.date) -> dt.date:
    return cell.date() if isinstance(cell, dt.datetime) else cell


def _moment(cell: dt.date | None) -> dt.datetime | None:
    if cell is None or isinstance(cell, dt.datetime):
        return cell
    return dt.datetime.combine(cell, MIDNIGHT)


def _text_of(cell: Any) -> str:
    """A cell of a column of several kinds as text."""
    match cell:
        case str():
            return cell
        case bool():
            return "TRUE" if cell else "FALSE"
        case float():
            return _number_text(cell)
        case dt.datetime():
            return cell.isoformat(" ")
        case dt.date() | dt.time():
            return cell.isoformat()
        case _:
            return str(cell)


def _number_text(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) <= EXACT else str(texts_of(np.array([number]))[0])


def _joined(parts: Sequence[pa.Array], kinds: set[type]) -> pa.ChunkedArray:
    """The cells of a column in one type: that of their kind, whole numbers where all are, text for several kinds."""
    if kinds == {dt.date, dt.datetime}:
        return pa.chunked_array([_cast(one, pa.timestamp("us")) for one in parts], pa.timestamp("us"))
    kind = _KINDS[next(iter(kinds))] if len(kinds) == 1 else pa.string()
    if kinds == {float} and all(map(_is_whole, parts)):
        return pa.chunked_array([_cast(one, pa.int64()) for one in parts], pa.int64())
    return pa.chunked_array([one if one.type == kind else _cast(one, kind) for one in parts], kind)


def _cast(part: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_null(part.type) or not pa.types.is_string(kind):
        return part.cast(kind)
    return pa.array([None if cell is None else _text_of(cell) for cell in part.to_pylist()], kind)


def _is_whole(part: pa.Array) -> bool:
    numbers = np.asarray(part.cast(pa.float64()).fill_null(0.0))
    return bool(((numbers == np.floor(numbers)) & (np.abs(numbers) < 2**63)).all())
