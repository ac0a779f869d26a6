"""The demands of a policy on unions of some base classes, judged from the counts of those classes.

A search over generalisations merges the same classes again and again. Their sensitive values are counted once; what
is asked of a union is then answered from sums of those counts, by the same tasks and exact comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.auditor.class_tasks import ClassTask
from tcdp_audit.core.classes.histogram import Counts, Histogram, add_up, count_pairs
from tcdp_audit.core.classes.segments import positions_of
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import fold
from tcdp_audit.core.remedy.demands import CLASS, Demands

Numbers = NDArray[np.int64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class _Pairs:
    """Counts of each value of an attribute in each base class: base class, value and count of each pair.

    The pairs of a base class are adjacent, in the order of the base classes, of which there are `bases`.
    """

    attribute: Domain
    bases: int
    rows: Numbers
    values: Numbers
    counts: Counts

    def of(self, retained: NDArray[np.bool_]) -> _Pairs:
        """The pairs of some base classes."""
        stays = retained[self.rows]
        return _Pairs(self.attribute, self.bases, self.rows[stays], self.values[stays], self.counts[stays])

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        """The places where the pairs of each base class begin, and where the last ones end. Shape (bases + 1,)."""
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
    """Base classes as they are united.

    Args:
        merged: the union of each base class, or of each chosen one.
        chosen: which base classes those are, ascending; None for all.
        size: kept records of each union. Shape (unions,).
        summed: the histograms that tasks have asked for, by attribute.
    """

    merged: Numbers
    chosen: Indices | None
    size: Counts
    summed: dict[str, Histogram] = field(default_factory=dict)


@dataclass(frozen=True)
class MergedDemands:
    """The demands on unions of base classes. The answers are those of `Demands.satisfied_by`.

    Args:
        demands: the demands on the classes of a table.
        classes: base class of each record of the table, from 0 to count - 1. Shape (records,).
        count: how many numbers there are.
    """

    demands: Demands
    classes: Numbers
    count: int
    _counted: dict[str, _Pairs] = field(default_factory=dict, repr=False)

    @cached_property
    def _retained(self) -> Numbers:
        """The base class of each kept record."""
        return self.classes if self.demands.retained_records is None else self.classes[self.demands.retained_records]

    @cached_property
    def sizes(self) -> Counts:
        """Kept records of each base class. Shape (count,)."""
        return np.bincount(self._retained, minlength=self.count)

    def without(self, removed: NDArray[np.bool_]) -> MergedDemands:
        """The demands on the table without some base classes, numbered as before. `removed` has the shape (count,)."""
        fewer = self.demands.without(removed[self.classes])
        counted = {name: pairs.of(~removed) for name, pairs in self._counted.items()}
        return MergedDemands(fewer, self.classes, self.count, counted)

    @cached_property
    def least_size(self) -> int:
        """No class of fewer records keeps the demands, going by those that ask for the size alone; at least 1."""
        sizes = np.arange(1, int(self.sizes.sum()) + 1)
        small = sizes < self.demands.k
        for task in self.demands.tasks if self.demands.release.unit is None else ():
            if task.attribute is None:
                small |= task.failing(sizes, None)
        return int(np.argmin(np.append(small, False))) + 1

    def satisfied_by(
        self, merged: Numbers, count: int, stop_after: int | None = None, *, chosen: Indices | None = None
    ) -> NDArray[np.bool_]:
        """Say which unions keep every demand, each judged by itself and exactly.

        Args:
            merged: for each base class, or each chosen one, the number of its union, from 0 to count - 1.
            count: how many unions there are; one without records does not keep the demands.
            stop_after: where unions of more records than this fail, it is enough to know it: others that fail may then
                be answered as kept. None to know all.
            chosen: the base classes that `merged` numbers, ascending; None for all. Where an entity counts once per
                class and value, the reference is that of these unions if they hold all base classes, and otherwise
                that of the release as it is.

        Returns:
            bool, shape (count,).

        Cost: a sort of the pairs of base class and value for each sensitive attribute that is demanded something. Of
        the records instead where counts do not add up, because an entity counts once per class and value, or where an
        intruder knows further attributes.
        """
        union = _Union(merged, chosen, self._sizes_of(merged, count, chosen))
        satisfied = union.size >= max(self.demands.k, 1)
        for task in sorted(self.demands.tasks, key=lambda one: one.attribute is not None):  # sizes are quickly judged
            satisfied &= ~self._failing(task, union)
            if stop_after is not None and int(union.size[~satisfied].sum()) > stop_after:
                break
        return satisfied

    def _sizes_of(self, merged: Numbers, count: int, chosen: Indices | None = None) -> Counts:
        """Kept records of each union."""
        sizes = self.sizes if chosen is None else self.sizes[chosen]
        return np.bincount(merged, weights=sizes, minlength=count).astype(np.int64)

    def failed(self, merged: Numbers, count: int) -> list[str]:
        """The titles of the demands that some union fails, in the policy's order; see `satisfied_by`."""
        union = _Union(merged, None, self._sizes_of(merged, count))
        failing = (one for one in self.demands.tasks if self._failing(one, union).any())
        titles = list(dict.fromkeys(one.expectation.check.title for one in failing))
        return [*titles, *([f"k = {self.demands.k:,}"] if (union.size < self.demands.k).any() else [])]

    def _failing(self, task: ClassTask, union: _Union) -> NDArray[np.bool_]:
        """Say which unions fail one expectation."""
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
        """The values of a task's attribute in every union that has records; added up once for all tasks."""
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
        """The values of an attribute in the base classes; several read together are coded anew once records went."""
        known = self._counted.get(attribute.attribute)
        if known is None or known.attribute is not attribute:
            codes = attribute.codes(self.demands.shard)
            counted = count_pairs(fold([self._retained], [self.count]), codes, attribute.size + 1)
            rows = np.flatnonzero(self.sizes)[counted.rows]
            known = self._counted[attribute.attribute] = _Pairs(
                attribute, self.count, rows, counted.values, counted.counts
            )
        return known
