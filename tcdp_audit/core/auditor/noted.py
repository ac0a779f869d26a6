"""Which records fail each expectation, noted while classes are measured.

A record has no number where equal ones are counted, and none once it is dealt to a shard. So the table is read in its
order and each record's number travels with its codes, in a column of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.auditor.exposure import without_value
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import frozen_array
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.classes.grouping import Grouping, MatchedClasses
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.engines.base import BorrowedEngine, Engine

if TYPE_CHECKING:
    from tcdp_audit.core.auditor.class_tasks import ClassTask

NUMBER = "\0number"  # no column of a table has this name
_NOTHING = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class FailingRecordMask:
    """The records that fail one expectation.

    Args:
        incomplete: the attributes in which a missing value is a failure of its own, by convention.
        failing: whether each record of the release fails; written by the threads that measure. Shape (records,).
    """

    incomplete: Sequence[Domain]
    failing: NDArray[np.bool_]

    def add(self, grouping: Grouping | MatchedClasses, classes: NDArray[np.bool_]) -> None:
        """Note the records of the classes that fail, and those without a value where they must have one."""
        shard = grouping.shard
        rows = without_value(shard, self.incomplete)
        if classes.any():
            rows |= grouping.rows_of(classes)
        if rows.any():
            self.failing[shard[NUMBER][rows]] = True


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
        """Keep what was noted for an outcome, if it is one of classes and was evaluated."""
        noted = None if task is None or outcome.status is Status.ERROR else task.noted
        if noted is not None and outcome.records is not None and outcome.records.failing is None:
            noted = self.blank(())  # nothing is demanded, not even a value
        self.masks.append(None if noted is None else frozen_array(noted.failing))


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
