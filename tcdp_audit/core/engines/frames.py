"""Tables in memory as something that DuckDB can select from."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa

from tcdp_audit.core.base.errors import DataError, UsageError
from tcdp_audit.core.engines.arrow_types import exact_table
from tcdp_audit.core.engines.cells import cells_of_table
from tcdp_audit.core.engines.source import WIDE, TableSource, require_names

_DICTIONARY = pa.dictionary(pa.int32(), pa.string())
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
    exact = exact_table(table, name)
    connection.register("frame", exact)
    wide = table.num_columns > WIDE
    return TableSource(
        "frame",
        table.column_names,
        load=wide,
        content=table,
        arrow=lambda: _without_our_dictionaries(table, frame),
        cells=cells_of_table(exact),
    )


def _as_arrow(frame: Any, name: str) -> pa.Table:
    library = type(frame).__module__.split(".")[0]
    if library == "pandas" and hasattr(frame, "columns"):
        return _from_pandas(frame, name)
    if library == "polars" and hasattr(frame, "collect"):
        frame = _collected(frame, name)
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch) or (hasattr(frame, "__arrow_c_stream__") and not _is_series(frame)):
        return _exchanged(frame, name)
    kind = type(frame).__name__
    article = "an" if kind[0] in "aeiouAEIOU" else "a"
    raise UsageError(f"{name}: {article} {kind} is no table; give a path, or a pandas, polars, pyarrow or DuckDB table")


def _collected(frame: Any, name: str) -> Any:
    """A lazy frame of polars, whose errors quote cells."""
    try:
        return frame.collect()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - what polars calls a panic is no Exception
        kind = type(error).__name__
    raise DataError(f"{name}: the lazy frame cannot be computed ({kind}); collect it before the audit to see why")


def _is_series(frame: Any) -> bool:
    """A single column of pandas or polars: it exports a stream as well, and is no table."""
    return type(frame).__name__ == "Series"


def _exchanged(frame: Any, name: str) -> pa.Table:
    try:
        return pa.table(frame)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        pass
    raise DataError(f"{name}: a column's type cannot be exchanged with Arrow; convert it to text or to 64 bits")


def _from_pandas(frame: Any, name: str) -> pa.Table:
    columns = [str(column) for column in frame.columns]
    require_names(columns, name)
    arrays = [_column(frame.iloc[:, position]) for position in range(len(columns))]
    for column, array in zip(columns, arrays, strict=True):
        if array is None:
            raise DataError(f"{name}: column {column!r} mixes types that do not go together; convert it to text")
    return pa.table(dict(zip(columns, arrays, strict=True)))


def _column(column: Any) -> pa.Array | pa.ChunkedArray | None:
    """A column of pandas; None if pyarrow has no type for it, or merges or splits cells that a CSV file would not."""
    texts = _texts(column) if column.dtype == object else None
    if texts is not None:
        return texts
    try:
        array = pa.array(column, from_pandas=True)
    except _MISFITS:
        return None
    if column.dtype == object and not _keeps_apart(column.array, array):
        return None
    categories = getattr(column.dtype, "categories", None)
    if categories is not None and categories.dtype == object:
        return array if _keeps_apart(categories, pa.array(categories, from_pandas=True)) else None
    return array


def _texts(column: Any) -> pa.Array | pa.ChunkedArray | None:
    """A column of Python's texts as a dictionary, so that no text is copied for each record; None for one of others."""
    from pandas.api.types import infer_dtype  # noqa: PLC0415 - it is a frame of pandas

    try:
        is_text = infer_dtype(column, skipna=True) == "string"  # bytes among texts are none; Arrow would take them
        return pa.array(column, _DICTIONARY, from_pandas=True) if is_text else None
    except _MISFITS:
        return None


def _without_our_dictionaries(table: pa.Table, frame: Any) -> pa.Table:
    """A table with columns of Python's texts as text again."""
    for position, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type) and _is_of_objects(frame, position):
            table = table.set_column(position, field.name, table.column(position).cast(pa.string()))
    return table


def _is_of_objects(frame: Any, position: int) -> bool:
    return type(frame).__module__.split(".")[0] == "pandas" and frame.iloc[:, position].dtype == object


def _keeps_apart(cells: Any, array: pa.Array | pa.ChunkedArray) -> bool:
    """Whether Arrow's cells of a column of Python objects are equal just where their texts are.

    A date is a day beside a moment of it, Decimal("1.0") is 1, and 1.10 is 1.1 where pyarrow makes one type of both.
    """
    if pa.types.is_string(array.type) or pa.types.is_nested(array.type):
        return True
    stored = array.storage if isinstance(array.type, pa.BaseExtensionType) else array
    encoded = stored.dictionary_encode()
    parts = encoded.chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
    indices = [index for part in parts for index in part.indices.to_pylist()]
    pairs = {(str(cell), index) for cell, index in zip(cells, indices, strict=True) if index is not None}
    return len({text for text, _ in pairs}) == len(pairs) == len({index for _, index in pairs})
