"""The contents of .xls and .xlsb files, whose parts are records of bytes; see `contents`.

An .xls file is a file system in a file, which olefile reads. Its stream `Workbook` has records of a kind and a size in
two bytes each ([MS-XLS]). The parts of an .xlsb file are in a ZIP archive, and their records have a kind and a size of
up to four bytes ([MS-XLSB]). Of a record only the few bytes are read that say where a cell is, whether a row or a
column is hidden, and what a part is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from importlib import import_module
from pathlib import Path
from struct import error as struct_error, unpack_from
from typing import Any

from tcdp_audit.plugin.engine import DataError, UsageError, redact_errors
from tcdp_audit.plugin.sentences import visible
from tcdp_audit_plugins.engines.workbooks.contents import (
    MOST_COLUMNS,
    OpenXmlFile,
    SheetContents,
    letters_of,
    sentence_on_cells,
)

EXCEL_97 = 0x0600  # and later; records of older versions are not looked through
MOST_OLD_COLUMNS = 2**8
LARGEST = 2**24  # bytes of a record
PROPERTIES = ("author", "last_saved_by", "title", "subject", "keywords", "comments", "category", "manager", "company")
STORED = {  # what is next to the stream of an .xls file, by the beginning of its name
    "_SX_DB_CUR": "pivot caches that keep records",
    "_VBA_PROJECT_CUR": "macros",
    "MBD": "embedded files",
    "LNK": "links to other files with their values",
    "Revision Log": "a log of changes",
    "MsoDataStore": "custom XML",
}
# kinds of records of an .xls file
BEGIN, FILE_END, SHEET, ROW, COLUMNS = 0x0809, 0x000A, 0x0085, 0x0208, 0x007D
TRUTH, FORMULA, SEVERAL = 0x0205, 0x0006, 0x00BD  # a truth or an error, a formula, several numbers of a row
NAME, SHEETS_OF, DRAWINGS, SAVED_BY = 0x0018, 0x01AE, 0x00EB, 0x005C
CHART = 0x0020  # what begins
SELF, ADD_IN = 0x0401, 0x3A01  # what a list of sheets is of, other than another file
PICTURES = 0xF001  # in the group of all drawings
BUILT_IN = 0x20  # a name that the program gave
_SINGLE = frozenset({0x0203, 0x027E, 0x00FD, 0x0204, 0x00D6, TRUTH, FORMULA})  # of one cell
_SIGNS = {0x0203: 13, 0x027E: 9, FORMULA: 13}  # the byte that has the sign of a number
SAID = {
    0x001C: "comments",
    0x00B0: "pivot caches that keep records",
    0x00D5: "pivot caches that keep records",
    0x00DC: "connections to sources of data",
    0x01AD: "connections to sources of data",
}
# kinds of records of an .xlsb file
NEW_ROW, NEW_ERROR, NEW_ERROR_OF_FORMULA, NEW_NAME, NEW_COLUMNS, NEW_SHEET, NEW_MERGED = 0, 3, 11, 39, 60, 156, 176
NEW_CELLS = range(2, 12)
_NEW_SIGNS = {2: 11, 5: 15, 9: 15}
Record = tuple[int, bytes]


def _damaged(shown: str) -> str:
    return f"{shown}: the workbook is cut off or damaged; save it again"


def _whole_records(read: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method that reads records say that the file is damaged where one is too short."""

    @wraps(read)
    def checked(file: Any, *arguments: Any) -> Any:
        try:
            return read(file, *arguments)
        except (struct_error, IndexError):
            pass
        raise DataError(_damaged(file.shown))

    return checked


@dataclass
class _Sheet:
    """Facts that the records of a sheet give."""

    rows: int = 0  # up to the last one with a cell
    columns: int = 0
    errors: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)  # where calamine does not say so
    hidden_columns: set[int] = field(default_factory=set)
    hidden_rows: int = 0
    further_content: dict[str, None] = field(default_factory=dict)

    def add_cell(self, row: int, column: int) -> None:
        self.rows, self.columns = max(self.rows, row + 1), max(self.columns, column + 1)

    def contents(self, where: str) -> SheetContents:
        """Columns and rows that it hides.

        Raises:
            DataError: a cell holds an error, or is merged with others.
        """
        if self.errors:
            raise DataError(
                f"{where}: {sentence_on_cells(self.errors)} an error such as #N/A; correct it, or empty the cell"
            )
        if self.merged:
            raise DataError(
                f"{where}: {sentence_on_cells(self.merged)} been merged with others, which are empty; unmerge them, "
                "and give each record its value"
            )
        own = (letters_of(one) for one in sorted(self.hidden_columns) if one < self.columns)
        return SheetContents(tuple(own), self.hidden_rows)


