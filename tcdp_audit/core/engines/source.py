"""Shared by all readers of tables: the relation for DuckDB, checks of column names, and cells."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from tcdp_audit.core.base.errors import DataError, UsageError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.engines.digest import Digest

# (position, DuckDB's type, most bytes) -> the cells of the column in arrays of one type; None where DuckDB sees other
# cells, or where an array may take more bytes.
Cells = Callable[[int, str, int], Iterator[pa.Array] | None]

PIECE = 2**18  # cells in an array
INDEX_BYTES = 4  # greatest average size of a cell where a Parquet file has dictionaries of text
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


def is_seen_alike(kind: pa.DataType, name: str) -> bool:
    """Whether DuckDB, under its type `name`, reads the same cells as Arrow."""
    if name != "VARCHAR":
        return bool(_NUMBERS.get(name) == kind)
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def cells_of_table(table: pa.Table) -> Cells:
    """The cells of a table in memory."""

    def cells(position: int, name: str, _: int) -> Iterator[pa.Array] | None:
        column = table.column(position)
        return _pieces(column) if is_seen_alike(column.type, name) else None

    return cells


def _pieces(column: pa.ChunkedArray) -> Iterator[pa.Array]:
    for chunk in column.chunks:
        piece = len(chunk) if pa.types.is_dictionary(chunk.type) else PIECE
        yield from (chunk.slice(start, piece) for start in range(0, len(chunk), piece))


def cells_of_files(paths: Sequence[Path]) -> Cells:
    """The cells of Parquet files of one schema, one after another."""

    @cache
    def footers() -> list[Any]:
        return [_opened(path).metadata for path in paths]

    def cells(position: int, name: str, room: int) -> Iterator[pa.Array] | None:
        fields = [_field(footer, position) for footer in footers()]
        first = fields[0]
        if first is None or any(field != first for field in fields) or not is_seen_alike(first.type, name):
            return None
        chunks = _chunks(footers(), first.name) if name == "VARCHAR" else []
        if any(chunk.total_uncompressed_size > room for chunk in chunks):  # a single cell may take all of it
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
    """A column's field in Arrow; None for the key of a folder, which is in no file."""
    schema = footer.schema.to_arrow_schema()
    return schema.field(position).remove_metadata() if position < len(schema) else None


def _chunks(footers: Sequence[Any], name: str) -> list[Any]:
    """A column's entries in the footers, one for each row group, with its size and number of values."""
    groups = (footer.row_group(group) for footer in footers for group in range(footer.num_row_groups))
    columns = ((group.column(position) for position in range(group.num_columns)) for group in groups)
    return [next(column for column in group if column.path_in_schema == name) for group in columns]


def _in_files(files: Iterator[Any], name: str) -> Iterator[pa.Array]:
    for file in files:
        for batch in file.iter_batches(PIECE, columns=[name], use_threads=False):
            if batch.schema.names != [name]:
                raise pa.ArrowInvalid
            yield batch.column(0)


EMPTY = "the file is empty; an empty release cannot be audited"
NOT_UTF8 = "the text is not UTF-8; save the file as UTF-8"


class NotUtf8Error(DataError):
    """A text file that is not UTF-8, and for which nothing says another encoding."""


RECORD_BYTES = 16 * 2**20
TEXTS = (".csv", ".tsv")
KINDS = (*TEXTS, ".arrow", ".feather", ".jsonl", ".ndjson", ".parquet")
WIDE = 200  # with more columns than this, planning a scan of the source costs more than copying it once


@dataclass(frozen=True)
class TableSource:
    """A relation for DuckDB, with what DuckDB does not know of it.

    Args:
        relation: an SQL relation.
        names: the columns' names, which DuckDB may change.
        load: whether to read it once into a table, because each scan would parse it again.
        kinds: for JSON lines, an SQL relation of the kind of token of each cell, in the same order.
        digest: the digest of its file; None for a table in memory.
        content: the table in memory.
        arrow: reads it in its Arrow types, if it has any.
        cells: gives the cells of its columns, if Arrow can read them.
        records: how many it has, where that is known without a scan.
    """

    relation: str
    names: Sequence[str]
    load: bool = False
    kinds: str | None = None
    digest: Digest | None = None
    content: pa.Table | None = None
    arrow: Callable[[], pa.Table] | None = None
    cells: Cells | None = None
    records: int | None = None


def file_extension(path: Path) -> str:
    """The extension that determines the kind of file, without `.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else (suffixes or [""])[-1]


def require_kind(path: Path) -> None:
    """Raise `UsageError` unless a file exists and has a known extension."""
    if not path.exists():
        raise UsageError(f"{path}: no such file")
    require_known_kind(path, str(path))


def require_known_kind(path: Path, shown: str) -> None:
    """Raise `UsageError` unless a path, of which messages show `shown`, has a known extension."""
    if file_extension(path) not in KINDS:
        known = ", ".join(sorted(KINDS))
        raise UsageError(
            f"{shown}: unknown kind of file; known are {known}, text also as .gz, and what plugins open "
            "(`tcdp-audit plugins`); save it as CSV UTF-8"
        )


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Convert the errors of reading a damaged file to `DataError` and `UsageError`."""
    try:
        yield
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise DataError(f"{path}: the compressed file is cut off or damaged; write it again") from None
    except pa.ArrowInvalid:
        raise DataError(f"{path}: the file is no intact Arrow file (Feather version 2); write it again") from None
    except OSError as error:
        if error.strerror is None:
            raise DataError(f"{path}: the file is damaged; write it again") from None
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None


def open_bytes(path: Path) -> IO[bytes]:
    """The content of a file, decompressed where its name says .gz."""
    return cast("IO[bytes]", gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


def require_names(names: Sequence[str], table: str) -> None:
    """Require a distinct name of every column.

    Raises:
        DataError: a column has no name, or two have the same.
    """
    nameless = [str(position) for position, name in enumerate(names, 1) if not name.strip()]
    if nameless:
        raise DataError(f"{table}: column {', '.join(nameless)} has no name; {_remedy(names)}")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        listed = ", ".join(repr(name) for name in twice)
        raise DataError(f"{table}: the column name {listed} appears more than once; rename all but one")


def _remedy(names: Sequence[str]) -> str:
    """The advice for nameless columns; one before named columns is the index of a data frame."""
    if len(names) > 1 and not names[0].strip() and all(name.strip() for name in names[1:]):
        return "if it is the index of a data frame, write the file with `index=False`, or give the column a name"
    return "give every column a name"
