"""The content hash of a table: the MD5s of its rows, added up where the table is stored, whatever their order.

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
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.types import UserDefinedType

from tcdp_audit_plugins.engines.database.faults import Refused
from tcdp_audit_plugins.engines.database.statements import Cell, Relation

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
    """What databases write in ways of their own.

    Args:
        size: the name of the function that counts the bytes of a text.
        number: the number that sixteen hexadecimal digits stand for.
        binary: the text of a cell that cannot be read otherwise.
    """

    size: str
    number: Callable[[Expression], Expression]
    binary: Callable[[Expression], Expression]

    def texts(self, cells: Sequence[Cell]) -> list[Expression]:
        """The text of each cell, with its size before it."""
        own = [
            sa.cast(cell.value, sa.Text) if cell.arrow is not None else self.binary(sa.column(cell.column))
            for cell in cells
        ]
        size = getattr(sa.func, self.size)
        return [
            sa.case((text.is_(None), _literal("-")), else_=sa.func.concat(size(text), _literal(":"), text))
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
        columns: list[Expression] = [sa.column(cell.column) for cell in cells]
        some = [sa.func.tcdp_cells(*columns[at : at + ARGUMENTS]) for at in range(0, len(columns), ARGUMENTS)]
        return reduce(lambda before, after: before.concat(after), some)

    def total(self, digits: Expression) -> Expression:
        """The sum of numbers over all rows."""
        return sa.func.tcdp_sum(digits)


def _literal(text: str) -> Expression:
    return sa.literal_column(f"'{text}'")


def _as_text(cell: Expression) -> Expression:
    return sa.cast(cell, sa.Text)


def _postgresql(digits: Expression) -> Expression:
    return sa.cast(sa.cast(_literal("x").concat(digits), postgresql.BIT(64)), sa.BigInteger)


def _duckdb(digits: Expression) -> Expression:
    return sa.cast(_literal("0x").concat(digits), _UnsignedInteger)


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
