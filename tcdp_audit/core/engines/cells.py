"""The cells of typed tables as Arrow has them, for columns that DuckDB sees as the same text or the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

# The cells of the column at a position, in arrays of one type; None where DuckDB, which calls its type so, sees others,
# or where an array may take more than some bytes.
Cells = Callable[[int, str, int], Iterator[pa.Array] | None]

PIECE = 2**18  # cells that are looked at together
INDEX_BYTES = 4  # of a cell on average, at the most, where a Parquet file has dictionaries of text
_NUMBERS = {
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "UTINYINT": pa.uint8(),
    "USMALLINT": pa.uint16(),
    "UINTEGER": pa.uint32(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
}


def _is_seen_alike(kind: pa.DataType, name: str) -> bool:
    """Whether cells of a type of Arrow are what DuckDB reads of them as a type of its own."""
    if name != "VARCHAR":
        return bool(_NUMBERS.get(name) == kind)
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def cells_of_table(table: pa.Table) -> Cells:
    """Those of a table in memory, which DuckDB reads as it is."""

    def cells(position: int, name: str, _: int) -> Iterator[pa.Array] | None:
        column = table.column(position)
        return _pieces(column) if _is_seen_alike(column.type, name) else None

    return cells


def _pieces(column: pa.ChunkedArray) -> Iterator[pa.Array]:
    for chunk in column.chunks:
        piece = len(chunk) if pa.types.is_dictionary(chunk.type) else PIECE
        yield from (chunk.slice(start, piece) for start in range(0, len(chunk), piece))


def cells_of_files(paths: Sequence[Path]) -> Cells:
    """Those of Parquet files of one schema, one after another."""

    @cache
    def footers() -> list[Any]:
        return [_opened(path).metadata for path in paths]

    def cells(position: int, name: str, room: int) -> Iterator[pa.Array] | None:
        fields = [_field(footer, position) for footer in footers()]
        first = fields[0]
        if first is None or any(field != first for field in fields) or not _is_seen_alike(first.type, name):
            return None
        chunks = _chunks(footers(), first.name) if name == "VARCHAR" else []
        if any(chunk.total_uncompressed_size > room for chunk in chunks):  # a single cell may take all of it, and more
            return None
        files = zip(paths, footers(), strict=True)
        repeats = sum(one.total_uncompressed_size for one in chunks) <= INDEX_BYTES * sum(
            one.num_values for one in chunks
        )
        # hashing dictionaries is less work than hashing cells
        options = {"read_dictionary": [first.name]} if repeats and chunks else {}
        opened = (_opened(path, metadata=footer, **options) for path, footer in files)
        return _in_files(opened, first.name)

    return cells


def _opened(path: Path, **options: Any) -> Any:
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - only for Parquet

    return ParquetFile(path, **options)


def _field(footer: Any, position: int) -> pa.Field | None:
    """A column as Arrow reads it; None where it stands in no file, as the key of a folder."""
    schema = footer.schema.to_arrow_schema()
    return schema.field(position).remove_metadata() if position < len(schema) else None


def _chunks(footers: Sequence[Any], name: str) -> list[Any]:
    """What footers say of a column in each group of records: its size, and how many values it has."""
    groups = (footer.row_group(group) for footer in footers for group in range(footer.num_row_groups))
    columns = ((group.column(position) for position in range(group.num_columns)) for group in groups)
    return [next(column for column in group if column.path_in_schema == name) for group in columns]


def _in_files(files: Iterator[Any], name: str) -> Iterator[pa.Array]:
    for file in files:
        for batch in file.iter_batches(PIECE, columns=[name], use_threads=False):
            if batch.schema.names != [name]:
                raise pa.ArrowInvalid
            yield batch.column(0)
