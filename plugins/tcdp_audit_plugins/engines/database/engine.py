"""The engine over a database: it sends one grouped query, and holds what comes back in the embedded engine.

Records travel one by one only where something needs whole records: checks of pairs, schemas, repairs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import UnitClasses
from tcdp_audit.plugin.engine import (
    Batch,
    Column,
    CountedCodes,
    DataError,
    Domain,
    Engine,
    RawDomain,
    Sampling,
    grouped_engine,
    streamed_engine,
)
from tcdp_audit_plugins.engines.database.faults import Refused, reading
from tcdp_audit_plugins.engines.database.histories import DIALECTS, DatabaseUnitClasses
from tcdp_audit_plugins.engines.database.source import Source
from tcdp_audit_plugins.engines.database.statements import (
    HASHED,
    SUMS,
    WIDE,
    Cell,
    grouped,
    hash_of,
    records,
    repeats,
    schema_of,
    total,
)

EACH = 1.0  # seconds between reports that a database works
SHORT = 20_000  # records of which a statement costs more than what it reads


@contextmanager
def reporting_work(progress: Callable[[str, int, int], None] | None) -> Iterator[None]:
    """Report every second, from a thread of its own, that a database works; what a report raises is raised at the end.

    A bar without a total moves while it is shown, and a line without a number is written again after a while.
    """
    if progress is None:
        yield
        return
    ended, faults = threading.Event(), list[BaseException]()

    def report() -> None:
        while not ended.wait(EACH):
            try:
                progress("the database works", 0, 0)
            except BaseException as fault:  # noqa: BLE001 - of the caller, such as a cancellation
                faults.append(fault)
                return

    thread = threading.Thread(target=copy_context().run, args=(report,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    if faults:
        raise faults[0]


@dataclass(frozen=True)
class _Held:
    columns: frozenset[str]
    engine: Engine


class DatabaseEngine(Engine):
    """A table, view or query of a database.

    The source is closed with it. The URI, for provenance, has no user and password; `memory` is in bytes.
    """

    ordered = False

    def __init__(self, source: Source, name: str, uri: str, memory: int) -> None:
        self.name, self.uri = name, uri
        self.snapshot, self.hashes_content = source.snapshot, source.dialect in HASHED
        self._source, self._memory = source, memory
        self._names = {column.name for column in source.columns}
        self._announced: list[str] = []
        self._groups: list[_Held] = []
        self._alone = 0  # columns that were asked for by themselves
        self._records: _Held | None = None
        self._statements = 0
        self._fault = ""

    @property
    def columns(self) -> Sequence[Column]:
        """The columns, in the table's order."""
        return self._source.columns

    @property
    def records(self) -> int:
        """The number of records that the table has: the sum of its groups, or counted where it has none."""
        if self._announced:
            self._require(self._announced)
        held = self._groups or ([] if self._records is None else [self._records])
        return held[0].engine.records if held else self._total()

    @property
    def rows(self) -> int:
        """The number of distinct rows in the columns that were announced."""
        return self._require(self._announced).rows if self._announced else self.records

    def group_by(self, attributes: Sequence[str]) -> None:
        """Remember what will be counted together. Nothing is sent yet."""
        wanted = [name for name in attributes if name in self._names and name not in self._announced]
        self._announced += [cell.column for cell in self._cells(wanted) if not cell.fault]

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with their counts."""
        self._require_readable([attribute])
        return self._require([attribute]).domain(attribute)

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """The distinct rows as codes, with how many records each represents."""
        return self._require([domain.attribute for domain in domains]).counted(domains)

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, in no particular order."""
        names = [domain.attribute for domain in domains]
        grouped = self._covering(names)
        engine = grouped if grouped is not None else self._streamed(names)
        for name in names:
            engine.domain(name)
        return engine.batches(domains)

    def sample(self, attributes: Sequence[str], sampling: Sampling) -> pa.Table:
        """Some columns of the records that are drawn, in the database where it has MD5."""
        cells = self._cells(attributes)
        drawn = self._source.drawn(cells[list(attributes).index(sampling.by)], sampling)
        if drawn is None:
            return super().sample(attributes, sampling)
        self._require_readable(attributes)
        statement = records(self._source.relation, cells).where(drawn)
        with self._filled(streamed_engine, statement, schema_of(cells, counts=False)) as arrived:
            return arrived.table()

    def glimpse(self, attributes: Sequence[str], most: int) -> Engine:
        """The first records that the database gives, where the columns have not arrived already.

        Whether the table is the same then as in the next statement does not matter: nothing is counted here.
        """
        grouped = self._covering(attributes)
        if grouped is not None:
            return super().glimpse(attributes, most)
        cells = [one for one in self._cells(attributes) if not one.fault]
        if not cells:
            return super().glimpse(attributes, most)
        statement, schema = records(self._source.relation, cells).limit(most), schema_of(cells, counts=False)
        with self._reading():
            batches = self._source.stream(statement, schema)
            return streamed_engine(
                pa.RecordBatchReader.from_batches(schema, batches), self.name, self.uri, self._memory
            )

    def repeats(self, attribute: str) -> tuple[int, int]:
        """The number of records without a value in a column, and of values that occur in more than one record."""
        self._require_readable([attribute])
        (cell,) = self._cells([attribute])
        schema = pa.schema([("missing", pa.int64()), ("repeated", pa.int64())])
        with self._reading():
            batches = list(self._batches(repeats(self._source.relation, cell), schema))
        ((missing, repeated),) = zip(*pa.Table.from_batches(batches, schema).to_pydict().values(), strict=True)
        return int(missing), int(repeated)

    def unit_classes(self, unit: str, known: Sequence[str], missing: Sequence[str]) -> UnitClasses | None:
        """Whole histories, compared in the database where it has one snapshot, and sorts and joins texts."""
        source = self._source
        cells = self._cells([unit, *known])
        if source.dialect not in DIALECTS or not source.is_stable or any(cell.fault for cell in cells):
            return None
        if cells[0].arrow not in (pa.string(), pa.int64()):
            return None
        return DatabaseUnitClasses(self._answer, source.relation, source.dialect, self._cell, unit, known, missing)

    def _answer(self, statement: sa.Select[Any], schema: pa.Schema) -> pa.Table:
        with self._reading():
            return pa.Table.from_batches(list(self._batches(statement, schema)), schema)

    def _cell(self, name: str) -> Cell:
        (cell,) = self._cells([name])
        return cell

    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:  # noqa: ARG002 - records have no order
        """None: the records of a database have no order."""
        return None

    def table(self) -> pa.Table:
        """All records as one Arrow table."""
        names = [column.name for column in self.columns]
        self._require_readable(names)
        return self._streamed(names).table()

    def sha256(self) -> str | None:
        """None: a database has no bytes of its own to take a digest of.

        Raises:
            DataError: not everything could be read.
        """
        if self._fault:
            raise DataError(self._fault)
        return None

    def content_hash(self) -> str:
        """SHA-256 over the names of the columns and the MD5s of the rows, which the database adds up.

        Empty for a database that is none of those in `HASHED`. One statement, and one row that travels.
        """
        if not self.hashes_content:
            return ""
        names = [column.name for column in self.columns]
        statement = self._source.hashed(self._cells(names))
        with self._reading():
            return hash_of(names, pa.Table.from_batches(list(self._batches(statement, SUMS)), SUMS))

    def close(self) -> None:
        """Close what has arrived, and the connection."""
        for held in [*self._groups, *([self._records] if self._records else [])]:
            held.engine.close()
        self._groups, self._records = [], None
        self._source.close()
        super().close()

    def _cells(self, names: Sequence[str]) -> list[Cell]:
        with self._reading():
            return self._source.cells(names)

    def _require_readable(self, names: Sequence[str]) -> None:
        for cell in self._cells(names):
            if cell.fault:
                raise DataError(f"{self.name}: column {cell.column!r} {cell.fault}")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Read the database. After a fault the audit ends, even if a caller blames a column for it; see `sha256`."""
        try:
            with reading(self.name):
                yield
        except DataError as fault:
            self._fault = self._fault or str(fault)
            raise

    def _covering(self, names: Sequence[str]) -> Engine | None:
        return next((held.engine for held in self._groups if held.columns.issuperset(names)), None)

    def _require(self, names: Sequence[str]) -> Engine:
        """The groups of some columns, from the one query for all that were announced, or else of their own."""
        held = self._covering(names)
        if held is not None:
            return held
        together = self._announced if set(names) <= set(self._announced) else self._with_next(names)
        cells = self._cells(together)
        statement = grouped(self._source.relation, cells)
        engine = self._filled(grouped_engine, statement, schema_of(cells, counts=True))
        for name in together:
            engine.domain(name)
        self._groups.append(_Held(frozenset(together), engine))
        return engine

    def _with_next(self, names: Sequence[str]) -> list[str]:
        """Some columns; where one after the other is asked for, together with those that follow it in the table.

        A statement for each of a thousand columns reads the table a thousand times. In a long table of fewer columns
        it reads less than what would travel.
        """
        self._alone += len(names) == 1
        columns = [column.name for column in self.columns]
        is_slow = len(columns) > 4 * WIDE or (bool(self._groups) and self._groups[0].engine.records <= SHORT)
        if len(names) > 1 or self._alone <= WIDE // 2 or not is_slow:
            return list(names)
        start = columns.index(names[0])
        new = [name for name in columns[start + 1 :] if self._covering([name]) is None]
        follow = [cell.column for cell in self._cells(new[:WIDE]) if not cell.fault]
        return [*names, *follow]

    def _streamed(self, names: Sequence[str]) -> Engine:
        """Some columns of all records; those that came last are kept for the next who asks."""
        if self._records is None or not self._records.columns.issuperset(names):
            if self._records is not None:
                self._records.engine.close()
                self._records = None
            cells = self._cells(names)
            statement = records(self._source.relation, cells)
            engine = self._filled(streamed_engine, statement, schema_of(cells, counts=False))
            self._records = _Held(frozenset(names), engine)
        return self._records.engine

    def _filled(self, held: Callable[..., Engine], statement: sa.Select[Any], schema: pa.Schema) -> Engine:
        """The rows of a statement in the embedded engine: all of them, or an error and none."""
        reader = pa.RecordBatchReader.from_batches(schema, self._batches(statement, schema))
        with self._reading():
            return held(reader, self.name, self.uri, self._memory)

    def _batches(self, statement: sa.Select[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        with reading(self.name):
            self._require_snapshot()
            rows, stream = 0, self._source.stream(statement, schema)
            with ExitStack() as stack:
                stack.callback(getattr(stream, "close", lambda: None))  # before the connection is closed
                with reporting_work(self.progress):  # the database sends nothing before it has grouped all
                    first = next(stream, None)
                for batch in chain([] if first is None else [first], stream):
                    rows += batch.num_rows
                    if self.progress is not None:
                        self.progress("rows from the database", rows, 0)
                    yield batch

    def _require_snapshot(self) -> None:
        """Insist that two statements see the same table."""
        self._statements += 1
        if self._statements > 1 and not self._source.is_stable:
            raise Refused(
                "this audit needs the table more than once, and the database has no snapshot that would "
                "keep it the same; copy the table to a file, or audit less at a time"
            )

    def _total(self) -> int:
        statement, schema = total(self._source.relation), schema_of([], counts=True)
        with self._reading():
            return sum(batch.column(0).to_pylist()[0] for batch in self._batches(statement, schema))
