"""Tables that come as a stream of Arrow batches, from a database or a cluster, held by the embedded engine.

A stream is read once, and spills to disk beyond its share of the memory. Its rows are records, or they stand for
several records each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.engines.arrow_types import exact_table
from tcdp_audit.core.engines.base import Batch, Engine
from tcdp_audit.core.engines.duckdb import DuckDBEngine
from tcdp_audit.core.engines.source import TableSource, require_names

TIMES = "times"


def streamed_engine(batches: pa.RecordBatchReader, name: str, uri: str, memory: int) -> Engine:
    """An engine over records that come as a stream.

    Args:
        batches: the records. It is read to its end before this returns.
        name: what messages call the table.
        uri: where it comes from, for provenance, without credentials.
        memory: budget in bytes.

    Raises:
        DataError: a column has no name or a type that is not one of a table's cells.
        Exception: whatever the stream raises, as it is.
    """
    return _RecordsEngine(name, uri, None, memory).filled(batches)


def grouped_engine(batches: pa.RecordBatchReader, name: str, uri: str, memory: int) -> Engine:
    """An engine over rows that each represent several records; see `streamed_engine`.

    Args:
        batches: the rows. The last column, int64 and at least 1, says how many records each stands for.
        name: what messages call the table.
        uri: where it comes from, for provenance, without credentials.
        memory: budget in bytes.
    """
    return _GroupsEngine(name, uri, None, memory).filled(batches)


class _RecordsEngine(DuckDBEngine):
    """Records of a stream, in a table of DuckDB's. They have no order."""

    ordered = False

    def filled(self, batches: pa.RecordBatchReader) -> Engine:
        """Take all rows of a stream."""
        stream = _Stream(batches, self.name)
        try:
            opened = self._opened(lambda: self._source(stream))
        except BaseException:
            if stream.fault is not None:
                raise stream.fault from None
            raise
        if self.rows != stream.rows or not self._is_sound():
            opened.close()
            raise DataError(f"{self.name}: not all rows of the table arrived as they are; audit it again")
        return opened

    def _is_sound(self) -> bool:
        """Whether every row stands for a record at least."""
        return True

    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:  # noqa: ARG002 - records have no order
        """None."""
        return None

    def _source(self, stream: _Stream) -> TableSource:
        names = stream.schema.names[: len(stream.schema) - len(self.FURTHER)]
        require_names(names, self.name)
        if not names:
            raise DataError(f"{self.name}: the table has no columns")
        self._connection.register("stream", pa.RecordBatchReader.from_batches(stream.schema, stream.batches()))
        return TableSource("stream", names, load=True)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self._connection.execute("SELECT count(*) FROM release").fetchall()[0][0])


class _GroupsEngine(_RecordsEngine):
    """Distinct rows of a table, each with how many records it stands for."""

    COUNT = f"CAST(coalesce(sum({TIMES}), 0) AS BIGINT)"
    FURTHER = (TIMES,)
    RECORDS = f"(SELECT *, unnest(range({TIMES})) FROM release)"  # a row as often as it stands for records

    def _is_sound(self) -> bool:
        unsound = f"SELECT count(*) FROM release WHERE {TIMES} IS NULL OR {TIMES} < 1"
        return not self._connection.execute(unsound).fetchall()[0][0]

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes: a row as often as it stands for records."""
        for rows in self.counted(domains):
            yield rows.take(np.repeat(np.arange(rows.rows), rows.each))

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All rows as codes, with how many records each stands for."""
        for codes, (times,) in self._scan(domains):
            yield CountedCodes(codes, np.from_dlpack(times).astype(np.int64, copy=False))


class _Stream:
    """A stream in types that DuckDB compares as they are; it remembers what went wrong in it."""

    def __init__(self, reader: pa.RecordBatchReader, name: str) -> None:
        self._reader, self._name = reader, name
        self.schema: pa.Schema = exact_table(reader.schema.empty_table(), name).schema
        self.rows = 0
        self.fault: BaseException | None = None

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All batches."""
        try:
            for batch in self._reader:
                self.rows += batch.num_rows
                yield from exact_table(pa.Table.from_batches([batch]), self._name).to_batches()
        except BaseException as error:
            self.fault = error
            raise
