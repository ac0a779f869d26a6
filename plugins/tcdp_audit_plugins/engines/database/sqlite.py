"""SQLite: a file opened for reading, whose columns have the types of their cells and not of their declaration."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.pool import NullPool
from sqlalchemy.sql.elements import ColumnElement

from tcdp_audit.plugin.engine import UsageError
from tcdp_audit_plugins.engines.database.address import TableName
from tcdp_audit_plugins.engines.database.session import Session
from tcdp_audit_plugins.engines.database.statements import Cell, Relation, column_of

EXACT = 2**53  # integers up to here are floats without loss
COLUMNS = 200  # that are looked at together: SQLite gives 2,000 cells of a row at the most by default
_KINDS = ("integer", "real", "text", "blob")


def engine_of_file(url: sa.URL) -> sa.Engine:
    """A file as an engine that writes nothing; a UsageError where there is no such file, as none is made."""
    path = Path(url.database or "")
    if not path.is_file():
        raise UsageError(f"{path}: no such file; write sqlite:///FILE?table=TABLE")
    file = f"file:{quote(str(path.absolute()))}?mode=ro"
    connect = partial(sqlite3.connect, file, uri=True, check_same_thread=False)  # batches are asked for in any thread
    return sa.create_engine("sqlite://", creator=connect, poolclass=NullPool)


def add_md5(session: Session) -> None:
    """Give statements of a session the function `md5`, of a text."""
    driver: Any = session.connection.connection.driver_connection
    driver.create_function("md5", 1, _md5, deterministic=True)


def _md5(text: str | None) -> str | None:
    return None if text is None else hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def declared_types(session: Session, place: Any) -> dict[str, Any]:
    """The declared type of each column of a table or view; nothing is known of a query's."""
    if not isinstance(place, TableName):
        return {}
    columns = sa.inspect(session.connection).get_columns(place.table, schema=place.schema)
    return {str(column["name"]): column["type"] for column in columns}


def cells_of(
    session: Session, relation: Relation, names: Sequence[str], declared: Mapping[str, Any] = MappingProxyType({})
) -> list[Cell]:
    """The SQL of the cells of some columns, by the kinds of cells that each has: one scan for 200 of them.

    A column that mixes kinds among which two cells could be taken for one cannot be read.
    """
    size = len(_KINDS) + 1
    cells = []
    for start in range(0, len(names), COLUMNS):
        some = names[start : start + COLUMNS]
        flags = session.row(sa.select(*(one for name in some for one in _probes(name))).select_from(relation))
        cells += [_cell(name, flags[size * i : size * (i + 1)], declared.get(name)) for i, name in enumerate(some)]
    return cells


def _probes(name: str) -> list[ColumnElement[Any]]:
    column = column_of(name)
    kind = sa.func.typeof(column)
    wide = sa.case((kind == sa.literal_column("'integer'"), sa.or_(column > EXACT, column < -EXACT)))
    return [*(sa.func.max(kind == sa.literal_column(f"'{one}'")) for one in _KINDS), sa.func.max(wide)]


def _cell(name: str, flags: Sequence[Any], declared: Any) -> Cell:
    kinds = {kind for kind, flag in zip(_KINDS, flags, strict=False) if flag}
    if not kinds:  # no cell says what the column holds
        real = isinstance(declared, sa.Float | sa.Numeric)
        kinds = {"integer" if isinstance(declared, sa.Integer) else "real" if real else "text"}
    column = column_of(name)
    if "blob" in kinds:
        return Cell.unreadable(name, "BLOB")
    if kinds == {"integer"}:
        return Cell(name, "INTEGER", pa.int64(), column, column)
    if kinds == {"real"} or (kinds == {"integer", "real"} and not flags[-1]):
        return Cell(name, "REAL", pa.float64(), sa.cast(column, sa.REAL), column)  # SQLite takes 1 and 1.0 for one
    if kinds <= {"text"}:
        return Cell(name, "TEXT", pa.string(), column, sa.collate(column, "BINARY"))
    mixed = "text and numbers" if "text" in kinds else "floats, and integers beyond 2^53"
    fault = f"holds {mixed}, so that two of its cells could be taken for one; cast it in a view or in a query"
    return Cell.unreadable(name, "of each cell", fault)
