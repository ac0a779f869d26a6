"""What Great Expectations' engines have of a batch, as our engines of the same kind open it.

A pandas frame and a Spark frame are taken as they are. Of a database the statement is taken, and read on a connection
and a snapshot of our own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from great_expectations.core.metric_domain_types import MetricDomainTypes

from tcdp_audit.plugin.engine import DatabaseTable, UsageError

TEMPORARY = "gx_temp_"  # with what Great Expectations begins the names of its temporary tables
DIALECTS = ("postgresql", "sqlite")  # which tell the types of a statement's columns


def records_of(execution_engine: Any, domain: Mapping[str, Any]) -> Any:
    """The batch, or the part of it that a row condition leaves."""
    records, _, _ = execution_engine.get_compute_domain(dict(domain), domain_type=MetricDomainTypes.TABLE)
    return records


@contextmanager
def frame_of_batch(execution_engine: Any, domain: Mapping[str, Any]) -> Iterator[Any]:
    """The frame of an engine for pandas or Spark."""
    yield records_of(execution_engine, domain)


@contextmanager
def statement_of_batch(execution_engine: Any, domain: Mapping[str, Any]) -> Iterator[DatabaseTable]:
    """The statement of an engine for databases.

    Raises:
        UsageError: only Great Expectations' own connection sees the batch, or it is of another database.
    """
    dialect = execution_engine.engine.dialect.name
    if dialect not in DIALECTS:
        raise UsageError(
            f"expectations of tcdp-audit run on PostgreSQL and SQLite, and not on {dialect}; audit the table with "
            "`tcdp-audit check`, or give Great Expectations a frame"
        )
    statement = _selectable(records_of(execution_engine, domain))
    if TEMPORARY in str(statement):
        raise UsageError(
            "the batch is a temporary table, which no second connection sees; set `create_temp_table=False` on the "
            "data source"
        )
    engine, close = _own_engine(execution_engine.engine)
    try:
        yield DatabaseTable(engine, statement)
    finally:
        close()


def _selectable(records: Any) -> Any:
    """What is selected from: a statement with a row condition is a Select, and all others are tables or subqueries."""
    import sqlalchemy as sa  # noqa: PLC0415 - an extra, which a batch of a database has imported

    if isinstance(records, sa.Select | sa.FromClause):
        return records
    return records.subquery("release")


def _own_engine(engine: Any) -> tuple[Any, Any]:
    """An engine whose connections are not Great Expectations' own, and how to give it back.

    Its engines for SQLite have one connection for everybody; a database in memory has no second one.
    """
    import sqlalchemy as sa  # noqa: PLC0415
    from sqlalchemy.pool import NullPool  # noqa: PLC0415

    if engine.dialect.name != "sqlite" or engine.url.database in (None, "", ":memory:"):
        return engine, _nothing
    own = sa.create_engine(engine.url, poolclass=NullPool)
    return own, own.dispose


def _nothing() -> None:
    """The engine is somebody else's."""
