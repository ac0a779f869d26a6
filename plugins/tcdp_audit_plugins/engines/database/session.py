"""A connection with one snapshot: what it selects, and whatever joins it, sees the database of one moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from tcdp_audit_plugins.engines.database.faults import TIMEOUT, Refused
from tcdp_audit_plugins.engines.database.statements import Relation, no_rows

ROWS = 8_192  # that are fetched at a time: their cells stay in the processor's cache until they are Arrow
STABLE = ("REPEATABLE READ", "SNAPSHOT", "SERIALIZABLE")  # the levels of isolation with one snapshot, weakest first
_STREAMED = {"stream_results": True, "yield_per": ROWS}
# of PostgreSQL: texts of dates and times that do not depend on the server, and a plan for all rows of a cursor
SETTINGS = {
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "cursor_tuple_fraction": "1",
    "idle_in_transaction_session_timeout": "0",
    "row_security": "off",  # the server refuses where a policy would hide rows
}
# likewise: `text`, `"C"` and `count` are the server's own, wherever an address or a role says to look first
_PATH = "pg_catalog.rtrim(pg_catalog.concat('pg_catalog, ', pg_catalog.current_setting('search_path')), ', ')"
_SET_PATH = "SELECT pg_catalog.set_config('search_path', {path}, true)"


MYSQL = ("mysql", "mariadb")  # the dialects of both servers
_MYSQL_SNAPSHOT = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"


@dataclass
class Session:
    """A transaction that is held open until it is no longer needed."""

    engine: sa.Engine  # the database
    timeout: float | None = None  # seconds that a statement may take
    connection: sa.Connection = field(init=False)
    is_stable: bool = field(init=False)
    snapshot: str | None = field(init=False, default=None)  # by which other connections join it
    visible: str = field(init=False, default="")  # PostgreSQL's identifier of what it sees
    _own: str | None = field(init=False, default=None)  # MySQL's time zone before
    path: str | None = field(init=False, default=None)  # PostgreSQL's search_path

    def __post_init__(self) -> None:
        """Connect, and take the snapshot."""
        connection = self.engine.connect()
        try:
            self.is_stable = self._begin(connection)
        except BaseException:
            connection.close()
            raise
        self.connection = connection
        if self.engine.dialect.name == "postgresql":
            self.path = str(connection.exec_driver_sql("SELECT pg_catalog.current_setting('search_path')").scalar())
            self._export()

    def _begin(self, connection: sa.Connection) -> bool:
        """Begin to read; whether every later statement sees the same."""
        if self.engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN")
            connection.exec_driver_sql("SELECT 1 FROM sqlite_master").close()  # the snapshot begins with a read
            return True
        level = self._level(connection)
        if level is not None:
            options = {"postgresql_readonly": True} if self.engine.dialect.name == "postgresql" else {}
            connection.execution_options(isolation_level=level, **options)
        if self.engine.dialect.name in MYSQL:
            self._own = connection.exec_driver_sql("SELECT @@session.time_zone").scalar()
        for statement in self.settings:
            connection.exec_driver_sql(statement)
        return level is not None

    def _export(self) -> None:
        """Let other connections join the snapshot, where the server can: not every one that speaks PostgreSQL does."""
        try:
            self.snapshot = str(self.connection.scalar(sa.select(sa.func.pg_export_snapshot())))
            self.visible = str(self.connection.scalar(sa.select(sa.cast(sa.func.txid_current_snapshot(), sa.Text))))
        except DBAPIError:
            self.connection.rollback()
            self.is_stable = self._begin(self.connection)

    def _level(self, connection: sa.Connection) -> Any:
        driver: Any = connection.connection.dbapi_connection
        try:
            known = self.engine.dialect.get_isolation_level_values(driver)
        except NotImplementedError:
            return None
        return next((level for level in STABLE if level in known), None)

    @property
    def settings(self) -> list[str]:
        """The statements that begin a transaction on the snapshot."""
        if self.engine.dialect.name in MYSQL:
            return [*self._limit_of_mysql(), "SET time_zone = '+00:00'", _MYSQL_SNAPSHOT]
        if self.engine.dialect.name != "postgresql":
            return []
        chosen = [f"SET LOCAL {name} = '{value}'" for name, value in SETTINGS.items()]
        limit = [] if self.timeout is None else [f"SET LOCAL statement_timeout = {round(self.timeout * 1000)}"]
        path = _PATH if self.path is None else "'" + self.path.replace("'", "''") + "'"
        return [*chosen, *limit, _SET_PATH.format(path=path)]

    def _limit_of_mysql(self) -> list[str]:
        dialect: Any = self.engine.dialect
        if self.timeout is None:
            return []
        if dialect.is_mariadb:
            return [f"SET max_statement_time = {self.timeout}"]
        return [f"SET max_execution_time = {round(self.timeout * 1000)}"]

    def stream(self, statement: sa.Select[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of a statement as Arrow, a few thousand at a time, never all of them at once."""
        with deadline(self.timeout, self._interrupt) as require_time:
            result = self.connection.execute(statement, execution_options=_STREAMED)
            try:
                decoders = _decoders(result, statement)
                for rows in _fetched(result):
                    require_time()
                    yield _batch(rows, decoders, schema)
            finally:
                result.close()
            require_time()

    def described(self, relation: Relation) -> list[tuple[str, Any]]:
        """The name of each column, and its type as the driver reports it. No look at a row."""
        with deadline(self.timeout, self._interrupt):
            result = self.connection.execute(no_rows(relation))
            cursor: Any = result.cursor
            columns = [(str(column[0]), column[1]) for column in cursor.description]
            result.close()
            return columns

    def row(self, statement: sa.Select[Any]) -> list[Any]:
        """The only row of a statement."""
        with deadline(self.timeout, self._interrupt):
            return list(self.connection.execute(statement).one())

    def _interrupt(self) -> None:
        """Stop what runs, where the driver can: SQLite has no timeout of its own."""
        with suppress(Exception):  # it has ended by now, or cannot be stopped
            driver: Any = self.connection.connection.driver_connection
            driver.interrupt()

    def close(self) -> None:
        """Give the connection back, dead or alive."""
        with suppress(Exception):  # what a driver says of a dead one; nothing is read any more
            if self._own is not None:  # a program goes on with the connection
                self.connection.rollback()
                self.connection.execute(sa.text("SET time_zone = :own"), {"own": self._own})
        with suppress(Exception):
            self.connection.close()


