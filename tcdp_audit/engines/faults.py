"""Faults of a table as sentences that name the line. DuckDB's own texts quote records: never passed on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import duckdb

from tcdp_audit.engines.json_lines import fault_of
from tcdp_audit.engines.source import NOT_UTF8, extension, open_bytes
from tcdp_audit.errors import DataError

_RECORD = re.compile(r"CSV Error on Line: (\d+)")
_CELLS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_DEFECTS = (duckdb.CatalogException, duckdb.BinderException, duckdb.ParserException)
_KINDS = (
    (
        "unterminated quote",
        "a quoted cell is never closed, or text follows its closing quote; correct the record",
    ),
    ("invalid unicode", NOT_UTF8),
    ("invalid utf-8", NOT_UTF8),
    ("maximum line size", "a record is longer than 16 MB; check for a quote that is never closed"),
    ("gzip", "the compressed file is cut off or damaged; write it again"),
    ("no magic bytes", "the file is not intact Parquet; write it again"),
    ("footer", "the file is not intact Parquet; write it again"),
    ("parquet", "the file is not intact Parquet; write it again"),
    ("decimal256", "a column holds decimals of more than 38 digits; convert it to text"),
    (
        "unsupported internal arrow type",
        "a column's type is not one of a table's cells; convert it to text or to 64 bits",
    ),
)


@contextmanager
def speaking(name: str, path: Path | None) -> Iterator[None]:
    """Turn what DuckDB raises into sentences, and its interruption into the one that Python knows.

    Args:
        name: what the table is called.
        path: its file, if it has one, to find the line of a fault in.
    """
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except _DEFECTS:
        raise  # a defect of ours, not of the data
    except duckdb.Error as error:
        _speak(error, name, path)
    except (RuntimeError, OSError) as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


def _speak(error: duckdb.Error, name: str, path: Path | None) -> NoReturn:
    if path is not None and extension(path) in (".jsonl", ".ndjson") and "json" in str(error).lower():
        raise fault_of(path) from None
    where, text = (name if path is None else str(path)), str(error)
    record = _RECORD.search(text)
    if record and path is not None:
        where = f"{where}:{_line_of_record(path, int(record[1]))}"
    elif "reached an invalid state" in text and path is not None:
        where = f"{where}:{_odd_line_end(path)}"
    raise DataError(f"{where}: {_sentence(error, text)}") from None


def _sentence(error: duckdb.Error, text: str) -> str:
    cells = _CELLS.search(text)
    if cells:
        expected, found = cells[1], cells[2]
        return f"the record has {found} cells where the header names {expected}; quote cells with delimiters"
    if isinstance(error, duckdb.OutOfMemoryException):
        return "there is too little memory; give more with --memory"
    if "reached an invalid state" in text:
        return "the line ends otherwise than the first, or holds a stray quote; use one kind of line end"
    known = (sentence for sign, sentence in _KINDS if sign in text.lower())
    return next(known, f"the table cannot be read ({type(error).__name__})")


def _line_of_record(path: Path, record: int) -> int:
    """The line where a record starts: DuckDB counts records, and a quoted cell may run over several lines."""
    records, inside = 0, 0
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            records += not inside
            if records == record:
                return number
            inside ^= line.count(b'"') & 1
    return record


def _odd_line_end(path: Path) -> int:
    """The first line that ends otherwise than the first one."""
    inside, usual = 0, b""
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            inside ^= line.count(b'"') & 1
            end = b"\r\n" if line.endswith(b"\r\n") else line[-1:]
            usual = usual or end
            if not inside and (b"\r" in line[: -len(end)] or (end != usual and end.endswith(b"\n"))):
                return number
    return 1
