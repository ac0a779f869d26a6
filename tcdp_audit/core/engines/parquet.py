"""Parquet, in one file or several: read by DuckDB, or by pyarrow where DuckDB would round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.engines.arrow_types import exact_table
from tcdp_audit.core.engines.source import WIDE, TableSource, cells_of_files, require_names

BATCH = 2**16
DIGITS = 38  # digits of DuckDB's widest decimal; it reads wider ones as float64
NUMBER_OF_FILE = "file_index"  # DuckDB's name; a column of that name hides it


@dataclass(frozen=True)
class ParquetFile:
    """A file of a table.

    Args:
        path: the file.
        shown: its name in messages.
        given: its path for DuckDB.
        keys: the columns that its folders represent, with their values.
    """

    path: Path
    shown: str
    given: str
    keys: Mapping[str, str | None]


class _Node(NamedTuple):
    """A node of a Parquet schema."""

    name: str
    children: int
    type: str
    precision: int
    scale: int
    logical: str

    @property
    def is_rounded(self) -> bool:
        """Whether DuckDB does not read the exact numbers: wide decimals, half-size floats."""
        return self.precision > DIGITS or self.logical.startswith("Float16")


def parquet(path: Path, given: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """A Parquet file as a relation."""
    return parquet_files([ParquetFile(path, str(path), given, {})], connection)


def parquet_files(
    files: Sequence[ParquetFile],
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[str] | None = None,
    before_cells: Callable[[], None] = lambda: None,
) -> TableSource:
    """The records of Parquet files of one schema, one after another, as a relation with their keys as last columns.

    The names are read from the schema, as DuckDB renames columns that differ only in case.

    Args:
        files: the files.
        connection: the connection of the relation.
        names: the columns' names, if they are not those in the files.
        before_cells: called before any cell is read here; otherwise only the footers are.

    Raises:
        DataError: one file has another schema than the first, a key is a column of the files too, or two columns have
            one name.
    """
    columns, keys = _columns(files, connection), list(files[0].keys)
    own = [column.name for column in columns]
    _require_only_keys(names or own, keys, files[0].shown)
    names = [*(names or own), *keys]
    require_names(names, files[0].shown)
    old = [column.name for column in columns if column.type == "INT96"]
    is_hidden = bool(keys) and NUMBER_OF_FILE in (name.lower() for name in own)
    is_loaded = is_hidden or any(column.is_rounded for column in columns)
    if old or is_loaded:
        before_cells()
    for file in files if old else ():
        _require_microseconds(file, old)
    if is_loaded:
        _load(files, connection)
        return TableSource("parquet_file", names, arrow=lambda: _tables(files))
    relation = _relation(files, keys, connection)
    cells = cells_of_files([file.path for file in files])
    return TableSource(relation, names, load=len(names) > WIDE, arrow=lambda: _tables(files), cells=cells)


def _columns(files: Sequence[ParquetFile], connection: duckdb.DuckDBPyConnection) -> list[_Node]:
    """The columns that all files have; raise `DataError` if one has others."""
    first, *others = _schemas(files, connection)
    for file, other in zip(files[1:], others, strict=True):
        if other != first:
            raise DataError(f"{file.shown} {_difference(_top_level(other), _top_level(first))}")
    return _top_level(first)


def _schemas(files: Sequence[ParquetFile], connection: duckdb.DuckDBPyConnection) -> list[list[_Node]]:
    """The nodes of each file's schema below its root; one query for all files is much faster."""
    try:
        return _asked(files, connection)
    except duckdb.Error:
        if len(files) == 1:
            raise
    raise DataError(f"{_damaged(files, connection)}: the file is not intact Parquet; write it again")


def _damaged(files: Sequence[ParquetFile], connection: duckdb.DuckDBPyConnection) -> str:
    for file in files:
        try:
            _asked([file], connection)
        except duckdb.Error:
            return file.shown
    return "one of the files"  # it has been repaired meanwhile


def _asked(files: Sequence[ParquetFile], connection: duckdb.DuckDBPyConnection) -> list[list[_Node]]:
    rows = connection.execute(
        "SELECT file_name, name, coalesce(num_children, 0), coalesce(type, ''), coalesce(precision, 0), "
        f"coalesce(scale, 0), coalesce(logical_type, '') FROM parquet_schema({_listed(files)})"
    ).fetchall()
    schemas: dict[str, list[_Node]] = {}
    for name, *node in rows:
        schemas.setdefault(name, []).append(_Node(*node))
    return [schemas[file.given][1:] for file in files]


def _listed(files: Sequence[ParquetFile]) -> str:
    quoted = ("'" + file.given.replace("'", "''") + "'" for file in files)
    return f"[{', '.join(quoted)}]"


