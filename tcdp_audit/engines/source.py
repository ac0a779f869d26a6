"""What every reader of a table shares: what DuckDB selects from, and names that every column must have."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from tcdp_audit.errors import DataError

EMPTY = "the file is empty; an empty release cannot be audited"
NOT_UTF8 = "the text is not UTF-8; save the file as UTF-8"
RECORD_BYTES = 16 * 2**20
WIDE = 200  # with more columns than this, planning a scan of the source costs more than copying it once


@dataclass(frozen=True)
class TableSource:
    """What to select from.

    Args:
        relation: an SQL relation.
        names: the columns' names, as DuckDB would not always give them faithfully.
        load: whether to read it once into a table, because scanning it again would mean parsing it again.
    """

    relation: str
    names: Sequence[str]
    load: bool = False


def extension(path: Path) -> str:
    """The extension that says what kind of file it is, without `.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else (suffixes or [""])[-1]


def open_bytes(path: Path) -> IO[bytes]:
    """The content of a file, decompressed where its name says .gz."""
    return cast("IO[bytes]", gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


def require_names(names: Sequence[str], table: str) -> None:
    """Insist that every column has a name of its own.

    Raises:
        DataError: a column has no name, or two have the same.
    """
    nameless = [str(position) for position, name in enumerate(names, 1) if not name.strip()]
    if nameless:
        raise DataError(f"{table}: column {', '.join(nameless)} has no name; give every column a name")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        listed = ", ".join(repr(name) for name in twice)
        raise DataError(f"{table}: the column name {listed} stands more than once; rename all but one")
