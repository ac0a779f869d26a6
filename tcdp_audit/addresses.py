"""Addresses of tables that are no paths."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=:)")


def scheme_of(table: Any) -> str:
    """What stands before the colon of an address, in lower case; nothing for a path or an object.

    The drive of a path of Windows is no scheme.

    Example:
        >>> scheme_of("postgresql+psycopg://office/people"), scheme_of("data/release.csv"), scheme_of("C:/people.csv")
        ('postgresql+psycopg', '', '')
    """
    found = _SCHEME.match(table) if isinstance(table, str) else None
    return found[0].lower() if found is not None and len(found[0]) > 1 else ""


def resolved(location: str, folder: Path) -> str:
    """A path that starts in a folder; a URL or another address as it stands."""
    path = folder / location
    if "://" in location or (scheme_of(location) and not path.exists()):
        return location
    return str(path)
