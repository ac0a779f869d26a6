"""A nominal quasi-identifier with a hierarchy as a dimension: partitions are cut into the children of their node."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcdp_audit.exact import Floats
from tcdp_audit.hierarchy import Hierarchy
from tcdp_audit.remedy_view import Attribute
from tcdp_audit_plugins.remedies.mondrian.axes import Axis, place_of_records
from tcdp_audit_plugins.remedies.mondrian.runs import Integers, Ranges, Runs


@dataclass(frozen=True)
class HierarchyAxis(Axis):
    """Values in an order that keeps every subtree together. A value that the hierarchy does not know counts as none.

    Args:
        attribute: the quasi-identifier.
        hierarchy: its hierarchy.
    """

    attribute: Attribute
    hierarchy: Hierarchy

    @property
    def places(self) -> int:
        """The size of the domain."""
        return self.attribute.domain.size

    @cached_property
    def _labels(self) -> list[str]:
        """The known values in their order."""
        labels = self.attribute.domain.labels
        unknown = frozenset(self.hierarchy.unknown(labels))
        known = [label for code, label in enumerate(labels) if code not in unknown]
        return [known[position] for position in np.lexsort(self.hierarchy.over(known).ancestors)]

    @property
    def place(self) -> Integers:
        """The rank of each record's value in that order."""
        return self._place

    @cached_property
    def _place(self) -> Integers:
        rank = {label: place for place, label in enumerate(self._labels)}
        places = [rank.get(label, self.places) for label in self.attribute.domain.labels]
        return place_of_records(self.attribute, np.array(places, dtype=np.int64))

    @cached_property
    def _ancestors(self) -> Integers:
        """Node of each place at each level; no value stands right under the root. Shape (height + 1, places + 1)."""
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
        branches = self.hierarchy.branches
        leaves = Counter((level, label) for branch in branches for level, label in enumerate(branch))
        shares = np.ones(self._ancestors.shape)
        for place, label in enumerate(self._labels):
            own, upward = self.hierarchy.lineage[label]
            for level in range(self.hierarchy.height + 1):
                under = leaves[max(level, own), upward[max(level - own, 0)]]
                shares[level, place] = 0.0 if under == 1 else under / len(branches)
        return shares

    def _level(self, ranges: Ranges) -> Integers:
        """The level of the lowest common ancestor."""
        return np.asarray((self._ancestors[:, ranges.first] == self._ancestors[:, ranges.last]).argmax(axis=0))

    def width(self, ranges: Ranges) -> Floats:
        """Share of the hierarchy's leaves that the lowest common ancestor has under it; 0 for a single leaf."""
        return np.where(ranges.last == self.places, 1.0, self._shares[self._level(ranges), ranges.first])

    def nodes(self, runs: Runs) -> Integers:
        """The nodes that each run is under: children of the partition's node, then their children, down to leaves.

        No value, and a released label that names the partition's node itself, form no part: the label of such a part
        would be that of the rest.
        """
        level = self._level(runs.ranges(runs.starts))[runs.partition]
        below = level - 1 - np.arange(self.hierarchy.height)[:, None]
        nodes = np.where(below >= 0, self._ancestors[np.maximum(below, 0), runs.place], -1)
        nodes[:, self._own_level[runs.place] >= level] = -1
        return nodes
