"""Strict reading of JSON results: no duplicate key, no NaN or infinity, and the form of the published contract."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from math import isinf
from pathlib import Path
from typing import Any, NoReturn

from tcdp_audit.core.base.errors import ResultError, UsageError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import visible

BEGINNING = re.compile(r"<template\b[^<>]*>")
MARK, END = 'id="tcdp-audit-result"', "</template>"
LARGEST = 2**26  # limit of the bytes of an unpacked result


def embedded(page: str) -> list[tuple[int, int]]:
    """The begin and end of each result in a report, at most two. Cost: linear in the page for any content."""
    places: list[tuple[int, int]] = []
    for start in BEGINNING.finditer(page):
        if MARK in start[0] and len(places) < 2:
            end = page.find(END, start.end())
            if end < 0:
                break
            places.append((start.end(), end))
    return places


def embed_result(text: str) -> str:
    """Encode a JSON text for a report, without characters of markup."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpacked(text: str, name: str) -> str:
    """Decode the JSON text of a report, which is packed, or plain in older reports.

    Args:
        text: the encoded text.
        name: its name in messages.

    Raises:
        ResultError: it cannot be unpacked completely.
    """
    if text.lstrip()[:1] in ("{", "["):
        return text
    stream = zlib.decompressobj()
    try:
        unpacked = stream.decompress(base64.b64decode(text, validate=True), LARGEST)
        if stream.unconsumed_tail:
            raise ResultError(f"{name}: unpacks to more than {LARGEST:,} bytes")
        if not stream.eof or stream.unused_data:
            raise ResultError(f"{name}: is cut off, or has something after its end")
        return unpacked.decode("utf-8")
    except (binascii.Error, zlib.error, ValueError):
        raise ResultError(f"{name}: is not JSON, packed by zlib in base64 or plain") from None


def with_plain_result(page: str, name: str) -> str:
    """A report with its result as plain JSON, because builds of zlib pack a text differently."""
    for begin, end in reversed(embedded(page)):
        page = f"{page[:begin]}{unpacked(page[begin:end], name)}{page[end:]}"
    return page


MOST_VALUES = 2**21  # limit of the values of a JSON text: at most some 300 MB