Decoder = Callable[[Any], Any]


def _decoders(result: Any, statement: sa.Select[Any]) -> list[Decoder | None]:
    """The conversion of a driver's cell to its column's type; None where it has that type already."""
    described = zip(statement.selected_columns, result.cursor.description, strict=True)
    return [result.context.get_result_processor(column.type, name, code) for column, (name, code, *_) in described]


def _fetched(result: Any) -> Iterator[Sequence[Sequence[Any]]]:
    """The driver's own rows: SQLAlchemy's cost more than all that is done with them here."""
    while rows := result.cursor_strategy.fetchmany(result, result.cursor, ROWS):
        yield rows


def _batch(rows: Sequence[Sequence[Any]], decoders: Sequence[Decoder | None], schema: pa.Schema) -> pa.RecordBatch:
    cells = list(chain.from_iterable(rows))
    columns = [cells[position :: len(schema)] for position in range(len(schema))]
    decoded = [column if one is None else list(map(one, column)) for column, one in zip(columns, decoders, strict=True)]
    arrays = [pa.array(column, field.type) for column, field in zip(decoded, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def cast_to(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch in the types of a schema, column by column."""
    columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


class deadline:  # noqa: N801 - used like a function
    """A limit on the time that a statement takes, where the server's own does not cover it.

    Args:
        seconds: the limit; None for none.
        interrupt: stops the statement from another thread.
    """

    def __init__(self, seconds: float | None, interrupt: Callable[[], None]) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self._timer = None if seconds is None else threading.Timer(seconds, interrupt)

    def __enter__(self) -> Callable[[], None]:
        """Start the clock; what is returned raises once the time is over."""
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self._require

    def _require(self) -> None:
        if self._end is not None and time.monotonic() > self._end:
            raise Refused(TIMEOUT)

    def __exit__(self, *_: object) -> None:
        """Stop the clock."""
        if self._timer is not None:
            self._timer.cancel()
