"""Writing tables to files, by the same extensions as reading.

A table that was read from JSON lines keeps the kind of each token: a number, a string, null, or no key.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from math import copysign, isfinite, isnan
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from tcdp_audit.core.base.errors import DataError, UsageError
from tcdp_audit.core.encoding.generalised import number_text
from tcdp_audit.core.engines.arrow_types import exact_table, shortest
from tcdp_audit.core.engines.json_lines import ABSENT, BARE, PLAIN
from tcdp_audit.core.engines.source import file_extension
from tcdp_audit.core.engines.text_form import PLAIN_FORM, TextForm, encode_file

_UNWRITTEN = (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError)
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EACCES)
_AMBIGUOUS = frozenset(',;\t|"\r\n')  # the most frequent in an unquoted header is read as the delimiter
LINES = 2**14  # written at a time
Token = str | None  # None: the record does not have the key


def require_table_file(path: Path, further: Sequence[str] = ()) -> None:
    """Raise `UsageError` unless a table can be written to a kind of file; only text may be `.gz`.

    Args:
        path: the file.
        further: the extensions of files that plugins write.
    """
    kinds = (*_SEPARATED, *_WRITERS)
    if path.suffix.lower() in further:
        return
    if file_extension(path) not in kinds:
        known = ", ".join(sorted({*kinds, *further}))
        raise UsageError(f"{path}: unknown kind of file; known are {known}; text also as .gz")
    if _is_compressed(path) and not _is_text(path):
        raise UsageError(f"{path}: only text is compressed as .gz; leave .gz out")


def require_holdable(table: pa.Table, path: Path) -> None:
    """Check that a kind of file can hold the columns.

    Raises:
        UsageError: text cannot hold a column's cells exactly, or a nested dictionary may list values of no record,
            which would be written too.
    """
    for field in table.schema:
        if _is_text(path) and (kind := _unlike_text(field.type)):
            raise UsageError(
                f"{path}: column {field.name!r} holds {kind} ({field.type}), which text does not keep; "
                "write .parquet, .feather or .arrow"
            )
        if pa.types.is_nested(field.type) and "dictionary<" in str(field.type):
            raise UsageError(
                f"{path}: column {field.name!r} holds nested dictionaries ({field.type}), which may list values that "
                "no record has; convert it to plain values"
            )
        if (
            file_extension(path) in _JSON_LINES
            and pa.types.is_floating(field.type)
            and _has_infinity(table[field.name])
        ):
            raise UsageError(f"{path}: column {field.name!r} holds infinity, for which JSON has no number; write .csv")


def _has_infinity(column: pa.ChunkedArray) -> bool:
    numbers = column.cast(pa.float64()).fill_null(0.0)
    return any(np.isinf(np.from_dlpack(chunk)).any() for chunk in numbers.chunks)


def _is_text(path: Path) -> bool:
    return file_extension(path) in (*_SEPARATED, ".jsonl", ".ndjson")


def _unlike_text(kind: pa.DataType) -> str:
    """The kind of cell of a column that text cannot preserve; empty if there is none."""
    if isinstance(kind, pa.BaseExtensionType):
        return "" if kind.extension_name in ("arrow.uuid", "arrow.json") else _unlike_text(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _unlike_text(kind.value_type)
    if pa.types.is_nested(kind):
        return "nested data"
    if pa.types.is_duration(kind) or pa.types.is_interval(kind):
        return "durations"
    binary = pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view
    return "binary data" if any(is_kind(kind) for is_kind in binary) else ""


def write_table(
    table: pa.Table,
    path: Path,
    *,
    kind: Path | None = None,
    delimiter: str = ",",
    tokens: pa.Table | None = None,
    form: TextForm = PLAIN_FORM,
) -> None:
    """Write a table to a file. A missing value is an empty cell of a CSV file, and null elsewhere.

    Args:
        table: the table.
        path: the file to write.
        kind: the path whose extension determines the kind of file, if `path` is a temporary one.
        delimiter: the delimiter of a CSV file; a `.tsv` always has tabs.
        tokens: for a table read from JSON lines, the kinds of token of its cells; see `write_json_lines`.
        form: how the numbers of a CSV file are written, and its encoding.

    Raises:
        UsageError: this kind of file cannot hold a column.
        OSError: the file cannot be written.
    """
    kind = kind or path
    suffix = file_extension(kind)
    if suffix in _SEPARATED:
        table = form.write_numbers(table)
        _separated(table, path, "\t" if suffix == ".tsv" else delimiter, compressed=_is_compressed(kind))
        encode_file(path, form, kind)
        return
    try:
        with pa.output_stream(str(path), compression="gzip" if _is_compressed(kind) else None) as file:
            if tokens is not None and suffix in _JSON_LINES:
                write_json_lines(table, file, tokens)
            else:
                _WRITERS[suffix](table, file)
    except _UNWRITTEN:
        named = ", ".join(repr(name) for name in table.column_names if not _is_writable(table.select([name]), suffix))
        raise UsageError(f"{kind}: {suffix} cannot hold the type of column {named}; choose another kind") from None


def _is_writable(table: pa.Table, suffix: str) -> bool:
    try:
        _WRITERS[suffix](table, pa.BufferOutputStream())
    except _UNWRITTEN:
        return False
    return True


def _is_compressed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _separated(table: pa.Table, path: Path, delimiter: str, *, compressed: bool) -> None:
    """Write CSV by DuckDB, which quotes exactly the cells that need it."""
    header = _header_of_its_own(table.column_names, delimiter)
    body = path.with_name("body") if header else path
    try:
        _copy(_in_sql_types(table), body, delimiter, compressed=compressed, header=not header)
    except duckdb.Error as error:
        raise _as_error_of_writing(error) from None
    if header:
        with path.open("wb") as file, body.open("rb") as records:
            file.write(gzip.compress(header, mtime=0) if compressed else header)
            shutil.copyfileobj(records, file)
        body.unlink()


def _header_of_its_own(names: list[str], delimiter: str) -> bytes:
    """A CSV header quoted so that readers detect the right delimiter; empty if DuckDB's header suffices."""
    if not any(_AMBIGUOUS.difference(delimiter).intersection(name) for name in names):
        return b""
    quoted = ['"' + name.replace('"', '""') + '"' if _AMBIGUOUS.intersection(name) else name for name in names]
    return (delimiter.join(quoted) + "\n").encode()


