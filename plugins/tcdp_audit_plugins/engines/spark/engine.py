"""A table on a Spark cluster: counted there, worked on there, in a session of the caller's or of our own.

Spark's columns: which have single cells, and how a cell leaves the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StringType, StructField

from tcdp_audit.plugin._internal import require_names
from tcdp_audit.plugin.engine import (
    Batch,
    Column,
    CountedCodes,
    DataError,
    Domain,
    Engine,
    Measure,
    RawDomain,
    Sampling,
    redact_errors,
    streamed_engine,
)
from tcdp_audit_plugins.engines.spark.faults import fault, on_cluster
from tcdp_audit_plugins.engines.spark.lookup import Distinct
from tcdp_audit_plugins.engines.spark.partitions import RECORDS, CodedColumn, Partitions

FEWEST = 8  # partitions, so that a small table has some side by side
FEW_RECORDS = 2**20  # that are brought at once, partitions side by side
MOST_RECORDS = 20_000_000  # that are ever brought to the driver
GLIMPSED = 2**28  # bytes for some records of some columns
DRAWN_BY = {"ByteType", "ShortType", "IntegerType", "LongType", "StringType", "VarcharType"}
CELLS = {
    *DRAWN_BY,
    *("BooleanType", "CharType", "DateType", "DayTimeIntervalType", "DecimalType", "DoubleType", "FloatType"),
    *("NullType", "TimeType", "TimestampNTZType", "TimestampType"),
}


class SparkEngine(Engine):
    """A Spark DataFrame, of a classic or a Connect session.

    The URI says where it came from, for provenance; `close` gives back what was opened for it.

    Raises:
        DataError: a column has no name, or Spark cannot read the table.
    """

    ordered = False
    hashes_content = False

    def __init__(self, frame: Any, name: str, uri: str, close: Callable[[], None] | None = None) -> None:
        self.name, self.uri, self._close = name, uri, close
        with on_cluster(name):
            self._fields = list(frame.schema.fields)
            self._frame = frame.toDF(*(alias(position) for position in range(len(self._fields))))
        self._own_frame = frame
        self.most = MOST_RECORDS
        require_names([field.name for field in self._fields], name)
        self._position = {field.name: position for position, field in enumerate(self._fields)}
        self._distinct: dict[str, Distinct] = {}
        self._count: int | None = None

    @property
    def columns(self) -> Sequence[Column]:
        """The columns with Spark's names of their types."""
        return [Column(field.name, field.dataType.simpleString()) for field in self._fields]

    @property
    def records(self) -> int:
        """The number of records that the table has; counted once."""
        if self._count is None:
            with on_cluster(self.name):
                self._count = int(self._frame.count())
        return self._count

    def group_by(self, attributes: Sequence[str]) -> None:
        """Count the distinct values of all columns that will be asked for: a cluster that fails ends the audit here."""
        for attribute in attributes:
            if has_cells(self._fields[self._position[attribute]]):  # others are faults of the release
                self._distinct_of(attribute)

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with their counts, which are counted on the cluster."""
        with redact_errors():
            return self._distinct_of(attribute).raw

    def _distinct_of(self, attribute: str) -> Distinct:
        if attribute not in self._distinct:
            position = self._position[attribute]
            field = self._fields[position]
            require_cells(field, self.name)
            with on_cluster(self.name):
                counted = self._frame.select(cell(field, position)).groupBy(alias(position)).count().toArrow()
            self._distinct[attribute] = Distinct.of(counted, self.name)
        return self._distinct[attribute]

    def shards(self, domains: Sequence[Domain], by: Sequence[Domain], wanted: int) -> Partitions:
        """The table as partitions that hold whole equivalence classes, worked on by executors."""
        fitting = max(wanted, FEWEST, -(-self.records // RECORDS))
        count = fitting if by else 1
        columns = {domain.attribute: self._coded(domain) for domain in domains}
        if any(column.distinct.records != self.records for column in columns.values()):
            raise fault(self.name, "changed")
        keys = [columns[domain.attribute] for domain in by]
        return Partitions(self._frame, list(columns.values()), keys, count, self.name, self.records)

    def _coded(self, domain: Domain) -> CodedColumn:
        position = self._position[domain.attribute]
        distinct = self._distinct_of(domain.attribute)
        return CodedColumn(alias(position), cell(self._fields[position], position), distinct, domain)

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All records as codes, equal ones counted on the cluster; partition after partition."""
        with redact_errors():
            shards = self.shards(domains, domains, 1)
            yield from shards.each(lambda rows: rows) if self.records <= FEW_RECORDS else shards.stream(_itself)

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, in no order.

        Raises:
            DataError: there are more than the driver takes.
        """
        self._require_few("compared one by one")
        for rows in self.counted(domains):
            yield rows.take(np.repeat(np.arange(rows.rows), rows.each))

    def sample(self, attributes: Sequence[str], sampling: Sampling) -> pa.Table:
        """Some columns of the records that are drawn, on the cluster."""
        by = self._position[sampling.by]
        if type(self._fields[by].dataType).__name__ not in DRAWN_BY:  # Spark may write others in its own way
            return super().sample(attributes, sampling)
        fields = [(self._fields[self._position[name]], self._position[name]) for name in attributes]
        for field, _ in fields:
            require_cells(field, self.name)
        with on_cluster(self.name):
            text = F.col(alias(by)).cast("string")
            drawn = F.md5(F.concat(F.lit(sampling.prefix), text)) < F.lit(sampling.bound)
            chosen = self._frame.filter(drawn).select(*(cell(*one) for one in fields))
            table: pa.Table = chosen.toArrow()
        return table.rename_columns(list(attributes))

    def glimpse(self, attributes: Sequence[str], most: int) -> Engine:
        """The first records that the cluster gives, in the memory of the driver."""
        places = [self._position[name] for name in attributes]
        fields = [(self._fields[place], place) for place in places if has_cells(self._fields[place])]
        if not fields:
            return super().glimpse(attributes, most)
        with on_cluster(self.name):
            table: pa.Table = self._frame.select(*(cell(*one) for one in fields)).limit(most).toArrow()
        table = table.rename_columns([field.name for field, _ in fields])
        return streamed_engine(table.to_reader(), self.name, self.uri, GLIMPSED)

    def repeats(self, attribute: str) -> tuple[int, int]:
        """The number of records without a value in a column, and of values that occur in more than one record."""
        position = self._position[attribute]
        field = self._fields[position]
        require_cells(field, self.name)
        value, number = F.col(alias(position)), F.col("count")
        missing = F.sum(F.when(value.isNull(), number).otherwise(0))
        repeated = F.sum(F.when(value.isNotNull() & (number > 1), 1).otherwise(0))
        with on_cluster(self.name):
            each = self._frame.select(cell(field, position)).groupBy(alias(position)).count()
            (row,) = each.select(missing, repeated).collect()
        return int(row[0] or 0), int(row[1] or 0)

    def _require_few(self, purpose: str) -> None:
        if self.records > MOST_RECORDS:
            raise DataError(
                f"{self.name}: {self.records:,} records are too many to be {purpose} outside the cluster, "
                f"{MOST_RECORDS:,} are the most; audit a sample of the table for this, or leave it out"
            )

    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:  # noqa: ARG002 - records have no order
        """None: records have no order on a cluster."""
        return None

    def table(self) -> pa.Table:
        """All records as one Arrow table.

        Raises:
            DataError: there are more than the driver takes.
        """
        self._require_few("read as a whole")
        with on_cluster(self.name):
            table: pa.Table = self._own_frame.toArrow()
        return table

    def sha256(self) -> str | None:
        """None: the digest of a table's content would cost more than its audit."""
        return None

    def close(self) -> None:
        """Stop the session if it was started for this table."""
        if self._close is not None:
            self._close()
        super().close()


def _itself(shard: CountedCodes) -> Measure[CountedCodes]:
    """Work that gives the rows back."""
    return lambda _: shard


# what Arrow carries and what has one cell: everything else is nested, binary, or unknown


def alias(position: int) -> str:
    """The name of a column inside a plan: no name of the table is ever part of an expression."""
    return f"c{position}"


def has_cells(field: StructField) -> bool:
    """Whether a column holds single cells."""
    return type(field.dataType).__name__ in CELLS


def require_cells(field: StructField, table: str) -> None:
    """Raise a DataError for a column of nested or binary data."""
    if not has_cells(field):
        kind = field.dataType.typeName()
        raise DataError(f"{table}: column {field.name!r} holds nested or binary data ({kind}), not single cells")


def cell(field: StructField, position: int) -> Any:
    """A column's cells as they are grouped: exactly, whatever collation a text has."""
    column, kind = F.col(alias(position)), field.dataType
    if isinstance(kind, StringType) and not kind.isUTF8BinaryCollation():
        column = F.collate(column, "UTF8_BINARY")
    return column.alias(alias(position))
