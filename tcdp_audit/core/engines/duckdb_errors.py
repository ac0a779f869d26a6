"""DuckDB's errors while it reads a table, as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import duckdb

from tcdp_audit.core.base.errors import DataError, redact_errors
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
