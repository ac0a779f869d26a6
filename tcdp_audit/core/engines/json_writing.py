"""A table as JSON lines. What came from JSON lines keeps the kind of its tokens: a number, a string, null, no key."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from math import copysign, isfinite, isnan
from typing import Any

import duckdb
import pyarrow as pa

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.encoding.generalised import number_text
from tcdp_audit.core.engines.arrow_types import exact_table, shortest
from tcdp_audit.core.engines.json_tokens import ABSENT, BARE, PLAIN

LINES = 2**14  # written at a time

Token = str | None  # None: the record does not have the key


def write_json_lines(table: pa.Table, file: pa.NativeFile, kinds: pa.Table | None = None) -> None:
    """Write a table as JSON lines; a missing value is null, and so is NaN.

    Args:
        table: the table.
        file: where to.
        kinds: for text that came from JSON lines, the kind of token that each cell was read from, in the same shape: a
            number or a boolean stays bare, and an absent key absent.

    Raises:
        DataError: a column holds binary or nested data, or infinity, for which JSON has no cell.
    """
    keys = [json.dumps(name, ensure_ascii=False) for name in table.column_names]
    with duckdb.connect() as connection:
        for start in range(0, table.num_rows, LINES):
            part = table.slice(start, LINES)
            columns = [
                _tokens(name, column, None if kinds is None else kinds[position].slice(start, LINES), connection)
                for position, (name, column) in enumerate(zip(part.column_names, part.columns, strict=True))
            ]
            file.write("".join(_lines(keys, columns)).encode())


def _lines(keys: Sequence[str], columns: Sequence[Sequence[Token]]) -> Iterator[str]:
    for tokens in zip(*columns, strict=True):
        pairs = (f"{key}: {token}" for key, token in zip(keys, tokens, strict=True) if token is not None)
        yield f"{{{', '.join(pairs)}}}\n"


def _tokens(
    name: str, column: pa.ChunkedArray, kinds: pa.ChunkedArray | None, connection: duckdb.DuckDBPyConnection
) -> list[Token]:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_float16(column.type) or pa.types.is_float32(column.type):
        column = shortest(column)
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    write = _writer(name, column.type)
    if write is None:
        column, write = _as_text(column, connection), _string
    if kinds is not None and write is _string:
        return list(map(_as_it_stood, column.to_pylist(), kinds.to_pylist()))
    return ["null" if cell is None else write(cell) for cell in column.to_pylist()]


def _writer(name: str, kind: pa.DataType) -> Callable[[Any], str] | None:
    """How a cell of a type is written; None where it has to become text first."""
    if _is_binary(kind) or (pa.types.is_nested(kind) and not pa.types.is_dictionary(kind)):
        data = "nested" if pa.types.is_nested(kind) else "binary"
        raise DataError(f"column {name!r} holds {data} data, which JSON lines cannot hold; write another kind of file")
    if pa.types.is_boolean(kind):
        return _boolean
    if pa.types.is_integer(kind):
        return str
    if pa.types.is_decimal(kind):
        return lambda cell: format(cell, "f")
    if pa.types.is_floating(kind):
        return lambda cell: _float(name, cell)
    return _string if pa.types.is_string(kind) or pa.types.is_large_string(kind) else None


def _is_binary(kind: pa.DataType) -> bool:
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(is_so(kind) for is_so in tests)


def _as_text(column: pa.ChunkedArray, connection: duckdb.DuckDBPyConnection) -> pa.ChunkedArray:
    """Dates, times and the like as the audit compares them."""
    connection.register("cells", exact_table(pa.table({"cell": column}), "the table"))
    text = connection.sql("SELECT CAST(cell AS VARCHAR) FROM cells").to_arrow_table()
    return text[0]


def _as_it_stood(text: str | None, kind: int) -> Token:
    """A text by the kind of the token that stood in its place; what is no number or boolean now becomes a string."""
    if text is None:
        return None if kind == ABSENT else "null"
    return text if kind == BARE and _PLAIN.fullmatch(text) else _string(text)


_PLAIN = re.compile(PLAIN)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _boolean(cell: bool) -> str:  # noqa: FBT001 - a cell
    return "true" if cell else "false"


def _float(name: str, number: float) -> str:
    if isnan(number):
        return "null"
    if not isfinite(number):
        raise DataError(f"column {name!r} holds infinity, which JSON lines cannot hold; write another kind of file")
    return "-0.0" if number == 0 and copysign(1, number) < 0 else number_text(number)
