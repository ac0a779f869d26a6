"""Losses of attributes with a hierarchy and of nominal ones, and an attribute under its own scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.generalised import members
from tcdp_audit.core.encoding.hierarchy import Hierarchy, ancestors_of
from tcdp_audit.core.encoding.keys import Codes, Floats, positions_of, starts_of
from tcdp_audit.core.encoding.periods import period_of, within
from tcdp_audit.core.information_loss.columns import PairedColumn
from tcdp_audit.core.information_loss.coverage import Coverage, Penalty, groups_of_frequent, own_shares, total_variation
from tcdp_audit.core.information_loss.ordered import Ordered, RangePenalty
from tcdp_audit.core.policy.model import AttributeDeclaration


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
        """Penalty of the lowest common ancestor, less that of the old value where the new one is above it."""
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
        weights_after = self.column.returned(after)
        new = float(after[(own < 0) & (levels < 0)].sum())
        for level in range(self._hierarchy.height + 1):
            here = np.where((own < 0) & (levels == level), after, 0.0)
            spread, homeless = self._spread(level, here, before > 0)
            weights_after += spread
            new += homeless
        return total_variation(before, weights_after, new)

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


@dataclass(frozen=True)
class Members:
    """The values before that each label covers, in compressed rows."""

    # how many values each label covers; 0 for a value that was not there before, shape (labels,)
    sizes: NDArray[np.int64]
    codes: NDArray[np.int64]  # their codes before, label by label, shape (sum of sizes,)

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Members:
        """Make them from a list of codes for each label."""
        sizes = np.array([len(row) for row in rows], dtype=np.int64)
        return cls(sizes, np.array([code for row in rows for code in row], dtype=np.int64))

    def of_labels(self, labels: Codes) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """The members of some labels: position in `labels` and code before of each."""
        sizes = self.sizes[labels]
        rows = np.repeat(np.arange(len(labels)), sizes)
        return rows, self.codes[positions_of(starts_of(self.sizes)[labels], sizes)]


@dataclass(frozen=True)
class SetPenalty(Penalty):
    """Members of a set label, or values within a period of the calendar, by all values; 0 for a single value."""

    single: Mapping[str, int]  # the attribute's single values, with their codes

    @classmethod
    def of_attribute(cls, domain: Domain) -> SetPenalty:
        """The penalty of an attribute with the values of a domain."""
        known = {label: code for code, label in enumerate(domain.labels) if not domain.is_uninformative[code]}
        return cls({label: code for label, code in known.items() if members(label, known) is None})

    def members(self, domain: Domain) -> Members:
        """The single values that each label of a domain covers."""
        several = [(label, members(label, self.single) or ()) for label in domain.labels]
        rows = [[label] if label in self.single else parts for label, parts in several]
        codes = [[self.single[part] for part in parts] for parts in rows]
        return Members.of(self._with_periods(domain.labels, codes))

    def _with_periods(self, labels: Sequence[str], codes: list[list[int]]) -> list[list[int]]:
        """The codes of each label, where a period of the calendar covers the single values within it."""
        unknown = [place for place, row in enumerate(codes) if not row and period_of(labels[place]) is not None]
        if unknown:
            singles = list(self.single)
            for place, inside in zip(unknown, within([labels[one] for one in unknown], singles), strict=True):
                codes[place] = [self.single[singles[one]] for one in inside]
        return codes

    def of_sizes(self, sizes: NDArray[np.int64]) -> Floats:
        """The penalty of labels with so many members."""
        return np.where(sizes > 1, sizes / max(len(self.single), 1), 0.0)

    def of_values(self, domain: Domain) -> Floats:
        """Members of each label by all values of the attribute."""
        return self.of_sizes(self.members(domain).sizes)


class Nominal(Coverage[SetPenalty]):
    """A column whose values are equal or not."""

    @cached_property
    def _before(self) -> Members:
        return self.penalty.members(self.column.before)

    @cached_property
    def _after(self) -> Members:
        return self.penalty.members(self.column.after)

    def growth(self, before: Codes, after: Codes) -> Floats:
        """Growth of the certainty penalty where the new label covers the old one; 1 otherwise."""
        grown = self.penalty.of_sizes(self._after.sizes[after]) - self.penalty.of_sizes(self._before.sizes[before])
        return np.where(self._covered(before, after), grown, 1.0)

    def _covered(self, before: Codes, after: Codes) -> NDArray[np.bool_]:
        """Say whether every member of an old label is one of the new label."""
        radix = self.column.before.size
        labels, codes = self._after.of_labels(np.arange(self.column.after.size))
        rows, wanted = self._before.of_labels(before)
        outside = ~np.isin(after[rows] * radix + wanted, labels * radix + codes)
        return (np.bincount(rows[outside], minlength=len(before)) == 0) & (self._before.sizes[before] > 0)

    def distance(self, before: Floats, after: Floats) -> float:
        """Total variation distance. O(values and members of sets)."""
        own, sizes = self.column.same[:-1], self._after.sizes
        spread = (own < 0) & (sizes > 0)
        labels, codes = self._after.of_labels(np.flatnonzero(spread))
        weights_after = self.column.returned(after) + np.bincount(
            codes, (after[spread] / sizes[spread])[labels], len(before)
        )
        return total_variation(before, weights_after, float(after[(own < 0) & (sizes == 0)].sum()))

    def groups(self) -> NDArray[np.intp]:
        """The most frequent values each by itself; a set label before is a value of its own."""
        return groups_of_frequent(self.column.before)

    def landing(self, groups: NDArray[np.intp], number: int) -> Floats:
        """A set label is spread over its members. O(values and members of sets)."""
        own, sizes = self.column.same[:-1], self._after.sizes
        shares = own_shares(own, groups, number)
        spread = np.flatnonzero((own < 0) & (sizes > 0))
        labels, codes = self._after.of_labels(spread)
        np.add.at(shares, (spread[labels], groups[codes]), 1 / sizes[spread][labels])
        return shares


_COVERAGES: dict[type[Penalty], type[Coverage[Any]]] = {
    RangePenalty: Ordered,
    SetPenalty: Nominal,
    LeafPenalty: Hierarchical,
}


def penalty_of(declaration: AttributeDeclaration, hierarchy: Hierarchy | None, domain: Domain) -> Penalty:
    """The certainty penalty of an attribute.

    Args:
        declaration: its role and scale.
        hierarchy: its generalisation hierarchy, where it has one.
        domain: the values that it has; what a generalised value leaves open is judged by them.
    """
    if declaration.is_ordered:
        return RangePenalty.of_attribute(declaration, domain)
    return SetPenalty.of_attribute(domain) if hierarchy is None else LeafPenalty(hierarchy)


def coverage_of(column: PairedColumn) -> Coverage[Any]:
    """A column of two releases, read under its scale."""
    penalty = penalty_of(column.declaration, column.hierarchy, column.before)
    return _COVERAGES[type(penalty)](column, penalty)
