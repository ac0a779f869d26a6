"""Tables made of histories: one with a row for each unit, and the rows of units with their history as a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.encoding.keys import Codes
from tcdp_audit.core.engines.base import Batch, BorrowedEngine, Column, Engine, recode

HISTORY = "\0history"  # no column of a table has this name
Numbers = NDArray[np.int64]


class UnitsEngine(Engine):
    """A table with one row for each unit, whose columns are given as codes.

    Args:
        lender: the table whose units these are; it is not closed.
        columns: for each column its distinct values, and the position among them of each unit's value; their number
            for a missing one. Shape (units,) each.
        times: how many records each row is, where several rows of a unit are given as one; None for one.
    """

    def __init__(
        self, lender: Engine, columns: Mapping[str, tuple[RawDomain, Numbers]], times: Numbers | None = None
    ) -> None:
        self.name, self.uri = lender.name, lender.uri
        self._columns, self._times = dict(columns), times

    @property
    def columns(self) -> Sequence[Column]:
        """The columns, in the order in which they were given."""
        kinds = {name: "VARCHAR" if raw.is_text else "DOUBLE" for name, (raw, _) in self._columns.items()}
        return tuple(Column(name, kind) for name, kind in kinds.items())

    @property
    def records(self) -> int:
        """The number of units, or of their records."""
        return self.rows if self._times is None else int(self._times.sum())

    @property
    def rows(self) -> int:
        """The number of rows that `counted` gives."""
        return len(next(iter(self._columns.values()))[1])

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with the number of units that have each."""
        return self._columns[attribute][0]

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All units, or their records, as codes."""
        yield from (rows.take(np.repeat(np.arange(rows.rows), rows.each)).codes for rows in self.counted(domains))

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All rows as codes."""
        yield CountedCodes(
            {one.attribute: recode(self._columns[one.attribute][1], one) for one in domains}, self._times
        )

    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:  # noqa: ARG002
        """None: a unit has no place in the file."""
        return None

    def table(self) -> pa.Table:
        """Raise an error: there is no such table for libraries to read."""
        raise NotImplementedError("units are no table of the release")

    def sha256(self) -> str | None:
        """None: the table that the units are of has the digest."""
        return None


class HistoryEngine(BorrowedEngine):
    """The rows of a table with the history of each row's unit as one more column.

    Args:
        lender: the table; it is not closed.
        unit: the units.
        columns: for each column of histories its domain and the code of each unit's, the missing unit's last.
    """

    def __init__(self, lender: Engine, unit: Domain, columns: Mapping[str, tuple[RawDomain, Numbers]]) -> None:
        super().__init__(lender)
        self._unit, self._histories = unit, dict(columns)

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of the table, then those of histories."""
        return (*self._lender.columns, *(Column(name, "BIGINT") for name in self._histories))

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with their counts."""
        return self._histories[attribute][0] if attribute in self._histories else self._lender.domain(attribute)

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, in the table's order."""
        return (self._joined(batch, domains) for batch in self._lender.batches(self._asked(domains)))

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All records as codes, equal ones counted where the table's engine can."""
        counted = self._lender.counted(self._asked(domains))
        return (CountedCodes(self._joined(rows, domains), rows.times) for rows in counted)

    def shards(self, domains: Sequence[Domain], by: Sequence[Domain], wanted: int) -> None:
        """None: a unit's history is known here."""

    def repeats(self, attribute: str) -> tuple[int, int]:
        """The number of records without a value of a column, and of values that occur in several records."""
        return Engine.repeats(self, attribute) if attribute in self._histories else self._lender.repeats(attribute)

    def _asked(self, domains: Sequence[Domain]) -> list[Domain]:
        """The domains to read from the table: those that it has, and the unit."""
        own = [one for one in domains if one.attribute not in self._histories and one.attribute != self._unit.attribute]
        return [*own, self._unit]

    def _joined(self, rows: Batch, domains: Sequence[Domain]) -> dict[str, Codes]:
        units = rows[self._unit.attribute]
        codes: dict[str, Codes] = {}
        for one in domains:
            if one.attribute in self._histories:
                of_unit = self._histories[one.attribute][1].astype(one.dtype)
                codes[one.attribute] = of_unit[units]
            else:
                codes[one.attribute] = rows[one.attribute]
        return codes


def raw_numbers(codes: Numbers, size: int) -> RawDomain:
    """The codes from 0 to `size` - 1 as values of a column, counted."""
    return RawDomain(np.arange(size), np.bincount(codes, minlength=size).astype(np.int64), 0)
