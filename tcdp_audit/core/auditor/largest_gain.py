"""What an intruder learns of a unit from its class of histories, whichever of its rows a value is in."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.classes.grouping import Grouping, Shard, SummedClasses
from tcdp_audit.core.classes.histogram import Histogram
from tcdp_audit.core.classes.shards import without_exempt
from tcdp_audit.core.encoding.counted import MappedShards
from tcdp_audit.core.encoding.domain import Domain

if TYPE_CHECKING:
    from tcdp_audit.core.auditor.class_tasks import ClassTask

LARGEST_GAIN = "largest_gain"  # the detail of a demand on cells with what classes of histories show
BORDERLINE = 1e-9  # within which fractions decide
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class _ValuesOfUnits:
    """The different values of an attribute that the units of each class of histories have."""

    history: Domain
    unit: Domain
    attribute: Domain
    exempt: Sequence[Domain]
    missing_is_a_value: bool

    def __call__(self, shard: Shard) -> Histogram | None:
        counted = without_exempt(shard, self.exempt)
        if not counted.rows:
            return None
        left_out = None if self.missing_is_a_value else self.attribute.size
        classes = Grouping(counted, (self.history,), self.unit)
        return classes.histogram(self.attribute.codes(counted), self.attribute.size + 1, left_out)


@dataclass(frozen=True)
class _CountsOfUnits:
    """How many units have any value, and each value of an attribute."""

    values: _ValuesOfUnits

    def __call__(self, shard: Shard) -> tuple[int, Numbers]:
        return self.of(self.values(shard))

    def of(self, histogram: Histogram | None) -> tuple[int, Numbers]:
        size = self.values.attribute.size + 1
        if histogram is None:
            return 0, np.zeros(size, dtype=np.int64)
        return int(histogram.members.sum()), np.bincount(histogram.values, histogram.counts, size).astype(np.int64)


@dataclass(frozen=True)
class _LargestGain:
    """The largest share of a value in a class of histories, less its share in the release."""

    values: _ValuesOfUnits
    units: int
    having: Numbers

    def __call__(self, shard: Shard) -> Fraction | None:
        return self.of(self.values(shard))

    def of(self, histogram: Histogram | None) -> Fraction | None:
        if histogram is None or not len(histogram.values):
            return None
        members = np.repeat(histogram.members, histogram.distinct)
        gain = histogram.counts / members - self.having[histogram.values] / self.units
        near = np.flatnonzero(gain >= gain.max() - BORDERLINE)  # decided by fractions: floats are exact to less
        pairs = {*zip(*(one[near].tolist() for one in (histogram.counts, members, histogram.values)), strict=True)}
        return max(Fraction(own, of) - Fraction(int(self.having[code]), self.units) for own, of, code in pairs)


def largest_gain(
    shards: MappedShards, task: ClassTask, unit: Domain, exempt: Sequence[Domain], *, missing_is_a_value: bool
) -> Fraction | None:
    """How much more frequent a value is among the units of a class of histories than among all, at the most.

    Args:
        shards: of the rows, with the history of each row's unit.
        task: judged on the cells of classes of histories.
        unit: the units.
        exempt: the columns in which exempt rows are suppressed.
        missing_is_a_value: whether a missing value counts as one.

    Returns:
        The share of the units with any value that have one, in the class less in the release; None without a value.

    Cost: two passes over the shards.
    """
    assert task.certain_in is not None and task.attribute is not None  # noqa: S101, PT018 - so cells are judged
    values = _ValuesOfUnits(task.certain_in, unit, task.attribute, exempt, missing_is_a_value)
    counted = task.certain_in.wholes if isinstance(task.certain_in, SummedClasses) else None  # where the table is
    of_units = _CountsOfUnits(values)
    counts = [*shards.each(of_units)] if counted is None else [of_units.of(counted)]
    units = sum(one for one, _ in counts)
    if not units:
        return None
    largest = _LargestGain(values, units, np.sum([one for _, one in counts], axis=0))
    gains = shards.each(largest) if counted is None else [largest.of(counted)]
    return max((one for one in gains if one is not None), default=None)
