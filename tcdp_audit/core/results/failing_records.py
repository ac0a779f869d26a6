"""The records of a release that fail each expectation, beside the audit that says how many they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.results.audit import Audit


@dataclass(frozen=True, eq=False)
class FailingRecords:
    """An audit, and which records fail each of its expectations; as confidential as the release.

    Args:
        audit: what `audit` says of the release.
        masks: for each outcome in `audit.expectations` whether each record fails it, bool, shape (records,), in the
            release's order. None where failing is not a matter of records: for a check on the release as a whole, for
            one that could not be evaluated, and for what a schema says. Nobody can write to them.

    Iterating gives pairs of an outcome and its mask.
    """

    audit: Audit
    masks: tuple[NDArray[np.bool_] | None, ...] = field(repr=False)  # of millions of records, and confidential

    def __iter__(self) -> Iterator[tuple[Outcome, NDArray[np.bool_] | None]]:
        """Each outcome with its mask."""
        return zip(self.audit.expectations, self.masks, strict=True)
