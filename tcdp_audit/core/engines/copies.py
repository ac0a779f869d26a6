"""Tables that are read from a private copy: remote ones, and files of a kind that is converted first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tcdp_audit.core.base.errors import DataError, TcdpAuditError
from tcdp_audit.core.base.scratch import Scratch
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.engines.digest import FileDigest
from tcdp_audit.core.engines.source import EMPTY, readable

Copy = Callable[[Path], Path]
Open = Callable[[Path, int], Engine]


def open_copy(copy: Copy, uri: str, memory: int, open_file: Open) -> Engine:
    """An engine on a copy of a remote table; closing the engine removes the copy.

    Args:
        copy: makes the copy in the folder passed to it, and returns the file or folder to open.
        uri: the table's name in messages and provenance, without credentials.
        memory: budget in bytes.
        open_file: opens the copy.
    """
    with _private_folder() as scratch:
        path = copy(scratch.path)
        with _called(uri, path):
            return _named(open_file(path, memory), uri, uri, scratch)


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
            return _named(engine, source.name, str(source), scratch)
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


def _named(engine: Engine, name: str, uri: str, scratch: Scratch) -> Engine:
    engine.name, engine.uri, engine.path = name, uri, None
    engine.scratches = (*engine.scratches, scratch)
    return engine
