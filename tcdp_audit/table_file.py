"""Tables written to files: the inverse of reading them, by the same extensions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from tcdp_audit.engines.source import extension
from tcdp_audit.errors import UsageError


def require_table_file(path: Path) -> None:
    """Insist on a kind of file that a table can be written to.

    Raises:
        UsageError: the extension is none of the known ones.
    """
    if extension(path) not in _WRITERS:
        known = ", ".join(sorted(_WRITERS))
        raise UsageError(f"{path}: unknown kind of file; known are {known}; text also as .gz")


def write_table(table: pa.Table, path: Path, *, kind: Path | None = None, delimiter: str = ",") -> None:
    """Write a table to a file. A missing value is an empty cell of a CSV file, and null elsewhere.

    Args:
        table: the table.
        path: where to.
        kind: the path whose extension says which kind of file it is, where `path` is a temporary one.
        delimiter: between the cells of a CSV file; `.tsv` always has tabs.
    """
    suffix = extension(kind or path)
    compression = "gzip" if (kind or path).suffix.lower() == ".gz" else None
    with pa.output_stream(str(path), compression=compression) as file:
        _WRITERS[suffix](table, file, "\t" if suffix == ".tsv" else delimiter)


def _csv(table: pa.Table, file: pa.NativeFile, delimiter: str) -> None:
    from pyarrow import csv  # noqa: PLC0415 - only where a file is written

    options = csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="needed")
    file.write((delimiter.join(_quoted(name, delimiter) for name in table.column_names) + "\n").encode())
    csv.write_csv(table, file, options)


def _quoted(name: str, delimiter: str) -> str:
    """A column's name as it stands in a header."""
    special = any(character in name for character in (delimiter, '"', "\n", "\r")) or name != name.strip()
    return '"' + name.replace('"', '""') + '"' if special else name


def _parquet(table: pa.Table, file: pa.NativeFile, _: str) -> None:
    from pyarrow import parquet  # noqa: PLC0415

    parquet.write_table(table, file)


def _json_lines(table: pa.Table, file: pa.NativeFile, _: str) -> None:
    import json  # noqa: PLC0415

    for batch in table.to_batches(max_chunksize=2**14):
        lines = (json.dumps(record, ensure_ascii=False, default=str) for record in batch.to_pylist())
        file.write("".join(f"{line}\n" for line in lines).encode())


def _arrow(table: pa.Table, file: pa.NativeFile, _: str) -> None:
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


_WRITERS: dict[str, Callable[[pa.Table, pa.NativeFile, str], None]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".parquet": _parquet,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".feather": _arrow,
    ".arrow": _arrow,
}
