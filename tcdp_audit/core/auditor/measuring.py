"""All tasks on one shard, which is grouped once for each set of quasi-identifiers and counted once for each attribute.

Objects of this module may be sent to another process, so they hold only what the measurement needs.

Under `wildcard` classes overlap, and tasks are measured block by block: the compatible records of all classes are many
times those of the release, and are never all in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from tcdp_audit.core.auditor.class_tasks import ClassTask
from tcdp_audit.core.auditor.exposure import ExposedUnits, ExposureMeasure
from tcdp_audit.core.auditor.tasks import MeasuredShard, Result, Summaries, raised_by_check
from tcdp_audit.core.base.cache import Identity
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import gibibytes
from tcdp_audit.core.classes.grouping import Grouping, MatchedClasses, Shard, SummedClasses
from tcdp_audit.core.classes.histogram import AlikeClasses, Counts, Histogram, LargestShares
from tcdp_audit.core.classes.shards import without_exempt
from tcdp_audit.core.encoding.counted import Measure, Part
from tcdp_audit.core.encoding.domain import Domain

if TYPE_CHECKING:
    from tcdp_audit.core.classes.wildcard import Compatibility, WildcardBlock
    from tcdp_audit.core.classes.wildcard_rows import Values

V = TypeVar("V")
RECORD_BYTES = 96  # memory of a record while a shard is counted, in addition to its codes
PAIR_BYTES = 40  # memory of a value of a class until the shard is finished
MOST_ROWS = 2**38  # limit of the compared rows, which take some hours


@dataclass(frozen=True)
class Measuring:
    """The measurement of all tasks on a shard.

    Args:
        tasks: what to measure.
        exempt: the attributes in all of which an exempt record is suppressed; empty if all records count.
        unit: the domain of the entity column, where the unit of privacy is not the row.
        missing_is_a_value: whether a missing sensitive value counts as a value.
        show_values: whether the worst classes are named by their cells.
        overlapping: whether classes overlap, because a missing quasi-identifier matches every value.
        memory: the limit in bytes of a shard whose classes overlap.
        limit: the number of rows and values in one step on such a shard.
        views: a cache of grouped and counted shards for the next audit; None without one.
        wholes: units whose rows are exposed whatever their classes; see `ExposureMeasure`.
    """

    tasks: Sequence[ClassTask]
    exempt: Sequence[Domain]
    unit: Domain | None
    missing_is_a_value: bool
    show_values: bool
    overlapping: bool
    memory: int
    limit: int
    views: dict[Any, Any] | None = None
    wholes: Sequence[ExposedUnits] = ()

    def __call__(self, shard: Shard) -> Measure[MeasuredShard]:
        """A function that measures a part of the shard's classes."""
        counted = self._derived(("counted", Identity(shard, *self.exempt)), lambda: without_exempt(shard, self.exempt))
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
            wholes=self.wholes,
        )

    def _derived(self, key: Any, make: Callable[[], V]) -> V:
        """A value that was made for another audit, or is made now."""
        if self.views is None:
            return make()
        if key not in self.views:
            self.views[key] = make()
        return cast("V", self.views[key])

    @property
    def _nothing(self) -> MeasuredShard:
        return MeasuredShard([None] * len(self.tasks))

    def _measured(self, shard: Shard, part: Part) -> MeasuredShard:
        if part[0]:  # the first part measures all classes that do not overlap
            return self._nothing
        conventions = self.missing_is_a_value, self.show_values
        view = self._derived(
            ("view", Identity(shard, self.unit), conventions), lambda: _ShardView(shard, self.unit, *conventions)
        )
        exposure = ExposureMeasure(self.tasks, self.unit, shard, self.wholes)
        results: list[Result] = []
        shares: dict[Identity, LargestShares] = {}
        for task in self.tasks:
            try:
                grouping, classes = view.classes(task)
                of_values = Identity(task.certain_in, task.attribute)
                if _has_shares(task) and of_values not in shares:
                    shares[of_values] = _shares(task, classes.histogram)
                judgement = ("judgement", task.basis, Identity(grouping, classes))
                summaries, failing = self._derived(
                    judgement, partial(task.judge, grouping, classes, show_values=self.show_values)
                )
                task.report_failing(grouping, failing, exposure)
                results.append(summaries)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a check that raises must not take the others down
                results.append(raised_by_check(error))
        return MeasuredShard(results, exposure.result(), shares)


def _has_shares(task: ClassTask) -> bool:
    """Whether a task is on cells of classes of histories that are formed here."""
    return task.certain_in is not None and not isinstance(task.certain_in, SummedClasses)


