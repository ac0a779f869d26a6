"""Loss of equivalence classes: discernibility and average class size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.classes.grouping import Grouping
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.information_loss.columns import PairedColumn
from tcdp_audit.core.policy import Policy


@dataclass(frozen=True)
class ClassSizes:
    """Sizes of the equivalence classes of two releases; a missing quasi-identifier is a value of its own.

    Args:
        before: records in each class of the first release.
        after: records in each class of the second release.
        suppressed: records of the first that are not in the second.
    """

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    suppressed: int

    @property
    def discernibility(self) -> tuple[int, int]:
        """Sum of squared class sizes, each suppressed record counted as indistinguishable from all records.

        Source: Bayardo, Agrawal, ICDE 2005.
        """
        records = int(self.before.sum())
        return _squares(self.before), _squares(self.after) + records * self.suppressed

    def average(self, k: Fraction | None) -> tuple[float | None, float | None]:
        """Records by classes and by k (or 1), before and after; None without classes.

        Source: LeFevre, DeWitt, Ramakrishnan, ICDE 2006, C_avg.
        """
        return _average(self.before, k), _average(self.after, k)


def class_sizes(columns: Sequence[PairedColumn], suppressed: int) -> ClassSizes | None:
    """The classes of two releases by their quasi-identifiers; None without any. A sort of the records of each."""
    keys = [one for one in columns if one.is_quasi_identifier]
    if not keys:
        return None
    before = Grouping(CountedCodes({one.name: one.before_codes for one in keys}), [one.before for one in keys])
    after = Grouping(CountedCodes({one.name: one.after_codes for one in keys}), [one.after for one in keys])
    return ClassSizes(before.records, after.records, suppressed)


def demanded_k(policy: Policy) -> Fraction | None:
    """The largest class size k that an expectation on classes demands; None where none does."""
    demanded = [
        one.demanded(expectation.parameters)
        for expectation in policy.expectations
        if expectation.check.judges_each_class
        for one in expectation.check.limits
        if one.parameter == "k"
    ]
    return max((k for k in demanded if k is not None), default=None)


def _squares(sizes: NDArray[np.int64]) -> int:
    """Exact as long as the square of the number of records keeps within 63 bits."""
    return int(sizes @ sizes)


def _average(sizes: NDArray[np.int64], k: Fraction | None) -> float | None:
    return float(Fraction(int(sizes.sum()), len(sizes)) / (k or 1)) if len(sizes) else None
