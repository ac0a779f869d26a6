"""A table, view or query of a database: its columns, how their cells travel, and the rows of a statement on it.

Other databases: the types of a table's columns as SQLAlchemy knows them.

The tables that one audit, or one session, reads of a database are read on one snapshot.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.sql.elements import ColumnElement, quoted_name

from tcdp_audit.plugin.engine import Column, EngineOpener, Sampling
from tcdp_audit_plugins.engines.database import mysql, postgresql, sqlite
from tcdp_audit_plugins.engines.database.address import TableName
from tcdp_audit_plugins.engines.database.faults import ABSENT, Refused
from tcdp_audit_plugins.engines.database.session import MYSQL, Session
from tcdp_audit_plugins.engines.database.statements import (
    Cell,
    Relation,
    add_functions,
    drawn_by,
    relation_of_query,
    relation_of_table,
    sums_of,
)

# collations under which different texts differ, where the database's own default takes some for one
COLLATIONS = {"mssql": "Latin1_General_100_BIN2", "sqlite": "BINARY"}
LONGEST = 1000  # characters of a number, a time or an identifier
# the first that a type is an instance of
_TYPES: tuple[tuple[type[Any], pa.DataType], ...] = (
    (sa.Boolean, pa.bool_()),
    (sa.Integer, pa.int64()),
    (sa.Float, pa.float64()),
    (sa.Date, pa.date32()),
)
_AS_TEXT = (sa.Numeric, sa.DateTime, sa.Time, sa.Interval, sa.Uuid, sa.Enum, sa.String)


class Source(ABC):
    """The source that the engine reads from."""

    is_stable = True  # whether every statement sees the same
    dialect = ""  # what SQLAlchemy calls the database
    snapshot = ""  # the database's own identifier of the moment that it sees
    full_name: TableName | None = None  # the table with its schema, where the database reports it

    def __init__(self, relation: Relation, columns: Sequence[Column]) -> None:
        self.relation, self.columns = relation, columns

    @abstractmethod
    def cells(self, names: Sequence[str]) -> list[Cell]:
        """The SQL of the cells of some columns."""

    @abstractmethod
    def stream(self, statement: sa.Select[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of a statement, in batches of a schema."""

    def drawn(self, cell: Cell, sampling: Sampling) -> ColumnElement[bool] | None:  # noqa: ARG002 - see there
        """Whether a record is drawn by a cell of it, as the database decides; None where it cannot."""
        return None

    def hashed(self, cells: Sequence[Cell]) -> sa.Select[Any]:
        """The statement of a content hash, over all columns."""
        return sums_of(self.relation, cells, self.dialect)

    @abstractmethod
    def close(self) -> None:
        """Give back the connection."""


