"""Spark's columns: which have single cells, and how a cell leaves the cluster."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import StringType, StructField

from tcdp_audit.plugin.engine import DataError

# what Arrow carries and what has one cell: everything else is nested, binary, or unknown
CELLS = {
    "BooleanType",
    "ByteType",
    "CharType",
    "DateType",
    "DayTimeIntervalType",
    "DecimalType",
    "DoubleType",
    "FloatType",
    "IntegerType",
    "LongType",
    "NullType",
    "ShortType",
    "StringType",
    "TimeType",
    "TimestampNTZType",
    "TimestampType",
    "VarcharType",
}


def alias(position: int) -> str:
    """What a column is called inside a plan: no name of the table is ever part of an expression."""
    return f"c{position}"


def has_cells(field: StructField) -> bool:
    """Whether a column holds single cells."""
    return type(field.dataType).__name__ in CELLS


def require_cells(field: StructField, table: str) -> None:
    """Insist on a column of single cells.

    Raises:
        DataError: it holds nested or binary data.
    """
    if not has_cells(field):
        kind = field.dataType.typeName()
        raise DataError(f"{table}: column {field.name!r} holds nested or binary data ({kind}), not single cells")


def cell(field: StructField, position: int) -> Any:
    """A column's cells as they are grouped: exactly, whatever collation a text has."""
    column, kind = F.col(alias(position)), field.dataType
    if isinstance(kind, StringType) and not kind.isUTF8BinaryCollation():
        column = F.collate(column, "UTF8_BINARY")
    return column.alias(alias(position))
