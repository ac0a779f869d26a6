"""The engine for intermediate tables of texts and numbers: in memory as Arrow, without a database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.engines.base import Batch, Column, Engine
from tcdp_audit.core.engines.coded_column import UNLIMITED, CodedColumn, coded_column

BATCH = 262_144
PLAIN = {
    pa.string(): "VARCHAR",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.uint8(): "UTINYINT",
    pa.uint16(): "USMALLINT",
    pa.uint32(): "UINTEGER",
    pa.float64(): "DOUBLE",
}


class PlainEngine(Engine):
    """A table of texts and numbers in memory, read as the embedded engine reads it.

    Args:
        table: columns of `PLAIN` types.
        name: its name in messages.
    """

    def __init__(self, table: pa.Table, name: str) -> None:
        self.name, self.uri = name, f"memory:{name}"
        self._table = table
        self._columns = [Column(field.name, PLAIN[field.type]) for field in table.schema]
        self._coded: dict[str, CodedColumn] = {}

    @staticmethod
    def reads(table: pa.Table) -> bool:
        """Whether this engine can read a table."""
        return all(field.type in PLAIN for field in table.schema)

    @property
    def columns(self) -> Sequence[Column]:
        """The columns, in the table's order."""
        return self._columns

    @property
    def records(self) -> int:
        """The number of records that the table has."""
        return int(self._table.num_rows)

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with their counts."""
        return self._codes_of(attribute).raw

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, in the table's order."""
        columns = {domain.attribute: self._codes_of(domain.attribute).recoded(domain) for domain in domains}
        for start in range(0, self.records, BATCH):
            yield {attribute: codes(slice(start, start + BATCH)) for attribute, codes in columns.items()}

    def locate(self, attribute: str, values: NDArray[Any]) -> int:
        """The first record, from 1, that holds one of these raw values."""
        column, sought = self._codes_of(attribute), set(values.tolist())
        wanted = np.array([*(value in sought for value in column.raw.values.tolist()), False])
        return int(np.argmax(column.looked_up(wanted)(slice(0, self.records)))) + 1

    def table(self) -> pa.Table:
        """All records as one Arrow table."""
        return self._table

    def sha256(self) -> None:
        """None: no provenance names an intermediate table."""
        return

    def _codes_of(self, attribute: str) -> CodedColumn:
        if attribute not in self._coded:
            column = coded_column(self._table[attribute].chunks, UNLIMITED)
            assert column is not None  # noqa: S101 - the room is unlimited
            values = column.raw.values
            whole = column.raw if values.dtype.kind not in "iu" else replace(column.raw, values=values.astype(np.int64))
            self._coded[attribute] = replace(column, raw=whole)
        return self._coded[attribute]
