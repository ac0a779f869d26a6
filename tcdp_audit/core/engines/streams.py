"""Tables that come as a stream of Arrow batches, from a database or a cluster, held by the embedded engine.

A stream is read once, and spills to disk beyond its share of the memory. Each of its rows is a record, or represents
several.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.declared_types import type_of
from tcdp_audit.core.base.errors import DataError, PluginError
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
        batches: the records, read to the end before this returns.
        name: the table's name in messages.
        uri: its origin, for provenance, without credentials.
        memory: budget in bytes.

    Raises:
        DataError: a column has no name or a type that is not one of a table's cells.
        PluginError: what is to be read is no stream.
        Exception: whatever the stream raises, as it is.
    """
    _require_stream(batches, "streamed_engine")
    return _RecordsEngine(name, uri, None, memory).filled(batches)


def grouped_engine(batches: pa.RecordBatchReader, name: str, uri: str, memory: int) -> Engine:
    """An engine over rows that each represent several records; see `streamed_engine`.

    Args:
        batches: the rows. The last column, int64 and at least 1, says how many records each represents.
        name: what messages call the table.
        uri: where it comes from, for provenance, without credentials.
        memory: budget in bytes.

    Raises:
        PluginError: what is to be read is no stream, or its last column holds no whole numbers.
    """
    _require_stream(batches, "grouped_engine")
    if not len(batches.schema) or not pa.types.is_integer(batches.schema.types[-1]):
        raise PluginError(
            "the last column that `grouped_engine` is given must be int64: the number of records of each row"
        )
    return _GroupsEngine(name, uri, None, memory).filled(batches)


def _require_stream(batches: Any, of: str) -> None:
    if not isinstance(batches, pa.RecordBatchReader):
        hint = "; `table.to_reader()` makes one of a table" if isinstance(batches, pa.Table) else ""
        raise PluginError(f"`{of}` was given {type_of(batches)} and not a pyarrow.RecordBatchReader{hint}")


class _RecordsEngine(DuckDBEngine):
    """Records of a stream, in a DuckDB table. They have no order."""

    ordered = False

    def filled(self, batches: pa.RecordBatchReader) -> Engine:
        """Read all rows of a stream."""
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
        """Whether every row represents at least one record."""
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
        """The number of rows."""
        return int(self._connection.execute("SELECT count(*) FROM release").fetchall()[0][0])


class _GroupsEngine(_RecordsEngine):
    """Distinct rows of a table, each with the number of records that it represents."""

    COUNT = f"CAST(coalesce(sum({TIMES}), 0) AS BIGINT)"
    FURTHER = (TIMES,)
    RECORDS = f"(SELECT *, unnest(range({TIMES})) FROM release)"  # each row as many times as it represents records

    def _is_sound(self) -> bool:
        unsound = f"SELECT count(*) FROM release WHERE {TIMES} IS NULL OR {TIMES} < 1"
        return not self._connection.execute(unsound).fetchall()[0][0]

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes: each row as many times as it represents records."""
        for rows in self.counted(domains):
            yield rows.take(np.repeat(np.arange(rows.rows), rows.each))

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All rows as codes, with the number of records that each represents."""
        for codes, (times,) in self._scan(domains):
            yield CountedCodes(codes, np.from_dlpack(times).astype(np.int64, copy=False))


class _Stream:
    """A stream in types that DuckDB compares exactly; it records its first error."""

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
