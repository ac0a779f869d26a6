"""JSON lines: one flat object on each line, every value read as its unchanged text.

A JSON reader turns numbers into 64-bit floats, and 1.10 into 1.1. Flat objects are a regular language, so regular
expressions check the lines and cut them into tokens. DuckDB runs them on all processors; Python reads them alike.

The grammar is that of a flat JSON object (RFC 8259) without strings that hold half of a surrogate pair, which is no
text, and without `NaN` and `Infinity`, which are not JSON. Only if a line does not match, one pass in Python finds its
number and its fault.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final, NoReturn

import duckdb
import numpy as np
import pyarrow as pa

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.engines.source import EMPTY, NOT_UTF8, RECORD_BYTES, TableSource, open_bytes, require_names

ABSENT, NULL, STRING, BARE = range(4)  # kinds of token; BARE is a number or boolean
_SPACE: Final = r"[ \t\r\n]*"
_UNICODE: Final = (
    r"\\u(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}"
    r"|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
_STRING: Final = rf'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|{_UNICODE})*"'
NUMBER: Final = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
PLAIN: Final = rf"{NUMBER}|true|false"
_PAIR: Final = rf"{_STRING}{_SPACE}:{_SPACE}(?:{_STRING}|{PLAIN}|null)"
_RECORD: Final = rf"\{{{_SPACE}(?:{_PAIR}{_SPACE}(?:,{_SPACE}{_PAIR}{_SPACE})*)?\}}"
LINE: Final = rf"{_SPACE}(?:{_RECORD}{_SPACE})?"  # a record, or nothing
VALUE: Final = r'"(?:[^"\\]|\\.)*"[ \t\r\n]*:[ \t\r\n]*("(?:[^"\\]|\\.)*"|[^", \t\r\n}]+)'  # of a line that is a record
BLOCK_BYTES = 2**24
MOST_KEYS = 2_000  # a statement with a cell for each takes some seconds to plan
FEW_KEYS = 64  # up to so many new keys are added without copying the table
MOST_PLACES = 2**23  # limit of keys times kinds of record, for a block of lines
TASK_LINES = 2**13  # lines that one processor handles at a time
Keys = tuple[str, ...]
LONG_LINE = "the line is longer than 16 MB; write one record on each line"
NO_OBJECT = "the line is not one JSON object; write one record on each line"


def json_lines(path: Path, _: str, connection: duckdb.DuckDBPyConnection) -> TableSource:
    """JSON lines as a relation; an absent key is a missing value.

    Columns are in the order of the most frequent kind of record, then in that of the others.

    Raises:
        DataError: a line is no object, names a column twice, or nests values; or records have too many different keys.

    Cost: one pass; memory for a block of lines, in addition to DuckDB's table.
    """
    loading = _Loading(path, connection)
    with open_bytes(path) as file:
        for block in _blocks(file, path):
            loading.add(block)
    shapes = sorted(loading.shapes, key=lambda keys: (-loading.shapes[keys], keys))
    names = list(dict.fromkeys(chain.from_iterable(shapes)))
    if not names:
        raise DataError(f"{path}: {EMPTY}")
    require_names(names, str(path))
    numbers = [loading.number[name] for name in names]
    cells, kinds = (f"(SELECT {', '.join(f'{one}{n}' for n in numbers)} FROM json_lines)" for one in "ck")
    return TableSource(cells, names, kinds=kinds)


def _blocks(file: IO[bytes], path: Path) -> Iterator[bytes]:
    """Split a file into blocks of whole lines, each with its line end."""
    rest, number = b"", 1
    while piece := file.read(BLOCK_BYTES):
        end = piece.rfind(b"\n") + 1
        if end:
            yield rest + piece[:end]
            number += rest.count(b"\n") + piece.count(b"\n")
        rest = piece[end:] if end else rest + piece
        if len(rest) > RECORD_BYTES:
            raise DataError(f"{path}:{number}: {LONG_LINE}")
    if rest:
        yield rest + b"\n"


class _Loading:
    """A DuckDB table filled from lines: `c0`, `c1`, ... are cells, `k0`, `k1`, ... the kinds of their tokens."""

    def __init__(self, path: Path, connection: duckdb.DuckDBPyConnection) -> None:
        self.path, self.connection = path, connection
        self.number: dict[str, int] = {}
        self.shapes: Counter[Keys] = Counter()
        connection.execute("CREATE TEMP TABLE json_lines (is_record BOOLEAN)")

    def add(self, block: bytes) -> None:
        """Append the records of a block of lines, in their order."""
        self.connection.register("json_text", self._lines(block))
        shapes = self._shapes()
        if not shapes:
            return
        names = list(dict.fromkeys(chain.from_iterable(shapes)))
        if len(shapes) * len(names) > MOST_PLACES:
            raise DataError(f"{self.path}: hardly two records have the same keys; write the table as CSV or Parquet")
        self._require_columns(names)
        columns = "".join(f", c{self.number[name]}, k{self.number[name]}" for name in names)
        cells = "".join(f", {_cell(token)}, {_kind(token)}" for token in _tokens(names, shapes))
        self.connection.execute(
            f"INSERT INTO json_lines (is_record{columns}) SELECT true{cells} FROM ({self._records(names, shapes)})"
        )
        self.connection.unregister("json_text")

    def _lines(self, block: bytes) -> pa.Table:
        """The lines of a block, in pieces for all processors; they share the block's memory."""
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")).astype(np.int32)
        starts = np.concatenate([np.zeros(1, np.int32), ends + 1])
        if np.diff(starts).max() > RECORD_BYTES:
            raise fault_of(self.path)
        lines = pa.StringArray.from_buffers(len(ends), pa.py_buffer(starts), pa.py_buffer(block))
        try:
            lines.validate(full=True)
        except pa.ArrowInvalid:  # not UTF-8
            raise fault_of(self.path) from None
        table = pa.table({"n": np.arange(len(ends)), "line": lines})
        return pa.Table.from_batches(table.to_batches(TASK_LINES))

    def _shapes(self) -> Sequence[Keys]:
        """The distinct lists of keys of the records of a block.

        Raises:
            DataError: a line is not a record.
        """
        faulty = f"SELECT 1 FROM json_text WHERE NOT regexp_full_match(line, {_quoted(LINE)}) LIMIT 1"
        if self.connection.execute(faulty).fetchall():
            raise fault_of(self.path)
        rows = self.connection.execute(
            f"SELECT json_keys(line), count(*) FROM json_text WHERE {_PRESENT} GROUP BY 1 ORDER BY min(n)"
        ).fetchall()
        shapes = {tuple(keys): records for keys, records in rows}
        if any(len(set(keys)) < len(keys) for keys in shapes):
            raise fault_of(self.path)
        self.shapes.update(shapes)
        return list(shapes)

    def _require_columns(self, names: Sequence[str]) -> None:
        """Add missing columns, many at once by a copy, as DuckDB describes the whole table again for each.

        Raises:
            DataError: there are too many.
        """
        new = [name for name in names if name not in self.number]
        if len(self.number) + len(new) > MOST_KEYS:
            raise DataError(
                f"{self.path}: records have more than {MOST_KEYS:,} different keys; write the table as CSV or Parquet"
            )
        kinds = [(f"c{n}", "VARCHAR") for n in range(len(self.number), len(self.number) + len(new))]
        kinds += [(f"k{name[1:]}", "UTINYINT") for name, _ in kinds]
        self.number |= {name: number for number, name in enumerate(new, len(self.number))}
        if len(new) <= FEW_KEYS:
            for name, kind in kinds:
                self.connection.execute(f"ALTER TABLE json_lines ADD COLUMN {name} {kind}")
            return
        columns = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in kinds)
        self.connection.execute(f"CREATE TEMP TABLE json_wider AS SELECT *, {columns} FROM json_lines")
        self.connection.execute("DROP TABLE json_lines; ALTER TABLE json_wider RENAME TO json_lines")

    def _records(self, names: Sequence[str], shapes: Sequence[Keys]) -> str:
        """SQL for the tokens `v` of each record and, where records differ, their position `p` for each name."""
        values = f"regexp_extract_all(line, {_quoted(VALUE)}, 1) AS v"
        if len(shapes) == 1:
            return f"SELECT {values} FROM json_text WHERE {_PRESENT}"
        places = [_places(names, keys) for keys in shapes]
        self.connection.register("json_shapes", pa.table({"keys": shapes, "p": places}))
        return (
            f"SELECT {values}, p FROM json_text JOIN json_shapes ON json_keys(line) = keys WHERE {_PRESENT} ORDER BY n"
        )


