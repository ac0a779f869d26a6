"""The records that fail each expectation, marked while classes are measured.

A record has no number where equal ones are counted, and none once it is assigned to a shard. So the table is read in
its order and each record's number travels with its codes, in a column of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.auditor.class_tasks import NUMBER, ClassTask, FailingRecordMask
from tcdp_audit.core.base.arrays import frozen_array
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.engines.base import BorrowedEngine, Engine

_NOTHING = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class FailingRecordMasks:
    """The records that fail each expectation of an audit, for as long as it runs.

    Args:
        records: how many records the release has.
        masks: for each outcome of an expectation whether each record fails it; None where that is not a matter of
            records.
    """

    records: int
    masks: list[NDArray[np.bool_] | None] = field(default_factory=list)

    @property
    def number(self) -> Domain:
        """The column of the records' numbers."""
        return _Numbers(NUMBER, _NOTHING, _NOTHING, 0, _NOTHING, records=self.records)

    def blank(self, incomplete: Sequence[Domain]) -> FailingRecordMask:
        """Where to note the records that fail one expectation; see `FailingRecordMask`."""
        return FailingRecordMask(incomplete, np.zeros(self.records, dtype=bool))

    def close(self, task: ClassTask | None, outcome: Outcome) -> None:
        """Keep the mask of an outcome, if it is one of classes and was evaluated."""
        mask = None if task is None or outcome.status is Status.ERROR else task.failing_records
        if mask is not None and outcome.records is not None and outcome.records.failing is None:
            mask = self.blank(())  # nothing is demanded, not even a value
        self.masks.append(None if mask is None else frozen_array(mask.failing))


@dataclass(frozen=True)
class _Numbers(Domain):
    """As many codes as there are records."""

    records: int = 0

    @property
    def size(self) -> int:
        """How many records there are."""
        return self.records


class NumberedEngine(BorrowedEngine):
    """A table whose records are not counted but numbered, in its order.

    Raises:
        DataError: its records have no order.
    """

    def __init__(self, lender: Engine) -> None:
        super().__init__(lender)
        if not lender.ordered:
            raise DataError(
                f"{lender.name}: its records have no order where they are, so that none of them can be pointed out; "
                "read them into a frame first"
            )

    @property
    def rows(self) -> int:
        """As many as there are records."""
        return self.records

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All records as codes with their numbers."""
        (number,) = (one for one in domains if one.attribute == NUMBER)
        start = 0
        for batch in self.batches([one for one in domains if one is not number]):
            codes = dict(batch)
            stop = start + len(next(iter(codes.values())))
            yield CountedCodes({**codes, NUMBER: np.arange(start, stop, dtype=number.dtype)})
            start = stop