def _shares(task: ClassTask, cells: Histogram | None) -> LargestShares:
    """The shares of values in the classes of histories that the cells of a task are parts of."""
    assert cells is not None and cells.wholes is not None and task.attribute is not None  # noqa: S101, PT018 - of cells
    return LargestShares.within(cells.wholes, task.attribute.size + 1)


@dataclass
class _ShardView:
    """A shard with cached groupings and histograms, shared by the tasks.

    The quasi-identifiers are domains of the shard, so their names identify them.
    """

    shard: Shard
    unit: Domain | None
    missing_is_a_value: bool
    show_values: bool
    groupings: dict[tuple[str, ...], Grouping] = field(default_factory=dict)
    counted: dict[Any, Any] = field(default_factory=dict)

    def classes(self, task: ClassTask) -> tuple[Grouping, AlikeClasses]:
        """The equivalence classes of a task, and what it measures in them."""
        grouping, attribute = self._grouping(task.quasi_identifiers), task.attribute
        if self.show_values or task.certain_in is not None:  # then equal counts do not make classes alike
            return grouping, self._each(grouping, task)
        if attribute is None:
            return grouping, grouping.alike_in_size
        alike = self._once(
            ("alike", Identity(grouping.class_of_row, attribute)),
            lambda: grouping.alike(attribute.codes(self.shard), attribute.size + 1, self._left_out(attribute)),
        )
        return grouping, self._of_units(alike) if task.counts_units else alike

    def _each(self, grouping: Grouping, task: ClassTask) -> AlikeClasses:
        """Every class by itself."""
        histogram = None if task.attribute is None else self._histogram(grouping, task.attribute)
        if task.certain_in is not None and histogram is not None:
            histogram = self._with_certainty(grouping, histogram, task)
        key = ("each", Identity(grouping.class_of_row, histogram))
        each = self._once(key, lambda: AlikeClasses(grouping.size, grouping.records, histogram))
        return self._of_units(each) if task.counts_units and task.certain_in is None else each

    def _of_units(self, classes: AlikeClasses) -> AlikeClasses:
        """The same classes, of which a share is that of their units."""

        def made() -> AlikeClasses:
            assert classes.histogram is not None  # noqa: S101 - asked only for an attribute
            return replace(classes, histogram=replace(classes.histogram, counts_entities=True))

        return classes if classes.histogram is None else self._once(("units", Identity(classes)), made)

    def _left_out(self, attribute: Domain) -> int | None:
        """The code of a missing value, if it does not count as a value; otherwise None."""
        return None if self.missing_is_a_value else attribute.size

    def _grouping(self, domains: Sequence[Domain]) -> Grouping:
        """The classes by some columns, which share what is counted with others that are the same classes."""
        names = tuple(domain.attribute for domain in domains)
        if names not in self.groupings:
            grouping = Grouping(self.shard, domains, self.unit)
            others = (one for one in self.groupings.values() if grouping.has_classes_of(one))
            self.groupings[names] = grouping.sharing(next(others, grouping))
        return self.groupings[names]

    def _histogram(self, grouping: Grouping, attribute: Domain) -> Histogram:
        return self._once(
            Identity(grouping.class_of_row, attribute),
            lambda: grouping.histogram(attribute.codes(self.shard), attribute.size + 1, self._left_out(attribute)),
        )

    def _with_certainty(self, grouping: Grouping, histogram: Histogram, task: ClassTask) -> Histogram:
        """The histogram of cells, each of which has a certain value if its class of histories has one."""
        joined, attribute = task.certain_in, task.attribute
        assert joined is not None  # noqa: S101 - asked only for cells
        assert attribute is not None  # noqa: S101 - likewise

        def made() -> Histogram:
            class_of_cell = np.zeros(len(histogram), dtype=np.int64)
            if isinstance(joined, SummedClasses):
                class_of_cell[grouping.class_of_row] = joined.codes(self.shard)
                return replace(histogram, wholes=joined.wholes, whole_of=class_of_cell)
            whole = self._grouping([joined])
            wholes = self._histogram(whole, attribute)
            class_of_cell[grouping.class_of_row] = whole.class_of_row
            return replace(histogram, wholes=wholes, whole_of=class_of_cell)

        return self._once(("cells", joined.attribute, Identity(histogram)), made)

    def _once(self, key: Any, make: Callable[[], V]) -> V:
        if key not in self.counted:
            self.counted[key] = make()
        return cast("V", self.counted[key])


