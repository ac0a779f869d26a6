"""An audit for programs: as a pandas frame, and with the records that fail each expectation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Outcome

if TYPE_CHECKING:
    import pandas as pd

    from tcdp_audit.core.results.audit import Audit


COUNTS = ("groups_failing", "groups", "records_failing", "records")
OF_CELLS = ("cells_failing", "cells")


def frame_of(outcomes: Iterable[Outcome]) -> pd.DataFrame:
    """The outcomes in their order; see `Audit.to_frame`."""
    if find_spec("pandas") is None:
        raise UsageError("to_frame: needs pandas; pip install pandas")
    import pandas as pd  # noqa: PLC0415 - slow to import

    listed = list(outcomes)
    of_cells = any(one.cells is not None for one in listed)
    frame = pd.DataFrame([_row(one, of_cells=of_cells) for one in listed])
    counts = (*COUNTS, *(OF_CELLS if of_cells else ()))
    return frame.astype({**dict.fromkeys(counts, "Int64"), "observed": "float64", "threshold": "float64"})


def _row(outcome: Outcome, *, of_cells: bool) -> dict[str, Any]:
    """One outcome by columns, with the threshold as a float; `Outcome.threshold` is exact."""
    groups, records, cells = outcome.classes, outcome.records, outcome.cells
    tally = (None, None) if cells is None else (cells.failing, cells.total)
    return {
        "kind": "columns" if outcome.is_structural else "schema" if outcome.is_schema else "expectation",
        "check": outcome.check,
        "attribute": outcome.attribute,
        **outcome.of_part,
        "status": outcome.status.value,
        "severity": outcome.severity.value,
        "observed": outcome.observed,
        "comparison": None if outcome.comparison is None else outcome.comparison.value,
        "threshold": None if outcome.threshold is None else float(outcome.threshold),
        "groups_failing": None if groups is None else groups.failing,
        "groups": None if groups is None else groups.total,
        "records_failing": None if records is None else records.failing,
        "records": None if records is None else records.total,
        **(dict(zip(OF_CELLS, tally, strict=True)) if of_cells else {}),
        "message": outcome.note,
    }


@dataclass(frozen=True, eq=False)
class FailingRecords:
    """An audit, and the records that fail each of its expectations; as confidential as the release.

    Args:
        audit: the audit of the release.
        masks: for each outcome in `audit.expectations` whether each record fails it, bool, shape (records,), in the
            release's order. None if it does not apply to records: for a check on the release as a whole, a check that
            could not be evaluated, and an outcome of a schema. They are read-only.

    Iterating gives pairs of an outcome and its mask.
    """

    audit: Audit
    masks: tuple[NDArray[np.bool_] | None, ...] = field(repr=False)  # of millions of records, and confidential

    def __iter__(self) -> Iterator[tuple[Outcome, NDArray[np.bool_] | None]]:
        """Each outcome with its mask."""
        return zip(self.audit.expectations, self.masks, strict=True)
