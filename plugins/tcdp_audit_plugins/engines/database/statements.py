"""The statements that are sent, built by SQLAlchemy, which alone quotes names. No cell is ever part of one.

The content hash of a table is made of the MD5s of its rows, added up where the table is stored, whatever their order.

The text of a row has for each column, in the table's order, `-` for a null, and otherwise the number of bytes of the
cell's text, a colon, and the text. The first and the last sixteen digits of the MD5 of this text are two numbers, and
each is added up over all rows, modulo 2^64. The hash is the SHA-256 of a line of JSON with the names of the columns, a
line with the number of rows, and a line with both sums in hexadecimal digits.

Sums do not depend on the order of rows, and two equal rows do not cancel each other. Sums of hashes can be forged by
who may choose many rows, so the hash identifies a table against change by accident only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.sql.elements import ColumnElement, quoted_name
from sqlalchemy.types import UserDefinedType

from tcdp_audit.plugin.engine import Sampling
from tcdp_audit_plugins.engines.database.address import TableName
from tcdp_audit_plugins.engines.database.faults import Refused

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
        own = column_of(column)
        return cls(column, kind, None, own, own, fault or f"holds nested or binary data ({kind}), not single cells")


def column_of(name: str) -> ColumnElement[Any]:
    """A column, always quoted: SQLAlchemy's lists of reserved words lack some of DuckDB, PostgreSQL and SQLite."""
    return sa.column(quoted_name(name, quote=True))


def relation_of_table(name: TableName, *, is_folded: bool = False) -> Relation:
    """A table or a view to select from, always quoted.

    Args:
        name: its name, and its schema; one with a dot is quoted as the database's dialect does, part by part.
        is_folded: whether a name in lower case means one in upper case, as in Oracle and Snowflake: quotes would
            make it another, so SQLAlchemy quotes what has to be.
    """
    if is_folded:
        return sa.table(name.table, schema=name.schema)
    schema = name.schema if name.schema is None or "." in name.schema else quoted_name(name.schema, quote=True)
    return sa.table(quoted_name(name.table, quote=True), schema=schema)


def relation_of_query(query: str) -> Relation:
    """A query to select from. Its colons name no parameters, and a comment at its end ends with its line."""
    text = query.strip().rstrip(";").replace(":", "\\:")
    return sa.text(f'({text}\n) AS "release"')


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


SUMS = pa.schema([(name, pa.string()) for name in ("rows", "hashed", "upper", "lower")])
ARGUMENTS = 50  # of a function: the least limit is PostgreSQL's, 100
DIGITS = 16  # of a half of an MD5
TOO_LONG = "a row has more bytes than the database's functions take, so there is no content hash; leave --digest out"
Expression = ColumnElement[Any]


class _UnsignedInteger(UserDefinedType[int]):
    """DuckDB's integers from 0 to 2^64 - 1."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        """The name of the type."""
        return "UBIGINT"


@dataclass(frozen=True)
class _Functions:
    """The parts of the statement that each database writes in its own way.

    Args:
        size: the name of the function that counts the bytes of a text.
        number: the number of sixteen hexadecimal digits.
        binary: the text of a cell that cannot be read otherwise.
    """

    size: str
    number: Callable[[Expression], Expression]
    binary: Callable[[Expression], Expression]

    def texts(self, cells: Sequence[Cell]) -> list[Expression]:
        """The text of each cell, with its size before it."""
        own = [
            sa.cast(cell.value, sa.Text) if cell.arrow is not None else self.binary(column_of(cell.column))
            for cell in cells
        ]
        size = getattr(sa.func, self.size)
        return [
            sa.case((text.is_(None), _text_literal("-")), else_=sa.func.concat(size(text), _text_literal(":"), text))
            for text in own
        ]

    def row(self, cells: Sequence[Cell]) -> Expression:
        """The text of a row."""
        texts = self.texts(cells)
        while len(texts) > 1:
            texts = [sa.func.concat(*texts[at : at + ARGUMENTS]) for at in range(0, len(texts), ARGUMENTS)]
        return texts[0]

    def total(self, digits: Expression) -> Expression:
        """The sum of numbers over all rows."""
        return sa.func.sum(self.number(digits))


class _PythonFunctions(_Functions):
    """SQLite's, which Python has to bring; see `add_functions`. They see each cell as it is stored."""

    def row(self, cells: Sequence[Cell]) -> Expression:
        """The text of a row, whatever kinds of cells it has."""
        columns: list[Expression] = [column_of(cell.column) for cell in cells]
        some = [sa.func.tcdp_cells(*columns[at : at + ARGUMENTS]) for at in range(0, len(columns), ARGUMENTS)]
        return reduce(lambda before, after: before.concat(after), some)

    def total(self, digits: Expression) -> Expression:
        """The sum of numbers over all rows."""
        return sa.func.tcdp_sum(digits)