@dataclass(frozen=True)
class OldWorkbookFile:
    """An .xls file; it has the questions of `OpenXmlFile`.

    Args:
        path: the file.
        shown: the file in messages.
        memory: budget in bytes.
    """

    path: Path
    shown: str
    memory: int

    @property
    def can_be_searched(self) -> bool:
        """Whether it is of Excel 97 or later, whose records are known here."""
        return self._version == EXCEL_97

    @cached_property
    @redact_errors()
    def _whole(self) -> tuple[bytes, Sequence[str], bool]:
        """The stream of records, the names of what is next to it, and whether properties of the document are set."""
        olefile = _olefile(self.shown)
        self._require_kind()
        content, names, has_properties, fails = b"", list[str](), False, False
        if self.path.stat().st_size > self.memory:
            raise UsageError(
                f"{self.shown}: the workbook is larger than --memory; give more memory, or save the sheet as CSV UTF-8"
            )
        try:
            with olefile.OleFileIO(str(self.path)) as file:
                names = [one[0] for one in file.listdir(streams=True, storages=True)]
                stream = next((one for one in ("Workbook", "Book") if file.exists(one)), "")
                content = file.openstream(stream).read() if stream else b""
                properties = file.get_metadata()
                has_properties = any(getattr(properties, name) for name in PROPERTIES)
        except (MemoryError, KeyboardInterrupt):
            raise
        except Exception:  # noqa: BLE001 - whatever olefile says of a damaged file
            fails = True
        if fails:
            raise DataError(_damaged(self.shown))
        return content, names, has_properties

    def _require_kind(self) -> None:
        """Refuse what web sites and other programs give the extension of a workbook."""
        with self.path.open("rb") as file:
            start = file.read(512).removeprefix(b"\xef\xbb\xbf")
        if start.startswith(b"PK"):
            raise DataError(f"{self.shown}: the workbook is an .xlsx, .xlsb or .ods file under another name; rename it")
        if start.lstrip().startswith(b"<"):
            raise DataError(
                f"{self.shown}: the workbook is a page of HTML or XML under another name; open it in a spreadsheet "
                "program, and save the sheet as .xlsx or as CSV UTF-8"
            )
        if start[:2] in (b"\x09\x00", b"\x09\x02", b"\x09\x04"):
            raise DataError(f"{self.shown}: the workbook is of Excel 4 or earlier; save the sheet as CSV UTF-8")
        if start and b"\0" not in start:
            raise DataError(f"{self.shown}: the workbook is a text under another name; rename it to .csv or .tsv")

    @property
    def _version(self) -> int:
        content = self._whole[0]
        return int(unpack_from("<H", content, 4)[0]) if len(content) >= 6 and content[:2] == b"\x09\x08" else 0

    def _records(self, start: int) -> Iterator[Record]:
        """The records of a part of the stream; of charts inside it their beginnings alone."""
        content, depth = self._whole[0], 0
        while start + 4 <= len(content):
            kind, size = unpack_from("<HH", content, start)
            depth += (kind == BEGIN) - (kind == FILE_END)
            if depth == 1 or kind == BEGIN:
                yield kind, content[start + 4 : start + 4 + size]
            if depth <= 0:
                return
            start += 4 + size
        raise DataError(_damaged(self.shown))

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """The place where the records of each sheet begin, by its name."""
        places = {}
        for kind, body in self._records(0):
            if kind == SHEET:
                length, is_wide = body[6], body[7] & 1
                name = body[8 : 8 + length * (1 + is_wide)].decode("utf-16-le" if is_wide else "latin-1", "replace")
                places[name] = int(unpack_from("<I", body)[0])
        return places

    @cached_property
    def _sheets(self) -> Mapping[str, _Sheet]:
        return {name: self._read(place) for name, place in self._places.items()}

    @_whole_records
    def _read(self, place: int) -> _Sheet:
        sheet = _Sheet()
        for kind, body in self._records(place):
            if kind in _SINGLE:
                row, column = unpack_from("<HH", body)
                sheet.add_cell(row, column)
                if (kind == TRUTH and body[7]) or (kind == FORMULA and body[12:14] == b"\xff\xff" and body[6] == 2):
                    sheet.errors.append(f"{letters_of(column)}{row + 1}")
            elif kind == SEVERAL:
                row = unpack_from("<H", body)[0]
                sheet.add_cell(row, unpack_from("<H", body, len(body) - 2)[0])
            elif kind == ROW:
                sheet.hidden_rows += bool(body[12] & 0x20)
            elif kind == COLUMNS:
                first, last, width, _, flags = unpack_from("<5H", body)
                if flags & 1 or not width:
                    sheet.hidden_columns |= {*range(first, min(last + 1, MOST_OLD_COLUMNS))}
            elif kind == BEGIN and unpack_from("<H", body, 2)[0] == CHART:
                sheet.further_content["charts with their values"] = None
            elif kind in SAID:
                sheet.further_content[SAID[kind]] = None
        return sheet

    @cached_property
    def empty_sheets(self) -> frozenset[str]:
        """The sheets without a cell."""
        return frozenset(name for name, sheet in self._sheets.items() if not sheet.rows)

    def examine(self, sheet: str) -> SheetContents:
        """Look through a sheet; see `OpenXmlFile.examine`."""
        own = self._sheets.get(sheet)
        if own is None:
            raise DataError(_damaged(self.shown))
        return own.contents(f"{self.shown}: sheet {visible(sheet)!r}")

    @_whole_records
    def negative_cells(self, sheet: str) -> frozenset[str]:
        """The cells with a number below 0."""
        cells = set()
        for kind, body in self._records(self._places[sheet]):
            row, column = unpack_from("<HH", body) if len(body) >= 4 else (0, 0)
            if kind in _SIGNS and body[_SIGNS[kind]] & 0x80 and body[12:14] != b"\xff\xff":
                cells.add((row, column))
            elif kind == SEVERAL:
                signs = body[9:-2:6]
                cells |= {(row, column + place) for place, sign in enumerate(signs) if sign & 0x80}
        return frozenset(f"{letters_of(column)}{row + 1}" for row, column in cells)

    @cached_property
    @_whole_records
    def further_content(self) -> Sequence[str]:
        """The contents other than sheets, as noun phrases."""
        _, names, has_properties = self._whole
        phrases = {says: None for start, says in STORED.items() if any(one.startswith(start) for one in names)}
        for sheet in self._sheets.values():
            phrases |= sheet.further_content
        for kind, body in self._records(0):
            if kind in SAID:
                phrases[SAID[kind]] = None
            elif kind == NAME and not unpack_from("<H", body)[0] & BUILT_IN:
                phrases["defined names"] = None
            elif kind == SHEETS_OF and unpack_from("<H", body, 2)[0] not in (SELF, ADD_IN):
                phrases["links to other files with their values"] = None
            elif kind == DRAWINGS and PICTURES in _kinds_of_drawings(body):
                phrases["pictures"] = None
            elif kind == SAVED_BY and body[3:].replace(b"\0", b"").strip():
                has_properties = True
        return (*phrases, *(["document properties"] if has_properties else []))


