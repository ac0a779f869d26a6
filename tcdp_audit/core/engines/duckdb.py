"""The embedded engine: DuckDB over files and in-memory tables.

`text.py` has the engine for CSV files that fit into memory. Columns have positional names inside DuckDB (`c0`, `c1`,
...), so a column's name is never part of a statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.cancellation import interruptible
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.scratch import Scratch
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.encoding.keys import Codes
from tcdp_audit.core.engines.arrow_types import array_of_texts
from tcdp_audit.core.engines.base import Batch, Column, Engine, Sampling, recode
from tcdp_audit.core.engines.coded_column import nulls_of, numbers_of, text_array
from tcdp_audit.core.engines.coded_columns import CodedColumns
from tcdp_audit.core.engines.copies import source_of_text_parts
from tcdp_audit.core.engines.digest import Digest, KnownDigest, content_digest, copy_of_stream
from tcdp_audit.core.engines.duckdb_instances import Instance, readable_errors
from tcdp_audit.core.engines.files import source_of_file, source_of_frame, source_of_parts, source_of_text
from tcdp_audit.core.engines.parts import TableParts, digest_of_files
from tcdp_audit.core.engines.source import TEXTS, TableSource, readable
from tcdp_audit.core.engines.text_form import PLAIN_FORM, TextForm

BATCH = 262_144
FEW = 256  # up to so many texts are cheaper to look up in a list than in an ENUM
SHARE = 4  # codes may take the memory divided by this
LOOKUP_SPAN = 2**24  # integers within such a range are encoded by a table, others by binary search

_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
_FLOATS = {"FLOAT", "DOUBLE"}
_NESTED = ("STRUCT", "MAP", "UNION", "BLOB")


class DuckDBEngine(Engine):
    """A table in DuckDB.

    Args:
        name: the table's name in messages.
        uri: its origin, for provenance.
        path: its file, if it has one.
    """

    COUNT = "count(*)"  # SQL for the number of records in a group of rows
    FURTHER: Sequence[str] = ()  # relation columns in addition to those of the table
    RECORDS = "release"  # SQL for a relation of all records

    def __init__(self, name: str, uri: str, path: Path | None, memory: int) -> None:
        self.name, self.uri, self.path = name, uri, path
        self._scratch = Scratch()
        self._instance = Instance(max(memory // 2, 2**28), self._scratch.name)
        self._connection = self._instance.connection
        self._columns: list[Column] = []
        self._raw: dict[str, RawDomain] = {}
        self._coded: CodedColumns | None = None
        self._ranked: set[int] = set()  # the columns whose texts DuckDB can rank
        self._room = memory // SHARE
        self._records = 0
        self._kinds: str | None = None
        self._file = path  # what is read: a copy of a stream
        self._digest: Digest | None = None
        self._content: pa.Table | None = None
        self._arrow: Callable[[], pa.Table] | None = None
        self._location: Path | None = None  # of a table in several files

    @classmethod
    def from_path(cls, path: Path, memory: int) -> DuckDBEngine:
        """Open a Parquet, JSON lines, Feather or Arrow file.

        Raises:
            UsageError: it does not exist, or its extension is none of these.
            DataError: it cannot be read as a table.
        """
        engine = cls(path.name, str(path), path if path.is_file() else None, memory)
        return engine._opened(lambda: engine._source_of_file(path))

    @classmethod
    def from_parts(cls, parts: TableParts, memory: int, form: TextForm = PLAIN_FORM) -> DuckDBEngine:
        """Open a table in several files.

        Raises:
            DataError: the files cannot be read as one table.
        """
        engine = cls(str(parts.location), str(parts.location), None, memory)
        engine._location = parts.location
        engine.text_form = form
        return engine._opened(lambda: engine._source_of_parts(parts))

    def _source_of_parts(self, parts: TableParts) -> TableSource:
        scratch = Path(self._scratch.name)
        with readable(parts.location):
            if parts.kind in TEXTS:
                return source_of_text_parts(parts, scratch, self._connection, self.text_form)
            return source_of_parts(parts, scratch, self._connection)

    def _source_of_file(self, path: Path) -> TableSource:
        scratch = Path(self._scratch.name)
        with readable(path):
            self._file = path if self.path is not None else copy_of_stream(path, scratch)
            return source_of_file(self._file, scratch, self._connection)

    @property
    def overflow(self) -> Path:
        """The Parquet file for the cells of a text file, see `from_text`."""
        return Path(self._scratch.name) / "release.parquet"

    def from_text(self, names: Sequence[str], digest: str) -> DuckDBEngine:
        """Read the cells of a text file from `overflow`."""
        return self._opened(lambda: source_of_text(self.overflow, names, digest, self.overflow.parent))

    @classmethod
    def from_frame(cls, frame: Any, name: str, memory: int) -> DuckDBEngine:
        """Open a pandas, polars or pyarrow table, a DuckDB relation, or any object that exports an Arrow stream.

        Raises:
            UsageError: it is none of these.
            DataError: a column's type is not one of a table's cells.
        """
        engine = cls(name, f"memory:{name}", None, memory)
        return engine._opened(lambda: source_of_frame(frame, name, engine._connection))

    def _opened(self, source: Callable[[], TableSource]) -> Self:
        try:
            with self._scanning():
                self._open(source())
        except BaseException:
            self.close()
            raise
        return self

    @contextmanager
    def _scanning(self) -> Iterator[None]:
        """Report errors of a scan as `DataError`, and refuse a file that has changed since it was opened."""
        fault: DataError | None = None
        try:
            with readable_errors(self.name, self._file), interruptible(self._connection.interrupt):
                yield
        except DataError as error:
            fault = error
        if self._digest is not None:
            self._digest.require_unchanged()  # first: a changed file can cause any other error
        if fault is not None:
            raise DataError(str(fault).replace(str(self._file), self.uri))

    def _open(self, source: TableSource) -> None:
        self._digest, self._content = source.digest, source.content
        described = self._connection.execute(f"DESCRIBE SELECT * FROM {source.relation}").fetchall()
        self._columns = [
            Column(name, row[1] if "[" in row[1] or row[1].startswith(_NESTED) else row[1].split("(")[0])
            for name, row in zip(source.names, described[: len(described) - len(self.FURTHER)], strict=True)
        ]
        self._position = {column.name: position for position, column in enumerate(self._columns)}
        self._arrow = source.arrow
        aliases = ", ".join([self._cells, *self.FURTHER])
        kind = "TABLE" if source.load else "VIEW"
        self._connection.execute(f"CREATE TEMP {kind} release AS SELECT * FROM {source.relation} AS t({aliases})")
        self._records = self._counted_records() if source.records is None else source.records
        self._kinds = source.kinds
        if source.cells is not None and self._records:
            self._coded = CodedColumns(source.cells, self._columns, self._records, self._room)

    def _counted_records(self) -> int:
        return int(self._connection.execute(f"SELECT {self.COUNT} FROM release").fetchall()[0][0])

    @property
    def _cells(self) -> str:
        """SQL for the table's columns."""
        return ", ".join(f"c{position}" for position in range(len(self._columns)))

    @property
    def columns(self) -> Sequence[Column]:
        """The columns, in the table's order."""
        return self._columns

    @property
    def records(self) -> int:
        """The number of records that the table has."""
        return self._records

    def group_by(self, attributes: Sequence[str]) -> None:
        """Start to read columns that will be requested."""
        if self._coded is not None:
            self._coded.begin([self._position[attribute] for attribute in attributes])

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with their counts; one scan of the column."""
        if attribute not in self._raw:
            self._require_single_cells(attribute)
            with self._scanning():
                self._raw[attribute] = self._read_at_once(attribute) or self._distinct(attribute)
        return self._raw[attribute]

    def _read_at_once(self, attribute: str) -> RawDomain | None:
        """The values of a column that Arrow reads into codes, in the same scan."""
        raw = None if self._coded is None else self._coded.raw(self._position[attribute])
        if raw is None or raw.is_text:
            return raw
        values = _as_written(raw.values) if raw.values.dtype.kind == "f" else raw.values.astype(np.int64)
        return replace(raw, values=values)

    def _distinct(self, attribute: str) -> RawDomain:
        distinct = self._connection.sql(
            f"SELECT {self._cell(attribute)} AS value, {self.COUNT} AS records FROM release "
            "GROUP BY ALL ORDER BY value NULLS LAST"
        ).to_arrow_table()
        cells, counts = (column.combine_chunks() for column in distinct.columns)
        present = len(cells) - cells.null_count  # the null, if there is one, is last
        nulls = int(counts[-1].as_py()) if cells.null_count else 0
        cells = cells.slice(0, present)
        values = _as_written(numbers_of(cells)) if self._is_number(attribute) else text_array(cells.to_pylist())
        return RawDomain(values, numbers_of(counts.slice(0, present)), nulls)

    def _require_single_cells(self, attribute: str) -> None:
        kind = self._columns[self._position[attribute]].type
        if "[" in kind or kind.startswith(_NESTED):
            raise DataError(f"{self.name}: column {attribute!r} holds nested or binary data ({kind}), not single cells")

    def _let_rank(self, attribute: str) -> None:
        """Let DuckDB rank a column's texts: by a list, searched once per dictionary entry, or by an ENUM."""
        position, texts = self._position[attribute], self._raw[attribute].values.tolist()
        if position in self._ranked:
            return
        if len(texts) <= FEW:
            self._connection.execute(f"SET VARIABLE v{position} = CAST(? AS VARCHAR[])", [texts])
        else:
            self._connection.register("texts", pa.table({"value": array_of_texts(texts)}))
            self._connection.execute(f"CREATE TEMP TYPE e{position} AS ENUM (SELECT value FROM texts)")
            self._connection.unregister("texts")
        self._ranked.add(position)

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, in the order of the file or table; one scan for the columns that are not cached."""
        held = self._held_codes(domains)
        others = [one for one in domains if one.attribute not in held]
        end = 0
        for rows, read in self._parts(others):
            start, end = end, end + rows
            codes = {**read, **{attribute: column(slice(start, end)) for attribute, column in held.items()}}
            yield {one.attribute: codes[one.attribute] for one in domains}

    def _held_codes(self, domains: Sequence[Domain]) -> dict[str, Callable[[slice], Codes]]:
        """Functions from records to codes, for the columns whose codes are cached."""
        if self._coded is None:
            return {}
        self.group_by([one.attribute for one in domains])
        columns = {}
        with self._scanning():
            for one in domains:
                column = self._coded.take(self._position[one.attribute])
                if column is not None:
                    self._require_same(self._raw[one.attribute], column.raw)
                    columns[one.attribute] = column.recoded(one, spent=self._coded.is_spent)
        return columns

    def _require_same(self, first: RawDomain, again: RawDomain) -> None:
        """Raise `DataError` if a second reading of a column differs from the first."""
        if not np.array_equal(first.counts, again.counts) or first.nulls != again.nulls:
            raise DataError(f"{self.name}: the table was changed while it was read; start again")

    def _parts(self, domains: Sequence[Domain]) -> Iterator[tuple[int, Batch]]:
        """All records in parts: the number of records, and the codes that DuckDB computes."""
        if domains:
            yield from ((len(codes[domains[0].attribute]), codes) for codes, _ in self._scan(domains))
        else:
            yield from ((min(BATCH, self._records - start), {}) for start in range(0, self._records, BATCH))

    def _scan(self, domains: Sequence[Domain]) -> Iterator[tuple[Batch, Sequence[pa.Array]]]:
        """All rows as codes, with the cells of the columns in `FURTHER`."""
        lookups = [self._lookup(domain) for domain in domains]
        cells = ", ".join([*(self._position_of_value(domain.attribute) for domain in domains), *self.FURTHER])
        with self._scanning():
            relation = self._connection.sql(f"SELECT {cells} FROM release")
            for batch in relation.to_arrow_reader(BATCH):
                named = zip(domains, lookups, batch.columns, strict=False)
                yield {d.attribute: lookup(cells) for d, lookup, cells in named}, batch.columns[len(domains) :]

    def _lookup(self, domain: Domain) -> Callable[[pa.Array], NDArray[Any]]:
        raw = self._raw[domain.attribute]
        is_number = self._is_number(domain.attribute)
        if not is_number:
            self._let_rank(domain.attribute)
        position_of = _positions(self._stored(domain.attribute)) if is_number else lambda cells: cells
        # raw values without those that represent a missing one (NaN, a missing token); null is one above the last code
        identical = domain.size == len(raw.values) and np.array_equal(domain.code_of_raw, np.arange(domain.size))

        def codes(cells: pa.Array) -> NDArray[Any]:
            if not len(raw.values):
                return np.full(len(cells), domain.size, dtype=domain.dtype)
            null = nulls_of(cells) if cells.null_count else None
            if null is not None:
                cells = cells.fill_null(raw.values[0].item() if is_number else 0)
            position = position_of(numbers_of(cells))
            if null is not None:
                position = np.where(null, len(raw.values), position)
            return position.astype(domain.dtype, copy=False) if identical else recode(position, domain)

        return codes

    def sample(self, attributes: Sequence[str], sampling: Sampling) -> pa.Table:
        """Some columns of the records that are drawn, picked by DuckDB; one scan."""
        if self._columns[self._position[sampling.by]].type in _FLOATS:  # DuckDB writes floats differently
            return super().sample(attributes, sampling)
        for name in attributes:
            self._require_single_cells(name)
        cells, key = ", ".join(map(self._cell, attributes)), self._cell(sampling.by)
        with self._scanning():
            table = self._connection.sql(
                f"SELECT {cells} FROM {self.RECORDS} WHERE md5(? || CAST({key} AS VARCHAR)) < ?",
                params=[sampling.prefix, sampling.bound],
            ).to_arrow_table()
        return table.rename_columns(list(attributes))

    def repeats(self, attribute: str) -> tuple[int, int]:
        """The number of records without a value of a column, and of values in several records; spills to disk."""
        self._require_single_cells(attribute)
        counted = f"SELECT {self._cell(attribute)} AS value, {self.COUNT} AS records FROM release GROUP BY value"
        missing = "coalesce(sum(records) FILTER (value IS NULL), 0)"
        with self._scanning():
            ((nulls, repeated),) = self._connection.sql(
                f"SELECT {missing}, count(*) FILTER (value IS NOT NULL AND records > 1) FROM ({counted})"
            ).fetchall()
        return int(nulls), int(repeated)

    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:
        """The first record, from 1, that holds one of these raw values."""
        kind = pa.string() if values.dtype == object else pa.float32() if self._is_single(attribute) else None
        self._connection.register("wanted", pa.table({"value": pa.array(values, kind)}))
        with self._scanning():
            row = self._connection.execute(
                f"SELECT min(n) FROM (SELECT row_number() OVER () AS n, {self._cell(attribute)} AS value FROM release) "
                "WHERE value IN (SELECT value FROM wanted)"
            ).fetchall()
        return int(row[0][0])

    def table(self) -> pa.Table:
        """All records as one Arrow table, in the types of `columns`."""
        with self._scanning():
            table = self._connection.sql(f"SELECT {self._cells} FROM {self.RECORDS}").to_arrow_table()
        return table.rename_columns([column.name for column in self._columns])

    def source_table(self) -> pa.Table:
        """All records in the Arrow types of the source; text is unchanged."""
        if self._arrow is None:
            return self.table()
        table = self._arrow()
        if table.num_rows != self._records:
            raise DataError(f"{self.name}: the table was changed while it was read; start again")
        return table.rename_columns([column.name for column in self._columns])

    def token_kinds(self) -> pa.Table | None:
        """The kind of JSON token of each cell of a JSON lines file, in the shape of `table`; otherwise None."""
        if self._kinds is None:
            return None
        with self._scanning():
            return self._connection.sql(f"FROM {self._kinds}").to_arrow_table()

    def sha256(self) -> str | None:
        """Digest of the bytes of the file that was read, or of the content of a table in memory."""
        if self._digest is None and self._content is not None:
            self._digest = KnownDigest(content_digest(self._content))
        return None if self._digest is None else self._digest.hexdigest()

    def require_unchanged(self) -> None:
        """Insist that the file, or the files of the table, are what they were when they were opened."""
        super().require_unchanged()
        if self._location is not None and digest_of_files(self._location) != self.sha256():
            raise DataError(f"{self.name}: its files changed after they were opened; open it again")

    def stand_for(self, digest: Digest) -> None:
        """Report the digest of the file that this one was made from, instead of its own."""
        if self._digest is not None:
            self._digest.close()
        self._digest = digest

    def close(self) -> None:
        """Close the connection and remove its temporary files."""
        if self._digest is not None:
            self._digest.close()
        if self._coded is not None:
            self._coded.close()
        self._instance.close()
        self._scratch.cleanup()
        super().close()

    def _is_number(self, attribute: str) -> bool:
        kind = self._columns[self._position[attribute]].type
        return kind in _INTEGERS or kind in _FLOATS

    def _is_single(self, attribute: str) -> bool:
        return self._columns[self._position[attribute]].type == "FLOAT"

    def _stored(self, attribute: str) -> NDArray[Any]:
        """The distinct numbers of a column as its cells hold them."""
        values = self._raw[attribute].values
        return values.astype(np.float32) if self._is_single(attribute) else values

    def _cell(self, attribute: str) -> str:
        """SQL for a cell in the form of `domain`: a number, or text."""
        position = self._position[attribute]
        kind = self._columns[position].type
        target = "BIGINT" if kind in _INTEGERS else kind if kind in _FLOATS else "VARCHAR"
        return f"CAST(c{position} AS {target})"

    def _position_of_value(self, attribute: str) -> str:
        """SQL for the argument of `_lookup`: the number itself, or the rank of a text among the column's texts."""
        position = self._position[attribute]
        if self._is_number(attribute):
            return f"c{position}"
        text = f"CAST(c{position} AS VARCHAR)"
        if len(self._raw[attribute].values) <= FEW:
            return f"CAST(list_position(getvariable('v{position}'), {text}) - 1 AS USMALLINT)"
        return f"enum_code(CAST({text} AS e{position}))"


def _as_written(numbers: NDArray[Any]) -> NDArray[Any]:
    """Floats of 32 bits as the shortest decimal numbers that represent them: 0.1, not 0.10000000149011612."""
    return numbers.astype(str).astype(np.float64) if numbers.dtype == np.float32 else numbers


def _positions(values: NDArray[Any]) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """A function from numbers of a column to their positions among its distinct values."""
    if values.dtype.kind != "i" or not len(values) or int(values[-1]) - int(values[0]) >= LOOKUP_SPAN:
        return lambda numbers: np.searchsorted(values, numbers)
    low = int(values[0]) if not 0 <= values[0] < LOOKUP_SPAN else 0  # small numbers index the table directly
    table = np.zeros(int(values[-1]) - low + 1, dtype=np.min_scalar_type(len(values)))
    table[values - low] = np.arange(len(values))
    return lambda numbers: table[numbers] if low == 0 else table[numbers.astype(np.int64) - low]