def _copy(table: pa.Table, path: Path, delimiter: str, *, compressed: bool, header: bool) -> None:
    quoted = str(path).replace("'", "''")
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")  # the same text everywhere
        connection.register("released", table)
        connection.execute(
            f"COPY released TO '{quoted}' (FORMAT csv, HEADER {header}, DELIMITER '{delimiter}', "
            f"COMPRESSION {'gzip' if compressed else 'none'})"
        )


def _in_sql_types(table: pa.Table) -> pa.Table:
    """Convert columns of types that DuckDB does not accept to the nearest type that holds them exactly."""
    for position, field in enumerate(table.schema):
        nearest = _NEAREST.get(field.type.id)
        if nearest is not None:
            table = table.set_column(position, field.name, table[position].cast(nearest))
    return table


def _as_error_of_writing(error: duckdb.Error) -> Exception:
    """An error of DuckDB without its text, which names temporary files and may quote cells."""
    text = str(error)
    number = next((number for number in _DISK if os.strerror(number) in text), 0)
    if number or isinstance(error, duckdb.IOException):
        return OSError(number, os.strerror(number))
    return DataError("the table cannot be written as CSV; write .parquet, .feather or .arrow")


def _parquet(table: pa.Table, file: pa.NativeFile) -> None:
    from pyarrow import parquet  # noqa: PLC0415

    parquet.write_table(table, file)


def _arrow(table: pa.Table, file: pa.NativeFile) -> None:
    table = table.unify_dictionaries()  # a file has one dictionary for each column
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


_SEPARATED = (".csv", ".tsv")
_JSON_LINES = (".jsonl", ".ndjson")
_NEAREST = {
    pa.float16().id: pa.float32(),
    pa.decimal256(1).id: pa.string(),
}


def write_json_lines(table: pa.Table, file: pa.NativeFile, kinds: pa.Table | None = None) -> None:
    """Write a table as JSON lines; a missing value is null, and so is NaN.

    Args:
        table: the table.
        file: the file to write.
        kinds: for text read from JSON lines, the kind of token of each cell, in the same shape: a number or a boolean
            is written without quotes, and an absent key stays absent.

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
    """The function that writes a cell of a type; None if it must become text first."""
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
    """Dates, times and other such cells as the text that the audit compares."""
    connection.register("cells", exact_table(pa.table({"cell": column}), "the table"))
    text = connection.sql("SELECT CAST(cell AS VARCHAR) FROM cells").to_arrow_table()
    return text[0]


def _as_it_stood(text: str | None, kind: int) -> Token:
    """A text as a token of its former kind; a text that is no longer a number or boolean becomes a string."""
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


_WRITERS: dict[str, Callable[[pa.Table, pa.NativeFile], None]] = {
    ".parquet": _parquet,
    ".jsonl": write_json_lines,
    ".ndjson": write_json_lines,
    ".feather": _arrow,
    ".arrow": _arrow,
}
