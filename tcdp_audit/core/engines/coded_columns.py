"""The columns of a table as codes; each is read once, by all processors, and cached while memory allows."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

import pyarrow as pa

from tcdp_audit.core.base.cancellation import result_of
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.resources import processors
from tcdp_audit.core.encoding.domain import RawDomain
from tcdp_audit.core.engines.base import Column
from tcdp_audit.core.engines.coded_column import CodedColumn, coded_column
from tcdp_audit.core.engines.source import Cells

LARGE = 2**26  # bytes of a table's codes from which they are not cached once they have been taken


@dataclass(frozen=True)
class _Read:
    """A column that was read: its values, and its codes if they are cached."""

    raw: RawDomain
    column: CodedColumn | None


class CodedColumns:
    """The columns of a table that Arrow can read as codes.

    Args:
        cells: gives the cells of a column.
        columns: all columns.
        records: how many cells a column has.
        room: the limit in bytes of all codes, and of the cells and values of the columns that are being read.
    """

    def __init__(self, cells: Cells, columns: Sequence[Column], records: int, room: int) -> None:
        self._cells, self._columns, self._records, self._room = cells, columns, records, room
        self._free, self._lock = room, Lock()
        self._read: dict[int, Future[_Read | None]] = {}
        self._threads = ThreadPoolExecutor(processors())

    def begin(self, positions: Sequence[int]) -> None:
        """Start to read columns in other threads: in the main thread Arrow might consume a keyboard interrupt."""
        for position in positions:
            if position not in self._read:
                self._read[position] = self._threads.submit(self._column, position)

    def raw(self, position: int) -> RawDomain | None:
        """The distinct values of a column; None where it cannot be read as codes."""
        self.begin([position])
        read = result_of(self._read[position])
        return None if read is None else read.raw

    def take(self, position: int) -> CodedColumn | None:
        """The column whose values were requested; None where its codes are not cached.

        Large codes are removed from the cache; the next request reads them again.
        """
        self.begin([position])
        read = result_of(self._read[position])
        if read is None or read.column is None:
            return None
        if self.is_spent:
            del self._read[position]
            with self._lock:
                self._free += read.column.nbytes
        return read.column

    @property
    def is_spent(self) -> bool:
        """Whether codes are removed from the cache when they are taken."""
        return self._records * len(self._columns) > LARGE

    def _column(self, position: int) -> _Read | None:
        try:
            room = self._room // processors()
            cells = self._cells(position, self._columns[position].type, room)
            column = None if cells is None else coded_column(cells, room)
        except (pa.ArrowException, OSError, ValueError):  # DuckDB reads it instead and explains the fault
            return None
        pa.default_memory_pool().release_unused()  # another thread, with a separate pool, reads the next column
        if column is None or column.records != self._records:
            return None
        return _Read(column.raw, column if self._fits(column.nbytes) else None)

    def _fits(self, size: int) -> bool:
        """Reserve room for `size` bytes of codes, if there is any."""
        with self._lock:
            fits = size <= self._free
            self._free -= size if fits else 0
            return fits

    def close(self) -> None:
        """Stop reading."""
        self._threads.shutdown(cancel_futures=True)
