"""Files as something that DuckDB can select from."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from tcdp_audit.engines.json_lines import json_lines
from tcdp_audit.engines.source import (
    EMPTY,
    NOT_UTF8,
    RECORD_BYTES,
    WIDE,
    TableSource,
    extension,
    open_bytes,
    require_names,
)
from tcdp_audit.errors import DataError, UsageError

HEADER_BYTES = 4 * 2**20
DELIMITERS = ",;\t|"


def source_of_file(path: Path, scratch: Path, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """A file as a relation, chosen by its extension.

    Raises:
        UsageError: no such file, or an unknown extension.
        DataError: an empty file, or one without a usable header.
    """
    try:
        return _reader_of(path)(path, _plain_path(path, scratch), connection)
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise DataError(f"{path}: the compressed file is cut off or damaged; write it again") from None
    except pa.ArrowInvalid:
        raise DataError(f"{path}: the file is no intact Arrow file (Feather version 2); write it again") from None
    except OSError as error:
        if error.strerror is None:
            raise DataError(f"{path}: the file is damaged; write it again") from None
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None


def _reader_of(path: Path) -> Callable[[Path, str, Any], TableSource]:
    if not path.exists():
        raise UsageError(f"{path}: no such file")
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; name a file")
    reader = _READERS.get(extension(path))
    if reader is None:
        known = ", ".join(sorted(_READERS))
        raise UsageError(f"{path}: unknown kind of file; known are {known}; text also as .gz")
    if path.stat().st_size == 0:
        raise DataError(f"{path}: {EMPTY}")
    return reader


def _plain_path(path: Path, scratch: Path) -> str:
    """The path as SQL text; DuckDB would take `*`, `?` and `[` as patterns, so those go through a link."""
    if re.search(r"[*?\[\]{}]", str(path)):
        link = scratch / f"release{''.join(path.suffixes)}"
        link = link if not re.search(r"[*?\[\]{}]", link.name) else scratch / f"release{extension(path)}"
        link.symlink_to(path.resolve())
        path = link
    return "'" + str(path).replace("'", "''") + "'"


def _csv(path: Path, quoted: str, _: duckdb.DuckDBPyConnection) -> TableSource:
    names, delimiter = _header(path)
    types = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(len(names)))
    relation = (
        f"read_csv({quoted}, auto_detect=false, header=true, delim='{delimiter}', quote='\"', escape='\"', "
        f"nullstr='', strict_mode=true, max_line_size={RECORD_BYTES}, buffer_size={2 * RECORD_BYTES}, "
        f"columns={{{types}}})"  # left to itself, DuckDB takes buffers of sixteen such records
    )
    return TableSource(relation, names, load=True)


def _header(path: Path) -> tuple[list[str], str]:
    """The column names of a CSV file, and the delimiter that they stand between."""
    with open_bytes(path) as file:
        start = file.read(HEADER_BYTES)
    text = _decoded(start, path)
    if not text.strip():
        raise DataError(f"{path}: {EMPTY}")
    if not text.lstrip(" \t").splitlines()[0]:
        raise DataError(f"{path}:1: the line is blank; the column names must stand on the first line")
    first_line = re.sub(r'"[^"]*"', "", text.splitlines()[0])
    delimiter = max(DELIMITERS, key=first_line.count)
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error:
        raise DataError(f"{path}:1: a quoted column name is never closed, or is too long; correct the header") from None
    require_names(names, str(path))
    return names, delimiter


def delimiter_of(path: Path) -> str:
    """What stands between the cells of a CSV file; a comma for a file of another kind."""
    return _header(path)[1] if _READERS.get(extension(path)) is _csv else ","


def _decoded(start: bytes, path: Path) -> str:
    try:
        return start.decode("utf-8-sig", errors="strict" if len(start) < HEADER_BYTES else "ignore")
    except UnicodeDecodeError as error:
        line = start[: error.start].count(b"\n") + 1
        raise DataError(f"{path}:{line}: {NOT_UTF8}") from None


def _parquet(path: Path, quoted: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """The names are asked for: DuckDB renames columns that differ from others in case only."""
    schema = connection.execute(f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({quoted})").fetchall()
    names = _top_level(schema)
    require_names(names, str(path))
    return TableSource(f"read_parquet({quoted})", names, load=len(names) > WIDE)


def _top_level(schema: Sequence[tuple[str, int]]) -> list[str]:
    """The columns of a Parquet schema, which lists all its nodes depth first after a root."""
    names, nested = [], 0
    for name, children in schema[1:]:
        if not nested:
            names.append(name)
        nested = nested - (nested > 0) + children
    return names


def _arrow(path: Path, _: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    with pa.memory_map(str(path)) as file:
        table = pa.ipc.open_file(file).read_all()
    connection.register("arrow_file", table)
    require_names(table.column_names, str(path))
    return TableSource("arrow_file", table.column_names, load=table.num_columns > WIDE)


_READERS: dict[str, Callable[[Path, str, Any], TableSource]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".parquet": _parquet,
    ".jsonl": json_lines,
    ".ndjson": json_lines,
    ".feather": _arrow,
    ".arrow": _arrow,
}
