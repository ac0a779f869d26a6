"""All tasks on one shard, which is grouped once for each set of quasi-identifiers and counted once for each attribute.

What stands here may travel to where a shard is: it holds what it needs and nothing else of the audit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tcdp_audit.core.auditor.class_tasks import ClassTask
from tcdp_audit.core.auditor.exposure import ExposureMeasure
from tcdp_audit.core.auditor.tasks import Measured, Result, raised_by_check
from tcdp_audit.core.classes.exempt import without_exempt
from tcdp_audit.core.classes.grouping import Grouping, Shard
from tcdp_audit.core.classes.histogram import Histogram
from tcdp_audit.core.encoding.counted import Measure, Part
from tcdp_audit.core.encoding.domain import Domain

if TYPE_CHECKING:
    from tcdp_audit.core.auditor.matched import MatchedShard


@dataclass(frozen=True)
class Measuring:
    """What is measured on every shard.

    Args:
        tasks: what to measure.
        exempt: the attributes in all of which a record is suppressed that does not count; none where all count.
        unit: the domain of the entity column, where the unit of privacy is not the row.
        missing_is_a_value: whether a missing sensitive value is a value of its own.
        show_values: whether the worst classes are named by their cells.
        overlapping: whether classes overlap, because a missing quasi-identifier matches every value.
        memory: how many bytes a shard whose classes overlap may take.
        limit: how many rows and values a step may take at a time on such a shard.
    """

    tasks: Sequence[ClassTask]
    exempt: Sequence[Domain]
    unit: Domain | None
    missing_is_a_value: bool
    show_values: bool
    overlapping: bool
    memory: int
    limit: int

    def __call__(self, shard: Shard) -> Measure[Measured]:
        """What comes of a part of the shard's classes."""
        counted = without_exempt(shard, self.exempt)
        if not counted.rows:
            return lambda _: self._nothing
        if self.overlapping:
            return self._matched(counted).measure
        return lambda part: self._measured(counted, part)

    def _matched(self, shard: Shard) -> MatchedShard:
        from tcdp_audit.core.auditor.matched import MatchedShard  # noqa: PLC0415 - only where classes overlap

        return MatchedShard(
            shard,
            self.tasks,
            self.unit,
            missing_is_a_value=self.missing_is_a_value,
            show_values=self.show_values,
            memory=self.memory,
            limit=self.limit,
        )

    @property
    def _nothing(self) -> Measured:
        return Measured([None] * len(self.tasks))

    def _measured(self, shard: Shard, part: Part) -> Measured:
        if part[0]:  # classes that do not overlap are measured in one go
            return self._nothing
        view, exposure = _ShardView(shard, self.unit, self.missing_is_a_value), ExposureMeasure(self.tasks, self.unit)
        results: list[Result] = []
        for task in self.tasks:
            try:
                grouping, histogram = view.classes(task)
                results.append(task.measure(grouping, histogram, show_values=self.show_values, exposure=exposure))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a check that raises must not take the others down
                results.append(raised_by_check(error))
        return Measured(results, exposure.result())


@dataclass
class _ShardView:
    """One shard, grouped and counted only once for all tasks that ask for the same."""

    shard: Shard
    unit: Domain | None
    missing_is_a_value: bool
    groupings: dict[tuple[str, ...], Grouping] = field(default_factory=dict)
    histograms: dict[tuple[tuple[str, ...], str], Histogram] = field(default_factory=dict)

    def classes(self, task: ClassTask) -> tuple[Grouping, Histogram | None]:
        """The equivalence classes that a task measures, and its attribute counted in them."""
        names = tuple(domain.attribute for domain in task.quasi_identifiers)
        if names not in self.groupings:
            self.groupings[names] = Grouping(self.shard, task.quasi_identifiers, self.unit)
        grouping, attribute = self.groupings[names], task.attribute
        if attribute is None:
            return grouping, None
        key = (names, attribute.attribute)
        if key not in self.histograms:
            left_out = None if self.missing_is_a_value else attribute.size
            self.histograms[key] = grouping.histogram(attribute.codes(self.shard), attribute.size + 1, left_out)
        return grouping, self.histograms[key]
