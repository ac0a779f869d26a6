"""Parquet: read by DuckDB, or by pyarrow where DuckDB would round."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.engines.arrow_types import exact_table
from tcdp_audit.engines.source import WIDE, TableSource, require_names
from tcdp_audit.errors import DataError

BATCH = 2**16
DIGITS = 38  # of DuckDB's widest decimal; it reads wider ones as float64


class _Node(NamedTuple):
    """A node of a Parquet schema."""

    name: str
    children: int
    type: str
    precision: int
    logical: str

    @property
    def is_rounded(self) -> bool:
        """Whether DuckDB reads other numbers than the file holds; half-size floats are no shortest decimals to it."""
        return self.precision > DIGITS or self.logical.startswith("Float16")


def parquet(path: Path, quoted: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """A Parquet file as a relation. The names are asked for: DuckDB renames those that differ in case only."""
    rows = connection.execute(
        "SELECT name, coalesce(num_children, 0), coalesce(type, ''), coalesce(precision, 0), "
        f"coalesce(logical_type, '') FROM parquet_schema({quoted})"
    ).fetchall()
    columns = _top_level([_Node(*row) for row in rows])
    names = [column.name for column in columns]
    require_names(names, str(path))
    old = [column.name for column in columns if column.type == "INT96"]
    if old:
        _require_microseconds(path, old)
    if any(column.is_rounded for column in columns):
        _load(path, connection)
        return TableSource("parquet_file", names, arrow=lambda: _table(path))
    return TableSource(f"read_parquet({quoted})", names, load=len(names) > WIDE, arrow=lambda: _table(path))


def _top_level(schema: Sequence[_Node]) -> list[_Node]:
    """The columns of a Parquet schema, which lists all its nodes depth first after a root."""
    columns, nested = [], 0
    for node in schema[1:]:
        if not nested:
            columns.append(node)
        nested = nested - (nested > 0) + node.children
    return columns


def _table(path: Path) -> pa.Table:
    """The whole file in the types of Arrow."""
    try:
        with _opened(path) as file:
            return file.read()
    except (pa.ArrowException, OSError):
        raise DataError(f"{path}: a column has a type of Parquet that cannot be written again; convert it") from None


def _load(path: Path, connection: duckdb.DuckDBPyConnection) -> None:
    """Read a file batch by batch into a table of DuckDB, every column in a type that holds it exactly."""
    file = _opened(path)
    connection.register("parquet_batch", exact_table(file.schema_arrow.empty_table(), str(path)))
    connection.execute("CREATE TEMP TABLE parquet_file AS FROM parquet_batch")
    for batch in file.iter_batches(BATCH):
        connection.register("parquet_batch", exact_table(pa.Table.from_batches([batch]), str(path)))
        connection.execute("INSERT INTO parquet_file FROM parquet_batch")
    connection.unregister("parquet_batch")


def _require_microseconds(path: Path, names: Sequence[str]) -> None:
    """Insist that timestamps of the type INT96 are whole microseconds, which is what DuckDB reads of them.

    Raises:
        DataError: one is not.
    """
    fine, coarse = (_opened(path, coerce_int96_timestamp_unit=unit) for unit in ("ns", "us"))
    pairs = zip(fine.iter_batches(BATCH, columns=names), coarse.iter_batches(BATCH, columns=names), strict=True)
    for one, other in pairs:
        for name in names:
            nanoseconds, microseconds = (_integers(batch[name]) for batch in (one, other))
            if not np.array_equal(microseconds * 1000, nanoseconds):  # both wrap beyond the year 2262
                raise DataError(
                    f"{path}: column {name!r} holds nanoseconds in the outdated type INT96; write it again as TIMESTAMP"
                )


def _opened(path: Path, **options: Any) -> Any:
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - few files need it

    return ParquetFile(path, **options)


def _integers(times: pa.Array) -> NDArray[np.int64]:
    return np.asarray(np.from_dlpack(times.cast(pa.int64()).fill_null(0)), dtype=np.int64)
