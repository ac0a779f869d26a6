"""The parts that every reader of a table shares: what DuckDB selects from, and names that every column must have."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import pyarrow as pa

from tcdp_audit.core.base.errors import DataError, UsageError
from tcdp_audit.core.engines.cells import Cells
from tcdp_audit.core.engines.digest import Digest

EMPTY = "the file is empty; an empty release cannot be audited"
NOT_UTF8 = "the text is not UTF-8; save the file as UTF-8"
RECORD_BYTES = 16 * 2**20
TEXTS = (".csv", ".tsv")
KINDS = (*TEXTS, ".arrow", ".feather", ".jsonl", ".ndjson", ".parquet")
SHEETS = (".ods", ".xls", ".xlsb", ".xlsm", ".xlsx")
WIDE = 200  # with more columns than this, planning a scan of the source costs more than copying it once


@dataclass(frozen=True)
class TableSource:
    """What to select from.

    Args:
        relation: an SQL relation.
        names: the columns' names, as DuckDB would not always give them faithfully.
        load: whether to read it once into a table, because scanning it again would mean parsing it again.
        kinds: for JSON lines, an SQL relation of the kind of token that each cell was read from, in the same order.
        digest: of the file that it was read from; None for a table in memory.
        content: the table in memory.
        arrow: reads it in its own Arrow types, where it has such.
        cells: gives the cells of its columns, where Arrow can read them.
    """

    relation: str
    names: Sequence[str]
    load: bool = False
    kinds: str | None = None
    digest: Digest | None = None
    content: pa.Table | None = None
    arrow: Callable[[], pa.Table] | None = None
    cells: Cells | None = None


def file_extension(path: Path) -> str:
    """The extension that says what kind of file it is, without `.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else (suffixes or [""])[-1]


def require_kind(path: Path) -> None:
    """Insist on a file of a known kind.

    Raises:
        UsageError: no such file, or an unknown extension.
    """
    if not path.exists():
        raise UsageError(f"{path}: no such file")
    require_known_kind(path, str(path))


def require_known_kind(path: Path, shown: str) -> None:
    """Insist on a file's name that says a known kind.

    Args:
        path: the file, which need not be there.
        shown: what messages call it.

    Raises:
        UsageError: it does not.
    """
    if file_extension(path) in SHEETS:
        raise UsageError(f"{shown}: is a workbook; save the sheet as CSV UTF-8, and audit that")
    if file_extension(path) not in KINDS:
        known = ", ".join(sorted(KINDS))
        raise UsageError(f"{shown}: unknown kind of file; known are {known}; text also as .gz")


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn what the reading of a damaged file raises into sentences."""
    try:
        yield
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise DataError(f"{path}: the compressed file is cut off or damaged; write it again") from None
    except pa.ArrowInvalid:
        raise DataError(f"{path}: the file is no intact Arrow file (Feather version 2); write it again") from None
    except OSError as error:
        if error.strerror is None:
            raise DataError(f"{path}: the file is damaged; write it again") from None
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None


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
        raise DataError(f"{table}: column {', '.join(nameless)} has no name; {_remedy(names)}")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        listed = ", ".join(repr(name) for name in twice)
        raise DataError(f"{table}: the column name {listed} stands more than once; rename all but one")


def _remedy(names: Sequence[str]) -> str:
    """How columns come by names: what has none before columns that have is the index of a data frame."""
    if len(names) > 1 and not names[0].strip() and all(name.strip() for name in names[1:]):
        return "if it is the index of a data frame, write the file with `index=False`, or give the column a name"
    return "give every column a name"
