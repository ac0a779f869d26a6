"""Files and data frames as relations of DuckDB."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from tcdp_audit.core.base.errors import DataError, UsageError
from tcdp_audit.core.base.scratch import IS_POSIX
from tcdp_audit.core.engines.arrow_types import exact_table
from tcdp_audit.core.engines.csv_reader import HEADER_BYTES, header_of
from tcdp_audit.core.engines.digest import FileDigest, FilesDigest, KnownDigest, digest_of_list
from tcdp_audit.core.engines.json_lines import json_lines
from tcdp_audit.core.engines.parquet import ParquetFile, parquet, parquet_files
from tcdp_audit.core.engines.parts import TableParts, find_parts
from tcdp_audit.core.engines.source import (
    EMPTY,
    TEXTS,
    WIDE,
    TableSource,
    cells_of_files,
    cells_of_table,
    file_extension,
    open_bytes,
    require_names,
)
from tcdp_audit.core.engines.text_form import PLAIN_FORM, Transcoder

UNUSUAL = r"[*?\[\]{}\ud800-\udfff]"


def source_of_file(path: Path, scratch: Path, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """A Parquet, JSON lines, Feather or Arrow file as a relation, chosen by its extension.

    Args:
        path: the file; it can be read more than once.
        scratch: a private folder for temporary files.
        connection: the connection of the relation.

    Raises:
        DataError: an empty file, or one without usable names of columns.
    """
    if path.stat().st_size == 0:
        raise DataError(f"{path}: {EMPTY}")
    digest = FileDigest(path)
    try:
        return replace(
            _READERS[file_extension(path)](path, _given(path, scratch / "release"), connection), digest=digest
        )
    except BaseException:
        digest.close()
        raise


def _parquet_parts(parts: TableParts, scratch: Path) -> list[ParquetFile]:
    return [
        ParquetFile(path, parts.shown(position), _given(path, scratch / f"part{position}"), dict(parts.keys[position]))
        for position, path in enumerate(parts.paths)
    ]


def source_of_footers(
    path: Path, scratch: Path, connection: duckdb.DuckDBPyConnection, complete: Callable[[], None]
) -> TableSource:
    """A Parquet file, or a folder of them, whose cells are not there yet, as a relation without a digest.

    Args:
        path: the file or folder; footers are there.
        scratch: a private folder for temporary files.
        connection: the connection of the relation.
        complete: makes the cells be there; called where the columns are of types that are converted at once.
    """
    if path.is_dir():
        files = _parquet_parts(find_parts(path), scratch)
    else:
        files = [ParquetFile(path, str(path), _given(path, scratch / "release"), {})]
    return replace(parquet_files(files, connection, before_cells=complete), load=False)


def source_of_parts(parts: TableParts, scratch: Path, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """The Parquet files of a table in several files as a relation; see `source_of_file`."""
    files = _parquet_parts(parts, scratch)
    watched = {file.shown: file.path for file in files}
    digest = FilesDigest(watched, lambda digests: digest_of_list(parts.names, digests))
    try:
        return replace(parquet_files(files, connection), digest=digest)
    except BaseException:
        digest.close()
        raise


def source_of_text(parquet: Path, names: Sequence[str], digest: str, scratch: Path) -> TableSource:
    """The cells of a text file, in a temporary Parquet file, as a relation."""
    given = _given(parquet, scratch / "release").replace("'", "''")
    relation = f"read_parquet('{given}', hive_partitioning = false)"
    return TableSource(relation, names, digest=KnownDigest(digest), cells=cells_of_files([parquet]))


def _given(path: Path, link: Path) -> str:
    """A path for DuckDB, by a link where needed: DuckDB reads `*`, `?` and `[` as patterns, and only UTF-8."""
    if not re.search(UNUSUAL, str(path)):
        return str(path)
    try:
        link.symlink_to(path.resolve())
    except OSError:  # Windows requires a privilege
        raise UsageError(f"{path}: its path has a bracket or a brace; rename what has it") from None
    return str(link)


def delimiter_of(path: Path, encoding: str = "") -> str:
    """The delimiter of a CSV file; a comma for a file of another kind.

    Args:
        path: the file.
        encoding: its encoding; empty for UTF-8.
    """
    if file_extension(path) not in TEXTS:
        return ","
    with open_bytes(path) as file:
        read = Transcoder(file, encoding, path, PLAIN_FORM).read if encoding else file.read
        return header_of(read(HEADER_BYTES), path).layout.delimiter.decode()


def _arrow(path: Path, _: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    opened = pa.memory_map if IS_POSIX else pa.OSFile  # Windows cannot remove or replace a mapped file
    with opened(os.fsencode(path)) as file:
        table = pa.ipc.open_file(file).read_all()
    require_names(table.column_names, str(path))
    exact = exact_table(table, str(path))
    connection.register("arrow_file", exact)
    wide = table.num_columns > WIDE
    return TableSource("arrow_file", table.column_names, load=wide, arrow=lambda: table, cells=cells_of_table(exact))


_READERS: dict[str, Callable[[Path, str, Any], TableSource]] = {
    ".parquet": parquet,
    ".jsonl": json_lines,
    ".ndjson": json_lines,
    ".feather": _arrow,
    ".arrow": _arrow,
}


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
    """Collect a lazy frame of polars without passing on its errors, which quote cells."""
    try:
        return frame.collect()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a panic of polars is no Exception
        kind = type(error).__name__
    raise DataError(f"{name}: the lazy frame cannot be computed ({kind}); collect it before the audit to see why")


def _is_series(frame: Any) -> bool:
    """Whether a frame is a single column of pandas or polars, which exports a stream and is no table."""
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
    """Convert a pandas column; None if pyarrow has no type for it, or merges or splits cells unlike a CSV file."""
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
    """A column of Python strings as a dictionary, so that no text is copied per record; None for another column."""
    from pandas.api.types import infer_dtype  # noqa: PLC0415 - it is a frame of pandas

    try:
        is_text = infer_dtype(column, skipna=True) == "string"  # rejects bytes, which Arrow would accept among texts
        return pa.array(column, _DICTIONARY, from_pandas=True) if is_text else None
    except _MISFITS:
        return None


def _without_our_dictionaries(table: pa.Table, frame: Any) -> pa.Table:
    """Decode the dictionaries that `_texts` made of Python strings."""
    for position, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type) and _is_of_objects(frame, position):
            table = table.set_column(position, field.name, table.column(position).cast(pa.string()))
    return table


def _is_of_objects(frame: Any, position: int) -> bool:
    return type(frame).__module__.split(".")[0] == "pandas" and frame.iloc[:, position].dtype == object


def _keeps_apart(cells: Any, array: pa.Array | pa.ChunkedArray) -> bool:
    """Whether Arrow's cells of a column of Python objects are equal exactly where their texts are.

    They are not where pyarrow unifies types: a date equals its midnight, Decimal("1.0") equals 1, and 1.10 equals 1.1.
    """
    if pa.types.is_string(array.type) or pa.types.is_nested(array.type):
        return True
    stored = array.storage if isinstance(array.type, pa.BaseExtensionType) else array
    encoded = stored.dictionary_encode()
    parts = encoded.chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
    indices = [index for part in parts for index in part.indices.to_pylist()]
    pairs = {(str(cell), index) for cell, index in zip(cells, indices, strict=True) if index is not None}
    return len({text for text, _ in pairs}) == len(pairs) == len({index for _, index in pairs})
