"""DuckDB: a file that is read by the embedded library, or the database behind a connection that a program has.

Of a file nothing is downloaded, and nothing outside of it is read. While it is open it is open for all who read it: a
program cannot open it again with settings that differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import duckdb
import pyarrow as pa
import sqlalchemy as sa

from tcdp_audit.plugin._internal import Scratch
from tcdp_audit.plugin.engine import Column, Sampling, UsageError
from tcdp_audit_plugins.engines.database.address import TableName
from tcdp_audit_plugins.engines.database.faults import ABSENT, QUERY, Refused
from tcdp_audit_plugins.engines.database.session import cast_to, deadline
from tcdp_audit_plugins.engines.database.source import Source
from tcdp_audit_plugins.engines.database.statements import (
    Cell,
    as_text,
    column_of,
    drawn_by,
    no_rows,
    relation_of_query,
    relation_of_table,
)

ROWS = 32_768  # of an Arrow batch
_AS_THEY_ARE = {
    "BOOLEAN": pa.bool_(),
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"), pa.int64()),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
}
_ONE_TEXT_EACH = {"DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID"}
_NESTED = ("STRUCT", "MAP", "UNION", "BLOB", "BIT", "JSON")
_LOCK = Lock()
_OPENED: dict[tuple[int, int], OpenedFile] = {}  # by what the system numbers files by


class DuckDBSource(Source):
    """A table, view or query of a DuckDB database.

    Args:
        connection: one of its own, which is closed with it.
        place: a table's name, the text of a query, or a statement of SQLAlchemy.
        timeout: seconds that a statement may take; None for as many as it needs.

    Raises:
        Refused: there is no such table.
    """

    dialect = "duckdb"

    def __init__(self, connection: duckdb.DuckDBPyConnection, place: Any, timeout: float | None = None) -> None:
        self._connection, self._timeout = connection, timeout
        try:
            self._connection.execute("BEGIN TRANSACTION READ ONLY")
            self._connection.execute("SET enable_progress_bar = false")  # it would draw one in notebooks
            self._connection.execute("SET TimeZone = 'UTC'")
            relation = relation_of_query(place) if isinstance(place, str) else place
            relation = relation_of_table(place) if isinstance(place, TableName) else relation
            self._cells = {cell.column: cell for cell in self._described(relation, place)}
        except BaseException:
            self.close()
            raise
        super().__init__(relation, [Column(cell.column, cell.type) for cell in self._cells.values()])

    def _described(self, relation: Any, place: Any) -> list[Cell]:
        try:
            described = self._connection.execute(f"DESCRIBE {as_text(no_rows(relation))}").fetchall()
        except (duckdb.CatalogException, duckdb.BinderException, duckdb.ParserException):
            described = None
        if described is None:
            raise Refused(ABSENT if isinstance(place, TableName) else QUERY)
        return [_cell(str(row[0]), str(row[1])) for row in described]

    def cells(self, names: Sequence[str]) -> list[Cell]:
        """The SQL of the cells of some columns."""
        return [self._cells[name] for name in names]

    def stream(self, statement: sa.Select[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of a statement."""
        with deadline(self._timeout, self._connection.interrupt) as require_time:
            for batch in self._connection.sql(as_text(statement)).to_arrow_reader(ROWS):
                require_time()
                yield cast_to(batch, schema)

    def drawn(self, cell: Cell, sampling: Sampling) -> sa.ColumnElement[bool] | None:
        """By DuckDB's own function."""
        return drawn_by(cell, sampling, sa.func.md5)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class DuckDBFile(DuckDBSource):
    """A table, view or query of a DuckDB file; `memory` is in bytes.

    Raises:
        UsageError: there is no such file.
        Refused: there is no such table in it.
    """

    def __init__(self, path: Path, place: TableName | str, timeout: float | None, memory: int) -> None:
        if not path.is_file():
            raise UsageError(f"{path}: no such file; write duckdb:///FILE?table=TABLE")
        self._file: OpenedFile | None = OpenedFile.of(path, memory)
        super().__init__(self._file.connection(), place, timeout)

    def close(self) -> None:
        """Close the file, unless it has other readers."""
        file, self._file = self._file, None
        if file is not None:
            super().close()
            file.close()


def _cell(name: str, kind: str) -> Cell:
    column = column_of(name)
    if kind in _AS_THEY_ARE:
        return Cell(name, kind, _AS_THEY_ARE[kind], column, column)
    if "[" in kind or kind.startswith(_NESTED):
        return Cell.unreadable(name, kind)
    text: sa.ColumnElement[Any] = sa.collate(sa.cast(column, sa.Text), "C")
    return Cell(name, kind, pa.string(), text, column if kind in _ONE_TEXT_EACH else text)


class OpenedFile:
    """A file open for reading; close it as often as it was opened. The first reader sets the memory, in bytes."""

    def __init__(self, path: Path, memory: int) -> None:
        self.readers = 0
        self._folder = Scratch()
        try:
            self._connection = duckdb.connect(path, read_only=True, config=_config(memory, self._folder.name))
        except BaseException:
            self._folder.cleanup()
            raise

    @classmethod
    def of(cls, path: Path, memory: int) -> OpenedFile:
        """A file, which may be open already."""
        status = path.stat()
        number = (status.st_dev, status.st_ino)
        with _LOCK:
            if number not in _OPENED:
                _OPENED[number] = cls(path, memory)
            _OPENED[number].readers += 1
            return _OPENED[number]

    def connection(self) -> duckdb.DuckDBPyConnection:
        """A connection with a transaction of its own."""
        return self._connection.cursor()

    def close(self) -> None:
        """Close the file if it has no other reader."""
        with _LOCK:
            self.readers -= 1
            if self.readers:
                return
            for number in [number for number, one in _OPENED.items() if one is self]:
                del _OPENED[number]
            self._connection.close()
            self._folder.cleanup()


def _config(memory: int, folder: str) -> dict[str, Any]:
    return {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "enable_external_access": False,
        "python_enable_replacements": False,  # a name is a table of the file, never a variable of the program
        "memory_limit": f"{max(memory // 4, 2**28) // 2**20}MiB",
        "temp_directory": folder,
    }
