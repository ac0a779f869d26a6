"""Nominal values under a hierarchy: a label covers the leaves below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import Floats
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.hierarchy import Hierarchy
from tcdp_audit.core.encoding.keys import Codes
from tcdp_audit.core.information_loss.coverage import Coverage, groups_of_frequent, own_shares, total_variation
from tcdp_audit.core.information_loss.penalty import Penalty


@dataclass(frozen=True)
class LeafPenalty(Penalty):
    """Leaves below a label by all leaves of the hierarchy; 0 for a single leaf, and for a label that it does not have.

    Args:
        hierarchy: the attribute's hierarchy.
    """

    hierarchy: Hierarchy

    def shares(self, labels: Sequence[str]) -> Floats:
        """The penalty of each label's node at each level. Shape (height + 1, labels)."""
        branches, levels = self.hierarchy.branches, range(self.hierarchy.height + 1)
        leaves = [Counter(branch[level] for branch in branches) for level in levels]
        below = np.ones((len(levels), len(labels)))
        for position, label in enumerate(labels):
            if label in self.hierarchy.lineage:
                start, upward = self.hierarchy.lineage[label]
                nodes = [(max(level, start), upward[max(level - start, 0)]) for level in levels]
                below[:, position] = [leaves[level][node] for level, node in nodes]
        return np.where(below > 1, below / len(branches), 0.0)

    def of_values(self, domain: Domain) -> Floats:
        """Leaves below each label by all leaves."""
        return self.shares(domain.labels)[0]


def ancestors_of(hierarchy: Hierarchy, labels: Sequence[str]) -> NDArray[np.int64]:
    """Node above each label at each level, shape (height + 1, labels); one of its own where it is no label."""
    known = [position for position, label in enumerate(labels) if label in hierarchy.lineage]
    ancestors = np.tile(-1 - np.arange(len(labels)), (hierarchy.height + 1, 1))
    ancestors[:, known] = hierarchy.over([labels[position] for position in known]).ancestors
    return ancestors


class Hierarchical(Coverage[LeafPenalty]):
    """A column whose values are labels of a hierarchy; one that is not is related to no other."""

    @property
    def _hierarchy(self) -> Hierarchy:
        return self.penalty.hierarchy

    @cached_property
    def _labels(self) -> list[str]:
        """The values before, then those after."""
        return [*self.column.before.labels, *self.column.after.labels]

    @cached_property
    def _ancestors(self) -> NDArray[np.int64]:
        return ancestors_of(self._hierarchy, self._labels)

    @cached_property
    def _levels(self) -> NDArray[np.int64]:
        """The level of each label; -1 where the hierarchy does not have it."""
        lineage = self._hierarchy.lineage
        return np.array([lineage[label][0] if label in lineage else -1 for label in self._labels], dtype=np.int64)

    @cached_property
    def _shares(self) -> Floats:
        return self.penalty.shares(self._labels)

    def growth(self, before: Codes, after: Codes) -> Floats:
        """Penalty of the lowest common ancestor, less that of the old value where the new one stands above it."""
        new = after + self.column.before.size
        lost = np.ones(len(before))
        above = np.zeros(len(before), dtype=bool)
        for level in reversed(range(self._hierarchy.height + 1)):
            common = self._ancestors[level, before] == self._ancestors[level, new]
            lost[common] = self._shares[level, new[common]]
            above |= common & (self._levels[new] == level)
        return lost - np.where(above, self._shares[0, before], 0.0)

    def distance(self, before: Floats, after: Floats) -> float:
        """Total variation distance. O(values x height)."""
        own, levels = self.column.same[:-1], self._levels[self.column.before.size :]
        landed = self.column.returned(after)
        new = float(after[(own < 0) & (levels < 0)].sum())
        for level in range(self._hierarchy.height + 1):
            here = np.where((own < 0) & (levels == level), after, 0.0)
            spread, homeless = self._spread(level, here, before > 0)
            landed += spread
            new += homeless
        return total_variation(before, landed, new)

    def _spread(self, level: int, weights: Floats, present: NDArray[np.bool_]) -> tuple[Floats, float]:
        """Weights of labels of a level, spread over the values before below them; and what has none below it."""
        placed = self._levels >= 0
        split = len(present)
        nodes = self._ancestors[level]
        old = present & placed[:split]
        new = placed[split:] & (weights > 0)
        count = int(nodes.max(initial=-1)) + 1
        below = np.bincount(nodes[:split][old], minlength=count)
        weight = np.bincount(nodes[split:][new], weights[new], count)
        each = np.divide(weight, below, out=np.zeros(count), where=below > 0)
        spread = np.zeros(split)
        spread[old] = each[nodes[:split][old]]
        return spread, float(weight[below == 0].sum())

    def groups(self) -> NDArray[np.intp]:
        """The most frequent values each by itself."""
        return groups_of_frequent(self.column.before)

    def landing(self, groups: NDArray[np.intp], number: int) -> Floats:
        """A label is spread over the values before below it. O(values x height)."""
        own, levels = self.column.same[:-1], self._levels
        shares = own_shares(own, groups, number)
        old = (groups >= 0) & (levels[: len(groups)] >= 0)
        for level in range(self._hierarchy.height + 1):
            nodes = self._ancestors[level]
            below = np.zeros((int(nodes.max(initial=-1)) + 1, number))
            np.add.at(below, (nodes[: len(groups)][old], groups[old]), 1.0)
            here = np.flatnonzero((own < 0) & (levels[len(groups) :] == level))
            counts = below[nodes[len(groups) :][here]]
            values = counts.sum(axis=1, keepdims=True)
            shares[here] = np.divide(counts, values, out=np.zeros_like(counts), where=values > 0)
        return shares
