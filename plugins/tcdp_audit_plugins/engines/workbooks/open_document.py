"""The contents of an .ods file, read from its parts; see `contents`.

The cells of all sheets are in one part, which is parsed some bytes at a time. A cell or a row may say that it is
repeated a million times, so the places of cells are counted before calamine makes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from xml.parsers import expat

from tcdp_audit.plugin.engine import DataError
from tcdp_audit.plugin.sentences import visible
from tcdp_audit_plugins.engines.workbooks.contents import OpenXmlFile, SheetContents, letters_of, sentence_on_cells

MOST_DIGITS = 12  # of a number of repetitions
_GONE = ("collapse", "filter")
_PEOPLE = ("creator", "initial-creator", "title", "subject", "description", "keyword", "user-defined", "printed-by")


@dataclass
class _Sheet:
    """The places in a sheet, counted while its part is parsed."""

    rows: int = 0  # up to the last one with a cell
    columns: int = 0
    errors: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)  # without a value
    merged: list[str] = field(default_factory=list)
    hidden_columns: list[int] = field(default_factory=list)
    hidden_rows: int = 0


@dataclass(frozen=True)
class OpenDocumentFile(OpenXmlFile):
    """An .ods file as a package of parts; it has the questions of `OpenXmlFile`."""

    @cached_property
    def _read(self) -> _Parsed:
        parsed = _Parsed()
        parsed.read(self._checked("content.xml"), self.shown)
        return parsed

    def _checked(self, part: str) -> Iterator[bytes]:
        if part not in self._sizes:
            raise DataError(f"{self.shown}: the file is no workbook; save the sheet as .ods or as CSV UTF-8")
        for text in self._tags(part):
            self._require_plain(text)
            yield text

    @cached_property
    def _sheets(self) -> Mapping[str, str]:
        return dict.fromkeys(self._read.sheets, "content.xml")

    @cached_property
    def empty_sheets(self) -> frozenset[str]:
        """The sheets without a cell."""
        return frozenset(name for name, sheet in self._read.sheets.items() if not sheet.rows)

    def examine(self, sheet: str) -> SheetContents:
        """Look through a sheet; see `OpenXmlFile.examine`."""
        own = self._read.sheets.get(sheet)
        if own is None:
            raise DataError(f"{self.shown}: the workbook is cut off or damaged; save it again")
        self._require_room(sheet, own.rows, own.columns, 0)
        where = f"{self.shown}: sheet {visible(sheet)!r}"
        if own.errors:
            raise DataError(f"{where}: {sentence_on_cells(own.errors)} an error; correct it, or empty the cell")
        if own.formulas:
            raise DataError(
                f"{where}: {sentence_on_cells(own.formulas)} a formula whose value is not stored in the file; open the "
                "workbook in a spreadsheet program and save it, or replace formulas by their values"
            )
        if own.merged:
            raise DataError(
                f"{where}: {sentence_on_cells(own.merged)} been merged with others, which are empty; unmerge them, and "
                "give each record its value"
            )
        hidden = tuple(letters_of(one) for one in own.hidden_columns if one < own.columns)
        return SheetContents(hidden, own.hidden_rows)

    def negative_cells(self, sheet: str) -> frozenset[str]:  # noqa: ARG002 - a day or a time is no number here
        """No cell: a day or a time is written as such, and never as a number below 0."""
        return frozenset()

    @cached_property
    def further_content(self) -> Sequence[str]:
        """The contents other than sheets, as noun phrases."""
        parts = [says for start, says in NAMED.items() if any(one.startswith(start) for one in self._sizes)]
        more = ["document properties"] * self._has_people("meta.xml")
        return tuple(dict.fromkeys([*self._read.further_content, *parts, *more]))

    def _has_people(self, part: str) -> bool:
        tree = self._tree(part)
        return tree is not None and any(
            one.tag.rpartition("}")[2] in _PEOPLE and (one.text or "").strip() for one in tree.iter()
        )


NAMED = {"Pictures/": "pictures", "Object ": "charts or embedded files", "Basic/": "macros", "Scripts/": "macros"}
BESIDE = {
    "annotation": "comments",
    "tracked-changes": "a log of changes",
    "named-range": "defined names",
    "named-expression": "defined names",
    "data-pilot-table": "pivot tables",
    "table-source": "links to other files with their values",
}


class _Parsed:
    """The sheets of a content part, and what else is in it."""

    def __init__(self) -> None:
        self.sheets: dict[str, _Sheet] = {}
        self.further_content: dict[str, None] = {}
        self._sheet = _Sheet()
        self._depth = 0  # of tables within tables
        self._row, self._column, self._next, self._repeated = 0, 0, 0, 1
        self._has_text, self._is_hidden, self._cell = False, False, (0, 1)

    def read(self, pieces: Iterator[bytes], shown: str) -> None:
        """Parse a part; raise a `DataError` where it is no XML."""
        parser = expat.ParserCreate(namespace_separator="}")
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        faulty = False
        try:
            for piece in pieces:
                parser.Parse(piece, False)  # noqa: FBT003 - it has no name
            parser.Parse(b"", True)  # noqa: FBT003
        except (expat.ExpatError, ValueError):
            faulty = True
        if faulty:
            raise DataError(f"{shown}: the workbook is cut off or damaged; save it again")

    def _start(self, tag: str, attributes: dict[str, Any]) -> None:
        name = tag.rpartition("}")[2]
        own = {key.rpartition("}")[2]: value for key, value in attributes.items()}
        if name in BESIDE:
            self.further_content[BESIDE[name]] = None
        match name:
            case "table":
                self._depth += 1
                if self._depth == 1:
                    self._sheet = self.sheets.setdefault(own.get("name", ""), _Sheet())
                    self._row = self._column = 0
            case "table-column":
                repeated = _times(own, "number-columns-repeated")
                if own.get("visibility") in _GONE:
                    end = self._column + min(repeated, 2**14)
                    self._sheet.hidden_columns += range(self._column, end)
                self._column += repeated
            case "table-row":
                self._column, self._repeated, self._has_text = 0, _times(own, "number-rows-repeated"), False
                self._next = 0
                self._is_hidden = own.get("visibility") in _GONE
            case "table-cell" | "covered-table-cell":
                self._begin_cell(own, attributes)
            case "p" if self._depth == 1:
                self._count_cell()

    def _begin_cell(self, own: dict[str, str], attributes: dict[str, str]) -> None:
        repeated = _times(own, "number-columns-repeated")
        self._cell = (self._next, repeated)
        place = f"{letters_of(self._next)}{self._row + 1}"
        self._next += repeated
        kinds = [value for key, value in attributes.items() if key.rpartition("}")[2] == "value-type"]
        if kinds:
            self._count_cell()
        if "error" in kinds:
            self._sheet.errors.append(place)
        elif "formula" in own and not kinds:
            self._sheet.formulas.append(place)
        if own.get("number-columns-spanned", "1") != "1" or own.get("number-rows-spanned", "1") != "1":
            self._sheet.merged.append(place)

    def _count_cell(self) -> None:
        """Note that the current cell has content."""
        self._has_text = True
        self._sheet.columns = max(self._sheet.columns, sum(self._cell))

    def _end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        if name == "table":
            self._depth -= 1
        elif name == "table-row" and self._depth == 1:
            if self._has_text:
                self._sheet.rows = self._row + self._repeated
                self._sheet.hidden_rows += self._repeated * self._is_hidden
            self._row += self._repeated


def _times(attributes: Mapping[str, str], name: str) -> int:
    number = attributes.get(name, "1")
    return max(int(number[:MOST_DIGITS]), 1) if number.isascii() and number.isdecimal() else 1
