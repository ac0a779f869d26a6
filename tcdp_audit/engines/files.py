"""Files as something that DuckDB can select from."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import duckdb
import pyarrow as pa

from tcdp_audit.errors import DataError, UsageError

HEADER_BYTES = 4 * 2**20
LINE_BYTES = 16 * 2**20
DELIMITERS = ",;\t|"
EMPTY = "the file is empty; an empty release cannot be audited"
NESTED = "tcdp-audit: nested value"  # raised inside DuckDB where a JSON value is no single cell


@dataclass(frozen=True)
class TableSource:
    """What to select from.

    Args:
        relation: an SQL relation.
        names: the columns' names, where DuckDB would not give them faithfully.
        load: whether to read it once into a table, because scanning it again would mean parsing it again.
    """

    relation: str
    names: Sequence[str] | None = None
    load: bool = False


def source_of_file(path: Path, scratch: Path, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """A file as a relation, chosen by its extension.

    Raises:
        UsageError: no such file, or an unknown extension.
        DataError: an empty file, or one without a usable header.
    """
    if not path.exists():
        raise UsageError(f"{path}: no such file")
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; name a file")
    reader = _READERS.get(extension(path))
    if reader is None:
        raise UsageError(f"{path}: unknown kind of file; known are {', '.join(sorted(_READERS))} (.csv and .jsonl also .gz)")
    if path.stat().st_size == 0:
        raise DataError(f"{path}: {EMPTY}")
    try:
        return reader(path, _plain_path(path, scratch), connection)
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise DataError(f"{path}: the compressed file is cut off or damaged; write it again") from None
    except pa.ArrowInvalid:
        raise DataError(f"{path}: the file is not an intact Arrow file (Feather version 2); write it again") from None
    except PermissionError:
        raise UsageError(f"{path}: cannot be read; change its permissions") from None


def extension(path: Path) -> str:
    """The extension that says what kind of file it is, without `.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else (suffixes or [""])[-1]


def open_bytes(path: Path) -> IO[bytes]:
    """The content of a file, decompressed where its name says .gz."""
    return cast("IO[bytes]", gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


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
        f"nullstr='', strict_mode=true, max_line_size={LINE_BYTES}, columns={{{types}}})"
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


def _decoded(start: bytes, path: Path) -> str:
    try:
        return start.decode("utf-8-sig", errors="strict" if len(start) < HEADER_BYTES else "ignore")
    except UnicodeDecodeError as error:
        line = start[: error.start].count(b"\n") + 1
        raise DataError(f"{path}:{line}: the text is not UTF-8; save the file as UTF-8") from None


def require_names(names: Sequence[str], table: str) -> None:
    """Insist that every column has a name of its own.

    Raises:
        DataError: a column has no name, or two have the same.
    """
    nameless = [str(position) for position, name in enumerate(names, 1) if not name.strip()]
    if nameless:
        raise DataError(f"{table}: column {', '.join(nameless)} has no name; give every column a name in the header")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        listed = ", ".join(repr(name) for name in twice)
        raise DataError(f"{table}: the column name {listed} stands more than once; rename all but one")


def _json_lines(path: Path, quoted: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """Every value as text, as it is written. Columns stand in the order of the commonest record, then the others'."""
    records = f"read_ndjson_objects({quoted}, maximum_object_size={LINE_BYTES})"
    shapes = connection.execute(
        f"SELECT json_type(json) AS kind, json_keys(json) AS keys, count(*) AS records FROM {records} "
        "GROUP BY ALL ORDER BY records DESC, keys"
    ).fetchall()
    if any(kind != "OBJECT" or len(set(keys)) < len(keys) for kind, keys, _ in shapes):
        raise duckdb.InvalidInputException(NESTED)
    names = list(dict.fromkeys(chain.from_iterable(keys for _, keys, _ in shapes)))
    if not names:
        raise DataError(f"{path}: {EMPTY}")
    require_names(names, str(path))
    pointers = ", ".join(f"'/{_escaped(name)}'" for name in names)
    cells = ", ".join(
        f"CASE WHEN v[{n}][1] IN ('{{', '[') THEN error('{NESTED}') ELSE v[{n}] ->> '$' END AS c{n}"
        for n in range(1, len(names) + 1)
    )
    return TableSource(f"(SELECT {cells} FROM (SELECT json_extract(json, [{pointers}]) AS v FROM {records}))", names, load=True)


def _escaped(name: str) -> str:
    """A name inside a JSON pointer inside an SQL text."""
    return name.replace("~", "~0").replace("/", "~1").replace("'", "''")


def _parquet(path: Path, quoted: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """The names are asked for: DuckDB renames columns that differ from others in case only."""
    schema = connection.execute(f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({quoted})").fetchall()
    names = _top_level(schema)
    require_names(names, str(path))
    return TableSource(f"read_parquet({quoted})", names)


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
    return TableSource("arrow_file", table.column_names)


_READERS: dict[str, Callable[[Path, str, Any], TableSource]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".parquet": _parquet,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".feather": _arrow,
    ".arrow": _arrow,
}