def text_of(path: Path) -> str:
    """The unchanged text of a file.

    Raises:
        UsageError: it does not exist or cannot be read.
        ResultError: it is not UTF-8, or larger than any result.
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
    """Parse a JSON text.

    Args:
        text: the text.
        name: its name in messages.

    Raises:
        ResultError: it is no JSON, has a duplicate key, NaN or infinity, or more values than any result. The message
            does not quote it.
    """
    if sum(map(text.count, "[{,:")) > MOST_VALUES:  # a value takes far more memory than its text
        raise ResultError(f"{name}: has more than {MOST_VALUES:,} values, which no result has")
    try:
        return json.loads(text, object_pairs_hook=_mapping, parse_float=_finite, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise ResultError(f"{name}: not JSON (line {error.lineno:,}, column {error.colno:,})") from None
    except RecursionError:
        raise ResultError(f"{name}: not JSON that can be read: it is nested too deeply") from None
    except _AmbiguousError as error:
        raise ResultError(f"{name}: {error}") from None
    except ValueError:  # an integer of more digits than Python accepts
        raise ResultError(f"{name}: not JSON that can be read: a number is too long") from None


class _AmbiguousError(ValueError):
    """JSON that two programs may read differently."""


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise _AmbiguousError("a key occurs twice in one object")
    return mapping


def _finite(digits: str) -> float:
    value = float(digits)
    if isinf(value):
        raise _AmbiguousError('a number is too large; infinity is written as the text "infinity"')
    return value


def _no_number(_: str) -> NoReturn:
    raise _AmbiguousError("NaN and Infinity are no numbers in JSON")


STATUSES = frozenset({"passed", "failed", "error", "measured"})
OUTCOME_STATUSES = frozenset({*STATUSES, "skipped"})
NONE = type(None)
NUMBER = (int, float)
KINDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a mapping",
    NONE: "null",
}


@dataclass(frozen=True)
class Each:
    """A list of values of one form, or a mapping of names to such values."""

    container: type
    form: Any


@dataclass(frozen=True)
class Optional:
    """The form of a value that may be absent."""

    form: Any


FIGURE = (*NUMBER, str, NONE)  # infinity is a text
TALLY = ({"total": int, "failing": (int, NONE)}, NONE)
VERSION = {"format": str, "table": str, "version": str, "time": str, "newest": bool, "part": Optional(str)}
TABLE = {
    "uri": str,
    "sha256": (str, NONE),
    "records": int,
    "columns": int,
    "encoding": Optional(str),
    "version": Optional(VERSION),
}
COMPANION = {**TABLE, "shared": Optional(Each(list, str)), "lacking": Optional(Each(list, str))}
WORST = {"class": int, "records": int, "value": FIGURE}
CELL = {
    "table": str,
    "measure": str,
    "name": str,
    "cell": Each(dict, str),
    "line": (int, NONE),
    "says": str,
    "figures": Optional(dict),
}
SIZES = dict.fromkeys(("dimensions", "measures", "cells", "hidden", "absent"), int)
OUTCOME = {
    "check": str,
    "attribute": (str, NONE),
    "parameters": dict,
    "conventions": dict,
    "severity": frozenset({"error", "warning"}),
    "status": OUTCOME_STATUSES,
    "observed": FIGURE,
    "threshold": FIGURE,
    "comparison": frozenset({">=", "<=", "<", ">", None}),
    "classes": TALLY,
    "records": TALLY,
    "cells": Optional(TALLY),
    "failing_cells": Optional(Each(list, CELL)),
    "details": dict,
    "worst": Each(list, WORST),
    "message": str,
    "source": str,
    "reason": Optional(str),
}
RESULT = {
    "schema_version": int,
    "status": STATUSES,
    "audited_at": str,
    "tool": {"name": str, "version": str, "python": str, "libraries": Each(dict, str)},
    "plugins": Each(list, {"name": str, "distribution": str, "version": str, "hooks": Each(list, str)}),
    "release": TABLE,
    "companions": Each(dict, COMPANION),
    "files": Optional(Each(list, {"kind": str, "attribute": (str, NONE), "uri": str, "sha256": str})),
    "policy": {"uri": (str, NONE), "sha256": str},
    "tables_of_figures": Optional(Each(dict, SIZES)),
    "models": Optional(Each(list, str)),
    "summary": Each(dict, int),
    "outcomes": Each(list, OUTCOME),
}


def faults(value: Any, form: Any = RESULT, where: str = "") -> Iterator[str]:
    """The deviations of a value from a form, as sentences that do not quote the value.

    Args:
        value: the parsed JSON.
        form: a type; a set of allowed values; a mapping of required keys; `Each`; or a tuple of forms.
        where: the path of the value.
    """
    if isinstance(form, tuple):
        if not any(_fits(value, one) for one in form):
            yield f"{where}: must be {_either(form)}"
        for one in form:
            if isinstance(one, dict) and isinstance(value, dict):
                yield from faults(value, one, where)
    elif not _fits(value, form):
        yield f"{where or 'it'}: must be {_either((form,))}"
    elif isinstance(form, dict):
        yield from _faults_of_keys(value, form, where)
    elif isinstance(form, Each):
        yield from _faults_of_each(value, form, where)


def _faults_of_keys(value: Any, form: Mapping[str, Any], where: str) -> Iterator[str]:
    for key, inner in form.items():
        if key in value:
            demanded = inner.form if isinstance(inner, Optional) else inner
            yield from faults(value[key], demanded, _below(where, key))
        elif not isinstance(inner, Optional):
            yield f"{_below(where, key)}: is missing"


def _faults_of_each(value: Any, form: Each, where: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from faults(inner, form.form, _below(where, visible(key)))
    else:
        for position, inner in enumerate(value):
            yield from faults(inner, form.form, f"{where}[{position}]")


def _fits(value: Any, form: Any) -> bool:
    """Whether a value is of a form's kind, regardless of its content."""
    if isinstance(form, frozenset):
        return isinstance(value, str | None) and value in form
    kind = form.container if isinstance(form, Each) else dict if isinstance(form, dict) else form
    return isinstance(value, kind) and isinstance(value, bool) is (kind is bool)


def _either(forms: tuple[Any, ...]) -> str:
    names = []
    for form in forms:
        if isinstance(form, frozenset):
            names.append(f"one of {', '.join(sorted(map(str, form)))}")
        else:
            names.append(KINDS[form.container if isinstance(form, Each) else dict if isinstance(form, dict) else form])
    return " or ".join(dict.fromkeys(names))


def _below(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
