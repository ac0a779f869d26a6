"""The demands of a policy on unions of some base classes, judged from the counts of those classes.

A search over generalisations merges the same classes again and again. Their sensitive values are counted once; a union
is then judged by sums of those counts, with the same tasks and exact comparisons.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.auditor.class_tasks import ClassTask
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.classes.histogram import Counts, Histogram, add_up, count_pairs
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import fold, positions_of
from tcdp_audit.core.remedy.demands import CLASS, Demands

Numbers = NDArray[np.int64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class _Pairs:
    """Base class, value and count of each pair of a base class and a value of an attribute.

    The pairs are in the order of the `bases` base classes.
    """

    attribute: Domain
    bases: int
    rows: Numbers
    values: Numbers
    counts: Counts

    def of(self, retained: NDArray[np.bool_]) -> _Pairs:
        """The pairs of the retained base classes."""
        stays = retained[self.rows]
        return _Pairs(self.attribute, self.bases, self.rows[stays], self.values[stays], self.counts[stays])

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        """The positions at which the pairs of each base class begin, and the end. Shape (bases + 1,)."""
        return np.searchsorted(self.rows, np.arange(self.bases + 1))

    def united(self, merged: Numbers, chosen: Indices | None) -> tuple[Numbers, Numbers, Counts]:
        """Union, value and count of each pair of some base classes; see `MergedDemands.satisfied_by`."""
        if chosen is None:
            return merged[self.rows], self.values, self.counts
        lengths = self._starts[chosen + 1] - self._starts[chosen]
        pairs = positions_of(self._starts[chosen], lengths)
        return np.repeat(merged, lengths), self.values[pairs], self.counts[pairs]


@dataclass(frozen=True)
class _Union:
    """Unions of base classes.

    Args:
        merged: the union of each base class, or of each chosen one.
        chosen: the chosen base classes, ascending; None for all.
        size: the number of retained records of each union. Shape (unions,).
        summed: cached histograms, by attribute.
    """

    merged: Numbers
    chosen: Indices | None
    size: Counts
    summed: dict[str, Histogram] = field(default_factory=dict)


@dataclass(frozen=True)
class MergedDemands:
    """The demands on unions of base classes, with the results of `Demands.satisfied_by`.

    Args:
        demands: the demands on the classes of a table.
        classes: base class of each record of the table, from 0 to count - 1. Shape (records,).
        count: the number of base classes.
    """

    demands: Demands
    classes: Numbers
    count: int
    _counted: dict[str, _Pairs] = field(default_factory=dict, repr=False)

    @cached_property
    def _retained(self) -> Numbers:
        """The base class of each retained record."""
        return self.classes if self.demands.retained_records is None else self.classes[self.demands.retained_records]

    @cached_property
    def sizes(self) -> Counts:
        """The number of retained records of each base class. Shape (count,)."""
        return np.bincount(self._retained, minlength=self.count)

    def without(self, removed: NDArray[np.bool_]) -> MergedDemands:
        """The demands on the table without some base classes, numbered as before. `removed` has the shape (count,)."""
        fewer = self.demands.without(removed[self.classes])
        counted = {name: pairs.of(~removed) for name, pairs in self._counted.items()}
        return MergedDemands(fewer, self.classes, self.count, counted)

    @cached_property
    def least_size(self) -> int:
        """The least class size by the demands on size alone; at least 1."""
        sizes = np.arange(1, int(self.sizes.sum()) + 1)
        small = sizes < self.demands.k
        for task in self.demands.tasks if self.demands.release.unit is None else ():
            if task.attribute is None:
                small |= task.failing(sizes, None)
        return int(np.argmin(np.append(small, False))) + 1

    def satisfied_by(
        self, merged: Numbers, count: int, stop_after: int | None = None, *, chosen: Indices | None = None
    ) -> NDArray[np.bool_]:
        """Whether each union, judged separately and exactly, satisfies every demand.

        Args:
            merged: for each base class, or each chosen one, the number of its union, from 0 to count - 1.
            count: the number of unions; one without records does not satisfy the demands.
            stop_after: once unions with more records than this in total fail, the evaluation stops, and other failing
                unions may be reported as satisfying. None for the complete result.
            chosen: the base classes that `merged` numbers, ascending; None for all. If an entity counts once per class
                and value, the reference is that of these unions if they hold all base classes, and otherwise that of
                the unchanged release.

        Returns:
            bool, shape (count,).

        Cost: a sort of the pairs of base class and value for each sensitive attribute with a demand. A sort of the
        records instead if an entity counts once per class and value, so that counts do not add up, or if an intruder
        knows further attributes.
        """
        union = _Union(merged, chosen, self._sizes_of(merged, count, chosen))
        satisfied = union.size >= max(self.demands.k, 1)
        for task in sorted(self.demands.tasks, key=lambda one: one.attribute is not None):  # sizes are judged fastest
            satisfied &= ~self._failing(task, union)
            if stop_after is not None and int(union.size[~satisfied].sum()) > stop_after:
                break
        return satisfied

    def _sizes_of(self, merged: Numbers, count: int, chosen: Indices | None = None) -> Counts:
        """The number of retained records of each union."""
        sizes = self.sizes if chosen is None else self.sizes[chosen]
        return np.bincount(merged, weights=sizes, minlength=count).astype(np.int64)

    def failed(self, merged: Numbers, count: int) -> list[str]:
        """The titles of the demands that some union fails, in the policy's order; see `satisfied_by`."""
        union = _Union(merged, None, self._sizes_of(merged, count))
        failing = (one for one in self.demands.tasks if self._failing(one, union).any())
        titles = list(dict.fromkeys(one.expectation.check.title for one in failing))
        return [*titles, *([f"k = {self.demands.k:,}"] if (union.size < self.demands.k).any() else [])]

    def _failing(self, task: ClassTask, union: _Union) -> NDArray[np.bool_]:
        """Whether each union fails one expectation."""
        if self.demands.release.unit is not None or task.target.known:
            return self._failing_by_record(task, union)
        failing, filled = np.zeros(len(union.size), dtype=bool), union.size > 0
        failing[filled] = task.failing(union.size[filled], self._histogram(task, union, filled))
        return failing

    def _failing_by_record(self, task: ClassTask, union: _Union) -> NDArray[np.bool_]:
        if union.chosen is None:
            shard = {**self.demands.shard, CLASS: union.merged[self._retained]}
            return self.demands.failing(task, shard, len(union.size))
        number = np.full(self.count, -1)
        number[union.chosen] = union.merged
        classes = number[self._retained]
        records = np.flatnonzero(classes >= 0)
        shard = {name: codes[records] for name, codes in self.demands.shard.items()}
        return self.demands.failing(task, {**shard, CLASS: classes[records]}, len(union.size), whole=False)

    def _histogram(self, task: ClassTask, union: _Union, filled: NDArray[np.bool_]) -> Histogram | None:
        """The histogram of a task's attribute in every union that has records, cached for all tasks."""
        attribute = task.attribute
        if attribute is None:
            return None
        if attribute.attribute not in union.summed:
            number = np.cumsum(filled) - 1
            merged, values, counts = self._pairs(attribute).united(union.merged, union.chosen)
            total = add_up(number[merged], values, counts, int(filled.sum()), attribute.size + 1)
            union.summed[attribute.attribute] = self.demands.counted(total, attribute)
        return union.summed[attribute.attribute]

    def _pairs(self, attribute: Domain) -> _Pairs:
        """The pairs of an attribute; attributes that are read together are coded again after records are removed."""
        known = self._counted.get(attribute.attribute)
        if known is None or known.attribute is not attribute:
            codes = attribute.codes(self.demands.shard)
            counted = count_pairs(fold([self._retained], [self.count]), codes, attribute.size + 1)
            rows = np.flatnonzero(self.sizes)[counted.rows]
            known = self._counted[attribute.attribute] = _Pairs(
                attribute, self.count, rows, counted.values, counted.counts
            )
        return known
