"""PostgreSQL: the types of its columns, and the second way on which rows travel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.sql.elements import ColumnElement

from tcdp_audit_plugins.engines.database.session import Session, cast_to
from tcdp_audit_plugins.engines.database.statements import Cell, Relation, as_text

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
_NESTED = {"c", "r", "m"}  # composite types, ranges, multiranges


def cells_of(session: Session, relation: Relation) -> list[Cell]:
    """The columns of a table, view or query. One look at the catalogue, none at a row."""
    described = [(name, int(code)) for name, code in session.described(relation)]
    types = _types(session, {oid for _, oid in described})
    return [_cell(name, *types[oid]) for name, oid in described]


def _types(session: Session, oids: set[int]) -> dict[int, tuple[str, bool]]:
    """The name of each type, and whether it has single values."""
    catalogue = sa.table("pg_type", *map(sa.column, ("oid", "typname", "typcategory", "typtype")), schema="pg_catalog")
    rows: Iterable[Any] = session.connection.execute(
        sa.select(*catalogue.c.values()).where(catalogue.c.oid.in_(sorted(oids)))  # numbers of types, no names
    )
    return {
        int(oid): (str(name), str(category) != "A" and str(kind) not in _NESTED and str(name) not in _BINARY)
        for oid, name, category, kind in rows
    }


def _cell(name: str, kind: str, is_single: bool) -> Cell:  # noqa: FBT001
    column: ColumnElement[Any] = sa.column(name)
    if kind in _AS_THEY_ARE:
        return Cell(name, kind, _AS_THEY_ARE[kind], column, column)
    if not is_single:
        return Cell.unreadable(name, kind)
    text: ColumnElement[Any] = sa.collate(sa.cast(column, sa.Text), "C")  # some collations take different texts for one
    key = column if kind in _ONE_TEXT_EACH else text
    return Cell(name, kind, pa.string(), text, key)


class Adbc:
    """A connection of the ADBC driver, on the snapshot of a session. Rows arrive as Arrow and never pass Python."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @classmethod
    def join(cls, session: Session) -> Adbc | None:
        """Connect beside a session; None where the driver is missing, or cannot connect in its own way.

        Nothing has been read by then: the rows travel over the session's own connection instead.
        """
        try:
            from adbc_driver_postgresql import dbapi  # noqa: PLC0415 - an extra
        except ImportError:
            return None
        if session.snapshot is None or not session.snapshot.replace("-", "").isalnum():
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