_PRESENT = "contains(line, '{')"  # distinguishes records from blank lines


def _quoted(pattern: str) -> str:
    return "'" + pattern.replace("'", "''") + "'"


def _places(names: Sequence[str], keys: Keys) -> list[int]:
    """The position of each name among the keys of a record, from 1; 0 if it is absent."""
    place = {name: position for position, name in enumerate(keys, 1)}
    return [place.get(name, 0) for name in names]


def _tokens(names: Sequence[str], shapes: Sequence[Keys]) -> list[str]:
    """SQL for the token of each name in a record; null where it is absent."""
    places = range(1, len(names) + 1)
    return [f"v[{place}]" if len(shapes) == 1 else f"v[p[{place}]]" for place in places]


def _cell(token: str) -> str:
    """SQL for the content of a token."""
    return (
        f"CASE WHEN NOT starts_with({token}, '\"') THEN nullif({token}, 'null') "
        f"WHEN contains({token}, '\\') THEN json_extract_string({token}, '$') "
        f"ELSE substring({token}, 2, length({token}) - 2) END"
    )


def _kind(token: str) -> str:
    """SQL for the kind of a token."""
    return (
        f"CASE WHEN {token} IS NULL THEN {ABSENT} WHEN {token} = 'null' THEN {NULL} "
        f"WHEN starts_with({token}, '\"') THEN {STRING} ELSE {BARE} END"
    )


