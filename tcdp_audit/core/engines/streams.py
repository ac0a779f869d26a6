"""Tables that come as Arrow batches, from a database, a cluster or a library of a table format, or column by column.

A stream is read once; the embedded engine holds it, and spills to disk beyond its share of the memory. Each of its rows
is a record, or represents several. A table that can be scanned is read column by column, as often as it is needed;
columns of Parquet files in a store are fetched once, into a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.declared_types import type_of
from tcdp_audit.core.base.errors import DataError, PluginError
from tcdp_audit.core.base.files import content_digest
from tcdp_audit.core.base.provenance import TableVersion
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.engines.arrow_types import exact_table
from tcdp_audit.core.engines.base import Batch, Engine, Sampling
from tcdp_audit.core.engines.copies import PartialCopy
from tcdp_audit.core.engines.digest import KnownDigest, digest_of_columns
from tcdp_audit.core.engines.duckdb import DuckDBEngine
from tcdp_audit.core.engines.files import source_of_footers
from tcdp_audit.core.engines.parts import digest_of_files
from tcdp_audit.core.engines.source import PIECE, TableSource, is_seen_alike, require_names

TIMES = "times"
FEW = 4_096  # distinct texts of an array up to which they are counted by their views
SHORT = 12  # bytes of a text that stands in its view
_VIEW = pa.binary(16)
Scan = Callable[[Sequence[str]], Iterable[pa.RecordBatch]]


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


def scanned_engine(
    scan: Scan,
    schema: pa.Schema,
    records: int,
    name: str,
    uri: str,
    memory: int,
    version: TableVersion | None = None,
) -> Engine:
    """An engine over a table that a library scans as often as it is asked, some columns at a time.

    Columns of text and numbers are scanned one by one, several at a time in threads, and become codes. DuckDB gets a
    scan of its own for those of other types, and for those whose codes have no room in the memory, in each statement
    and of the columns that the statement is about. No scan is held.

    Args:
        scan: the columns of these names of all records, in batches. Every scan has the same records in the same order.
            It is called in several threads. Its errors are shown unchanged, so they hold no cells.
        schema: the columns.
        records: how many there are.
        name: the table's name in messages.
        uri: its origin, for provenance, without credentials.
        memory: budget in bytes.
        version: which version of the table it is. Its records then have no order, and it has no digest; without one,
            the digest is that of the content, as of a table in memory.

    Raises:
        DataError: a column has no name or a type that is not one of a table's cells, or a scan has other records.
        Exception: whatever `scan` raises, as it is.
    """
    engine = _ScannedEngine(name, uri, None, memory)
    engine.version, engine.ordered = version, version is None
    return engine.over(_Scanned(scan, schema, records, name))


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


class _ScannedEngine(DuckDBEngine):
    """A table that can be scanned again; see `scanned_engine`."""

    _scanned: _Scanned

    def over(self, scanned: _Scanned) -> Engine:
        """Open a table."""
        self._scanned = scanned
        return self._opened(self._source)

    def _source(self) -> TableSource:
        scanned = self._scanned
        names = scanned.schema.names
        require_names(names, self.name)
        if not names:
            raise DataError(f"{self.name}: the table has no columns")
        self._connection.register("scanned", scanned)
        return TableSource("scanned", names, arrow=scanned.table, cells=scanned.cells, records=scanned.records)

    @contextmanager
    def _scanning(self) -> Iterator[None]:
        try:
            with super()._scanning():
                yield
        except DataError:
            if self._scanned.fault is not None:
                raise self._scanned.fault from None
            raise

    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:
        """The first record with one of these values; None in a table format, whose records have no order."""
        if not self.ordered:
            return None
        with self._scanned.only([attribute]):
            return super().locate(attribute, values)

    def sample(self, attributes: Sequence[str], sampling: Sampling) -> pa.Table:
        """Some columns of the records that are drawn; one scan of them."""
        with self._scanned.only([*attributes, sampling.by]):
            return super().sample(attributes, sampling)

    def repeats(self, attribute: str) -> tuple[int, int]:
        """The number of records without a value of a column, and of values in several records."""
        with self._scanned.only([attribute]):
            return super().repeats(attribute)

    def table(self) -> pa.Table:
        """All records as one Arrow table, in the types of `columns`."""
        with self._scanned.only(self._scanned.schema.names):
            return super().table()

    def _distinct(self, attribute: str) -> RawDomain:
        with self._scanned.only([attribute]):
            return super()._distinct(attribute)

    def _scan(self, domains: Sequence[Domain]) -> Iterator[tuple[Batch, Sequence[pa.Array]]]:
        with self._scanned.only([domain.attribute for domain in domains]):
            yield from super()._scan(domains)

    def sha256(self) -> str | None:
        """The digest of the content; None for a version of a table.

        Raises:
            DataError: not everything could be read, even if a caller blamed a column for it.
        """
        if self._scanned.fault is not None:
            raise self._scanned.fault from None
        if self.version is None and self._digest is None:
            self._digest = KnownDigest(digest_of_columns(self._scanned.schema, self._scanned.column))
        return super().sha256()


class FetchedEngine(DuckDBEngine):
    """Parquet files whose columns are fetched before they are read; see `PartialCopy`."""

    _copy: PartialCopy

    def over(self, copy: PartialCopy) -> Engine:
        """Open the files."""
        self._copy, self.version = copy, copy.version
        scratch = Path(self._scratch.name)
        complete = partial(copy.fetch, None)
        return self._opened(lambda: source_of_footers(copy.path, scratch, self._connection, complete))

    def _fetch(self, names: Sequence[str]) -> None:
        self._copy.fetch(list(dict.fromkeys(names)))

    def group_by(self, attributes: Sequence[str]) -> None:
        """Fetch columns together, and start to read them."""
        self._fetch(attributes)
        super().group_by(attributes)

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with their counts."""
        self._fetch([attribute])
        return super().domain(attribute)

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, in the order of the files."""
        self._fetch([one.attribute for one in domains])
        return super().batches(domains)

    def sample(self, attributes: Sequence[str], sampling: Sampling) -> pa.Table:
        """Some columns of the records that are drawn."""
        self._fetch([*attributes, sampling.by])
        return super().sample(attributes, sampling)

    def repeats(self, attribute: str) -> tuple[int, int]:
        """The number of records without a value of a column, and of values in several records."""
        self._fetch([attribute])
        return super().repeats(attribute)

    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:
        """The first record, from 1, that holds one of these raw values."""
        self._fetch([attribute])
        return super().locate(attribute, values)

    def table(self) -> pa.Table:
        """All records as one Arrow table."""
        self._fetch([column.name for column in self._columns])
        return super().table()

    def source_table(self) -> pa.Table:
        """All records in the Arrow types of the files."""
        self._fetch([column.name for column in self._columns])
        return super().source_table()

    def content_hash(self) -> str:
        """Empty, as the files have a SHA-256: it is known from now on, and identifies them instead of their version.

        Cost: the rest of their bytes is fetched.
        """
        if self._digest is None:
            self._copy.fetch(None)
            path = self._copy.path
            self._digest = KnownDigest((digest_of_files(path) if path.is_dir() else content_digest(path)) or "")
            self.version = None
        return ""


class _Scanned:
    """A table that a library scans. DuckDB asks it for a new stream in every statement.

    A stream has all columns, as DuckDB does not say which ones a statement is about. The engine says it, with `only`,
    for every statement, and the stream has nulls in the other columns, which are not read. What is said counts for
    streams that begin: an engine may ask for other columns while it still reads an earlier stream.
    """

    def __init__(self, scan: Scan, schema: pa.Schema, records: int, name: str) -> None:
        self._scan, self.schema, self.records, self._name = scan, schema, records, name
        self._exact: pa.Schema = exact_table(schema.empty_table(), name).schema
        self._wanted: Sequence[str] = schema.names
        self.fault: Exception | None = None  # the first one of a scan

    @contextmanager
    def only(self, names: Sequence[str]) -> Iterator[None]:
        """Let streams that begin here have the cells of these columns alone."""
        before, self._wanted = self._wanted, list(dict.fromkeys(names))
        try:
            yield
        finally:
            self._wanted = before

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The columns in types that DuckDB compares exactly."""
        batches = self._batches(self._wanted)
        return pa.RecordBatchReader.from_batches(self._exact, batches).__arrow_c_stream__(requested_schema)

    def _batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with self._recording():
            for batch in self._scans(names):
                exact = exact_table(self._typed(batch), self._name)
                columns = [
                    exact.column(field.name) if field.name in names else pa.nulls(len(exact), field.type)
                    for field in self._exact
                ]
                yield from pa.Table.from_arrays(columns, schema=self._exact).to_batches()

    @contextmanager
    def _recording(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.fault = self.fault or error
            raise

    def _scans(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The batches of a scan.

        Raises:
            DataError: it has more or fewer records than the table.
        """
        with self._recording():
            rows = 0
            for batch in self._scan(names):
                rows += batch.num_rows
                yield batch
            if rows != self.records:
                raise DataError(f"{self._name}: not all rows of the table arrived as they are; audit it again")

    def _typed(self, batch: pa.RecordBatch) -> pa.Table:
        """A batch in the types of the table: a scan may give dictionaries of them."""
        return pa.Table.from_batches([batch]).cast(pa.schema([self.schema.field(one) for one in batch.schema.names]))

    def table(self) -> pa.Table:
        """All records."""
        return pa.concat_tables([self.schema.empty_table(), *map(self._typed, self._scans(self.schema.names))])

    def column(self, name: str) -> Iterator[pa.Array]:
        """The cells of a column."""
        for batch in self._scans([name]):
            yield from self._typed(batch).column(0).chunks

    def cells(self, position: int, kind: str, most: int) -> Iterator[pa.Array] | None:  # noqa: ARG002 - see `Cells`
        """The cells of a column of text or numbers, in arrays of about `PIECE`; see `Cells`."""
        field = self.schema.field(position)
        if not is_seen_alike(field.type, kind):
            return None
        pieces = self._pieces(field.name)
        return _with_dictionaries(pieces) if pa.types.is_string_view(field.type) else pieces

    def _pieces(self, name: str) -> Iterator[pa.Array]:
        arrays: list[pa.Array] = []
        for batch in self._scans([name]):
            arrays.append(batch.column(0))
            if sum(map(len, arrays)) >= PIECE:
                yield _joined(arrays)
                arrays = []
        if arrays:
            yield _joined(arrays)


def _joined(arrays: Sequence[pa.Array]) -> pa.Array:
    """Arrays of one type as one; dictionaries may differ."""
    if len(arrays) == 1:
        return arrays[0]
    joined = pa.chunked_array(arrays).unify_dictionaries().combine_chunks()
    return joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined


def _with_dictionaries(views: Iterator[pa.Array]) -> Iterator[pa.Array]:
    """Arrays of views of text with dictionaries, as long as their texts are short and repeat; then as they are.

    A view has 16 bytes: the length, and a text of at most 12 bytes followed by zeros. Two such views are equal exactly
    where their texts are, and Arrow counts values of 16 bytes in half the time that texts take.
    """
    for array in views:
        counted = _short_texts(array)
        yield array if counted is None else counted
        if counted is None:
            yield from views


def _short_texts(array: pa.Array) -> pa.Array | None:
    """Views as a dictionary of their texts; None where a text is long, or hardly any occurs twice."""
    valid, data, *_ = array.buffers()
    views = pa.FixedSizeBinaryArray.from_buffers(_VIEW, len(array), [valid, data], offset=array.offset)
    encoded = views.dictionary_encode()
    distinct: NDArray[np.uint8] = np.frombuffer(b"".join(encoded.dictionary.to_pylist()), np.uint8).reshape(-1, 16)
    lengths = distinct[:, :4].copy().view("<i4")[:, 0]
    if len(distinct) > FEW or (lengths > SHORT).any():
        return None
    texts = pa.Array.from_buffers(
        pa.string(),
        len(distinct),
        [
            None,
            pa.py_buffer(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)),
            pa.py_buffer(distinct[:, 4:][np.arange(SHORT) < lengths[:, None]]),
        ],
    )
    return pa.DictionaryArray.from_arrays(encoded.indices, texts)
