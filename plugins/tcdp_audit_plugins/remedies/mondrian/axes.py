"""The dimensions of the space that is cut: the places of records, the width of a range, where a range is divided."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, boundaries
from tcdp_audit.plugin.engine import Hierarchy
from tcdp_audit.plugin.remedy import Attribute, LeafPenalty
from tcdp_audit_plugins.remedies._shared.segments import starts_of
from tcdp_audit_plugins.remedies.mondrian.rank_ranges import Integers, RankRanges, RankRuns, rank_runs


class Axis(ABC):
    """A quasi-identifier as a dimension: a place for each value, and behind them `places`, the one for no value.

    A suppressed value counts as none. Only the suppressed token covers a range that reaches the last place.
    """

    attribute: Attribute

    @property
    @abstractmethod
    def places(self) -> int:
        """The number of places for values."""

    @property
    @abstractmethod
    def place(self) -> Integers:
        """The place of each row. Shape (rows,)."""

    @abstractmethod
    def width(self, ranges: RankRanges) -> Floats:
        """Normalised certainty penalty of ranges: 0 for a single value, 1 for the whole domain and for the token."""

    @abstractmethod
    def nodes(self, runs: RankRuns) -> Integers:
        """The cut of every partition: runs with the same number form a part.

        Returns:
            Shape (depths, runs). The first row is the cut itself, each further one divides the parts of the row above,
            for those that are not allowed as they are. -1 for a run that cannot form a part, or not at that depth.
        """


@dataclass(frozen=True)
class OrderedAxis(Axis):
    """Numbers and ranks, cut at the median; nominal values without a hierarchy in the order of their names."""

    attribute: Attribute
    is_set: bool  # whether its ranges are released as sets of values, not as intervals

    @property
    def places(self) -> int:
        """The size of the domain."""
        return self.attribute.domain.size

    @property
    def place(self) -> Integers:
        """The code of each row, suppressed ones last."""
        return self._place

    @cached_property
    def _place(self) -> Integers:
        return place_of_rows(self.attribute, np.arange(self.places))

    def width(self, ranges: RankRanges) -> Floats:
        """Width of the interval by that of the domain; of a set, its values by those of the domain."""
        width = self._share(ranges) if self.is_set else self._extent(ranges)
        return np.where(ranges.last == self.places, 1.0, width)

    def _share(self, ranges: RankRanges) -> Floats:
        return np.where(ranges.taken == 1, 0.0, ranges.taken / max(self.places, 1))

    def _extent(self, ranges: RankRanges) -> Floats:
        low, high = (np.append(ends, 0.0) for ends in self.attribute.bounds)
        extent = (high[ranges.last] - low[ranges.first]) / (self.attribute.span or 1.0)
        return np.asarray(np.minimum(extent, 1.0))

    def nodes(self, runs: RankRuns) -> Integers:
        """0 before the median and 1 from there on, equal values together: of all two-part cuts the most even one."""
        before = starts_of(runs.size)
        before -= before[runs.starts][runs.partition]
        imbalance = np.abs(2 * before - runs.partition_size[runs.partition])
        least = np.minimum.reduceat(imbalance, runs.starts)
        median = np.flatnonzero(imbalance == least[runs.partition])
        median = median[boundaries(runs.partition[median])]
        return (np.arange(len(before)) >= median[runs.partition]).astype(np.int64)[None]


def place_of_rows(attribute: Attribute, place_of_value: NDArray[np.int64]) -> Integers:
    """The place of each row, given that of each value; suppressed and missing values come last."""
    domain = attribute.domain
    places = np.where(domain.is_uninformative, domain.size, np.append(place_of_value, domain.size))
    return places.astype(np.min_scalar_type(domain.size))[attribute.codes]


def mean_width(axis: Axis, classes: Integers, times: Floats) -> float:
    """Certainty penalty of an attribute, the mean over all records. Classes are numbered from 0 without a gap."""
    runs = rank_runs(classes, axis.place, axis.places, times)
    return float(np.average(axis.width(runs.ranges(runs.starts)), weights=runs.partition_size))


@dataclass(frozen=True)
class HierarchyAxis(Axis):
    """Values in an order that keeps every subtree together. A value that the hierarchy does not know counts as none."""

    attribute: Attribute
    hierarchy: Hierarchy

    @property
    def places(self) -> int:
        """The size of the domain."""
        return self.attribute.domain.size

    @cached_property
    def _labels(self) -> list[str]:
        labels = self.attribute.domain.labels
        unknown = frozenset(self.hierarchy.unknown(labels))
        known = [label for code, label in enumerate(labels) if code not in unknown]
        return [known[position] for position in np.lexsort(self.hierarchy.over(known).ancestors)]

    @property
    def place(self) -> Integers:
        """The rank of each row's value in that order."""
        return self._place

    @cached_property
    def _place(self) -> Integers:
        rank = {label: place for place, label in enumerate(self._labels)}
        places = [rank.get(label, self.places) for label in self.attribute.domain.labels]
        return place_of_rows(self.attribute, np.array(places, dtype=np.int64))

    @cached_property
    def ancestors(self) -> Integers:
        """Node of each place at each level; no value is right under the root. Shape (height + 1, places + 1)."""
        ancestors = np.full((self.hierarchy.height + 1, self.places + 1), -1, dtype=np.int64)
        ancestors[:, : len(self._labels)] = self.hierarchy.over(self._labels).ancestors
        ancestors[-1] = 0
        return ancestors

    @cached_property
    def _own_level(self) -> Integers:
        """The level that the label of each place has in the hierarchy; no value is as high as the root."""
        levels = np.full(self.places + 1, self.hierarchy.height, dtype=np.int64)
        levels[: len(self._labels)] = [self.hierarchy.lineage[label][0] for label in self._labels]
        return levels

    @cached_property
    def _shares(self) -> Floats:
        """Share of the hierarchy's leaves under each of those nodes; 0 for a single leaf, 1 for no value."""
        shares = np.ones(self.ancestors.shape)
        shares[:, : len(self._labels)] = LeafPenalty(self.hierarchy).shares(self._labels)
        return shares

    def _level(self, ranges: RankRanges) -> Integers:
        """The level of the lowest common ancestor."""
        return np.asarray((self.ancestors[:, ranges.first] == self.ancestors[:, ranges.last]).argmax(axis=0))

    def width(self, ranges: RankRanges) -> Floats:
        """Share of the hierarchy's leaves that the lowest common ancestor has under it; 0 for a single leaf."""
        return np.where(ranges.last == self.places, 1.0, self._shares[self._level(ranges), ranges.first])

    def nodes(self, runs: RankRuns) -> Integers:
        """The nodes that each run is under: children of the partition's node, then their children, down to leaves.

        No value, and a released label that names the partition's node itself, form no part: the label of such a part
        would be that of the rest.
        """
        level = self._level(runs.ranges(runs.starts))[runs.partition]
        below = level - 1 - np.arange(self.hierarchy.height)[:, None]
        nodes = np.where(below >= 0, self.ancestors[np.maximum(below, 0), runs.place], -1)
        nodes[:, self._own_level[runs.place] >= level] = -1
        return nodes
