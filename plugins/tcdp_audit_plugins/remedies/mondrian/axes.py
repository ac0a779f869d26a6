"""The dimensions of the space that is cut: where records stand on them, how wide a range is, where it divides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.exact import Floats
from tcdp_audit.keys import boundaries
from tcdp_audit.remedy_view import Attribute
from tcdp_audit_plugins.remedies.mondrian.runs import Integers, Ranges, Runs, runs_of


class Axis(ABC):
    """A quasi-identifier as a dimension: a place for each value, and behind them `places`, the one for no value.

    A suppressed value counts as none. Only the suppressed token covers a range that reaches the last place.
    """

    attribute: Attribute

    @property
    @abstractmethod
    def places(self) -> int:
        """How many places there are for values."""

    @property
    @abstractmethod
    def place(self) -> Integers:
        """Where each record stands. Shape (records,)."""

    @abstractmethod
    def width(self, ranges: Ranges) -> Floats:
        """Normalised certainty penalty of ranges: 0 for a single value, 1 for the whole domain and for the token."""

    @abstractmethod
    def nodes(self, runs: Runs) -> Integers:
        """How every partition would be cut: runs with the same number form a part.

        Returns:
            Shape (depths, runs). The first row is the cut itself, each further one divides the parts of the row above,
            for those that are not allowed as they are. -1 for a run that cannot form a part, or not at that depth.
        """


@dataclass(frozen=True)
class OrderedAxis(Axis):
    """Numbers and ranks, cut at the median; nominal values without a hierarchy in the order of their names.

    Args:
        attribute: the quasi-identifier.
        is_set: whether its ranges are released as sets of values, not as intervals.
    """

    attribute: Attribute
    is_set: bool

    @property
    def places(self) -> int:
        """The size of the domain."""
        return self.attribute.domain.size

    @property
    def place(self) -> Integers:
        """The code of each record, suppressed ones last."""
        return self._place

    @cached_property
    def _place(self) -> Integers:
        return place_of_records(self.attribute, np.arange(self.places))

    def width(self, ranges: Ranges) -> Floats:
        """Width of the interval by that of the domain; of a set, its values by those of the domain."""
        width = self._share(ranges) if self.is_set else self._extent(ranges)
        return np.where(ranges.last == self.places, 1.0, width)

    def _share(self, ranges: Ranges) -> Floats:
        return np.where(ranges.taken == 1, 0.0, ranges.taken / max(self.places, 1))

    def _extent(self, ranges: Ranges) -> Floats:
        low, high = (np.append(ends, 0.0) for ends in self.attribute.bounds)
        extent = (high[ranges.last] - low[ranges.first]) / (self.attribute.span or 1.0)
        return np.asarray(np.minimum(extent, 1.0))

    def nodes(self, runs: Runs) -> Integers:
        """0 before the median and 1 from there on, equal values together: of all two-part cuts the most even one."""
        before = np.cumsum(runs.size) - runs.size
        before -= before[runs.starts][runs.partition]
        imbalance = np.abs(2 * before - runs.partition_size[runs.partition])
        least = np.minimum.reduceat(imbalance, runs.starts)
        median = np.flatnonzero(imbalance == least[runs.partition])
        median = median[boundaries(runs.partition[median])]
        return (np.arange(len(before)) >= median[runs.partition]).astype(np.int64)[None]


def place_of_records(attribute: Attribute, place_of_value: NDArray[np.int64]) -> Integers:
    """The place of each record, given that of each value; suppressed and missing values stand last."""
    places = np.append(place_of_value, attribute.domain.size)
    places[list(attribute.domain.suppressed)] = attribute.domain.size
    return np.asarray(places[attribute.codes])


def mean_width(axis: Axis, classes: Integers) -> float:
    """Normalised certainty penalty of an attribute, the mean over all records.

    Args:
        axis: the attribute.
        classes: class of each record, from 0 without a gap.
    """
    runs = runs_of(classes, axis.place, axis.places)
    return float(np.average(axis.width(runs.ranges(runs.starts)), weights=runs.partition_size))
