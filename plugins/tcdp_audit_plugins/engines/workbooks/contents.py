"""The contents of a workbook, read from its parts: faults and size of a sheet, and all that is no cell of it.

calamine reads an error, and a formula whose value is not stored, as an empty cell, and makes room for every cell of
the rectangle around the used ones. So the parts are looked through before it opens the file. They are searched as
bytes; a sheet is parsed only where it has formulas. No part with a declaration of entities is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

from tcdp_audit.plugin.engine import DataError, UsageError
from tcdp_audit.plugin.sentences import count, listing, visible

PIECE = 2**20
CELL = 100  # bytes of a cell while calamine has it, a text of some characters included
UNPACKED = 8  # times the memory that a part may take when it is unpacked; it is never held whole
MOST_COLUMNS = 2**14  # of a sheet
FEW = 5  # cells and columns that a sentence names
NAMED = {  # parts by the beginning of their names, and what a reader calls them
    "xl/pivotCache/": "pivot caches that keep records",
    "xl/comments": "comments",
    "xl/threadedComments/": "comments",
    "xl/externalLinks/": "links to other files with their values",
    "xl/media/": "pictures",
    "xl/charts/": "charts with their values",
    "xl/embeddings/": "embedded files",
    "xl/connections": "connections to sources of data",
    "xl/vbaProject": "macros",
    "xl/revisions/": "a log of changes",
    "xl/model/": "a data model with its records",
    "customXml/": "custom XML",
    "docProps/custom.xml": "document properties",
}
_PEOPLE = ("creator", "lastModifiedBy", "title", "subject", "description", "keywords", "category", "Manager", "Company")
_IS = rb"""\s*=\s*["']"""  # between an attribute and its value
_ROW = re.compile(rb"<(?:\w+:)?row\b(?=[^>]*?\br" + _IS + rb"(\d{1,9}))?[^>]*>")
_PLACES = re.compile(rb"<(?:\w+:)?c\s[^>]*?\br" + _IS + rb"([A-Z]{1,3})(\d{1,9})")
_CELLS = re.compile(rb"<(?:\w+:)?c[\s/>]")
_ERROR = re.compile(rb"<(?:\w+:)?c\s(?=[^>]*?\bt" + _IS + rb"e[\"'])(?:[^>]*?\br" + _IS + rb"([A-Z]+\d+))?")
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_NEGATIVE = re.compile(rb"<(?:\w+:)?c\s[^>]*?\br" + _IS + rb"([A-Z]+\d+)[\"'][^>]*><(?:\w+:)?v>\s*-")
_GONE = rb"(?:\bhidden" + _IS + rb"(?:1|true)|\b(?:width|ht)" + _IS + rb"0(?:\.0*)?)[\"']"
_MAY_HIDE = (b"hidden", b"width", b" ht")  # a fast search before the exact ones
_MAY_FAIL = re.compile(rb"=\s*[\"']e[\"']")
_HIDDEN_ROW = re.compile(rb"<(?:\w+:)?row\s(?=[^>]*" + _GONE + rb")[^>]*>")
_HIDDEN_COLUMN = re.compile(rb"<(?:\w+:)?col\s(?=[^>]*" + _GONE + rb")[^>]*>")
_BREAK = b"\0"  # in no XML
_SPAN = re.compile(rb"\b(min|max)" + _IS + rb"(\d{1,9})")
_DECLARED = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def letters_of(column: int) -> str:
    """The letters of a column, counted from 0.

    Example:
        >>> letters_of(0), letters_of(25), letters_of(26), letters_of(16383)
        ('A', 'Z', 'AA', 'XFD')
    """
    letters = ""
    column += 1
    while column:
        column, place = divmod(column - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters


def column_of(letters: str) -> int:
    """The column with these letters, counted from 0."""
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - ord("A") + 1
    return column - 1


@dataclass(frozen=True)
class OpenXmlFile:
    """An .xlsx or .xlsm file as a package of parts.

    Args:
        path: the file.
        shown: the file in messages.
        memory: budget in bytes.
    """

    path: Path
    shown: str
    memory: int

    @cached_property
    def _sizes(self) -> Mapping[str, int]:
        """The unpacked size of each part, as the file declares it.

        Raises:
            DataError: the file is no package, or damaged.
        """
        try:
            with ZipFile(self.path) as package:
                sizes = {one.filename.lstrip("/"): one.file_size for one in package.infolist()}
                if len({*map(str.casefold, sizes)}) == len(package.infolist()):  # else readers may take another part
                    return sizes
        except (BadZipFile, NotImplementedError, ValueError, OverflowError, EOFError):
            pass
        with self.path.open("rb") as file:
            encrypted = file.read(4) == b"\xd0\xcf\x11\xe0"
        raise DataError(
            f"{self.shown}: the workbook is encrypted, or an .xls file under another name; save it without a password"
            if encrypted
            else f"{self.shown}: the workbook is cut off or damaged; save it again"
        )

    def _pieces(self, part: str) -> Iterator[bytes]:
        """The bytes of a part, some at a time; they end where the packed data ends, whatever size is declared."""
        limit, size = UNPACKED * self.memory, 0
        try:
            with ZipFile(self.path) as package:
                entry = copy(next(one for one in package.infolist() if one.filename.lstrip("/") == part))
                entry.file_size += 1  # so that a part which is longer than it declares shows
                with package.open(entry) as file:
                    while piece := file.read(PIECE):
                        size += len(piece)
                        if size > limit:
                            break
                        yield piece
        except (BadZipFile, NotImplementedError, ValueError, EOFError, StopIteration, OSError, RuntimeError):
            size = -1
        except Exception as error:
            if type(error).__name__ not in ("error", "LZMAError"):
                raise
            size = -1
        if size > limit:
            raise UsageError(
                f"{self.shown}: a part of the workbook unpacks to more than {UNPACKED} times --memory; give more "
                "memory, or save the sheet as CSV UTF-8"
            )
        if size != self._sizes.get(part, -1):
            raise DataError(f"{self.shown}: the workbook is cut off or damaged; save it again")

    def _tree(self, part: str) -> ET.Element | None:
        """A small part as XML; None where the file has no such part.

        Raises:
            DataError: it is no XML, or declares entities.
        """
        if part not in self._sizes:
            return None
        text = b"".join(self._pieces(part))
        self._require_plain(text)
        try:
            return ET.fromstring(text)  # noqa: S314 - nothing is declared in it
        except (ET.ParseError, ValueError, LookupError):
            pass
        raise DataError(f"{self.shown}: the workbook is cut off or damaged; save it again")

    def _require_plain(self, text: bytes) -> None:
        if (b"<!" in text and _DECLARED.search(text)) or text[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise DataError(
                f"{self.shown}: a part of the workbook declares a document type, which no spreadsheet program writes; "
                "save it again"
            )

    @cached_property
    def _workbook(self) -> tuple[str, ET.Element]:
        """The name of the part that lists the sheets, and the part."""
        part = next(iter(self._targets("", "/officeDocument").values()), "xl/workbook.xml")
        tree = self._tree(part)
        if tree is None:
            raise DataError(f"{self.shown}: the file is no workbook; save the sheet as .xlsx or as CSV UTF-8")
        return part, tree

    def _targets(self, part: str, kind: str) -> dict[str, str]:
        """The parts of a kind that a part names, by their identifiers."""
        folder, _, name = part.rpartition("/")
        tree = self._tree(f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels")
        named = {}
        for one in () if tree is None else tree:
            if one.get("Type", "").endswith(kind) and one.get("TargetMode") != "External":
                target = one.get("Target", "")
                named[one.get("Id", "")] = target.lstrip("/") if target.startswith("/") else _joined(folder, target)
        return named

    @cached_property
    def _sheets(self) -> Mapping[str, str]:
        """The part of each worksheet, by its name."""
        part, tree = self._workbook
        parts = self._targets(part, "/worksheet")
        sheets = (one for one in tree.iter() if one.tag.endswith("}sheet"))
        named = {one.get("name", ""): parts.get(_identifier(one), "") for one in sheets}
        return {name: part for name, part in named.items() if part in self._sizes}

    @cached_property
    def empty_sheets(self) -> frozenset[str]:
        """The worksheets without a cell."""
        return frozenset(name for name, part in self._sheets.items() if not any(map(_CELLS.search, self._tags(part))))

    def _tags(self, part: str) -> Iterator[bytes]:
        """The bytes of a part in pieces that cut no tag."""
        rest = b""
        for piece in self._pieces(part):
            text = rest + piece
            end = text.rfind(b"<")
            text, rest = (text[:end], text[end:]) if end > 0 else (b"", text)
            yield text
        yield rest

    def examine(self, sheet: str) -> SheetContents:
        """Look through a sheet.

        Raises:
            DataError: a cell holds an error, or a formula without a stored value.
            UsageError: the cells outgrow the memory.
        """
        part, strings = self._sheets.get(sheet, ""), "xl/sharedStrings.xml"
        if not part:
            raise DataError(f"{self.shown}: the workbook is cut off or damaged; save it again")
        size = sum(map(len, self._pieces(strings))) if strings in self._sizes else 0
        rows, count_of_rows, in_row, widest, letters, hidden = 0, 0, 0, 0, {"A"}, set[int]()
        hidden_rows, formulas, errors = 0, False, list[str]()
        for text in self._tags(part):
            self._require_plain(text)
            numbers = _ROW.findall(text)
            count_of_rows += len(numbers)
            places = _PLACES.findall(text)
            letters |= {one.decode() for one in {first for first, _ in places}}
            rows = max(rows, *map(int, {*filter(None, numbers)} | {number for _, number in places}), 0)
            if len(places) < len(_CELLS.findall(text)):  # some cells are counted from the first of their row
                first, *others = map(len, map(_CELLS.findall, _ROW.sub(_BREAK, text).split(_BREAK)))
                widest, in_row = max(widest, in_row + first, *others), others[-1] if others else in_row + first
            if any(word in text for word in _MAY_HIDE):
                hidden |= {one for tag in _HIDDEN_COLUMN.findall(text) for one in _span(tag)}
                hidden_rows += len(_HIDDEN_ROW.findall(text))
            formulas = formulas or _FORMULA.search(text) is not None
            if _MAY_FAIL.search(text):
                errors += [one.decode() or "?" for one in _ERROR.findall(text)]
        columns = 1 + max(map(column_of, letters)) + widest
        self._require_room(sheet, max(rows, count_of_rows), columns, size)
        where = f"{self.shown}: sheet {visible(sheet)!r}"
        if errors:
            raise DataError(
                f"{where}: {sentence_on_cells(errors)} an error such as #N/A; correct it, or empty the cell"
            )
        if formulas:
            unstored = _Formulas().without_value(self._pieces(part), self.shown)
            if unstored:
                raise DataError(
                    f"{where}: {sentence_on_cells(unstored)} a formula whose value is not stored in the file; open the "
                    "workbook in a spreadsheet program and save it, or replace formulas by their values"
                )
        # a range of columns that are hidden to the end of the sheet names no cell
        own = [letters_of(one) for one in sorted(hidden) if one < columns]
        return SheetContents(tuple(own), hidden_rows)

    def _require_room(self, sheet: str, rows: int, columns: int, strings: int) -> None:
        if rows * columns * CELL + strings > self.memory:
            raise UsageError(
                f"{self.shown}: sheet {visible(sheet)!r} has {count(rows, 'row')} and {count(columns, 'column')} up to "
                "its last cell, more than --memory has room for; give more memory, or save the sheet as CSV UTF-8"
            )

    def negative_cells(self, sheet: str) -> frozenset[str]:
        """The cells with a number below 0."""
        return frozenset(one.decode() for text in self._tags(self._sheets[sheet]) for one in _NEGATIVE.findall(text))

    @cached_property
    def further_content(self) -> Sequence[str]:
        """The contents other than sheets, as noun phrases."""
        parts = (says for start, says in NAMED.items() if any(one.startswith(start) for one in self._sizes))
        more = ["defined names"] * self._has_names()
        more += ["document properties"] * any(map(self._has_people, ("docProps/core.xml", "docProps/app.xml")))
        return tuple(dict.fromkeys([*parts, *more]))

    def _has_names(self) -> bool:
        """Whether names are defined that are not the program's own."""
        names = [one for one in self._workbook[1].iter() if one.tag.endswith("}definedName")]
        return any(not one.get("name", "").startswith("_xlnm.") for one in names)

    def _has_people(self, part: str) -> bool:
        """Whether document properties say who or what the file is of."""
        tree = self._tree(part)
        return tree is not None and any(
            one.tag.rpartition("}")[2] in _PEOPLE and (one.text or "").strip() for one in tree.iter()
        )


@dataclass(frozen=True)
class SheetContents:
    """Columns and rows that a sheet hides.

    Args:
        hidden_columns: the letters of its hidden columns.
        hidden_rows: the number of its hidden rows.
    """

    hidden_columns: tuple[str, ...] = ()
    hidden_rows: int = 0

    @property
    def says(self) -> Sequence[str]:
        """The noun phrases for it."""
        phrases = []
        if self.hidden_columns:
            number, first = len(self.hidden_columns), list(self.hidden_columns[:FEW])
            named = listing(first) if number <= FEW else f"{', '.join(first)}, …"
            phrases.append(f"{number:,} hidden columns ({named})" if number > 1 else f"1 hidden column ({named})")
        if self.hidden_rows:
            phrases.append(count(self.hidden_rows, "hidden row"))
        return phrases


class _Formulas:
    """The cells of a sheet with a formula and without a value."""

    def __init__(self) -> None:
        self._cells: list[str] = []
        self._cell, self._kind, self._has_formula, self._value, self._in_value = "", "", False, "", False

    def without_value(self, pieces: Iterable[bytes], shown: str) -> Sequence[str]:
        """The cells of a sheet's part; raise a `DataError` where it is no XML."""
        parser = expat.ParserCreate(namespace_separator="}")
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._text
        faulty = False
        try:
            for piece in pieces:
                parser.Parse(piece, False)  # noqa: FBT003 - it has no name
            parser.Parse(b"", True)  # noqa: FBT003
        except expat.ExpatError:
            faulty = True
        if faulty:
            raise DataError(f"{shown}: the workbook is cut off or damaged; save it again")
        return self._cells

    def _start(self, tag: str, attributes: dict[str, Any]) -> None:
        name = tag.rpartition("}")[2]
        if name == "c":
            self._cell, self._kind = attributes.get("r", "?"), attributes.get("t", "n")
            self._has_formula, self._value = False, ""
        self._has_formula = self._has_formula or name == "f"
        self._in_value = name == "v"

    def _text(self, text: str) -> None:
        if self._in_value:
            self._value += text

    def _end(self, tag: str) -> None:
        self._in_value = False
        if tag.rpartition("}")[2] == "c" and self._has_formula and not self._value and self._kind != "str":
            self._cells.append(self._cell)


def sentence_on_cells(cells: Sequence[str]) -> str:
    """The first of some cells, and the number of the others, as a subject with its verb."""
    more = f" and {count(len(cells) - FEW, 'other cell')}" if len(cells) > FEW else ""
    named = listing(list(cells[:FEW])) if not more else ", ".join(cells[:FEW])
    return f"{'cell' if len(cells) == 1 else 'cells'} {named}{more} {'has' if len(cells) == 1 else 'have'}"


def _span(tag: bytes) -> range:
    ends = {name: int(number) for name, number in _SPAN.findall(tag)}
    return range(ends.get(b"min", 1) - 1, min(ends.get(b"max", 1), MOST_COLUMNS))


def _identifier(element: ET.Element) -> str:
    return next((value for name, value in element.items() if name.endswith("}id") and "relationships" in name), "")


def _joined(folder: str, target: str) -> str:
    """The name of a part relative to a folder."""
    places = [*folder.split("/")] if folder else []
    for step in target.split("/"):
        if step == "..":
            places = places[:-1]
        elif step not in (".", ""):
            places.append(step)
    return "/".join(places)
