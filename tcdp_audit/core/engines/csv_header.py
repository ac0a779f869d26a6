"""The header of a CSV file: the names of its columns, and how the file is laid out."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.engines.csv_structure import Layout
from tcdp_audit.core.engines.source import EMPTY, NOT_UTF8, extension, require_names

HEADER_BYTES = 4 * 2**20
DELIMITERS = b",;\t|"
_MARK = b"\xef\xbb\xbf"  # of byte order


@dataclass(frozen=True)
class Header:
    """The first record of a CSV file.

    Args:
        names: the columns' names.
        layout: what stands between cells and after records.
        size: its bytes, with its line end and a byte order mark.
        line: the line that the first record after it starts on.
    """

    names: Sequence[str]
    layout: Layout
    size: int
    line: int


def header_of(start: bytes, path: Path) -> Header:
    """The header of a CSV file.

    Args:
        start: the first HEADER_BYTES of the file, or all of it if it is shorter.
        path: the file; tabs separate the cells of a `.tsv`, if there are any.

    Raises:
        DataError: there is none, it is not UTF-8, longer than HEADER_BYTES, or names no columns.
    """
    text = start.removeprefix(_MARK)
    if not text.strip():
        raise DataError(f"{path}: {EMPTY}")
    if re.match(rb"[ \t]*[\r\n]", text):
        raise DataError(f"{path}:1: the line is blank; the column names must stand on the first line")
    delimiter = _delimiter(text, extension(path))
    record, line_end = _record(text, delimiter)
    if len(start) >= HEADER_BYTES and not line_end:
        raise _unclosed(path)
    layout = Layout(delimiter, line_end or b"\n", 0)
    names = _names(_decoded(record, path, layout), delimiter, path)
    size = len(start) - len(text) + len(record) + len(line_end)
    return Header(names, Layout(delimiter, layout.line_end, len(names)), size, 1 + layout.lines(record + line_end))


def _record(text: bytes, delimiters: bytes) -> tuple[bytes, bytes]:
    """The first record and what ends it. A cell is quoted when its first byte is a quote."""
    between = re.escape(delimiters)
    cell = rb'(?:"[^"]*+(?:""[^"]*+)*+")?+[^%s\r\n]*+' % between
    match = re.match(rb"(%s(?:[%s]%s)*+)(\r\n|\r|\n|\Z)" % (cell, between, cell), text)
    assert match is not None  # noqa: S101 - every text has a first record
    return match[1], match[2]


def _delimiter(text: bytes, kind: str) -> bytes:
    """The commonest of the delimiters outside quotes."""
    unquoted = re.sub(rb'"[^"]*"', b"", _record(text, DELIMITERS)[0])
    if kind == ".tsv" and b"\t" in unquoted:
        return b"\t"
    candidates = [DELIMITERS[position : position + 1] for position in range(len(DELIMITERS))]
    return max(candidates, key=unquoted.count)


def _decoded(record: bytes, path: Path, layout: Layout) -> str:
    line = 0
    try:
        return record.decode()
    except UnicodeDecodeError as error:
        line = 1 + layout.lines(record[: error.start])
    raise DataError(f"{path}:{line}: {NOT_UTF8}")


def _names(record: str, delimiter: bytes, path: Path) -> list[str]:
    try:
        names = next(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter.decode(), strict=True))
    except csv.Error:
        raise _unclosed(path) from None
    require_names(names, str(path))
    return names


def _unclosed(path: Path) -> DataError:
    return DataError(f"{path}:1: a quoted column name is never closed, or is too long; correct the header")
