"""Tables written to files: the inverse of reading them, by the same extensions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa

from tcdp_audit.engines.source import extension
from tcdp_audit.errors import UsageError


def require_table_file(path: Path) -> None:
    """Insist on a kind of file that a table can be written to.

    Raises:
        UsageError: the extension is none of the known ones.
    """
    kinds = (*_SEPARATED, *_WRITERS)
    if extension(path) not in kinds:
        known = ", ".join(sorted(kinds))
        raise UsageError(f"{path}: unknown kind of file; known are {known}; text also as .gz")


def write_table(table: pa.Table, path: Path, *, kind: Path | None = None, delimiter: str = ",") -> None:
    """Write a table to a file. A missing value is an empty cell of a CSV file, and null elsewhere.

    Args:
        table: the table.
        path: where to.
        kind: the path whose extension says which kind of file it is, where `path` is a temporary one.
        delimiter: between the cells of a CSV file; `.tsv` always has tabs.
    """
    kind = kind or path
    suffix = extension(kind)
    if suffix in _SEPARATED:
        _separated(table, path, "\t" if suffix == ".tsv" else delimiter, compressed=_is_compressed(kind))
        return
    with pa.output_stream(str(path), compression="gzip" if _is_compressed(kind) else None) as file:
        _WRITERS[suffix](table, file)


def _is_compressed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _separated(table: pa.Table, path: Path, delimiter: str, *, compressed: bool) -> None:
    """By DuckDB, which puts quotes around the cells that need them and no others."""
    with duckdb.connect() as connection:
        connection.register("released", table)
        quoted = str(path).replace("'", "''")
        connection.execute(
            f"COPY released TO '{quoted}' (FORMAT csv, HEADER true, DELIMITER '{delimiter}', "
            f"COMPRESSION {'gzip' if compressed else 'none'})"
        )


def _parquet(table: pa.Table, file: pa.NativeFile) -> None:
    from pyarrow import parquet  # noqa: PLC0415

    parquet.write_table(table, file)


def _json_lines(table: pa.Table, file: pa.NativeFile) -> None:
    import json  # noqa: PLC0415

    for batch in table.to_batches(max_chunksize=2**14):
        lines = (json.dumps(record, ensure_ascii=False, default=str) for record in batch.to_pylist())
        file.write("".join(f"{line}\n" for line in lines).encode())


def _arrow(table: pa.Table, file: pa.NativeFile) -> None:
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


_SEPARATED = (".csv", ".tsv")
_WRITERS: dict[str, Callable[[pa.Table, pa.NativeFile], None]] = {
    ".parquet": _parquet,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".feather": _arrow,
    ".arrow": _arrow,
}
