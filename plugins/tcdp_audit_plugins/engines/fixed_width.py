"""Text in fixed width: each column has the same places in every line, which a layout next to the file names.

A layout is a CSV file with the columns `name`, `start` (from 1) and `width`. A cell is the text at its places without
the blanks around it; blanks alone are a missing value. A line may end early, as editors remove blanks at its end.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute

from tcdp_audit.plugin._internal import open_converted, require_names
from tcdp_audit.plugin.engine import DataError, Engine, EngineOpener, UsageError

pc: Any = pyarrow.compute  # it makes its functions when it is imported, so that no type checker knows them
PIECE = 2**22
LONGEST = 2**24  # bytes of a line
FIELDS = ("name", "start", "width")


@dataclass(frozen=True)
class Field:
    """A column of a layout.

    Args:
        name: its name.
        start: its first place, from 0.
        end: the place behind its last one.
    """

    name: str
    start: int
    end: int


def open_fixed_width(path: Path, memory: int) -> Engine:
    """The embedded engine over a file in fixed width.

    Raises:
        UsageError: the file does not exist, or the policy names no layout.
        DataError: the layout is wrong, or a line has characters that no column covers.

    Cost: one pass; room for the records as Parquet in the folder for temporary files.
    """
    if not path.is_file():
        raise UsageError(f"{path}: {'is a folder; name a file' if path.is_dir() else 'no such file'}")
    form = EngineOpener.text_form()
    if form.layout is None:
        raise UsageError(
            f"{path}: text in fixed width needs a layout, a CSV file with the columns name, start and width; name it "
            f"in the policy as `read_as: {{layout: FILE}}`, and for `init` call it {path.stem}.layout.csv; text with "
            "delimiters is named .csv or .tsv"
        )
    fields = read_layout(form.layout)
    encoding, is_detected = form.encoding_of(path)

    def convert(folder: Path) -> Path:
        from pyarrow import parquet  # noqa: PLC0415 - late, as everything large

        target, records = folder / "release.parquet", 0
        schema = pa.schema([(one.name, pa.string()) for one in fields])
        with form.reading(path, encoding) as read, parquet.ParquetWriter(target, schema) as writer:
            for line, lines in _blocks(read, path):
                table = _cells(lines, fields, path, line)
                table = form.read_numbers(table, table.column_names, str(path), records + 1)
                records += table.num_rows
                writer.write_table(table)
        return target

    engine = open_converted(convert, path, memory)
    engine.encoding, engine.encoding_is_detected = encoding, is_detected
    return engine


def read_layout(path: Path) -> Sequence[Field]:
    """The columns of a layout.

    Raises:
        UsageError: it cannot be read.
        DataError: it is no layout, or two columns overlap.
    """
    rows: list[dict[str, str]] = []
    reason = ""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [*csv.DictReader(file, strict=True)]
    except OSError as error:
        raise UsageError(f"{path}: the layout cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error):
        reason = "is no CSV file in UTF-8"
    if reason or not rows or any(name not in rows[0] for name in FIELDS):
        reason = reason or "has not the columns name, start and width, or no row"
        raise DataError(f"{path}: the layout {reason}; write them, and a row for each column of the file")
    fields = [_field(row, f"{path}:{line}") for line, row in enumerate(rows, 2)]
    require_names([one.name for one in fields], str(path))
    ordered = sorted(fields, key=lambda one: one.start)
    for one, other in pairwise(ordered):
        if other.start < one.end:
            raise DataError(f"{path}: the places of {one.name!r} and {other.name!r} overlap; correct the layout")
    return fields


def _field(row: dict[str, Any], place: str) -> Field:
    start, width = (str(row[name] or "").strip() for name in ("start", "width"))
    if not (
        start.isascii() and start.isdecimal() and width.isascii() and width.isdecimal() and int(start) * int(width)
    ):
        raise DataError(f"{place}: start and width are whole numbers from 1; correct the layout")
    return Field(str(row["name"] or "").strip(), int(start) - 1, int(start) - 1 + int(width))


def _blocks(read: Callable[[int], bytes], path: Path) -> Iterator[tuple[int, pa.Array]]:
    """The lines of a file, some at a time, with the number of the first; blank lines at the end are left out."""
    rest, line, blank = b"", 1, 0
    while True:
        piece = read(PIECE)
        whole, newline, rest = (rest + piece).rpartition(b"\n") if piece else (rest, b"", b"")
        if len(rest) > LONGEST:
            raise DataError(f"{path}:{line}: a line is longer than 16 MB; text in fixed width has one line a record")
        lines = whole.split(b"\n") if newline or (whole and not piece) else []
        if lines:
            lines = [b""] * blank + [one.removesuffix(b"\r") for one in lines]
            line -= blank
            filled = len(lines)
            while filled and not lines[filled - 1].strip():
                filled -= 1
            blank = len(lines) - filled
            if filled:
                yield line, _texts(lines[:filled], path, line)
            line += len(lines)
        if not piece:
            return


def _texts(lines: Sequence[bytes], path: Path, first: int) -> pa.Array:
    lines = [lines[0].removeprefix(b"\xef\xbb\xbf"), *lines[1:]] if first == 1 else lines
    for line, text in enumerate(lines, first):
        if not text.strip():
            raise DataError(f"{path}:{line}: the line is blank; remove it, or write the record")
    return pa.array(lines, pa.binary()).cast(pa.string())


def _cells(lines: pa.Array, fields: Sequence[Field], path: Path, first: int) -> pa.Table:
    """The cells of some lines.

    Raises:
        DataError: a line has a tab, or characters that no column covers.
    """
    tab = pc.index(pc.match_substring(lines, "\t"), value=True).as_py()
    if tab >= 0:
        raise DataError(f"{path}:{first + tab}: the line has a tab, so that its places are unknown; write blanks")
    for start, end in _gaps(fields):
        unread = pc.index(pc.equal(_at(lines, start, end), ""), value=False).as_py()
        if unread >= 0:
            upto = f"at places {start + 1} to {end}" if end != start + 1 else f"at place {end}"
            places = f"from place {start + 1}" if end is None else upto
            raise DataError(
                f"{path}:{first + unread}: the line has characters {places} that no column of the layout covers; add "
                "a column, or correct the layout"
            )
    cells = [_at(lines, one.start, one.end) for one in fields]
    empty = [pc.if_else(pc.equal(one, ""), pa.scalar(None, pa.string()), one) for one in cells]
    return pa.Table.from_arrays(empty, [one.name for one in fields])


def _at(lines: pa.Array, start: int, end: int | None) -> pa.Array:
    """The text at some places of each line, without blanks around it."""
    return pc.utf8_trim(pc.utf8_slice_codeunits(lines, start, end), " ")


def _gaps(fields: Sequence[Field]) -> Iterator[tuple[int, int | None]]:
    """The places that no column covers."""
    reached = 0
    for one in sorted(fields, key=lambda one: one.start):
        if one.start > reached:
            yield reached, one.start
        reached = one.end
    yield reached, None
