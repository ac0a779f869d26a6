"""Tables read from a private copy: remote ones, files of a kind that is converted first, and CSV in several files."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, cast

import duckdb

from tcdp_audit.core.base.errors import DataError, TcdpAuditError, UsageError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.provenance import TableVersion
from tcdp_audit.core.base.scratch import Scratch
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.engines.csv_reader import read_csv
from tcdp_audit.core.engines.digest import FileDigest, HashedBytes, KnownDigest, digest_of_list
from tcdp_audit.core.engines.parquet import ParquetFile, parquet_files
from tcdp_audit.core.engines.parts import TableParts
from tcdp_audit.core.engines.source import EMPTY, NotUtf8Error, TableSource, readable
from tcdp_audit.core.engines.text_form import TextForm, detect_after, opened_text
from tcdp_audit.core.engines.writing import write_table

Copy = Callable[[Path], Path]
Open = Callable[[Path, int], Engine]
Fetch = Callable[[Sequence[str] | None], None]


@dataclass(frozen=True)
class PartialCopy:
    """A copy of Parquet files of which at first only the footers are there.

    Args:
        path: the file, or the folder of the files.
        fetch: completes the columns of these names, or with None the whole files. What is there is not fetched again.
        version: identifies the state of the files in the place that they are copied from.
    """

    path: Path
    fetch: Fetch
    version: TableVersion


def open_copy(
    copy: Callable[[Path], Path | tuple[Path, Fetch, TableVersion]], uri: str, memory: int, open_file: Open
) -> Engine:
    """An engine on a copy of a remote table; closing the engine removes the copy.

    Args:
        copy: makes the copy in the folder passed to it, and returns the file or folder to open; of a partial copy the
            arguments of `PartialCopy`. The engine then asks for columns before it reads them, and has no digest until
            it is asked for the content hash.
        uri: the table's name in messages and provenance, without credentials.
        memory: budget in bytes.
        open_file: opens the copy.
    """
    with _private_folder() as scratch:
        made = copy(scratch.path)
        path = made if isinstance(made, Path) else made[0]
        with _called(uri, path):
            engine = (
                open_file(path, memory) if isinstance(made, Path) else _open_partial(PartialCopy(*made), uri, memory)
            )
            return _renamed(engine, uri, uri, scratch)


def _open_partial(copy: PartialCopy, uri: str, memory: int) -> Engine:
    from tcdp_audit.core.engines.streams import FetchedEngine  # noqa: PLC0415 - takes longer to import than an audit

    return FetchedEngine(uri, uri, None, memory).over(copy)


def open_converted(convert: Copy, source: Path, memory: int) -> Engine:
    """An engine on a file that is converted to Parquet first; its digest is that of the file.

    Args:
        convert: writes the records to a Parquet file in the folder passed to it, and returns the file.
        source: the file.
        memory: budget in bytes.

    Raises:
        DataError: the file is empty, or changed meanwhile.
    """
    from tcdp_audit.core.engines.duckdb import DuckDBEngine  # noqa: PLC0415 - takes longer to import than a small audit

    with readable(source):
        if source.stat().st_size == 0:
            raise DataError(f"{source}: {EMPTY}")
        digest = FileDigest(source)
    try:
        with _private_folder() as scratch:
            path = convert(scratch.path)
            digest.require_unchanged()
            with _called(str(source), path):
                engine = DuckDBEngine.from_path(path, memory)
            engine.stand_for(digest)
            return _renamed(engine, source.name, str(source), scratch)
    except BaseException:
        digest.close()
        raise


@contextmanager
def _private_folder() -> Iterator[Scratch]:
    """A temporary folder that is removed on an error and otherwise remains."""
    scratch = Scratch()
    try:
        yield scratch
    except BaseException:
        scratch.cleanup()
        raise


@contextmanager
def _called(uri: str, path: Path) -> Iterator[None]:
    """Replace the copy's path in errors by the table's name."""
    try:
        yield
    except TcdpAuditError as error:
        raise type(error)(str(error).replace(str(path), uri)) from None


def _renamed(engine: Engine, name: str, uri: str, scratch: Scratch) -> Engine:
    engine.name, engine.uri, engine.path = name, uri, None
    engine.scratches = (*engine.scratches, scratch)
    return engine


BUFFER = 2**20


def source_of_text_parts(
    parts: TableParts, scratch: Path, connection: duckdb.DuckDBPyConnection, form: TextForm
) -> TableSource:
    """The records of CSV files with one header as a relation; the encoding of each may be detected.

    Raises:
        DataError: a file is no table, or its header is another than the first one's.

    Cost: one pass over each file; disk space for the temporary files.
    """
    files, digests, first = [], [], None
    for position, path in enumerate(parts.paths):
        shown, copy = parts.shown(position), scratch / f"part{position}.parquet"
        with _named(path, shown):
            names, digest = _copied(path, copy, form)
        first = names if first is None else first
        _require_same(names, first, shown)
        files.append(ParquetFile(copy, shown, str(copy), dict(parts.keys[position])))
        digests.append(digest)
    whole = KnownDigest(digest_of_list(parts.names, digests))
    return replace(parquet_files(files, connection, first), digest=whole)


@contextmanager
def _named(path: Path, shown: str) -> Iterator[None]:
    """Replace a file's path in errors by its name without the values of its keys."""
    try:
        yield
    except (DataError, UsageError) as error:
        raise type(error)(str(error).replace(str(path), shown)) from None


def _copied(path: Path, copy: Path, form: TextForm) -> tuple[Sequence[str], str]:
    """Copy a file's cells; return the names of its columns and the digest of its bytes."""
    try:
        return _read_and_copied(path, copy, form, "")
    except NotUtf8Error as error:
        with readable(path):
            encoding = detect_after(error, path, form)
    return _read_and_copied(path, copy, form, encoding)


def _read_and_copied(path: Path, copy: Path, form: TextForm, detected: str) -> tuple[Sequence[str], str]:
    with readable(path), path.open("rb", buffering=0) as opened, ExitStack() as stack:
        hashed = HashedBytes(opened)
        text: IO[bytes] = io.BufferedReader(hashed, BUFFER)
        if path.suffix.lower() == ".gz":
            text = cast("IO[bytes]", stack.enter_context(gzip.GzipFile(fileobj=text)))
        read, _ = opened_text(text, path, form, detected)
        names, table = read_csv(read, path, 0, lambda: copy, form)
        if table is not None:  # which has no records
            write_table(table, copy)
        return names, hashed.rest()


def _require_same(names: Sequence[str], first: Sequence[str], shown: str) -> None:
    if list(names) == list(first):
        return
    place = next((n for n, pair in enumerate(zip(names, first, strict=False)) if pair[0] != pair[1]), None)
    if place is None:
        raise DataError(f"{shown} has {len(names)} columns and the first file {len(first)}; write all files alike")
    raise DataError(
        f"{shown} has the column {names[place]!r} where the first file has {first[place]!r}; "
        "write all files with the same header"
    )
