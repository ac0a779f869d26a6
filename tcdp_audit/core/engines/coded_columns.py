"""The columns of a table as codes, each read once, by all processors, and kept while there is room."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock

import pyarrow as pa

from tcdp_audit.core.base.resources import processors
from tcdp_audit.core.encoding.domain import RawDomain
from tcdp_audit.core.engines.base import Column
from tcdp_audit.core.engines.cells import Cells
from tcdp_audit.core.engines.coded_column import CodedColumn, coded_column

LARGE = 2**26  # codes of a table that are not held twice, here and by whoever has taken them


@dataclass(frozen=True)
class _Read:
    """A column that was read: its values, and its codes if they are kept."""

    raw: RawDomain
    column: CodedColumn | None


class CodedColumns:
    """The columns of a table that Arrow can read as codes.

    Args:
        cells: gives the cells of a column.
        columns: all columns.
        records: how many cells a column has.
        room: how many bytes all codes may take, and the cells and values of the columns that are being read.
    """

    def __init__(self, cells: Cells, columns: Sequence[Column], records: int, room: int) -> None:
        self._cells, self._columns, self._records, self._room = cells, columns, records, room
        self._free, self._lock = room, Lock()
        self._read: dict[int, Future[_Read | None]] = {}
        self._threads = ThreadPoolExecutor(processors())

    def begin(self, positions: Sequence[int]) -> None:
        """Begin to read some columns; never in this thread, where Arrow might take a keyboard interrupt for itself."""
        for position in positions:
            if position not in self._read:
                self._read[position] = self._threads.submit(self._column, position)

    def raw(self, position: int) -> RawDomain | None:
        """The distinct values of a column; None where it cannot be read as codes."""
        self.begin([position])
        read = self._read[position].result()
        return None if read is None else read.raw

    def take(self, position: int) -> CodedColumn | None:
        """A column whose values were asked for; None where its codes are not kept.

        Codes that take much room are forgotten here. Whoever asks again has them read again.
        """
        self.begin([position])
        read = self._read[position].result()
        if read is None or read.column is None:
            return None
        if self.is_spent:
            del self._read[position]
            with self._lock:
                self._free += read.column.nbytes
        return read.column

    @property
    def is_spent(self) -> bool:
        """Whether codes are forgotten when they are taken."""
        return self._records * len(self._columns) > LARGE

    def _column(self, position: int) -> _Read | None:
        try:
            room = self._room // processors()
            cells = self._cells(position, self._columns[position].type, room)
            column = None if cells is None else coded_column(cells, room)
        except (pa.ArrowException, OSError, ValueError):  # DuckDB, which is asked then, has a sentence for a fault
            return None
        pa.default_memory_pool().release_unused()  # the next column is read by another thread, with a pool of its own
        if column is None or column.records != self._records:
            return None
        return _Read(column.raw, column if self._fits(column.nbytes) else None)

    def _fits(self, size: int) -> bool:
        """Whether there is room for some more codes, which is taken then."""
        with self._lock:
            fits = size <= self._free
            self._free -= size if fits else 0
            return fits

    def close(self) -> None:
        """Stop reading."""
        self._threads.shutdown(cancel_futures=True)
