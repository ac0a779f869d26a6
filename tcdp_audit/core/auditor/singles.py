"""Classes of one record each: those that have the same value are alike, so that one of them is measured for all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.classes.grouping import Grouping, MatchedClasses
from tcdp_audit.core.classes.histogram import Counts, Histogram
from tcdp_audit.core.encoding.keys import Codes, numbered, occurrences

ALIKE = 4  # classes there are for each value, on average, where it is worth while


@dataclass(frozen=True)
class Singles:
    """One class for each value that some classes of one record have, or for having none.

    Args:
        kind: which of these classes each class is like. Shape (classes,).
        times: how many classes are like each. Shape (kinds,).
        histogram: the sensitive attribute in each of these classes; None where none is measured.
    """

    kind: Codes
    times: Counts
    histogram: Histogram | None

    @property
    def size(self) -> Counts:
        """The one record of each."""
        return np.ones(len(self.times), dtype=np.int64)

    def spread(self, per_kind: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """One figure per kind, for every class. Shape (classes,)."""
        return per_kind[self.kind]

    @staticmethod
    def of(grouping: Grouping | MatchedClasses, histogram: Histogram | None, size: int) -> Singles | None:
        """What stands for all classes; None where a class has several records, or too few are alike.

        Args:
            grouping: the classes.
            histogram: the sensitive attribute in each of them, if one is measured.
            size: how many values the attribute has.
        """
        if isinstance(grouping, MatchedClasses) or grouping.compatibility is not None:
            return None
        classes = len(grouping.records)
        if grouping.shard.records > classes or size * ALIKE > classes:
            return None
        values = np.zeros(classes, dtype=np.int64)  # and one more than the code of a value
        if histogram is not None:
            values[histogram.filled()] = histogram.values + 1
        distinct, kind = numbered(values, size + 2)
        return Singles(kind, occurrences(kind, len(distinct)), None if histogram is None else _counted(distinct))


def _counted(values: Counts) -> Histogram:
    """A class for each value, 0 for none."""
    filled = values > 0
    offsets = np.concatenate([[0], np.cumsum(filled)])
    return Histogram(offsets, values[filled] - 1, np.ones(offsets[-1], dtype=np.int64))
