"""The demands of a policy on unions of some base classes, judged from the counts of those classes.

A search over generalisations merges the same classes again and again. Their sensitive values are counted once; what
is asked of a union is then answered from sums of those counts, by the same tasks and exact comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.auditor.class_tasks import ClassTask
from tcdp_audit.classes.histogram import Counts, Histogram, add_up, count_pairs
from tcdp_audit.encoding.domain import Domain
from tcdp_audit.encoding.keys import fold
from tcdp_audit.remedy.demands import CLASS, Demands

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class _Pairs:
    """How often each value of an attribute occurs in each base class: base class, value and count of each pair."""

    attribute: Domain
    rows: Numbers
    values: Numbers
    counts: Counts

    def of(self, kept: NDArray[np.bool_]) -> _Pairs:
        """Those of some base classes."""
        stays = kept[self.rows]
        return _Pairs(self.attribute, self.rows[stays], self.values[stays], self.counts[stays])


@dataclass(frozen=True)
class MergedDemands:
    """What unions of base classes must keep. The answers are those of `Demands.kept_by`.

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
    def _kept(self) -> Numbers:
        """The base class of each kept record."""
        return self.classes if self.demands.kept_records is None else self.classes[self.demands.kept_records]

    @cached_property
    def sizes(self) -> Counts:
        """Kept records of each base class. Shape (count,)."""
        return np.bincount(self._kept, minlength=self.count)

    def without(self, removed: NDArray[np.bool_]) -> MergedDemands:
        """The demands on the table without some base classes, numbered as before. `removed` has the shape (count,)."""
        fewer = self.demands.without(removed[self.classes])
        counted = {name: pairs.of(~removed) for name, pairs in self._counted.items()}
        return MergedDemands(fewer, self.classes, self.count, counted)

    @cached_property
    def least_size(self) -> int:
        """No class of fewer records keeps the demands, going by those that ask for the size alone; at least 1."""
        sizes = np.arange(1, int(self.sizes.sum()) + 1)
        small = np.zeros(len(sizes), dtype=bool)
        for task in self.demands.tasks if self.demands.release.unit is None else ():
            if task.attribute is None:
                small |= task.failing(sizes, None)
        return int(np.argmin(np.append(small, False))) + 1

    def kept_by(self, merged: Numbers, count: int, stop_after: int | None = None) -> NDArray[np.bool_]:
        """Which unions keep every demand, each judged by itself and exactly.

        Args:
            merged: for each base class the number of its union, from 0 to count - 1. Shape (self.count,).
            count: how many unions there are; one without records does not keep the demands.
            stop_after: where unions of more records than this fail, it is enough to know it: others that fail may then
                be answered as kept. None to know all.

        Returns:
            bool, shape (count,).

        Cost: a sort of the pairs of base class and value for each sensitive attribute that is demanded something. Of
        the records instead where counts do not add up, because an entity counts once per class and value, or where an
        intruder knows further attributes.
        """
        size = np.bincount(merged, weights=self.sizes, minlength=count).astype(np.int64)
        kept, summed = size > 0, dict[str, Histogram]()
        for task in sorted(self.demands.tasks, key=lambda one: one.attribute is not None):  # sizes are quickly told
            kept &= ~self._failing(task, merged, size, summed)
            if stop_after is not None and int(size[~kept].sum()) > stop_after:
                break
        return kept

    def failed(self, merged: Numbers, count: int) -> list[str]:
        """The titles of the demands that some union fails, in the policy's order; see `kept_by`."""
        size, summed = np.bincount(merged, weights=self.sizes, minlength=count).astype(np.int64), dict[str, Histogram]()
        failing = (one for one in self.demands.tasks if self._failing(one, merged, size, summed).any())
        return list(dict.fromkeys(one.expectation.check.title for one in failing))

    def _failing(
        self, task: ClassTask, merged: Numbers, size: Counts, summed: dict[str, Histogram]
    ) -> NDArray[np.bool_]:
        """Which unions fail one expectation; `summed` holds the histograms that other tasks have asked for."""
        if self.demands.release.unit is not None or task.target.known:
            return self.demands.failing(task, {**self.demands.shard, CLASS: merged[self._kept]}, len(size))
        failing, filled = np.zeros(len(size), dtype=bool), size > 0
        failing[filled] = task.failing(size[filled], self._histogram(task, merged, filled, summed))
        return failing

    def _histogram(
        self, task: ClassTask, merged: Numbers, filled: NDArray[np.bool_], summed: dict[str, Histogram]
    ) -> Histogram | None:
        """The values of a task's attribute in every union that has records; added up once for all tasks."""
        attribute = task.attribute
        if attribute is None:
            return None
        if attribute.attribute not in summed:
            pairs, number = self._pairs(attribute), np.cumsum(filled) - 1
            rows = number[merged[pairs.rows]]
            total = add_up(rows, pairs.values, pairs.counts, int(filled.sum()), attribute.size + 1)
            summed[attribute.attribute] = self.demands.counted(total, attribute)
        return summed[attribute.attribute]

    def _pairs(self, attribute: Domain) -> _Pairs:
        """The values of an attribute in the base classes; several read together are coded anew once records went."""
        known = self._counted.get(attribute.attribute)
        if known is None or known.attribute is not attribute:
            codes = attribute.codes(self.demands.shard)
            counted = count_pairs(fold([self._kept], [self.count]), codes, attribute.size + 1)
            rows = np.flatnonzero(self.sizes)[counted.rows]
            known = self._counted[attribute.attribute] = _Pairs(attribute, rows, counted.values, counted.counts)
        return known
