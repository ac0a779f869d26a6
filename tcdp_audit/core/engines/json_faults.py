"""The fault of a JSON lines file, as a sentence that names the line. One pass in Python, on failure only."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.engines.source import NOT_UTF8, RECORD_BYTES, open_bytes

LONG_LINE = "the line is longer than 16 MB; write one record on each line"
NO_OBJECT = "the line is not one JSON object; write one record on each line"


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
        return "a byte order mark stands before the record; save the file as UTF-8 without one"
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
    """One of NaN, Infinity and -Infinity stands where a value should."""


def _refuse(constant: str) -> NoReturn:
    raise _ConstantError(constant)


_DECODER = json.JSONDecoder(object_pairs_hook=tuple, parse_int=str, parse_float=str, parse_constant=_refuse)


def _fault_in_record(pairs: tuple[tuple[str, Any], ...]) -> str:
    names = [name for name, _ in pairs]
    if any(_is_half(name) for name in names):
        return f"a column name {_HALF}"
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        return f"the column name {twice!r} stands more than once in the record; keep one"
    for name, value in pairs:
        if isinstance(value, list | tuple):
            return f"column {name!r} holds nested data; every value must be a single cell"
        if isinstance(value, str) and _is_half(value):
            return f"the value of column {name!r} {_HALF}"
    return ""


_HALF = "holds half of a surrogate pair (\\ud800 to \\udfff), which is no character; write the text as UTF-8"


def _is_half(text: str) -> bool:
    """Whether a text holds half of a pair, so that it is no text."""
    return any("\ud800" <= character <= "\udfff" for character in text)
