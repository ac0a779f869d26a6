"""PostgreSQL: the types of its columns, and the second way on which rows travel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.sql.elements import ColumnElement

from tcdp_audit_plugins.engines.database.address import TableName
from tcdp_audit_plugins.engines.database.session import Session, cast_to
from tcdp_audit_plugins.engines.database.statements import Cell, Relation, as_text, column_of

_AS_THEY_ARE = {
    "bool": pa.bool_(),
    "int2": pa.int64(),
    "int4": pa.int64(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
}
_ONE_TEXT_EACH = {"date", "timestamp", "timestamptz", "uuid"}  # of which equal values have equal texts
_BINARY = {"bytea", "json", "jsonb", "xml", "tsvector", "tsquery"}
FIRST_OF_USERS = 16_384  # the lowest number of what users define, types among it
_NESTED = {"c", "r", "m"}  # composite types, ranges, multiranges


def named_in_full(session: Session, name: TableName) -> TableName:
    """A table with the schema in which the server finds it: an option of the address can set where it looks."""
    parts = [part.replace('"', '""') for part in (name.schema, name.table) if part is not None]
    relation, schema = (
        _catalogue("pg_class", "oid", "relname", "relnamespace"),
        _catalogue("pg_namespace", "oid", "nspname"),
    )
    resolved = sa.func.pg_catalog.to_regclass(".".join(f'"{part}"' for part in parts))
    row = session.connection.execute(
        sa.select(relation.c.relname, schema.c.nspname)
        .join_from(relation, schema, schema.c.oid == relation.c.relnamespace)
        .where(relation.c.oid == resolved)
    ).one_or_none()
    return name if row is None else TableName(str(row[0]), str(row[1]))


def cells_of(session: Session, relation: Relation) -> list[Cell]:
    """The columns of a table, view or query. One look at the catalogue, none at a row."""
    described = [(name, int(code)) for name, code in session.described(relation)]
    types = _types(session, {oid for _, oid in described})
    return [_cell(name, types[oid]) for name, oid in described]


@dataclass(frozen=True)
class _Type:
    """A type of the catalogue. Users may give theirs the name of a built-in one: only numbers distinguish them."""

    name: str
    is_built_in: bool
    is_nested: bool


def _types(session: Session, oids: set[int]) -> dict[int, _Type]:
    types = _catalogue("pg_type", "oid", "typname", "typcategory", "typtype")
    rows: Iterable[Any] = session.connection.execute(
        sa.select(*types.c.values()).where(types.c.oid.in_(sorted(oids)))  # numbers of types, no names
    )
    return {
        int(oid): _Type(str(name), int(oid) < FIRST_OF_USERS, str(category) == "A" or str(kind) in _NESTED)
        for oid, name, category, kind in rows
    }


def _catalogue(table: str, *columns: str) -> sa.TableClause:
    return sa.table(table, *map(sa.column, columns), schema="pg_catalog")


def _cell(name: str, kind: _Type) -> Cell:
    column = column_of(name)
    if kind.is_nested or (kind.is_built_in and kind.name in _BINARY):
        return Cell.unreadable(name, kind.name)
    if kind.is_built_in and kind.name in _AS_THEY_ARE:
        return Cell(name, kind.name, _AS_THEY_ARE[kind.name], column, column)
    own = sa.cast(column, sa.Text) if kind.is_built_in else _output(column)
    text: ColumnElement[Any] = sa.collate(own, "C")  # some collations take different texts for one
    key = column if kind.is_built_in and kind.name in _ONE_TEXT_EACH else text
    return Cell(name, kind.name, pa.string(), text, key)


def _output(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """The text in which a type of users is exported: a cast to text may be a function of theirs that merges values."""
    return sa.case((column.is_not(None), sa.func.pg_catalog.format(sa.literal_column("'%s'"), column)))


class Adbc:
    """A connection of the ADBC driver, on the snapshot of a session. Rows arrive as Arrow and never pass Python."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @classmethod
    def join(cls, session: Session) -> Adbc | None:
        """Connect in addition to a session; None where the driver is missing, or cannot connect in its own way.

        Nothing has been read by then: the rows travel over the session's own connection instead.
        """
        try:
            from adbc_driver_postgresql import dbapi  # noqa: PLC0415 - an extra
        except ImportError:
            return None
        if session.snapshot is None or not session.snapshot.replace("-", "").isalnum() or "\\" in str(session.path):
            return None
        with suppress(Exception):
            return cls(_settled(dbapi.connect(_as_libpq(session.engine.url)), session.snapshot, session.settings))
        return None

    def stream(self, statement: sa.Select[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of a statement as Arrow."""
        with self._connection.cursor() as cursor:
            cursor.execute(as_text(statement))
            for batch in cursor.fetch_record_batch():
                yield cast_to(batch, schema)

    def close(self) -> None:
        """Close the connection, dead or alive."""
        with suppress(Exception):
            self._connection.close()


def _as_libpq(url: sa.URL) -> str:
    """An address as PostgreSQL's own library reads it, for which a plus sign is no blank."""
    before, mark, options = url.set(drivername="postgresql").render_as_string(hide_password=False).partition("?")
    return before + mark + options.replace("+", "%20")


def _settled(connection: Any, snapshot: str, settings: Sequence[str]) -> Any:
    """A connection that sees what the session sees. A snapshot's name is made of digits, letters and hyphens."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            cursor.execute(f"SET TRANSACTION SNAPSHOT '{snapshot}'")
            for statement in settings:
                cursor.execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection
