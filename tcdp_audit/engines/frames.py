"""Tables in memory as something that DuckDB can select from."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa

from tcdp_audit.engines.source import WIDE, TableSource, require_names
from tcdp_audit.errors import DataError, UsageError

_MISFITS = (
    pa.ArrowInvalid,
    pa.ArrowTypeError,
    pa.ArrowNotImplementedError,
    OverflowError,
    UnicodeEncodeError,
)


def source_of_frame(frame: Any, name: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """A table in memory as a relation.

    Raises:
        UsageError: it is not a table.
        DataError: it has nameless or duplicate columns, or a column that mixes types.
    """
    table = _as_arrow(frame, name)
    require_names(table.column_names, name)
    if not table.column_names:
        raise DataError(f"{name}: the table has no columns")
    connection.register("frame", table)
    return TableSource("frame", table.column_names, load=table.num_columns > WIDE)


def _as_arrow(frame: Any, name: str) -> pa.Table:
    library = type(frame).__module__.split(".")[0]
    if library == "pandas" and hasattr(frame, "columns"):
        return _from_pandas(frame, name)
    if library == "polars" and hasattr(frame, "collect"):
        frame = frame.collect()
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch) or (hasattr(frame, "__arrow_c_stream__") and not _is_series(frame)):
        return _exchanged(frame, name)
    raise UsageError(
        f"{name}: a {type(frame).__name__} is no table; give a path, or a pandas, polars, pyarrow or DuckDB table"
    )


def _is_series(frame: Any) -> bool:
    """A single column of pandas or polars: it exports a stream as well, and is no table."""
    return type(frame).__name__ == "Series"


def _exchanged(frame: Any, name: str) -> pa.Table:
    try:
        return pa.table(frame)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise DataError(
            f"{name}: a column's type cannot be exchanged with Arrow; convert it to text or to 64 bits"
        ) from None


def _from_pandas(frame: Any, name: str) -> pa.Table:
    columns = [str(column) for column in frame.columns]
    require_names(columns, name)
    arrays = []
    for position, column in enumerate(columns):
        try:
            arrays.append(pa.array(frame.iloc[:, position], from_pandas=True))
        except _MISFITS:
            raise DataError(
                f"{name}: column {column!r} mixes types that do not go together; convert it to text"
            ) from None
    return pa.table(dict(zip(columns, arrays, strict=True)))