def _text_literal(text: str) -> Expression:
    return sa.literal_column(f"'{text}'")


def _as_text(cell: Expression) -> Expression:
    return sa.cast(cell, sa.Text)


def _postgresql(digits: Expression) -> Expression:
    return sa.cast(sa.cast(_text_literal("x").concat(digits), postgresql.BIT(64)), sa.BigInteger)


def _duckdb(digits: Expression) -> Expression:
    return sa.cast(_text_literal("0x").concat(digits), _UnsignedInteger)


def _mysql(digits: Expression) -> Expression:
    return sa.cast(sa.func.conv(digits, 16, 10), sa.Numeric(20, 0))


_MYSQL = _Functions("length", _mysql, sa.func.hex)
_FUNCTIONS = {
    "postgresql": _Functions("octet_length", _postgresql, _as_text),
    "duckdb": _Functions("strlen", _duckdb, _as_text),
    "sqlite": _PythonFunctions("", lambda digits: digits, _as_text),
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
}
HASHED = tuple(_FUNCTIONS)  # the dialects of SQLAlchemy that have a content hash


def sums_of(relation: Relation, cells: Sequence[Cell], dialect: str) -> sa.Select[Any]:
    """The statement whose only row has the number of rows, of those with a hash, and the sums of both halves."""
    functions = _FUNCTIONS[dialect]
    each = sa.select(sa.func.md5(functions.row(cells)).label("h")).select_from(relation).subquery("each_row")
    halves = [sa.func.substr(each.c.h, start, DIGITS) for start in (1, 1 + DIGITS)]
    numbers = [sa.func.count(), sa.func.count(each.c.h), *(sa.func.coalesce(functions.total(one), 0) for one in halves)]
    texts: list[sa.Label[Any]] = [
        sa.cast(number, sa.Text).label(f"{name}_text") for number, name in zip(numbers, SUMS.names, strict=True)
    ]
    return sa.select(*texts)


def hash_of(names: Sequence[str], answer: pa.Table) -> str:
    """The content hash of a table with columns of these names, from the answer to `sums_of`.

    Raises:
        Refused: a row is too long for the database.
    """
    rows, hashed, upper, lower = (int(column[0].as_py()) for column in answer.columns)
    if rows != hashed:
        raise Refused(TOO_LONG)
    sums = "".join(f"{number % 2**64:0{DIGITS}x}" for number in (upper, lower))
    return hashlib.sha256(f"{json.dumps(list(names), ensure_ascii=False)}\n{rows}\n{sums}\n".encode()).hexdigest()


def add_functions(driver: Any) -> None:
    """Give a connection to SQLite the functions of `_PythonFunctions`, apart from MD5."""
    driver.create_function("tcdp_cells", -1, _cells, deterministic=True)
    driver.create_aggregate("tcdp_sum", 1, _Sum)


def _cells(*cells: Any) -> str:
    return "".join(map(_cell, cells))


def _cell(cell: Any) -> str:
    """A cell with its size: `1` as text, 1, 1.0 and a blob are four texts, as a column can hold them all."""
    if cell is None:
        return "-"
    text = f"'{cell}'" if isinstance(cell, str) else f"x'{cell.hex()}'" if isinstance(cell, bytes) else repr(cell)
    return f"{len(text.encode())}:{text}"


class _Sum:
    """The sum of numbers in hexadecimal digits."""

    def __init__(self) -> None:
        self._sum = 0

    def step(self, digits: str) -> None:
        """Add one."""
        self._sum += int(digits, 16)

    def finalize(self) -> str:
        """The sum in decimal digits."""
        return str(self._sum)
