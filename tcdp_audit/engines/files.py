"""Files and frames as something DuckDB can select from, and DuckDB's errors as sentences without cells."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from tcdp_audit.errors import DataError, UsageError

HEADER_BYTES = 4 * 2**20
LINE_BYTES = 16 * 2**20
DELIMITERS = ",;\t|"


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
    reader = _READERS.get(_extension(path))
    if reader is None:
        raise UsageError(f"{path}: unknown kind of file; known are {', '.join(sorted(_READERS))} (.csv and .jsonl also .gz)")
    try:
        if path.stat().st_size == 0:
            raise DataError(f"{path}: the file is empty; an empty release cannot be audited")
        return reader(path, _plain_path(path, scratch), connection)
    except (OSError, pa.ArrowInvalid, EOFError) as error:
        raise DataError(f"{path}: cannot be read as a {_extension(path)} file ({type(error).__name__})") from None


def _extension(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else (suffixes or [""])[-1]


def _plain_path(path: Path, scratch: Path) -> str:
    """The path as SQL text; DuckDB would take `*`, `?` and `[` as patterns, so those go through a link."""
    if re.search(r"[*?\[\]{}]", str(path)):
        link = scratch / f"release{''.join(path.suffixes)}"
        link = link if not re.search(r"[*?\[\]{}]", link.name) else scratch / f"release{_extension(path)}"
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
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        start = file.read(HEADER_BYTES)
    try:
        text = start.decode("utf-8-sig", errors="strict" if len(start) < HEADER_BYTES else "ignore")
    except UnicodeDecodeError as error:
        line = start[: error.start].count(b"\n") + 1
        raise DataError(f"{path}: line {line} is not UTF-8 text; save the file as UTF-8") from None
    if not text.strip():
        raise DataError(f"{path}: the file is empty; an empty release cannot be audited")
    first_line = re.sub(r'"[^"]*"', "", text.lstrip("\r\n").partition("\n")[0])
    delimiter = max(DELIMITERS, key=first_line.count)
    names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    _require_names(names, str(path))
    return names, delimiter


def _require_names(names: Sequence[str], table: str) -> None:
    nameless = [str(position) for position, name in enumerate(names, 1) if not name.strip()]
    if nameless:
        raise DataError(f"{table}: column {', '.join(nameless)} has no name; give every column a name in the header")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        listed = ", ".join(repr(name) for name in twice)
        raise DataError(f"{table}: the column name {listed} stands more than once; rename all but one")


def _json_lines(path: Path, quoted: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """Every value as text, exactly as written; nested values are refused."""
    records = f"read_json({quoted}, format='newline_delimited', maximum_depth=1, sample_size=-1)"
    names = [row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {records}").fetchall()]
    columns = [name.replace('"', '""') for name in names]
    nested = " + ".join(f"count(*) FILTER (json_type(\"{c}\") IN ('OBJECT', 'ARRAY'))" for c in columns)
    if connection.execute(f"SELECT {nested} FROM {records}").fetchall()[0][0]:
        raise DataError(f"{path}: a record holds nested data; every value must be a single cell")
    cells = ", ".join(f"\"{c}\" ->> '$' AS \"{c}\"" for c in columns)
    return TableSource(f"(SELECT {cells} FROM {records})", names, load=True)


def _parquet(_: Path, quoted: str, __: duckdb.DuckDBPyConnection) -> TableSource:
    return TableSource(f"read_parquet({quoted})")


def _arrow(path: Path, _: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    with pa.memory_map(str(path)) as file:
        table = pa.ipc.open_file(file).read_all()
    connection.register("arrow_file", table)
    _require_names(table.column_names, str(path))
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


def source_of_frame(frame: Any, name: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """A table in memory as a relation.

    Raises:
        UsageError: it is not a table.
        DataError: it has nameless or duplicate columns, or a column that mixes types.
    """
    table = _as_arrow(frame, name)
    _require_names(table.column_names, name)
    if not table.column_names:
        raise DataError(f"{name}: the table has no columns")
    connection.register("frame", table)
    return TableSource("frame", table.column_names)


def _as_arrow(frame: Any, name: str) -> pa.Table:
    library = type(frame).__module__.split(".")[0]
    if library == "pandas":
        return _from_pandas(frame, name)
    if library == "polars" and hasattr(frame, "collect"):
        frame = frame.collect()
    if isinstance(frame, pa.Table):
        return frame
    if hasattr(frame, "__arrow_c_stream__") or isinstance(frame, pa.RecordBatch):
        return pa.table(frame)
    raise UsageError(
        f"{name}: a {type(frame).__name__} is not a table; give a path, or a pandas, polars, pyarrow or DuckDB table"
    )


def _from_pandas(frame: Any, name: str) -> pa.Table:
    columns = [str(column) for column in frame.columns]
    _require_names(columns, name)
    arrays = []
    for position, column in enumerate(columns):
        try:
            arrays.append(pa.array(frame.iloc[:, position], from_pandas=True))
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
            raise DataError(
                f"{name}: column {column!r} mixes types that do not go together; convert it to one type, for example text"
            ) from None
    return pa.table(dict(zip(columns, arrays, strict=True)))


_LINE = re.compile(r"\bline:? (\d+)", re.IGNORECASE)
_COLUMNS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_KINDS = (
    ("unterminated quote", "a quoted cell is never closed"),
    ("unicode", "the text is not UTF-8; save the file as UTF-8"),
    ("utf-8", "the text is not UTF-8; save the file as UTF-8"),
    ("utf8", "the text is not UTF-8; save the file as UTF-8"),
    ("maximum line size", "a line is longer than 16 MB"),
    ("malformed json", "the line is not JSON"),
    ("out of memory", "there is too little memory; give more with --memory"),
    ("parquet", "the file is not intact Parquet"),
)


def speak(error: duckdb.Error, name: str) -> Exception:
    """A DuckDB error as a sentence. Its own text is never passed on: it may quote a record."""
    if isinstance(error, duckdb.CatalogException | duckdb.BinderException | duckdb.ParserException):
        return error  # a defect of ours, not of the data
    text = str(error)
    line = _LINE.search(text)
    where = f"{name}:{line[1]}" if line else name
    ragged = _COLUMNS.search(text)
    if ragged:
        return DataError(f"{where}: the record has {ragged[2]} cells where the header names {ragged[1]} columns")
    for sign, sentence in _KINDS:
        if sign in text.lower():
            return DataError(f"{where}: {sentence}")
    return DataError(f"{where}: the table cannot be read ({type(error).__name__})")
