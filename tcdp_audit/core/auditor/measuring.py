"""All tasks on one shard, which is grouped once for each set of quasi-identifiers and counted once for each attribute.

What stands here may travel to where a shard is: it holds what it needs and nothing else of the audit.

Tasks measured on classes that overlap: those of a shard under `wildcard`, block by block.

The records compatible with all classes together are many times those of the release, so they are never all there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock

import numpy as np

from tcdp_audit.core.auditor.class_tasks import ClassTask
from tcdp_audit.core.auditor.exposure import ExposureMeasure
from tcdp_audit.core.auditor.tasks import MeasuredShard, Result, Summaries, raised_by_check
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.words import gibibytes
from tcdp_audit.core.classes.grouping import Grouping, MatchedClasses, Shard
from tcdp_audit.core.classes.histogram import Counts, Histogram
from tcdp_audit.core.classes.shards import without_exempt
from tcdp_audit.core.classes.wildcard import Compatibility, WildcardBlock
from tcdp_audit.core.classes.wildcard_rows import BLOCK, Values, concatenated
from tcdp_audit.core.encoding.counted import Measure, Part
from tcdp_audit.core.encoding.domain import Domain

RECORD_BYTES = 96  # what a record takes while a shard is counted, besides its codes
PAIR_BYTES = 40  # what a value of a class takes until the shard is done
MOST_ROWS = 2**38  # some hours


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

    def __call__(self, shard: Shard) -> Measure[MeasuredShard]:
        """What comes of a part of the shard's classes."""
        counted = without_exempt(shard, self.exempt)
        if not counted.rows:
            return lambda _: self._nothing
        if self.overlapping:
            return self._matched(counted).measure
        return lambda part: self._measured(counted, part)

    def _matched(self, shard: Shard) -> MatchedShard:

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
    def _nothing(self) -> MeasuredShard:
        return MeasuredShard([None] * len(self.tasks))

    def _measured(self, shard: Shard, part: Part) -> MeasuredShard:
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
        return MeasuredShard(results, exposure.result())


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


@dataclass
class MatchedShard:
    """One shard under the wildcard convention, prepared once and then measured in parts by several threads.

    Args:
        shard: the codes of its records.
        tasks: what to measure.
        unit: the domain of the entity column, where the unit of privacy is not the row.
        missing_is_a_value: whether a missing sensitive value is a value of its own.
        show_values: whether the worst classes are named by their cells.
        memory: how many bytes it may take.
        limit: how many rows and values a step takes at a time.
    """

    shard: Shard
    tasks: Sequence[ClassTask]
    unit: Domain | None
    missing_is_a_value: bool
    show_values: bool
    memory: int
    limit: int = BLOCK
    _lock: Lock = field(default_factory=Lock, repr=False)

    def measure(self, part: tuple[int, int]) -> MeasuredShard:
        """Every task on one part of the classes."""
        results: dict[int, Result] = {}
        exposure = ExposureMeasure(self.tasks, self.unit)
        for group in self._prepared:
            results |= group.measure(part, self.limit, exposure, show_values=self.show_values)
        return MeasuredShard([results[id(task)] for task in self.tasks], exposure.result())

    @property
    def _prepared(self) -> Sequence[_Group]:
        with self._lock:  # one thread prepares, the others wait
            return self._groups

    @cached_property
    def _groups(self) -> Sequence[_Group]:
        by_names: dict[tuple[str, ...], list[ClassTask]] = {}
        for task in self.tasks:
            by_names.setdefault(tuple(domain.attribute for domain in task.quasi_identifiers), []).append(task)
        return [self._group(tasks) for tasks in by_names.values()]

    def _group(self, tasks: Sequence[ClassTask]) -> _Group:
        grouping = Grouping(self.shard, tasks[0].quasi_identifiers, self.unit, wildcard=True)
        group = _Group(grouping, tasks, self.missing_is_a_value)
        attributes = len({task.attribute.attribute for task in tasks if task.attribute is not None})
        try:
            _require_memory(grouping.shard.rows, attributes, self.memory)
            group.prepare()
        except Exception as error:  # noqa: BLE001 - the tasks of other groups go on
            group.error = raised_by_check(error)
        return group


