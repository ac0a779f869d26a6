"""Databases: a table, a view or a query, wherever SQLAlchemy or the embedded library can reach it.

address, source      where the table is; its columns
session              a connection and its snapshot, for all tables of one database
statements           what is sent
postgresql, sqlite, duckdb_file   the types of each database, and how its rows travel
faults               what drivers raise, as sentences
engine               the engine: one grouped query, held locally
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any

from tcdp_audit.plugin._internal import scheme_of
from tcdp_audit.plugin.engine import DatabaseTable, Engine, EngineOpener, UsageError

__all__ = ["DATABASE", "DatabaseTable"]

DIALECTS = frozenset(
    ("postgresql", "postgres", "sqlite", "duckdb", "mysql", "mariadb", "oracle", "mssql", "snowflake", "bigquery")
)


def is_database(release: Any) -> bool:
    """Whether something is the address of a database's table, or a `DatabaseTable`. Imports nothing."""
    if isinstance(release, DatabaseTable):
        return True
    dialect = scheme_of(release).partition("+")[0]
    return bool(dialect) and (dialect in DIALECTS or dialect in _installed())


@cache
def _installed() -> frozenset[str]:
    """The dialects that other packages bring."""
    return frozenset(entry.name.partition(".")[0] for entry in entry_points(group="sqlalchemy.dialects"))


def open_database(release: Any, name: str, memory: int) -> Engine:
    """An engine for what `is_database` accepts; `name` is not used, as a table has one of its own.

    Raises:
        UsageError: the address is wrong, the server does not let one in, or there is no such table.
    """
    if find_spec("sqlalchemy") is None:
        scheme = scheme_of(release)
        extra = "postgresql" if scheme.startswith("postgres") else "sql"
        raise UsageError(f'{f"{scheme}://…" if scheme else name}: needs SQLAlchemy; pip install "tcdp-audit[{extra}]"')
    from tcdp_audit_plugins.engines.database.opening import opened  # noqa: PLC0415 - SQLAlchemy is an extra

    return opened(release, memory)


DATABASE = EngineOpener(
    name="database",
    title="Databases",
    summary="A table, view or query of a database, as `DIALECT://HOST/DATABASE?table=SCHEMA.TABLE`",
    accepts=is_database,
    open=open_database,
)
