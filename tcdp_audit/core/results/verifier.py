"""The means to confirm a result without this program: its digest, and the page of `tcdp-audit verifier`.

The digest is of the values and not of the bytes: RFC 8785, the JSON canonicalization scheme.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from tcdp_audit.core.base.errors import TcdpAuditError

PROOF = "proof"  # the key of a result that holds its digest
_text = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` makes an encoder for each text


def digest_of_result(result: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical form of a result without its `proof`. Cost: O(its size)."""
    rest = {name: value for name, value in result.items() if name != PROOF}
    text = canonical_json(rest).encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # half a pair is no text
    return hashlib.sha256(text.encode()).hexdigest()


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no blanks, and numbers as ECMAScript writes them (RFC 8785).

    Example:
        >>> canonical_json({"b": [1.0, 1e-7, 1e21], "a": "é"})
        '{"a":"é","b":[1,1e-7,1e+21]}'
    """
    if isinstance(value, Mapping):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_text(name)}:{canonical_json(value[name])}" for name in names) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value)
    return _text(value)


def _number(value: float) -> str:
    """A number as ECMAScript writes the nearest float64: the shortest digits, in plain notation from 1e-6 to 1e21."""
    if value == (whole := int(value)) and abs(whole) < 2**53:
        return str(whole)
    mantissa, _, exponent = repr(float(value)).partition("e")
    sign, mantissa = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    integer, _, fraction = mantissa.partition(".")
    digits = (integer + fraction).lstrip("0")
    point = len(integer) + int(exponent or 0) - (len(integer + fraction) - len(digits))  # places before the point
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"


PACKAGE, NAME = "tcdp_audit.core.results", "verifier.html"


@cache
def verifier_page() -> str:
    """The page's HTML: plain JavaScript, without a dependency and without a request.

    Raises:
        TcdpAuditError: it is not part of this installation.
    """
    try:
        return files(PACKAGE).joinpath(NAME).read_bytes().decode()
    except (FileNotFoundError, ModuleNotFoundError):
        problem = f"{NAME} is missing from {PACKAGE}: the installation is incomplete; reinstall it"
        raise TcdpAuditError(problem) from None


@cache
def verifier_digest() -> str:
    """SHA-256 of the page, as `tcdp-audit verifier` writes it."""
    return hashlib.sha256(verifier_page().encode()).hexdigest()
