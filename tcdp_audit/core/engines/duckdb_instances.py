"""DuckDB's instances, which are used again, and its errors while it reads a table, as sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import duckdb

from tcdp_audit.core.base.errors import DataError, redact_errors
from tcdp_audit.core.base.resources import processors
from tcdp_audit.core.engines.source import NOT_UTF8

_DEFECTS = (duckdb.CatalogException, duckdb.BinderException, duckdb.ParserException)
_KINDS = (
    ("invalid unicode", NOT_UTF8),
    ("invalid utf-8", NOT_UTF8),
    ("gzip", "the compressed file is cut off or damaged; write it again"),
    ("no magic bytes", "the file is not intact Parquet; write it again"),
    ("footer", "the file is not intact Parquet; write it again"),
    ("parquet", "the file is not intact Parquet; write it again"),
    ("decimal256", "a column holds decimals of more than 38 digits; convert it to text"),
    (
        "unsupported internal arrow type",
        "a column's type is not one of a table's cells; convert it to text or to 64 bits",
    ),
)

MOST_IDLE = 2  # a release and what it is compared with
_idle: list[duckdb.DuckDBPyConnection] = []


class Instance:
    """An instance of DuckDB in memory, with one user at a time.

    To start one takes as long as a small audit, so one that is closed remains, and the next user gets it. Nothing of
    the last user remains with it: tables, types, variables and registered objects are temporary and belong to the
    connection, which is closed. An instance that wrote temporary files has their folder for good, and is not used
    again.

    Args:
        memory: its limit, in bytes.
        folder: where it may write temporary files.
    """

    def __init__(self, memory: int, folder: str) -> None:
        settings: dict[str, str | int | float | list[str]] = {
            "threads": processors(),
            "memory_limit": f"{memory // 2**20}MiB",
            "temp_directory": folder,
        }
        root = _used_again(settings) or duckdb.connect(config={**settings, "autoinstall_known_extensions": False})
        self._root: duckdb.DuckDBPyConnection | None = root
        self.connection = root.cursor()
        self.connection.execute("SET enable_progress_bar = false")  # it would draw one in notebooks

    def close(self) -> None:
        """Close the connection, and keep the instance for the next user. To close it again does nothing."""
        self.connection.close()
        root, self._root = self._root, None
        if root is not None and len(_idle) < MOST_IDLE:
            _idle.append(root)
        elif root is not None:
            root.close()


def _used_again(settings: Mapping[str, object]) -> duckdb.DuckDBPyConnection | None:
    """An idle instance with other settings; None where there is none that takes them."""
    while _idle:
        root = _idle.pop()
        try:
            for name, value in settings.items():
                root.execute(f"SET {name} = {_literal(value)}")
        except duckdb.Error:
            root.close()
        else:
            return root
    return None


def _literal(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def close_idle_instances() -> None:
    """End the instances that nothing uses."""
    while _idle:
        _idle.pop().close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=close_idle_instances)  # threads do not survive a fork


@contextmanager
def readable_errors(name: str, path: Path | None) -> Iterator[None]:
    """Convert DuckDB's errors to `DataError`, and its interruption to `KeyboardInterrupt`.

    Args:
        name: the table's name in messages.
        path: its file, if it has one; messages name it instead.
    """
    with redact_errors():
        try:
            yield
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except _DEFECTS:
            raise  # a defect of this package, not of the data
        except duckdb.Error as error:
            _speak(error, name, path)
        except (RuntimeError, OSError) as error:
            if "interrupted" in str(error).lower():
                raise KeyboardInterrupt from None
            raise


def _speak(error: duckdb.Error, name: str, path: Path | None) -> NoReturn:
    raise DataError(f"{name if path is None else path}: {_sentence(error, str(error))}") from None


def _sentence(error: duckdb.Error, text: str) -> str:
    if isinstance(error, duckdb.OutOfMemoryException):
        return "there is too little memory; give more with --memory"
    known = (sentence for sign, sentence in _KINDS if sign in text.lower())
    return next(known, f"the table cannot be read ({type(error).__name__})")