@dataclass
class MatchedShard:
    """A shard under the wildcard convention, prepared once and then measured in parts by several threads.

    `shard` holds the codes of its records; see `Measuring` for the other arguments.
    """

    shard: Shard
    tasks: Sequence[ClassTask]
    unit: Domain | None
    missing_is_a_value: bool
    show_values: bool
    memory: int
    limit: int
    wholes: Sequence[ExposedUnits] = ()
    _lock: Lock = field(default_factory=Lock, repr=False)

    def measure(self, part: tuple[int, int]) -> MeasuredShard:
        """Measure every task on one part of the classes."""
        results: dict[int, Result] = {}
        exposure = ExposureMeasure(self.tasks, self.unit, self.shard, self.wholes)
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
    """The tasks with the same quasi-identifiers, and their ordinary (not overlapping) classes."""

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
        from tcdp_audit.core.classes.wildcard_rows import Values  # noqa: PLC0415 - only for this convention

        compatibility = grouping.compatibility
        _require_time(compatibility)
        if grouping.unit is not None:
            entities = Values.of(grouping.entities_of(grouping.unit), grouping.unit.size + 1)
            self.entities = compatibility.in_order(entities)
        for task in self.tasks:
            attribute = task.attribute
            if attribute is not None and attribute.attribute not in self.values:
                counted = grouping.counted(attribute.codes(grouping.shard), attribute.size + 1)
                self.values[attribute.attribute] = compatibility.in_order(Values.of(*counted))
        compatibility.prepare()

    def measure(
        self, part: tuple[int, int], limit: int, exposure: ExposureMeasure, *, show_values: bool
    ) -> dict[int, Result]:
        """Measure one part of the classes, and return the results by the identity of the task."""
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
        """Measure a task whose classes do not overlap, in the first part only."""
        if part[0]:
            return None
        try:
            attribute, histogram = task.attribute, None
            if attribute is not None:
                codes = attribute.codes(self.grouping.shard)
                histogram = self.grouping.histogram(codes, attribute.size + 1, self._left_out(attribute))
            classes = AlikeClasses(self.grouping.size, self.grouping.records, histogram)
            return task.measure(self.grouping, classes, show_values=show_values, exposure=exposure)
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
        """The code of a missing value, if it does not count as a value; otherwise None."""
        return None if self.missing_is_a_value else attribute.size


@dataclass
class _Reader:
    """The tasks on one attribute, or on none; it collects classes so that each call measures many."""

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
        """Collect classes, and measure them once there are enough."""
        self.waiting.append((classes, size, histogram))
        self.pairs += 0 if histogram is None else len(histogram.values)
        if self.pairs >= self.limit:
            self._measure()

    def results(self) -> list[tuple[ClassTask, Result]]:
        """The result of each task."""
        if self.waiting:
            self._measure()
        return [(task, self.errors.get(id(task)) or self._merged(task)) for task in self.tasks]

    def _merged(self, task: ClassTask) -> Result:
        result = self.summaries.get(id(task))
        return task.merge(result) if result else None

    def _measure(self) -> None:
        from tcdp_audit.core.classes.wildcard_rows import concatenated  # noqa: PLC0415 - only for this convention

        classes, size, histograms = zip(*self.waiting, strict=True)
        one = MatchedClasses(self.grouping, np.concatenate(classes), np.concatenate(size))
        histogram = histograms[0] if len(histograms) == 1 or histograms[0] is None else concatenated(histograms)
        some = AlikeClasses(one.size, one.records, histogram)
        self.waiting, self.pairs = [], 0
        for task in self.tasks:
            if id(task) in self.errors:
                continue
            try:
                measured = task.measure(one, some, show_values=self.show_values, exposure=self.exposure)
                self.summaries.setdefault(id(task), []).append(measured)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a check that raises must not take the others down
                self.errors[id(task)] = raised_by_check(error)


def _require_memory(records: int, attributes: int, memory: int) -> None:
    """Raise an error, before any work, if the shard exceeds the memory budget."""
    needed = records * (RECORD_BYTES + PAIR_BYTES * attributes)
    if needed > memory:
        raise CheckError(
            f"`missing_quasi_identifier: wildcard` needs about {gibibytes(needed)} for {records:,} records that no "
            f"complete quasi-identifier keeps apart, and {gibibytes(memory)} may be used; give more with --memory, or "
            "use `own_category`, under which classes are smaller"
        )


def _require_time(compatibility: Compatibility) -> None:
    """Raise an error, before any work, if the comparison would take days."""
    rows = compatibility.expected_rows
    if rows > MOST_ROWS:
        raise CheckError(
            f"`missing_quasi_identifier: wildcard` would compare about {rows:.1g} rows: the quasi-identifiers are "
            f"missing in {compatibility.patterns:,} different patterns; leave out the attributes that are "
            "missing most, or use `own_category`, under which classes are smaller"
        )
