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

from tcdp_audit.engines.arrow_types import exact_table
from tcdp_audit.engines.csv_header import HEADER_BYTES, header_of
from tcdp_audit.engines.digest import FileDigest, KnownDigest
from tcdp_audit.engines.json_lines import json_lines
from tcdp_audit.engines.parquet import parquet
from tcdp_audit.engines.source import EMPTY, TEXTS, WIDE, TableSource, extension, open_bytes, require_names
from tcdp_audit.errors import DataError

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
        return replace(_READERS[extension(path)](path, _plain_path(path, scratch), connection), digest=digest)
    except BaseException:
        digest.close()
        raise


def source_of_text(parquet: Path, names: Sequence[str], digest: str, scratch: Path) -> TableSource:
    """The cells of a text file, in a Parquet file of our own, as a relation."""
    return TableSource(f"read_parquet({_plain_path(parquet, scratch)})", names, digest=KnownDigest(digest))


def _plain_path(path: Path, scratch: Path) -> str:
    """The path as SQL text; DuckDB would take `*`, `?` and `[` as patterns, and knows UTF-8 only: through a link."""
    if re.search(UNUSUAL, str(path)):
        link = scratch / f"release{''.join(path.suffixes)}"
        link = link if not re.search(UNUSUAL, link.name) else scratch / f"release{extension(path)}"
        link.symlink_to(path.resolve())
        path = link
    return "'" + str(path).replace("'", "''") + "'"


def delimiter_of(path: Path) -> str:
    """What stands between the cells of a CSV file; a comma for a file of another kind."""
    if extension(path) not in TEXTS:
        return ","
    with open_bytes(path) as file:
        return header_of(file.read(HEADER_BYTES), path).layout.delimiter.decode()


def _arrow(path: Path, _: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    with pa.memory_map(os.fsencode(path)) as file:
        table = pa.ipc.open_file(file).read_all()
    require_names(table.column_names, str(path))
    connection.register("arrow_file", exact_table(table, str(path)))
    wide = table.num_columns > WIDE
    return TableSource("arrow_file", table.column_names, load=wide, arrow=lambda: table)


_READERS: dict[str, Callable[[Path, str, Any], TableSource]] = {
    ".parquet": parquet,
    ".jsonl": json_lines,
    ".ndjson": json_lines,
    ".feather": _arrow,
    ".arrow": _arrow,
}
