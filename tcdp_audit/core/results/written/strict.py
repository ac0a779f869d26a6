"""Files as text, and JSON that means one thing: no key twice, no number that JSON has none for."""

from __future__ import annotations

import json
from math import isinf
from pathlib import Path
from typing import Any, NoReturn

from tcdp_audit.core.base.embedded_result import LARGEST
from tcdp_audit.core.base.errors import ResultError, UsageError

MOST_VALUES = 2**21  # that JSON may hold: some 300 MB at the worst


def text_of(path: Path) -> str:
    """The text of a file, to the letter.

    Raises:
        UsageError: it does not exist or cannot be read.
        ResultError: it is no UTF-8, or larger than any result.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise ResultError(f"{path}: is larger than {LARGEST:,} bytes, which no result is")
        return content.decode("utf-8")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ResultError(f"{path}: not UTF-8 text (byte {error.start:,})") from None


def parsed(text: str, name: str) -> Any:
    """What a JSON text says.

    Args:
        text: the text.
        name: what messages call it.

    Raises:
        ResultError: it is no JSON, says a key twice, has a number that is none, or more values than any result. No text
            of it is quoted.
    """
    if sum(map(text.count, "[{,:")) > MOST_VALUES:  # a value takes far more memory than its letters
        raise ResultError(f"{name}: has more than {MOST_VALUES:,} values, which no result has")
    try:
        return json.loads(text, object_pairs_hook=_mapping, parse_float=_finite, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise ResultError(f"{name}: not JSON (line {error.lineno:,}, column {error.colno:,})") from None
    except RecursionError:
        raise ResultError(f"{name}: not JSON that can be read: it is nested too deeply") from None
    except _AmbiguousError as error:
        raise ResultError(f"{name}: {error}") from None
    except ValueError:  # a whole number of more digits than Python reads
        raise ResultError(f"{name}: not JSON that can be read: a number is too long") from None


class _AmbiguousError(ValueError):
    """JSON that two programs may read as two things."""


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise _AmbiguousError("a key stands twice in one object")
    return mapping


def _finite(digits: str) -> float:
    value = float(digits)
    if isinf(value):
        raise _AmbiguousError('a number is too large; infinity is written as the text "infinity"')
    return value


def _no_number(_: str) -> NoReturn:
    raise _AmbiguousError("NaN and Infinity are no numbers in JSON")
