"""The statements that are sent, built by SQLAlchemy, which alone quotes names. No cell is ever part of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.sql.elements import ColumnElement

from tcdp_audit.plugin.engine import Sampling
from tcdp_audit_plugins.engines.database.address import TableName

COUNT = "records"
WIDE = 64  # columns; rows of more are hardly ever equal, and servers sort them column by column
Relation = Any  # whatever SQLAlchemy selects from
_PLAIN = postgresql.dialect(paramstyle="named")  # type: ignore[no-untyped-call]  # in which `%` is no placeholder


@dataclass(frozen=True)
class Cell:
    """The SQL of a column's cells."""

    column: str  # the column's name
    type: str  # its type as the database calls it
    arrow: pa.DataType | None  # the Arrow type in which they arrive; None for a column that cannot be read
    value: ColumnElement[Any]  # what is selected
    key: ColumnElement[Any]  # what is grouped by; two cells have the same key only where they have the same value
    fault: str = ""  # why it cannot be read

    @classmethod
    def unreadable(cls, column: str, kind: str, fault: str = "") -> Cell:
        """A column whose cells are nested or binary, or cannot be read for another reason."""
        own: ColumnElement[Any] = sa.column(column)
        return cls(column, kind, None, own, own, fault or f"holds nested or binary data ({kind}), not single cells")


def relation_of_table(name: TableName) -> Relation:
    """A table or a view to select from."""
    return sa.table(name.table, schema=name.schema)


def relation_of_query(query: str) -> Relation:
    """A query to select from. Its colons name no parameters, and a comment at its end ends with its line."""
    text = query.strip().rstrip(";").replace(":", "\\:")
    return sa.text(f"({text}\n) AS release")


def no_rows(relation: Relation) -> sa.Select[Any]:
    """All columns and no row: names and types."""
    return sa.select(sa.text("*")).select_from(relation).limit(0)


def grouped(relation: Relation, cells: Sequence[Cell]) -> sa.Select[Any]:
    """The distinct rows of some columns, each with how many records it represents; one statement for all of them.

    Rows of many columns are not counted there: each represents one record.
    """
    if len(cells) > WIDE:
        return sa.select(*_labelled(cells), sa.literal_column("1").label(COUNT)).select_from(relation)
    keys = [cell.key for cell in cells]
    return sa.select(*_labelled(cells), sa.func.count().label(COUNT)).select_from(relation).group_by(*keys)


def records(relation: Relation, cells: Sequence[Cell]) -> sa.Select[Any]:
    """Some columns of every record."""
    return sa.select(*_labelled(cells)).select_from(relation)


def drawn_by(
    cell: Cell, sampling: Sampling, md5: Callable[[ColumnElement[str]], ColumnElement[str]]
) -> ColumnElement[bool] | None:
    """Whether a record is in a sample, by the hash of a cell's text; None where its text here is not its own there.

    `md5` hashes a text in UTF-8 to hexadecimal digits in lower case.
    """
    if cell.arrow not in (pa.int64(), pa.string()):
        return None
    text = sa.literal(sampling.prefix, sa.Text).concat(sa.cast(cell.value, sa.Text))
    return md5(text) < sa.literal(sampling.bound, sa.Text)


def repeats(relation: Relation, cell: Cell) -> sa.Select[Any]:
    """The number of records that have no value of a column, and that of values that occur in more than one record."""
    each = sa.select(cell.value.label("value"), sa.func.count().label(COUNT)).select_from(relation).group_by(cell.key)
    values = each.subquery("each_value")
    value, number = values.c.value, values.c[COUNT]
    missing = sa.case((value.is_(None), number), else_=0)
    repeated = sa.case((sa.and_(value.is_not(None), number > 1), 1), else_=0)
    sums: list[sa.Label[Any]] = [_sum(missing).label("missing"), _sum(repeated).label("repeated")]
    return sa.select(*sums)


def _sum(number: ColumnElement[int]) -> ColumnElement[int]:
    """The sum over all rows; 0 where there are none."""
    return sa.cast(sa.func.coalesce(sa.func.sum(number), 0), sa.BigInteger)


def total(relation: Relation) -> sa.Select[Any]:
    """The number of records."""
    return sa.select(sa.func.count().label(COUNT)).select_from(relation)


def _labelled(cells: Sequence[Cell]) -> list[sa.Label[Any]]:
    """Columns by their position, so that no name of a table's own is taken for an alias."""
    return [cell.value.label(f"c{position}") for position, cell in enumerate(cells)]


def schema_of(cells: Sequence[Cell], *, counts: bool) -> pa.Schema:
    """The Arrow schema in which rows arrive, under the columns' own names."""
    fields = [(cell.column, cell.arrow) for cell in cells]
    return pa.schema([*fields, (COUNT, pa.int64())] if counts else fields)


def as_text(statement: sa.Select[Any]) -> str:
    """A statement as PostgreSQL and DuckDB take it without SQLAlchemy."""
    return str(statement.compile(dialect=_PLAIN, compile_kwargs={"literal_binds": True}))
