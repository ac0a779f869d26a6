"""MySQL and MariaDB: the types of a table's columns, and whether a snapshot holds for it.

Texts are compared as the bytes of their UTF-8. Collations of both servers overlook case, accents or blanks at the end,
and no collation that overlooks nothing has the same name in all versions.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.exc import CompileError
from sqlalchemy.sql import visitors
from sqlalchemy.sql.elements import ColumnElement

from tcdp_audit_plugins.engines.database.address import TableName
from tcdp_audit_plugins.engines.database.session import Session
from tcdp_audit_plugins.engines.database.statements import Cell, Relation, column_of

LONGEST = 100  # characters of a number, a time or an identifier
_INTEGERS = {"bool", "boolean", "tinyint", "smallint", "mediumint", "int", "integer", "bigint", "year"}
_AS_TEXT = {"decimal", "numeric", "date", "datetime", "timestamp", "time", "uuid", "inet4", "inet6"}
_TEXTS = {"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set"}
_FORM = re.compile(r"(?P<name>[a-z]\w*)(?:\s*\((?P<size>\d+))?(?P<more>.*)", re.DOTALL)
_DOUBLE = sa.Float(asdecimal=False)


def cells_of(session: Session, relation: Relation, place: Any) -> list[Cell]:
    """The columns of a table or view as the catalogue has them, or of a statement of SQLAlchemy by its types."""
    if isinstance(place, sa.FromClause) and not isinstance(place, sa.Table):
        return [cell_of(str(column.key), _declared(session, column.type)) for column in relation.c]
    types = _catalogue(session, TableName(place.name, place.schema) if isinstance(place, sa.Table) else place)
    return [cell_of(column, types.get(column, "")) for column, _ in session.described(relation)]


def _catalogue(session: Session, name: TableName) -> dict[str, str]:
    columns = _information("columns", "table_name", "column_name", "column_type", "table_schema")
    asked = sa.select(columns.c.table_name, columns.c.column_name, columns.c.column_type).where(*_is(columns, name))
    rows = [tuple(map(_as_str, row)) for row in session.connection.execute(asked)]
    own = [row for row in rows if row[0] == name.table]  # the catalogue overlooks case, which tables need not
    return {column: kind for _, column, kind in own or rows}


def _as_str(cell: Any) -> str:
    return cell.decode() if isinstance(cell, bytes) else str(cell)


def _information(table: str, *columns: str) -> sa.TableClause:
    return sa.table(table, *map(sa.column, columns), schema="information_schema")


def _is(table: sa.TableClause, name: TableName) -> list[ColumnElement[bool]]:
    schema = sa.func.database() if name.schema is None else sa.literal(name.schema)
    return [table.c.table_schema == schema, table.c.table_name == name.table]


def _declared(session: Session, kind: Any) -> str:
    """A type of SQLAlchemy as the server writes it; nothing for one that it does not know."""
    if isinstance(kind, sa.Float):
        return "double"  # what a program calls a float may be one
    try:
        return str(kind.compile(dialect=session.engine.dialect))
    except CompileError:
        return ""


def cell_of(name: str, written: str) -> Cell:
    """The SQL of a column's cells, by its type as the server writes it: `int(10) unsigned`, `enum('a','b')`."""
    form = _FORM.match(written.lower())
    kind, more = ("", "") if form is None else (form["name"], form["more"])
    column = column_of(name)
    shown = kind or "unknown"
    if kind in _INTEGERS and not (kind == "bigint" and "unsigned" in more):
        return Cell(name, shown, pa.int64(), column, column)
    if kind == "bit":  # its cells arrive as bytes
        number: ColumnElement[Any] = sa.cast(column, mysql.INTEGER(unsigned=True))
        if form is not None and form["size"] == "64":
            return _text(name, shown, number)
        return Cell(name, shown, pa.int64(), number, number)
    if kind in ("float", "double", "real"):  # a float is written with six digits, unless it is computed with
        value = sa.type_coerce(column + sa.literal_column("0e0"), _DOUBLE)
        return Cell(name, shown, pa.float32() if kind == "float" else pa.float64(), value, value)
    if kind in _AS_TEXT or kind in _INTEGERS:
        return _text(name, shown, column)
    if kind in _TEXTS:
        return _bytes(name, shown, sa.func.rtrim(column) if kind == "char" else column)
    return Cell.unreadable(name, shown)


def _text(name: str, kind: str, own: ColumnElement[Any]) -> Cell:
    """Cells whose text is made of digits and signs, of which no collation takes two for one."""
    text = sa.cast(own, sa.String(LONGEST))
    return Cell(name, kind, pa.string(), text, text)


def _bytes(name: str, kind: str, own: ColumnElement[Any]) -> Cell:
    text = sa.cast(own, mysql.CHAR(charset="utf8mb4"))
    exact = sa.type_coerce(sa.cast(text, mysql.BINARY()), sa.String())
    return Cell(name, kind, pa.string(), exact, exact)


def is_stable(session: Session, place: Any) -> bool:
    """Whether later statements see the same rows: not in tables of engines without transactions."""
    parts = visitors.iterate(place) if isinstance(place, sa.FromClause) else []
    tables = [TableName(part.name, part.schema) for part in parts if isinstance(part, sa.TableClause)]
    named = [place] if isinstance(place, TableName) else tables
    return bool(named) and all(_is_transactional(session, name) for name in named)


def _is_transactional(session: Session, name: TableName) -> bool:
    """Whether a table is; a view, if all tables of its database are."""
    tables = _information("tables", "table_schema", "table_name", "table_type", "engine")
    engines = _information("engines", "engine", "transactions")
    schema, own = _is(tables, name)
    count = sa.select(sa.func.count()).select_from(tables)
    transactional = sa.select(engines.c.engine).where(engines.c.transactions == "YES")
    others = count.where(schema, tables.c.engine.not_in(transactional))
    is_view = session.connection.scalar(count.where(schema, own, tables.c.table_type == "VIEW"))
    return not session.connection.scalar(others if is_view else others.where(own))
