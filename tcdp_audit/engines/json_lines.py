"""JSON lines: one object of single cells on each line, every value taken as the text that stands there."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb

from tcdp_audit.engines.source import (
    EMPTY,
    NOT_UTF8,
    RECORD_BYTES,
    TableSource,
    open_bytes,
    require_names,
)
from tcdp_audit.errors import DataError


def json_lines(path: Path, quoted: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """JSON lines as a relation; an absent key is a missing value.

    Columns stand in the order of the commonest kind of record, then in that of the others.

    Raises:
        DataError: a line is no object, names a column twice, or nests values.
    """
    records = f"read_ndjson_objects({quoted}, maximum_object_size={RECORD_BYTES})"
    shapes = connection.execute(
        "SELECT json_type(json) AS kind, json_keys(json) AS keys, count(*) AS records, bool_or(len("
        "list_filter(json_extract(json, '$.*'), lambda cell: left(cell, 1) IN ('{', '['))) > 0) AS nested "
        f"FROM {records} GROUP BY kind, keys ORDER BY records DESC, keys"
    ).fetchall()
    if any(kind != "OBJECT" or len(set(keys)) < len(keys) or nested for kind, keys, _, nested in shapes):
        raise fault_of(path)
    names = list(dict.fromkeys(chain.from_iterable(keys for _, keys, _, _ in shapes)))
    if not names:
        raise DataError(f"{path}: {EMPTY}")
    require_names(names, str(path))
    pointers = ", ".join(f"'/{_escaped(name)}'" for name in names)
    cells = ", ".join(f"v[{position}] AS c{position}" for position in range(1, len(names) + 1))
    values = f"SELECT json_extract_string(json, [{pointers}]) AS v FROM {records}"
    return TableSource(f"(SELECT {cells} FROM ({values}))", names, load=True)


def _escaped(name: str) -> str:
    """A name inside a JSON pointer inside an SQL text."""
    return name.replace("~", "~0").replace("/", "~1").replace("'", "''")


def fault_of(path: Path) -> DataError:
    """What is wrong with a JSON lines file, at its first faulty line. One pass in Python, on failure only."""
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            sentence = _fault_in_line(line) if line.strip() else ""
            if sentence:
                return DataError(f"{path}:{number}: {sentence}")
    return DataError(f"{path}: a line is longer than 16 MB, or the file is damaged; write it again")


def _fault_in_line(line: bytes) -> str:
    if line.startswith(b"\xef\xbb\xbf"):
        return "a byte order mark stands before the record; save the file as UTF-8 without one"
    try:
        pairs = json.loads(line.decode("utf-8"), object_pairs_hook=tuple)
    except UnicodeDecodeError:
        return NOT_UTF8
    except (ValueError, RecursionError):
        return "the line is not one JSON object; write one record on each line"
    if not line.lstrip().startswith(b"{"):
        return "the line is not one JSON object; write one record on each line"
    return _fault_in_record(pairs)


def _fault_in_record(pairs: tuple[tuple[str, Any], ...]) -> str:
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        return f"the column name {twice!r} stands more than once in the record; keep one"
    nested = next((name for name, value in pairs if isinstance(value, list | tuple)), None)
    return "" if nested is None else f"column {nested!r} holds nested data; every value must be a single cell"
