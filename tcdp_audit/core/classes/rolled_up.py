"""A table whose records are read once for several sets of columns: as the distinct rows of all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from tcdp_audit.core.base.resources import processors
from tcdp_audit.core.classes.grouping import Grouping
from tcdp_audit.core.classes.shards import Progress, partition, plan
from tcdp_audit.core.encoding.counted import CountedCodes, MappedShards
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.engines.base import BorrowedEngine, Engine

FEW = 10  # records for each distinct row, at least, from which on it pays to keep the rows


class RolledUpEngine(BorrowedEngine):
    """A table that gives the distinct rows of some columns, with the number of records of each, in place of records.

    They are counted when rows of these columns are first asked for, and kept where they are few; otherwise, and for
    other columns, the records are read. Either way every figure is the same.

    Args:
        lender: the table.
        columns: the columns, as codes.
        memory: the budget in bytes.
        progress: called with (step, records done, records in all).

    Cost: one scan, and a count of the rows in each shard.
    """

    def __init__(self, lender: Engine, columns: Sequence[Domain], memory: int, progress: Progress) -> None:
        super().__init__(lender)
        self._columns, self._memory, self._progress = columns, memory, progress
        self._asked = False

    @property
    def rows(self) -> int:
        """The greatest number of rows that `counted` gives."""
        distinct = self._distinct if self._asked else None
        return self._lender.rows if distinct is None else distinct.rows

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All records as codes, equal ones counted."""
        if any(all(one is not column for column in self._columns) for one in domains):
            yield from self._lender.counted(domains)
            return
        self._asked = True
        distinct = self._distinct
        if distinct is None:
            yield from self._lender.counted(domains)
        else:
            yield CountedCodes({one.attribute: distinct[one.attribute] for one in domains}, distinct.times)

    def shards(self, domains: Sequence[Domain], by: Sequence[Domain], wanted: int) -> MappedShards | None:
        """The shards that the table itself keeps, if it does."""
        return self._lender.shards(domains, by, wanted)

    @cached_property
    def _distinct(self) -> CountedCodes | None:
        """The distinct rows; None where they are too many for it to pay."""
        chosen = plan(self._lender.rows, self._columns, self._memory, processors())
        if chosen.spill:
            return None
        rows, most = 0, max(self.records // FEW, 1)
        parts: list[CountedCodes] = []
        with partition(self._lender, self._columns, self._columns, chosen, self._progress) as shards:
            for part in shards.each(self._distinct_in):
                parts.append(part)
                rows += part.rows
                if rows > most:
                    return None
        return CountedCodes.joined(parts) if parts else None

    def _distinct_in(self, shard: CountedCodes) -> CountedCodes:
        classes = Grouping(shard, self._columns)
        codes = zip(self._columns, classes.codes(), strict=True)
        return CountedCodes({one.attribute: column.astype(one.dtype) for one, column in codes}, classes.records)
