"""Buckets of a confidential attribute: which of its values belong together, and what each bucket is called."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.engine import Tree
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, interval_label, set_label
from tcdp_audit_plugins.remedies._shared.masses import consecutive, pack
from tcdp_audit_plugins.remedies._shared.recoding.extremes import extremes
from tcdp_audit_plugins.remedies._shared.recoding.nodes import lineages
from tcdp_audit_plugins.remedies._shared.recoding.ranges import is_ranged, span_label

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Buckets:
    """A confidential attribute in buckets.

    Args:
        attribute: the attribute.
        of_value: the bucket of each value of its domain; -1 for one that belongs to none. Shape (domain,).
        missing_counts: whether records without a value are a bucket of their own, the last.
    """

    attribute: Attribute
    of_value: Integers
    missing_counts: bool = False

    @property
    def values(self) -> int:
        """The number of buckets that hold values."""
        return int(self.of_value.max()) + 1

    @cached_property
    def of_record(self) -> Integers:
        """The bucket of each record; `values` for a record without one. Shape (records,)."""
        return np.append(np.where(self.of_value < 0, self.values, self.of_value), self.values)[self.attribute.codes]

    @cached_property
    def masses(self) -> Integers:
        """Records of each bucket that counts. Shape (buckets,)."""
        records = np.bincount(self.of_record, minlength=self.values + 1)
        return records if self.missing_counts and records[-1] else records[:-1]

    def labels(self) -> NewColumn:
        """The attribute with bucket labels: half-open intervals, ranges of ranks, nodes of the hierarchy, or sets."""
        groups = [np.flatnonzero(self.of_value == bucket) for bucket in range(self.values)]
        named = self._ranges(groups) if is_ranged(self.attribute) else self._sets(groups)
        return NewColumn.of_texts(named, self.of_record)

    def means(self) -> NewColumn:
        """The attribute with the mean of each bucket's records in place of their values, float64.

        Raises:
            RemedyError: its values are not numbers.
        """
        if not self.attribute.is_numeric:
            raise RemedyError(f"bucket means need numbers, and {self.attribute.name!r} holds other values; use labels")
        known = self.attribute.codes < self.attribute.domain.size
        numbers = self.attribute.domain.values[self.attribute.codes[known]].astype(np.float64)
        sums = np.bincount(self.of_record[known], weights=numbers)
        return NewColumn(sums / np.bincount(self.of_record[known]), self.of_record)

    def _ranges(self, groups: list[Integers]) -> list[str]:
        """From a bucket's first value to its last; of numbers, up to the next bucket's first."""
        domain, order = self.attribute.domain, self.attribute.declaration.order
        ends = [(int(group[0]), int(group[-1])) for group in groups]
        if order is not None:
            low, high = self.attribute.bounds
            return [interval_label(order[int(low[first])], order[int(high[last])]) for first, last in ends]
        if domain.covers is not None:
            edges = [(domain.covers[first], domain.covers[last]) for first, last in ends]
            return [
                span_label(one.low, two.high, open_start=one.low_open, open_end=two.high_open) for one, two in edges
            ]
        starts = [domain.labels[first] for first, _ in ends]
        inner = [interval_label(one, two, open_end=True) for one, two in pairwise(starts)]
        return [*inner, interval_label(starts[-1], domain.labels[ends[-1][1]])]

    def _sets(self, groups: list[Integers]) -> list[str]:
        """The values of a bucket; a node of the hierarchy where several make it up."""
        labels = self.attribute.domain.labels
        if self.attribute.tree is not None:
            labels = self._nodes(self.attribute.tree)
        return [set_label(sorted({labels[code] for code in group.tolist()})) for group in groups]

    def _nodes(self, tree: Tree) -> list[str]:
        """For each value the highest node that joins it to others and lies within its bucket; else itself."""
        present = np.flatnonzero(self.of_value >= 0)
        bucket = self.of_value[present]
        joined, level_of = np.ones(len(present), dtype=np.int64), np.zeros(len(self.of_value), dtype=np.int64)
        for level in range(1, tree.height + 1):
            node = tree.ancestors[level][present]
            least, greatest = extremes(bucket, bucket, node, tree.nodes(level))
            joins = np.bincount(node)[node]
            rises = (least == greatest)[node] & (joins > joined)
            joined[rises], level_of[present[rises]] = joins[rises], level
        names = lineages(self.attribute, "")[1]
        return [one[level] for one, level in zip(names, level_of.tolist(), strict=True)]


def bucketise(attribute: Attribute, buckets: int, *, missing_counts: bool = False) -> Buckets:
    """Join the values of an attribute into buckets of near-equal mass.

    Consecutive values where they are ordered, neighbours in the hierarchy where there is one, any values otherwise.

    Args:
        attribute: the attribute.
        buckets: how many, at most as many as there are values.
        missing_counts: see `Buckets`.

    Source: Domingo-Ferrer, Soria-Comas (2015), section 6.1.
    """
    masses = np.bincount(attribute.codes, minlength=attribute.domain.size + 1)[:-1]
    present = np.flatnonzero(masses)
    of_value = np.full(len(masses), -1)
    if is_ranged(attribute) or attribute.tree is not None:
        if not is_ranged(attribute) and attribute.tree is not None:
            present = present[np.lexsort(attribute.tree.ancestors[:, present])]
        of_value[present] = consecutive(masses[present], buckets)
    else:
        of_value[present] = pack(masses[present], buckets)
    return Buckets(attribute, of_value, missing_counts)