def _difference(own: Sequence[_Node], first: Sequence[_Node]) -> str:
    """The difference of a file's columns from those of the first file, named by the first column that differs."""
    names, wanted = [column.name for column in own], [column.name for column in first]
    if missing := [name for name in wanted if name not in names]:
        return f"has no column {missing[0]!r}, which the first file has; write all files with the same columns"
    if further := [name for name in names if name not in wanted]:
        return f"has a column {further[0]!r}, which the first file has not; write all files with the same columns"
    if names != wanted:
        moved = next(name for name, place in zip(names, wanted, strict=False) if name != place)
        return f"has the column {moved!r} in another place than the first file; write all files in the same order"
    other = next((one.name for one, its in zip(own, first, strict=False) if one != its), names[0])
    return f"has another type of column {other!r} than the first file; write all files with the same types"


def _require_only_keys(names: Sequence[str], keys: Sequence[str], shown: str) -> None:
    twice = [key for key in keys if key in names]
    if twice:
        raise DataError(
            f"{shown}: column {twice[0]!r} is in the files and also a key in the names of their folders; "
            "leave it out of one"
        )


def _relation(files: Sequence[ParquetFile], keys: Sequence[str], connection: duckdb.DuckDBPyConnection) -> str:
    """SQL for the records of files; the value of a key is looked up by the number of the file."""
    records = f"read_parquet({_listed(files)}, hive_partitioning = false, union_by_name = false)"
    if not keys:
        return records
    for position, key in enumerate(keys):
        values = [file.keys[key] for file in files]
        connection.execute(f"SET VARIABLE key{position} = CAST(? AS VARCHAR[])", [values])
    number = f"CAST({NUMBER_OF_FILE} AS BIGINT) + 1"
    cells = (f"list_extract(getvariable('key{position}'), {number})" for position in range(len(keys)))
    return f"(SELECT *, {', '.join(cells)} FROM {records})"


def _top_level(schema: Sequence[_Node]) -> list[_Node]:
    """The columns of a Parquet schema, which lists all its nodes depth first."""
    columns, nested = [], 0
    for node in schema:
        if not nested:
            columns.append(node)
        nested = nested - (nested > 0) + node.children
    return columns


def _tables(files: Sequence[ParquetFile]) -> pa.Table:
    """All files in Arrow types."""
    tables = [_table(file) for file in files]
    kinds = tables[0].schema
    try:
        return pa.concat_tables([one if one.schema.equals(kinds) else one.cast(kinds) for one in tables])
    except (pa.ArrowException, ValueError):
        pass
    raise DataError(f"{files[0].shown}: a column has another type of Arrow in a further file; write them alike")


def _table(file: ParquetFile) -> pa.Table:
    """A whole file in Arrow types."""
    try:
        with _opened(file.path) as opened:
            return _with_keys(opened.read(), file)
    except (pa.ArrowException, OSError):
        raise DataError(
            f"{file.shown}: a column has a type of Parquet that cannot be written again; convert it"
        ) from None


def _with_keys(table: pa.Table, file: ParquetFile) -> pa.Table:
    for key, value in file.keys.items():
        table = table.append_column(key, pa.repeat(pa.scalar(value, pa.string()), table.num_rows))
    return table


def _load(files: Sequence[ParquetFile], connection: duckdb.DuckDBPyConnection) -> None:
    """Read files batch by batch into a table of DuckDB, every column in a type that holds it exactly."""
    empty = _with_keys(_opened(files[0].path).schema_arrow.empty_table(), files[0])
    connection.register("parquet_batch", exact_table(empty, files[0].shown))
    connection.execute("CREATE TEMP TABLE parquet_file AS FROM parquet_batch")
    for file in files:
        for batch in _opened(file.path).iter_batches(BATCH):
            table = _with_keys(pa.Table.from_batches([batch]), file)
            connection.register("parquet_batch", exact_table(table, file.shown))
            connection.execute("INSERT INTO parquet_file FROM parquet_batch")
    connection.unregister("parquet_batch")


def _require_microseconds(file: ParquetFile, names: Sequence[str]) -> None:
    """Raise `DataError` unless INT96 timestamps are whole microseconds, to which DuckDB rounds them."""
    for name, microseconds, nanoseconds in _times(file, names):
        if not np.array_equal(microseconds * 1000, nanoseconds):  # both wrap beyond the year 2262
            raise DataError(
                f"{file.shown}: column {name!r} holds nanoseconds in the outdated type INT96; "
                "write it again as TIMESTAMP"
            )


def _times(file: ParquetFile, names: Sequence[str]) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
    fine, coarse = (_opened(file.path, coerce_int96_timestamp_unit=unit) for unit in ("ns", "us"))
    pairs = zip(fine.iter_batches(BATCH, columns=names), coarse.iter_batches(BATCH, columns=names), strict=True)
    for one, other in pairs:
        yield from ((name, _integers(other[name]), _integers(one[name])) for name in names)


def _opened(path: Path, **options: Any) -> Any:
    from pyarrow.parquet import ParquetFile as Opened  # noqa: PLC0415 - few files need it

    return Opened(path, **options)


def _integers(times: pa.Array) -> NDArray[np.int64]:
    return np.asarray(np.from_dlpack(times.cast(pa.int64()).fill_null(0)), dtype=np.int64)
