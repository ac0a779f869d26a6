"""Opening a table of a database by its address, or through an engine that the caller has."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.pool import NullPool

from tcdp_audit.plugin.engine import DataError, Engine, UsageError
from tcdp_audit_plugins.engines.database import sqlite
from tcdp_audit_plugins.engines.database.address import Address, TableName, database_uri, parse, table_name
from tcdp_audit_plugins.engines.database.engine import DatabaseEngine
from tcdp_audit_plugins.engines.database.faults import FILE, OPENING, QUERY, opening
from tcdp_audit_plugins.engines.database.session import Session
from tcdp_audit_plugins.engines.database.source import SharedSession, Source, source_of

if TYPE_CHECKING:
    from tcdp_audit.plugin.engine import DatabaseTable

PATIENCE = 10  # seconds to wait for a server that does not answer


def opened(release: str | DatabaseTable, memory: int) -> Engine:
    """An engine over an address or a `DatabaseTable`.

    Raises:
        UsageError: the address is wrong, the server does not let one in, or there is no such table.
        DataError: it has no usable columns.
    """
    if not isinstance(release, str):
        return _of_engine(release, memory)
    address = parse(release)
    is_file = address.url.get_backend_name() in ("sqlite", "duckdb")
    with opening(address.uri, QUERY if isinstance(address.place, Path) else FILE if is_file else OPENING):
        return _checked(_source(address, memory), address.name, address.uri, memory)


def _source(address: Address, memory: int) -> Source:
    place = _query(address.place) if isinstance(address.place, Path) else address.place
    if address.url.get_backend_name() == "duckdb":
        from tcdp_audit_plugins.engines.database.duckdb_file import DuckDBFile  # noqa: PLC0415 - only for its files

        return DuckDBFile(Path(address.url.database or ""), place, address.timeout, memory)
    shared = SharedSession((address.url, address.timeout), lambda: Session(_connected(address.url), address.timeout))
    return _of_session(shared, place)


def _of_session(shared: SharedSession, place: Any) -> Source:
    try:
        return source_of(shared, place)
    except BaseException:
        shared.close()
        raise


def _connected(url: sa.URL) -> sa.Engine:
    if url.get_backend_name() == "sqlite":
        return sqlite.engine_of_file(url)
    is_postgresql = url.get_backend_name() == "postgresql"
    patience = {"connect_timeout": PATIENCE} if is_postgresql and "connect_timeout" not in url.query else {}
    engine = sa.create_engine(url, connect_args=patience, poolclass=NullPool, hide_parameters=True)
    event.listen(engine, "handle_error", _close_cursor)
    return engine


def _close_cursor(context: sa.ExceptionContext) -> None:
    """Close the cursor of a statement that failed: on a broken connection SQLAlchemy leaves it open."""
    cursor: Any = getattr(context.execution_context, "cursor", None)
    with suppress(Exception):
        cursor.close()


def _query(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        text = ""
    except OSError as error:
        raise UsageError(f"{path}: the query cannot be read: {error.strerror}") from None
    if not text.strip(" \n\r\t;"):
        raise UsageError(f"{path}: holds no query; write one SELECT statement in UTF-8")
    return text


def _of_engine(given: DatabaseTable, memory: int) -> Engine:
    place = table_name(given.table) if isinstance(given.table, str) else given.table
    if place is None:
        raise UsageError("the table's name is not one; write SCHEMA.TABLE, odd names quoted")
    if isinstance(place, sa.Select):
        place = place.subquery("release")
    if not isinstance(place, TableName | sa.FromClause) or not isinstance(given.engine, sa.Engine):
        raise UsageError("a DatabaseTable takes an sqlalchemy.Engine, and a Table, a Select or the name of a table")
    name = str(getattr(place, "fullname", None) or (place if isinstance(place, TableName) else "query"))
    uri = f"{database_uri(given.engine.url)}?table={name}"
    with opening(uri):
        if given.engine.dialect.name == "duckdb":
            return _checked(_of_duckdb(given.engine, place), name, uri, memory)
        shared = SharedSession(id(given.engine), lambda: Session(given.engine))
        return _checked(_of_session(shared, place), name, uri, memory)


def _of_duckdb(engine: sa.Engine, place: Any) -> Source:
    """A source on a connection of its own to the database that an engine has open, in memory too."""
    from tcdp_audit_plugins.engines.database.duckdb_file import DuckDBSource  # noqa: PLC0415 - as above

    connection = engine.raw_connection()
    try:
        driver: Any = connection.driver_connection
        return DuckDBSource(driver.duplicate(), place)
    finally:
        connection.close()


def _checked(source: Source, name: str, uri: str, memory: int) -> Engine:
    if not source.columns:
        source.close()
        raise DataError(f"{name}: the table has no columns")
    if source.full_name is not None:
        uri = f"{uri.rpartition('?table=')[0]}?table={source.full_name.in_address}"
    return DatabaseEngine(source, name, uri, memory)