@dataclass
class _Group:
    """The tasks that share their quasi-identifiers, and the ordinary classes with their values."""

    grouping: Grouping
    tasks: Sequence[ClassTask]
    missing_is_a_value: bool
    error: Exception | None = None
    values: dict[str, Values] = field(default_factory=dict)
    entities: Values | None = None

    def prepare(self) -> None:
        """Count the ordinary classes once for all parts."""
        grouping = self.grouping
        grouping.records  # noqa: B018 - computed here, by one thread
        if grouping.compatibility is None:
            return
        _require_time(grouping.compatibility)
        if grouping.unit is not None:
            self.entities = Values.of(grouping.entities_of(grouping.unit), grouping.unit.size + 1)
        for task in self.tasks:
            attribute = task.attribute
            if attribute is not None and attribute.attribute not in self.values:
                counted = grouping.counted(attribute.codes(grouping.shard), attribute.size + 1)
                self.values[attribute.attribute] = Values.of(*counted)
        grouping.compatibility.prepare()

    def measure(
        self, part: tuple[int, int], limit: int, exposure: ExposureMeasure, *, show_values: bool
    ) -> dict[int, Result]:
        """The results of one part of the classes by the task's identity."""
        if self.error is not None:
            return dict.fromkeys(map(id, self.tasks), self.error)
        if self.grouping.compatibility is None:
            return {id(task): self._whole(task, part, exposure, show_values=show_values) for task in self.tasks}
        readers = self._readers(limit, exposure, show_values=show_values)
        asked = [*([] if self.entities is None else [self.entities]), *self.values.values()]
        try:
            for block in self.grouping.compatibility.blocks([self.grouping.records], asked, part, limit):
                self._read(block, readers)
        except Exception as error:  # noqa: BLE001 - the tasks of other groups go on
            return dict.fromkeys(map(id, self.tasks), raised_by_check(error))
        return {id(task): result for reader in readers.values() for task, result in reader.results()}

    def _whole(self, task: ClassTask, part: tuple[int, int], exposure: ExposureMeasure, *, show_values: bool) -> Result:
        """A task on classes that do not overlap, in the first part."""
        if part[0]:
            return None
        try:
            attribute, histogram = task.attribute, None
            if attribute is not None:
                codes = attribute.codes(self.grouping.shard)
                histogram = self.grouping.histogram(codes, attribute.size + 1, self._left_out(attribute))
            return task.measure(self.grouping, histogram, show_values=show_values, exposure=exposure)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a check that raises must not take the others down
            return raised_by_check(error)

    def _readers(self, limit: int, exposure: ExposureMeasure, *, show_values: bool) -> dict[str | None, _Reader]:
        readers: dict[str | None, _Reader] = {}
        for task in self.tasks:
            name = None if task.attribute is None else task.attribute.attribute
            reader = readers.setdefault(name, _Reader(self.grouping, limit, exposure, show_values))
            reader.tasks.append(task)
        return readers

    def _read(self, block: WildcardBlock, readers: dict[str | None, _Reader]) -> None:
        histograms = list(block.histograms)
        counts = block.sums[0].astype(np.int64) if self.entities is None else histograms.pop(0).distinct
        by_name = dict(zip(self.values, histograms, strict=True))
        for name, reader in readers.items():
            attribute, histogram = reader.tasks[0].attribute, None
            if name is not None and attribute is not None:
                left_out = self._left_out(attribute)
                histogram = self.grouping.values_of(by_name[name], attribute.size + 1, left_out)
            reader.read(block.classes, counts, histogram)

    def _left_out(self, attribute: Domain) -> int | None:
        """The code that is no value of an attribute: that of a missing one, if it is none."""
        return None if self.missing_is_a_value else attribute.size


@dataclass
class _Reader:
    """The tasks on one attribute, or on none; it waits until there are enough classes to be worth a call."""

    grouping: Grouping
    limit: int
    exposure: ExposureMeasure
    show_values: bool
    tasks: list[ClassTask] = field(default_factory=list)
    waiting: list[tuple[Counts, Counts, Histogram | None]] = field(default_factory=list)
    pairs: int = 0
    summaries: dict[int, list[Summaries]] = field(default_factory=dict)
    errors: dict[int, BaseException] = field(default_factory=dict)

    def read(self, classes: Counts, size: Counts, histogram: Histogram | None) -> None:
        """Take some classes, and measure once enough wait."""
        self.waiting.append((classes, size, histogram))
        self.pairs += 0 if histogram is None else len(histogram.values)
        if self.pairs >= self.limit // 8:
            self._measure()

    def results(self) -> list[tuple[ClassTask, Result]]:
        """What came of each task."""
        if self.waiting:
            self._measure()
        return [(task, self.errors.get(id(task)) or self._merged(task)) for task in self.tasks]

    def _merged(self, task: ClassTask) -> Result:
        result = self.summaries.get(id(task))
        return task.merge(result) if result else None

    def _measure(self) -> None:
        classes, size, histograms = zip(*self.waiting, strict=True)
        one = MatchedClasses(self.grouping, np.concatenate(classes), np.concatenate(size))
        histogram = histograms[0] if len(histograms) == 1 or histograms[0] is None else concatenated(histograms)
        self.waiting, self.pairs = [], 0
        for task in self.tasks:
            if id(task) in self.errors:
                continue
            try:
                measured = task.measure(one, histogram, show_values=self.show_values, exposure=self.exposure)
                self.summaries.setdefault(id(task), []).append(measured)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a check that raises must not take the others down
                self.errors[id(task)] = raised_by_check(error)


def _require_memory(records: int, attributes: int, memory: int) -> None:
    """Refuse what cannot be kept within the budget, before any work."""
    needed = records * (RECORD_BYTES + PAIR_BYTES * attributes)
    if needed > memory:
        raise CheckError(
            f"`missing_quasi_identifier: wildcard` needs about {gibibytes(needed)} for {records:,} records that no "
            f"complete quasi-identifier keeps apart, and {gibibytes(memory)} may be used; give more with --memory, or "
            "use `own_category`, under which classes are smaller"
        )


def _require_time(compatibility: Compatibility) -> None:
    """Refuse what would take days, before the work begins."""
    rows = compatibility.expected_rows
    if rows > MOST_ROWS:
        raise CheckError(
            f"`missing_quasi_identifier: wildcard` would compare about {rows:.1g} rows: the quasi-identifiers are "
            f"missing in {compatibility.patterns:,} different patterns; leave out the attributes that are "
            "missing most, or use `own_category`, under which classes are smaller"
        )