def fault_of(path: Path) -> DataError:
    """The first faulty line of a file, and its fault."""
    with open_bytes(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(RECORD_BYTES + 2), b""), 1):
            sentence = _fault_in_line(line) if line.strip(b" \t\r\n") else ""
            if sentence:
                return DataError(f"{path}:{number}: {sentence}")
    return DataError(f"{path}: the file has changed or is damaged; write it again")


def _fault_in_line(line: bytes) -> str:
    if len(line) > RECORD_BYTES:
        return LONG_LINE
    if line.startswith(b"\xef\xbb\xbf"):
        return "a byte order mark precedes the record; save the file as UTF-8 without one"
    try:
        pairs = _DECODER.decode(line.decode("utf-8"))
    except UnicodeDecodeError:
        return NOT_UTF8
    except _ConstantError as constant:
        return f"{constant} is not JSON; write null for a missing value"
    except (ValueError, RecursionError):
        return NO_OBJECT
    return _fault_in_record(pairs) if line.lstrip().startswith(b"{") else NO_OBJECT


class _ConstantError(Exception):
    """One of NaN, Infinity and -Infinity in place of a value."""


def _refuse(constant: str) -> NoReturn:
    raise _ConstantError(constant)


_DECODER = json.JSONDecoder(object_pairs_hook=tuple, parse_int=str, parse_float=str, parse_constant=_refuse)


def _fault_in_record(pairs: tuple[tuple[str, Any], ...]) -> str:
    names = [name for name, _ in pairs]
    if any(_is_half(name) for name in names):
        return f"a column name {_HALF}"
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        return f"the column name {twice!r} appears more than once in the record; keep one"
    for name, value in pairs:
        if isinstance(value, list | tuple):
            return f"column {name!r} holds nested data; every value must be a single cell"
        if isinstance(value, str) and _is_half(value):
            return f"the value of column {name!r} {_HALF}"
    return ""


_HALF = "holds half of a surrogate pair (\\ud800 to \\udfff), which is no character; write the text as UTF-8"


def _is_half(text: str) -> bool:
    """Whether a text holds half of a surrogate pair."""
    return any("\ud800" <= character <= "\udfff" for character in text)
