"""Addresses of tables that are no paths."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_SECRET = re.compile(
    r"pass(word|wd|phrase)?|pwd|token|secret|sig(nature)?|api_?key|(access|account|private)_?key|credentials?"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=:)")


def scheme_of(table: Any) -> str:
    """What stands before the colon of an address, in lower case; nothing for a path or an object.

    The drive of a path of Windows is no scheme.

    Example:
        >>> scheme_of("postgresql+psycopg://office/people"), scheme_of("data/release.csv"), scheme_of("C:/people.csv")
        ('postgresql+psycopg', '', '')
    """
    scheme = _SCHEME.match(table) if isinstance(table, str) else None
    return scheme[0].lower() if scheme is not None and len(scheme[0]) > 1 else ""


def has_secret(location: str) -> bool:
    """Whether an address holds a password, or a part whose name says that it is a secret.

    Example:
        >>> has_secret("postgresql://reader:hush@office/people"), has_secret("https://a.example/t.csv?sig=abc")
        (True, True)
        >>> has_secret("postgresql://reader@office/people?table=register"), has_secret("tables/register.csv")
        (False, False)
    """
    if "://" not in location:
        return False
    try:
        parts = urlsplit(location)
        return bool(parts.password) or any(_names_a_secret(name) for name, _ in parse_qsl(parts.query))
    except ValueError:  # what cannot be taken apart cannot be judged
        return True


def _names_a_secret(name: str) -> bool:
    plain = name.lower().replace("-", "_")
    return (
        _SECRET.fullmatch(plain.removeprefix("x_amz_").removeprefix("x_goog_").replace("security_token", "token"))
        is not None
    )


def resolve_location(location: str, folder: Path) -> str:
    """A path that starts in a folder; a URL or another address as it stands."""
    path = folder / location
    if "://" in location or (scheme_of(location) and not path.exists()):
        return location
    return str(path)