def _olefile(shown: str) -> Any:
    try:
        return import_module("olefile")
    except ImportError:
        pass
    raise UsageError(f'{shown}: needs olefile; pip install "tcdp-audit[excel]", or save the sheet as CSV UTF-8')


def _kinds_of_drawings(body: bytes) -> Iterator[int]:
    """The kinds of the first records in a group of drawings, which end where the record does."""
    start = 8  # behind the head of the group itself
    while start + 8 <= len(body):
        _, kind, size = unpack_from("<HHI", body, start)
        yield kind
        start += 8 + size


class BinaryWorkbookFile(OpenXmlFile):
    """An .xlsb file as a package of parts; it has the questions of `OpenXmlFile`."""

    def _records(self, part: str) -> Iterator[Record]:
        """The records of a part, which is never held whole."""
        rest = b""
        for piece in self._pieces(part):
            text, start = rest + piece, 0
            while (head := _head(text, start)) is not None and head[2] + head[1] <= len(text):
                kind, size, begin = head
                yield kind, text[begin : begin + size]
                start = begin + size
            rest = text[start:]
            if len(rest) > LARGEST:
                raise DataError(_damaged(self.shown))
        if rest:
            raise DataError(_damaged(self.shown))

    @cached_property
    def _part(self) -> str:
        part = next(iter(self._targets("", "/officeDocument").values()), "xl/workbook.bin")
        if part not in self._sizes:
            raise DataError(f"{self.shown}: the file is no workbook; save the sheet as .xlsx or as CSV UTF-8")
        return part

    @cached_property
    @_whole_records
    def _sheets(self) -> Mapping[str, str]:
        parts, named = self._targets(self._part, "/worksheet"), {}
        for kind, body in self._records(self._part):
            if kind == NEW_SHEET:
                identifier, end = _text(body, 8)
                named[_text(body, end)[0]] = parts.get(identifier, "")
        return {name: part for name, part in named.items() if part in self._sizes}

    @cached_property
    def _read(self) -> Mapping[str, _Sheet]:
        return {name: self._read_sheet(part) for name, part in self._sheets.items()}

    @_whole_records
    def _read_sheet(self, part: str) -> _Sheet:
        sheet, row = _Sheet(), 0
        for kind, body in self._records(part):
            if kind == NEW_ROW:
                row = unpack_from("<I", body)[0]
                sheet.hidden_rows += bool(body[11] & 0x10)
            elif kind in NEW_CELLS:
                column = unpack_from("<I", body)[0]
                sheet.add_cell(row, column)
                if kind in (NEW_ERROR, NEW_ERROR_OF_FORMULA):
                    sheet.errors.append(f"{letters_of(column)}{row + 1}")
            elif kind == NEW_MERGED:
                merged_row, _, column = unpack_from("<3I", body)
                sheet.merged.append(f"{letters_of(column)}{merged_row + 1}")
            elif kind == NEW_COLUMNS:
                first, last, width, _, flags = unpack_from("<4IH", body)
                if flags & 1 or not width:
                    sheet.hidden_columns |= {*range(first, min(last + 1, MOST_COLUMNS))}
        return sheet

    @cached_property
    def empty_sheets(self) -> frozenset[str]:
        """The sheets without a cell."""
        return frozenset(name for name, sheet in self._read.items() if not sheet.rows)

    def examine(self, sheet: str) -> SheetContents:
        """Look through a sheet; see `OpenXmlFile.examine`."""
        own = self._read.get(sheet)
        if own is None:
            raise DataError(_damaged(self.shown))
        strings = "xl/sharedStrings.bin"
        size = sum(map(len, self._pieces(strings))) if strings in self._sizes else 0
        self._require_room(sheet, own.rows, own.columns, size)
        return own.contents(f"{self.shown}: sheet {visible(sheet)!r}")

    @_whole_records
    def negative_cells(self, sheet: str) -> frozenset[str]:
        """The cells with a number below 0."""
        cells, row = set(), 0
        for kind, body in self._records(self._sheets[sheet]):
            if kind == NEW_ROW:
                row = unpack_from("<I", body)[0]
            elif kind in _NEW_SIGNS and body[_NEW_SIGNS[kind]] & 0x80:
                cells.add(f"{letters_of(unpack_from('<I', body)[0])}{row + 1}")
        return frozenset(cells)

    @_whole_records
    def _has_names(self) -> bool:
        """Whether names are defined that are not the program's own."""
        return any(
            kind == NEW_NAME and not unpack_from("<I", body)[0] & BUILT_IN for kind, body in self._records(self._part)
        )


def _head(text: bytes, start: int) -> tuple[int, int, int] | None:
    """Kind and size of the record at a place, and the place of its body; None where the bytes end before."""
    if start + 2 > len(text):
        return None
    kind, at = text[start], start + 1
    if kind & 0x80:
        kind, at = (kind & 0x7F) | text[at] << 7, at + 1
    size = 0
    for shift in (0, 7, 14, 21):
        if at >= len(text):
            return None
        size |= (text[at] & 0x7F) << shift
        at += 1
        if not text[at - 1] & 0x80:
            break
    return kind, size, at


def _text(body: bytes, start: int) -> tuple[str, int]:
    """The text at a place, and the place behind it."""
    length = int(unpack_from("<I", body, start)[0])
    end = start + 4 + 2 * length
    return body[start + 4 : end].decode("utf-16-le", "replace"), end
