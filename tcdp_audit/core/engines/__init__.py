"""Engines: where the table lives. `open_engine` picks one for whatever the caller has.

source, faults, digest, bits   what every reader shares: names, sentences, SHA-256, marked bytes
shards                         work on shards of a table, wherever they are
sampling                       which records are in a sample, the same in every engine
base                           the contract: columns, distinct values, records as codes
parts                          tables in several files: folders, patterns, keys in folders' names
table_formats                  folders of Delta Lake, Iceberg, Hudi: refused, as they hold every version
csv_structure, csv_header, csv_reader, text, text_parts   CSV: counted, named, read, as an engine
json_tokens, json_faults, json_lines, json_writing   JSON lines by their grammar
arrow_arrays, arrow_types, parquet, frames, files, content_digest  typed tables, in files and in memory
plain       tables of texts and numbers on the way from remedy to remedy
cells, coded_column, coded_columns  columns that Arrow reads straight into codes
copies                         tables that are read from a private copy
connected                      tables of databases that a program is connected to
opener                         what makes an engine of a URL or an object
duckdb                         the embedded engine over all of these
streams                        streams of records or of counted rows, held by the embedded engine
writing                        tables written to files
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tcdp_audit.core.base.errors import redact_errors
from tcdp_audit.core.engines.base import Column, Engine
from tcdp_audit.core.engines.parts import find_parts, is_several
from tcdp_audit.core.engines.source import TEXTS, extension, readable, require_kind
from tcdp_audit.core.engines.table_formats import require_plain_files

__all__ = ["Column", "Engine", "open_engine", "open_file"]


@redact_errors()
def open_engine(release: Any, memory: int, name: str = "release") -> Engine:
    """An engine for a path, a pandas, polars or pyarrow table, or a DuckDB relation.

    Args:
        release: the table.
        memory: budget in bytes.
        name: what the table is called in messages where it has no path.

    Raises:
        UsageError: the file does not exist, or the object is no table.
        DataError: it exists and cannot be read as a table.
    """
    if isinstance(release, str | Path):
        return open_file(Path(release), memory)
    from tcdp_audit.core.engines.duckdb import DuckDBEngine  # noqa: PLC0415 - takes longer to import than a small audit

    return DuckDBEngine.from_frame(release, name, memory)


def open_file(path: Path, memory: int) -> Engine:
    """The embedded engine over a file, the files of a folder, or those of a pattern; see `open_engine`."""
    with readable(path):
        parts = find_parts(path) if is_several(path) else None
        if parts is None:
            require_kind(path)
            require_plain_files(str(path), [path])
    if parts is not None:
        from tcdp_audit.core.engines.duckdb import DuckDBEngine  # noqa: PLC0415 - takes longer to import than a small audit

        return DuckDBEngine.from_parts(parts, memory)
    if extension(path) in TEXTS:
        from tcdp_audit.core.engines.text import open_text  # noqa: PLC0415 - only for text files

        return open_text(path, memory)
    from tcdp_audit.core.engines.duckdb import DuckDBEngine  # noqa: PLC0415 - takes longer to import than a small audit

    return DuckDBEngine.from_path(path, memory)
