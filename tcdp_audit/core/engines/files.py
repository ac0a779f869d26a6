"""Files as something that DuckDB can select from."""

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
from tcdp_audit.core.engines.cells import cells_of_files, cells_of_table
from tcdp_audit.core.engines.csv_reader import HEADER_BYTES, header_of
from tcdp_audit.core.engines.digest import FileDigest, FilesDigest, KnownDigest, digest_of_list
from tcdp_audit.core.engines.json_lines import json_lines
from tcdp_audit.core.engines.parquet import ParquetFile, parquet, parquet_files
from tcdp_audit.core.engines.parts import TableParts
from tcdp_audit.core.engines.source import EMPTY, TEXTS, WIDE, TableSource, file_extension, open_bytes, require_names

UNUSUAL = r"[*?\[\]{}\ud800-\udfff]"


def source_of_file(path: Path, scratch: Path, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """A Parquet, JSON lines, Feather or Arrow file as a relation, chosen by its extension.

    Args:
        path: the file; it can be read more than once.
        scratch: a private folder for temporary files.
        connection: where the relation is to be.

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


def source_of_parts(parts: TableParts, scratch: Path, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """The Parquet files of a table in several files as a relation; see `source_of_file`."""
    files = [
        ParquetFile(path, parts.shown(position), _given(path, scratch / f"part{position}"), dict(parts.keys[position]))
        for position, path in enumerate(parts.paths)
    ]
    watched = {file.shown: file.path for file in files}
    digest = FilesDigest(watched, lambda digests: digest_of_list(parts.names, digests))
    try:
        return replace(parquet_files(files, connection), digest=digest)
    except BaseException:
        digest.close()
        raise


def source_of_text(parquet: Path, names: Sequence[str], digest: str, scratch: Path) -> TableSource:
    """The cells of a text file, in a Parquet file of our own, as a relation."""
    given = _given(parquet, scratch / "release").replace("'", "''")
    relation = f"read_parquet('{given}', hive_partitioning = false)"
    return TableSource(relation, names, digest=KnownDigest(digest), cells=cells_of_files([parquet]))


def _given(path: Path, link: Path) -> str:
    """The path for DuckDB, which would take `*`, `?` and `[` as patterns, and knows UTF-8 only: through a link."""
    if not re.search(UNUSUAL, str(path)):
        return str(path)
    try:
        link.symlink_to(path.resolve())
    except OSError:  # Windows asks for a privilege
        raise UsageError(f"{path}: its path has a bracket or a brace; rename what has it") from None
    return str(link)


def delimiter_of(path: Path) -> str:
    """What stands between the cells of a CSV file; a comma for a file of another kind."""
    if file_extension(path) not in TEXTS:
        return ","
    with open_bytes(path) as file:
        return header_of(file.read(HEADER_BYTES), path).layout.delimiter.decode()


def _arrow(path: Path, _: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    opened = pa.memory_map if IS_POSIX else pa.OSFile  # Windows neither removes nor replaces what a table still maps
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
