"""Cells as codes: one table for each attribute, made where the domain is known and used where the cells are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from tcdp_audit.plugin._internal import Codes, Counts
from tcdp_audit.plugin.engine import Domain, RawDomain, streamed_engine

MEMORY = 2**28
pc: Any = pyarrow.compute  # it makes its functions when it is imported, so that no type checker knows them


class UnknownCellError(Exception):
    """A cell that was not there when the distinct values were counted. Its text says nothing."""


@dataclass(frozen=True)
class Distinct:
    """The distinct cells of a column, as the cluster counted them and as the embedded engine reads them."""

    cells: pa.Array  # without null, in Spark's own type
    counts: Counts  # records with each
    nulls: int  # records without
    table: str  # what messages call the table

    @classmethod
    def of(cls, counted: pa.Table, table: str) -> Distinct:
        """The lookup of a table with a row for each distinct cell: the cell, and how many records have it."""
        cells, counts = (column.combine_chunks() for column in counted.columns)
        present = cells.is_valid()
        times = np.asarray(counts.filter(present), np.int64)
        return cls(cells.filter(present), times, sum(counts.filter(pc.invert(present)).to_pylist()), table)

    @property
    def records(self) -> int:
        """The number of records that the column has."""
        return int(self.counts.sum()) + self.nulls

    @cached_property
    def _read(self) -> tuple[RawDomain, Counts]:
        """The values as the embedded engine reads them, and for every cell the position of its value.

        A value that several cells mean is one; the position of a cell that means none is the number of values.
        """
        numbered = pa.table({"cell": self.cells, "number": np.arange(len(self.cells))})
        with streamed_engine(numbered.to_reader(), self.table, "memory:", MEMORY) as engine:
            raws = [(name, engine.domain(name)) for name in numbered.column_names]
            domains = [
                Domain(name, raw.values, raw.counts, raw.nulls, np.arange(len(raw.values))) for name, raw in raws
            ]
            position = np.full(len(self.cells), domains[0].size, dtype=np.int64)
            for batch in engine.batches(domains):
                position[batch["number"]] = batch["cell"]
        counts = np.bincount(position, self.counts, domains[0].size + 1).astype(np.int64)
        return RawDomain(domains[0].values, counts[:-1], self.nulls + int(counts[-1])), position

    @property
    def raw(self) -> RawDomain:
        """The distinct values with their counts, sorted."""
        return self._read[0]

    def lookup(self, domain: Domain) -> Lookup:
        """What encodes the column's cells under a domain of it."""
        code_of_raw = np.append(domain.code_of_raw, domain.size).astype(domain.dtype)
        return Lookup(self.cells, np.append(code_of_raw[self._read[1]], code_of_raw[-1:]))

    def ambiguous(self, domain: Domain) -> Counts:
        """Positions of the cells that share a code with others of the column; the last is that of null."""
        codes = self.lookup(domain).codes
        codes = codes if self.nulls else codes[:-1]
        _, which, counts = np.unique(codes, return_inverse=True, return_counts=True)
        return np.flatnonzero(counts[which] > 1)


@dataclass(frozen=True)
class Lookup:
    """Codes by cell."""

    cells: pa.Array  # the distinct ones, without null
    codes: Codes  # the code of each, and last that of null, shape (cells + 1,)

    def encode(self, cells: pa.ChunkedArray) -> Codes:
        """The code of each cell. O(cells + distinct cells).

        Raises:
            UnknownCellError: a cell is none of those that it knows.
        """
        known = self.cells if self.cells.type == cells.type else self.cells.cast(cells.type)
        positions = pc.index_in(cells, value_set=known)
        if positions.null_count != cells.null_count:
            raise UnknownCellError
        return self.codes[np.asarray(positions.fill_null(len(known)).combine_chunks())]