class _SessionSource(Source):
    """A source that reads through SQLAlchemy."""

    def __init__(self, shared: SharedSession, relation: Relation, columns: Sequence[Column]) -> None:
        super().__init__(relation, columns)
        self._shared = shared
        self.is_stable = shared.session.is_stable
        self.dialect, self.snapshot = shared.session.engine.dialect.name, shared.session.visible

    def stream(self, statement: sa.Select[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        return self._shared.session.stream(statement, schema)

    def close(self) -> None:
        self._shared.close()


class _TypedSource(_SessionSource):
    def __init__(self, shared: SharedSession, relation: Relation, cells: Sequence[Cell]) -> None:
        super().__init__(shared, relation, [Column(cell.column, cell.type) for cell in cells])
        self._cells = {cell.column: cell for cell in cells}

    def cells(self, names: Sequence[str]) -> list[Cell]:
        return [self._cells[name] for name in names]


class _PostgresqlSource(_TypedSource):
    """PostgreSQL, by ADBC where it is there."""

    def __init__(self, shared: SharedSession, relation: Relation, place: Any) -> None:
        named = TableName(place.name, place.schema) if isinstance(place, sa.Table) else place
        if isinstance(named, TableName) and "schema_translate_map" not in shared.session.engine.get_execution_options():
            self.full_name = postgresql.named_in_full(shared.session, named)
            relation = relation_of_table(self.full_name)
        super().__init__(shared, relation, postgresql.cells_of(shared.session, relation))
        self._adbc = postgresql.Adbc.join(shared.session)

    def stream(self, statement: sa.Select[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        return super().stream(statement, schema) if self._adbc is None else self._adbc.stream(statement, schema)

    def drawn(self, cell: Cell, sampling: Sampling) -> ColumnElement[bool] | None:
        """By the hash of the text in UTF-8, whatever the encoding of the database is."""
        return drawn_by(cell, sampling, lambda text: sa.collate(sa.func.md5(sa.func.convert_to(text, "UTF8")), "C"))

    def close(self) -> None:
        if self._adbc is not None:
            self._adbc.close()
            self._adbc = None
        super().close()


class _SqliteSource(_SessionSource):
    """SQLite, whose cells have types of their own."""

    def __init__(self, shared: SharedSession, relation: Relation, place: Any) -> None:
        names = [name for name, _ in shared.session.described(relation)]
        super().__init__(shared, relation, [Column(name, "of each cell") for name in names])
        self._declared = sqlite.declared_types(shared.session, place)
        self._known: dict[str, Cell] = {}

    def cells(self, names: Sequence[str]) -> list[Cell]:
        """The SQL of the cells of some columns; one scan for those that were not looked at."""
        new = [name for name in names if name not in self._known]
        cells = sqlite.cells_of(self._shared.session, self.relation, new, self._declared)
        self._known |= {cell.column: cell for cell in cells}
        return [self._known[name] for name in names]

    def drawn(self, cell: Cell, sampling: Sampling) -> ColumnElement[bool] | None:
        """By a function of Python's, as SQLite has none."""
        sqlite.add_md5(self._shared.session)
        return drawn_by(cell, sampling, sa.func.md5)

    def hashed(self, cells: Sequence[Cell]) -> sa.Select[Any]:
        """By functions of Python's."""
        sqlite.add_md5(self._shared.session)
        driver: Any = self._shared.session.connection.connection.driver_connection
        add_functions(driver)
        return super().hashed(cells)


def source_of(shared: SharedSession, place: Any) -> Source:
    """The source for a table's name, the text of a query, or a table or statement of SQLAlchemy.

    Raises:
        Refused: there is no such table, or two columns have the same name.
    """
    session = shared.session
    dialect = session.engine.dialect.name
    relation = place if isinstance(place, sa.FromClause) else _relation(session, place)
    if dialect == "postgresql":
        source: Source = _PostgresqlSource(shared, relation, place)
    elif dialect == "sqlite":
        source = _SqliteSource(shared, relation, place)
    elif dialect in MYSQL:
        _require_types(session, place)
        source = _TypedSource(shared, relation, mysql.cells_of(session, relation, place))
        source.is_stable = source.is_stable and mysql.is_stable(session, place)
    else:
        columns = relation.c if isinstance(place, sa.FromClause) else _reflected(session, place)
        source = _TypedSource(shared, relation, [cell_of(column, session.engine.dialect) for column in columns])
    try:
        require_names(source)
    except Refused:
        source.close()
        raise
    return source


def _relation(session: Session, place: TableName | str) -> Relation:
    if isinstance(place, str):
        return relation_of_query(place)
    if not sa.inspect(session.connection).has_table(place.table, schema=place.schema):
        raise Refused(ABSENT)
    return relation_of_table(place, is_folded=session.engine.dialect.requires_name_normalize)


def _reflected(session: Session, place: Any) -> Sequence[sa.ColumnElement[Any]]:
    _require_types(session, place)
    return list(sa.Table(place.table, sa.MetaData(), schema=place.schema, autoload_with=session.connection).columns)


def _require_types(session: Session, place: Any) -> None:
    if isinstance(place, str):
        raise Refused(
            f"the types of a query's columns are not known to {session.engine.dialect.name}; make a view of it, and "
            "give `?table=VIEW`"
        )


def require_names(source: Source) -> None:
    """Raise Refused where two columns have the same name."""
    names = [column.name for column in source.columns]
    twice = ", ".join(repr(name) for name, times in Counter(names).items() if times > 1)
    if twice:
        raise Refused(f"the column name {twice} occurs more than once; rename all but one")


def cell_of(column: sa.ColumnElement[Any], dialect: sa.Dialect) -> Cell:
    """The SQL of a column's cells: numbers and truth values as they are, all else as the database's text."""
    name, kind = str(column.key), column.type
    plain = sa.Float(asdecimal=False) if isinstance(kind, sa.Float) else kind  # some come as decimals of ten digits
    written = name if dialect.requires_name_normalize else quoted_name(name, quote=True)
    own: ColumnElement[Any] = sa.column(written, plain)
    for known, arrow in _TYPES:
        if isinstance(kind, known):
            return Cell(name, _shown(kind), arrow, own, own)
    if not isinstance(kind, _AS_TEXT):
        return Cell.unreadable(name, _shown(kind))
    text = own if isinstance(kind, sa.String) else sa.cast(own, sa.String(LONGEST))
    exact = sa.collate(text, COLLATIONS[dialect.name]) if dialect.name in COLLATIONS else text
    return Cell(name, _shown(kind), pa.string(), exact, exact)


def _shown(kind: Any) -> str:
    return str(type(kind).__name__).upper()


@dataclass
class _Open:
    session: Session
    users: int = 0


_OPEN: dict[Hashable, _Open] = {}
_GUARD = threading.Lock()


class SharedSession:
    """One user's hold on a session; the last one to let go closes it.

    Args:
        database: identifies the database: an address, or an engine. Audits do not share, as one may begin long after
            another.
        connect: opens the session where none is open.
    """

    def __init__(self, database: Hashable, connect: Callable[[], Session]) -> None:
        self._key = (database, EngineOpener.reader())
        with _GUARD:
            entry = _OPEN.get(self._key) or _Open(connect())
            entry.users += 1
            _OPEN[self._key] = entry
        self.session = entry.session
        self._holds = True

    def close(self) -> None:
        """Let go."""
        with _GUARD:
            if not self._holds:
                return
            self._holds = False
            entry = _OPEN[self._key]
            entry.users -= 1
            if entry.users:
                return
            del _OPEN[self._key]
        entry.session.close()
