"""Arrow columns in types that DuckDB holds exactly, so that no two different cells become equal.

Arrow arrays are built from buffers, and buffers are read from them. `pyarrow.array` and `pyarrow.scalar` would import
pandas where it is installed, which takes as long as the audit of a small file. `pyarrow.compute` is imported where a
function is called, since it writes all of its functions when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import DataError

_TEXT = pa.string()


def exact_table(table: pa.Table, name: str) -> pa.Table:
    """Convert a table to column types that DuckDB compares exactly.

    Decimals of more than 38 digits and calendar intervals become text, durations the number of their units, half-size
    floats the shortest decimal number. Extension types other than UUID become their storage type.

    Args:
        table: a table with distinct column names.
        name: the table's name in messages.

    Raises:
        DataError: a column holds text that is not UTF-8, or cells that its type does not allow.

    Cost: one pass over each column that holds text; O(distinct values) in Python where decimals become text.
    """
    columns = [_exact(column, f"{name}: column {one!r}") for one, column in zip(table.column_names, table, strict=True)]
    return pa.Table.from_arrays(columns, table.column_names)


def _exact(column: pa.ChunkedArray, where: str) -> pa.ChunkedArray:
    _require_sound(column, where)
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return column if kind.extension_name == "arrow.uuid" else _exact(_stored(column), where)
    if pa.types.is_run_end_encoded(kind) and _is_changed(kind.value_type):
        return _exact(_chunkwise(column, _run_end_decoded, kind.value_type), where)
    if pa.types.is_dictionary(kind) and _is_changed(kind.value_type):
        return _exact(_chunkwise(column, _decoded, kind.value_type), where)
    if pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"):
        return _timestamps(column, where)
    return _CONVERSIONS.get(kind.id, _unchanged)(column)


def _require_sound(column: pa.ChunkedArray, where: str) -> None:
    fault = ""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:  # its text may quote a cell
        is_text = "utf8" in str(error).lower().replace("-", "")
        fault = "text that is not UTF-8; encode it as UTF-8" if is_text else f"cells that {column.type} does not allow"
    if fault:
        raise DataError(f"{where} holds {fault}")


def _is_changed(kind: pa.DataType) -> bool:
    """Whether DuckDB has no exact equivalent of a type."""
    return kind.id in _CONVERSIONS or isinstance(kind, pa.BaseExtensionType) or pa.types.is_timestamp(kind)


def _chunkwise(column: pa.ChunkedArray, change: Callable[[pa.Array], pa.Array], kind: pa.DataType) -> pa.ChunkedArray:
    return pa.chunked_array([change(chunk) for chunk in column.chunks], kind)


def _stored(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return _chunkwise(column, lambda chunk: chunk.storage, column.type.storage_type)


def _run_end_decoded(chunk: pa.Array) -> pa.Array:
    from pyarrow.compute import call_function  # noqa: PLC0415 - rare

    return call_function("run_end_decode", [chunk])


def _decoded(chunk: pa.DictionaryArray) -> pa.Array:
    return chunk.dictionary.take(chunk.indices)


def _timestamps(column: pa.ChunkedArray, where: str) -> pa.ChunkedArray:
    """Timestamps in microseconds, DuckDB's unit; beyond their range DuckDB would abort the process."""
    fits = True
    try:
        column.cast(pa.timestamp("us", column.type.tz))
    except pa.ArrowInvalid:
        fits = False
    if not fits:
        raise DataError(f"{where} holds a time beyond the year 294,246, which cannot be read; correct it")
    return column


def _unchanged(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column


def _decimals(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decimals that DuckDB has no type for, as text in plain notation."""
    if pa.types.is_decimal128(column.type) and column.type.scale >= 0:
        return column
    return _by_value(column, lambda decimal: format(decimal, "f"))


def shortest(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Floats of 16 or 32 bits as the shortest decimal numbers that represent them: 0.1, not 0.0999755859375."""
    if pa.types.is_float16(column.type):
        return _by_value(column, lambda half: float(str(np.float16(half))), pa.float64())
    return column.cast(pa.string()).cast(pa.float64())


def _by_value(column: pa.ChunkedArray, change: Callable[[Any], Any], kind: pa.DataType = _TEXT) -> pa.ChunkedArray:
    """Convert a column to another type, once for each distinct value."""
    encoded = pa.chunked_array([column.combine_chunks()], column.type).dictionary_encode()
    return _chunkwise(encoded, lambda chunk: _changed(chunk, change, kind), kind)


def _changed(cells: pa.DictionaryArray, change: Callable[[Any], Any], kind: pa.DataType) -> pa.Array:
    return pa.array([change(value) for value in cells.dictionary.to_pylist()], kind).take(cells.indices)


def _calendar(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Calendar intervals as text: DuckDB would count a month as 30 days and drop nanoseconds."""
    return _by_value(column, lambda one: f"{one.months} months {one.days} days {one.nanoseconds} nanoseconds")


_CONVERSIONS: dict[int, Callable[[pa.ChunkedArray], pa.ChunkedArray]] = {
    pa.decimal128(1).id: _decimals,
    pa.decimal256(1).id: _decimals,
    pa.duration("ns").id: lambda column: column.cast(pa.int64()),
    pa.float16().id: shortest,
    pa.month_day_nano_interval().id: _calendar,
}


def array_of_numbers(numbers: NDArray[Any]) -> pa.Array:
    """An Arrow array of numpy integers or floats without nulls; contiguous memory is shared."""
    values = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def array_of_truths(truths: NDArray[np.bool_]) -> pa.Array:
    """An Arrow array of numpy truth values."""
    return pa.Array.from_buffers(pa.bool_(), len(truths), [None, _bits(truths)])


def array_of_texts(texts: Sequence[str | None]) -> pa.Array:
    """An Arrow array of texts, null for None.

    Example:
        >>> array_of_texts(["a", None, "", "ß"]).to_pylist()
        ['a', None, '', 'ß']
    """
    encoded = [b"" if text is None else text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    valid = _bits(np.array([text is not None for text in texts], dtype=bool))
    buffers = [valid, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers).cast(pa.string())


def dictionary_positions(cells: pa.DictionaryArray, missing: int) -> NDArray[Any]:
    """The position of each cell in its dictionary, `missing` for null."""
    indices = cells.indices
    positions: NDArray[Any] = np.from_dlpack(
        pa.Array.from_buffers(indices.type, len(indices), [None, indices.buffers()[1]], offset=indices.offset)
    )
    if not indices.null_count:
        return positions
    valid: NDArray[Any] = np.from_dlpack(indices.is_valid().cast(pa.uint8()))
    return np.where(valid.view(bool), positions, missing)


def _bits(truths: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(truths, bitorder="little"))
