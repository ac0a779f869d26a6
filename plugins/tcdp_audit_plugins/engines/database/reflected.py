"""Other databases: the types of a table's columns as SQLAlchemy knows them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.sql.elements import ColumnElement

from tcdp_audit_plugins.engines.database.statements import Cell

# collations under which different texts differ, where the database's own default takes some for one
COLLATIONS = {
    "mssql": "Latin1_General_100_BIN2",
    "sqlite": "BINARY",
}
LONGEST = 1000  # characters of a number, a time or an identifier
# the first that a type is an instance of
_TYPES: tuple[tuple[type[Any], pa.DataType], ...] = (
    (sa.Boolean, pa.bool_()),
    (sa.Integer, pa.int64()),
    (sa.Float, pa.float64()),
    (sa.Date, pa.date32()),
)
_AS_TEXT = (sa.Numeric, sa.DateTime, sa.Time, sa.Interval, sa.Uuid, sa.Enum, sa.String)


def cell_of(column: sa.ColumnElement[Any], dialect: str) -> Cell:
    """How the cells of a column travel: numbers and truth values as they are, all else as the database's text."""
    name, kind = str(column.key), column.type
    plain = sa.Float(asdecimal=False) if isinstance(kind, sa.Float) else kind  # some come as decimals of ten digits
    own: ColumnElement[Any] = sa.column(name, plain)
    for known, arrow in _TYPES:
        if isinstance(kind, known):
            return Cell(name, _shown(kind), arrow, own, own)
    if not isinstance(kind, _AS_TEXT):
        return Cell.unreadable(name, _shown(kind))
    text = own if isinstance(kind, sa.String) else sa.cast(own, sa.String(LONGEST))
    exact = sa.collate(text, COLLATIONS[dialect]) if dialect in COLLATIONS else text
    return Cell(name, _shown(kind), pa.string(), exact, exact)


def _shown(kind: Any) -> str:
    return str(type(kind).__name__).upper()
