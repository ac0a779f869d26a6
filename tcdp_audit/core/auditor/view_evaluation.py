"""The demands that are judged in one view of a release: measured on all its shards at once, and then worded.

The table is read once into shards of codes. Every shard is grouped once per set of quasi-identifiers, every
sensitive attribute is counted once per grouping, and every check measures the classes. Summaries merge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import field, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from tcdp_audit.core.auditor.class_tasks import ClassTask, only_on_classes
from tcdp_audit.core.auditor.expectations import Tasks
from tcdp_audit.core.auditor.exposure import (
    ExposedUnits,
    Exposure,
    ExposureMeasure,
    FailingRecordMasks,
    NumberedEngine,
    decided_per_class,
)
from tcdp_audit.core.auditor.linked_rows import with_per_row
from tcdp_audit.core.auditor.measuring import Measuring
from tcdp_audit.core.auditor.tasks import CountedRecords, Measurements, Result
from tcdp_audit.core.auditor.views import HISTORIES, UNITS, View, Views, domains_of, has_tables, noun_of_root
from tcdp_audit.core.base.audit_figures import ColumnRisk, ExposureCount
from tcdp_audit.core.base.cache import Cache, Identity
from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.outcome import UNIT_NOUN, Outcome, Status
from tcdp_audit.core.base.resources import budget, processors
from tcdp_audit.core.classes.grouping import Grouping, SummedClasses
from tcdp_audit.core.classes.histogram import LargestShares
from tcdp_audit.core.classes.shards import WORK_BYTES, Plan, Progress, largest_shard, partition, plan, silent
from tcdp_audit.core.detection.detector import Detector
from tcdp_audit.core.encoding.counted import MappedShards
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import frozen_array
from tcdp_audit.core.engines.base import BorrowedEngine, Engine
from tcdp_audit.core.policy.policy import Expectation
from tcdp_audit.core.release.release import Release

if TYPE_CHECKING:
    from tcdp_audit.core.auditor.table_tasks import TableTask
    from tcdp_audit.core.check.table_view import TableView
    from tcdp_audit.core.check.threshold import Target
    from tcdp_audit.core.units.evidence import HistoriesInWords

PARTS = 8  # parts at most for each processor of a single shard whose classes overlap
PART_RECORDS = 2**15  # of such a part, below which its own start would be most of its work


@dataclass(frozen=True)
class Options:
    """Options of a run. None changes a result, except that more memory makes estimates exact.

    Args:
        memory: budget in bytes; None for three quarters of what is free.
        shards: the number of shards; None for the number that suits the memory.
        show_values: name the worst classes by their cells. The evidence then is as confidential as the release.
        progress: called with the step, the records or shards done, and their total.
        samples: estimate from a sample of pairs if the tables exceed the memory; otherwise report that they do.
        column_risks: measure what each quasi-identifier adds to the risk, for a report.
        detectors: finds the detectors of identifiers when a check asks for them.
        cache: keeps what was read and counted from one audit of the same tables to the next.
        hash_content: have databases compute the content hash of their tables, for provenance.
    """

    memory: int | None = None
    shards: int | None = None
    show_values: bool = False
    progress: Progress = silent
    samples: bool = True
    column_risks: bool = False
    detectors: Callable[[], Mapping[str, Detector]] = dict
    cache: Cache = field(default_factory=Cache)
    hash_content: bool = False

    def __post_init__(self) -> None:
        """Raise `UsageError` if the memory or the shards are no numbers, such as the text "4GiB"."""
        for name, value, unit in (("memory", self.memory, "bytes"), ("shards", self.shards, "shards")):
            if value is not None and not isinstance(value, Real):
                raise UsageError(f"{name}: must be a number of {unit}, not of type {type(value).__name__}")


class ViewEvaluation:
    """The expectations of one audit."""

    def __init__(
        self,
        view: View,
        views: Views,
        options: Options,
        companions: Mapping[str, Engine],
        failing_records: FailingRecordMasks | None,
    ) -> None:
        self.view_of_release, self.views = view, views
        release = view.release
        self.release, self.options = release, options
        self.failing_records, self.failing_rows = failing_records, failing_records
        if failing_records is not None and view.kind == UNITS:  # marks units, whose rows are found at the end
            self.failing_records = FailingRecordMasks(release.engine.records)
        self.position = 0  # of the outcome that comes next, among those of all views
        self.companions = companions
        self.memory = budget(options.memory)
        self.conventions = release.policy.conventions
        self.wildcard = self.conventions.missing_quasi_identifier == "wildcard"
        self.exposure = Exposure(release.unit)
        self.is_riskiest = True  # whether column risks are measured though no demand fails: of who knows most
        self.risks: tuple[ColumnRisk, ...] | None = None  # None before they were measured
        self.counted = CountedRecords(release.engine.records)
        self.shares: dict[Identity, LargestShares] = {}  # of demands on cells, by histories and attribute
        self.on_classes: Sequence[ClassTask] = ()
        self.failed: dict[int, int] = {}  # index of a task on classes -> index of its outcome among all

    @cached_property
    def view(self) -> TableView:
        """The tables as checks on tables see them."""
        from tcdp_audit.core.check.table_view import TableView  # noqa: PLC0415 - only for a check on tables

        options, histories = self.options, self.views.histories
        borrowed = FrozenDict({name: BorrowedEngine(one) for name, one in self.companions.items()})

        def view_of(one: Release, companions: Mapping[str, Engine], of_rows: TableView | None = None) -> TableView:
            table, find = BorrowedEngine(one.engine), options.detectors
            return TableView(one.policy, table, companions, self.memory, options.samples, find, of_rows, histories)

        is_whole, rows = self.view_of_release.is_whole, self.views.rows.release
        if not has_tables(self.release):
            return view_of(self.release, borrowed, view_of(rows, borrowed) if is_whole else None)
        from tcdp_audit.core.units.companions import companion_units, followed  # noqa: PLC0415 - only for several tables

        if not is_whole or histories is None:
            return view_of(followed(self.release), borrowed)
        of_units, of_people = companion_units(histories, self.companions, self.memory)
        people = histories.people
        of_rows = view_of(rows, borrowed) if people is None else view_of(people.units_release, of_people)
        return view_of(followed(self.release), of_units, of_rows)

    def outcomes(self) -> Generator[Outcome, None, None]:
        """The outcome of each expectation and target."""
        view = self.view_of_release
        if not view.shared() or (has_tables(self.release) and not view.is_whole):
            yield from (self._outcome(task, self._measurements({})) for task in self._tasks(None))
            return
        with self._shards() as shards:
            self.shards, self.tasks = shards, self._tasks(shards)
            self.counted = self.tasks.counted
            tasks = [self._noting(task) for task in self.tasks]
            on_classes = [one for one in only_on_classes(tasks) if not one.obstacle]
            self.on_classes = on_classes
            places = {id(task): place for place, task in enumerate(on_classes)}
            measurements = self._measurements(self._run(on_classes))
            if self.is_riskiest:
                self._measure_risks()
            for task in tasks:
                outcome = self._outcome(task, measurements)
                if isinstance(task, ClassTask) and id(task) in places:
                    outcome = self._with_units(outcome, places[id(task)])
                if id(task) in places and outcome.status is Status.FAILED and outcome.blocks:
                    self.failed[places[id(task)]] = self.position
                if outcome.blocks:
                    self._measure_risks()
                yield outcome

    def _tasks(self, shards: MappedShards | None) -> Tasks:
        def asks(expectation: Expectation, target: Target) -> bool:
            return self.views.of(expectation, target).key == self.view_of_release.key

        return Tasks(self.release, shards, view=self.view_of_release, asks=asks)

    def _measurements(self, of_classes: Mapping[int, Result]) -> Measurements:
        cache = self.options.cache
        if not cache.room:
            return Measurements(lambda: self.view, of_classes)
        document = repr(
            self.release.policy.document.model_copy(update={"expect": ()})
        )  # no figure depends on other demands
        names = tuple(sorted(self.companions))
        tables = (
            hashlib.sha256(document.encode()).digest(),
            self.release.policy.path,
            names,
            Identity(self.release.engine, *(self.companions[name] for name in names)),
            frozenset(self.options.detectors()),
            self.options.samples,
        )
        return Measurements(lambda: self.view, of_classes, cache, tables)

    def _measure_risks(self) -> None:
        """Measure what each quasi-identifier adds to the risk, once, where that was asked for."""
        if self.options.column_risks and self.risks is None:
            self.risks = self._column_risks()

    def _column_risks(self) -> tuple[ColumnRisk, ...]:
        """The risk that each quasi-identifier adds, over all classes; empty if there are too many."""
        if self.view_of_release.is_whole:  # a part of the columns makes other histories
            return ()
        from tcdp_audit.core.classes.column_risk import affordable, column_risks  # noqa: PLC0415 - only on request

        known = self.release.quasi_identifiers
        parts = [(one.codes(), one.records) for one in self.shards.each(lambda shard: Grouping(shard, known))]
        if not parts or not affordable(len(known), sum(len(sizes) for _, sizes in parts)):
            return ()
        columns = [np.concatenate(codes) for codes in zip(*(codes for codes, _ in parts), strict=True)]
        codes = {domain.attribute: column for domain, column in zip(known, columns, strict=True)}
        labels = {name: one.label for name, one in self.release.policy.attributes.items() if one.label}
        return tuple(column_risks(codes, np.concatenate([sizes for _, sizes in parts]), labels))

    def _noting(self, task: ClassTask | TableTask) -> ClassTask | TableTask:
        """The task with a mask for its failing records, if they are requested."""
        if self.failing_records is None:
            return task
        mask = self.failing_records.blank(self.tasks.incomplete(task.target))
        return replace(task, failing_records=mask) if isinstance(task, ClassTask) else task

    def _outcome(self, task: ClassTask | TableTask, measurements: Measurements) -> Outcome:
        outcome = with_per_row(task.outcome(measurements), self.view_of_release, on_classes=isinstance(task, ClassTask))
        if isinstance(task, ClassTask) and task.certain_in is not None and outcome.status is not Status.ERROR:
            outcome = self._with_gain(outcome, task)
        if self.options.show_values and self.view_of_release.is_whole:
            outcome = self._in_words.named(outcome)
        if self.failing_records is not None:
            self.failing_records.close(task if isinstance(task, ClassTask) else None, outcome)
            self._report_rows()
        return outcome

    @cached_property
    def _in_words(self) -> HistoriesInWords:
        """The histories of the view, to name worst classes by rows."""
        from tcdp_audit.core.units.evidence import HistoriesInWords  # noqa: PLC0415 - only where values are shown

        histories = self.view_of_release.histories
        assert histories is not None  # noqa: S101 - a view of wholes has them
        return HistoriesInWords(histories, self.view_of_release.table)

    def _with_gain(self, outcome: Outcome, task: ClassTask) -> Outcome:
        """An outcome on cells with what an intruder learns of a unit, whichever of its rows a value is in."""
        from tcdp_audit.core.auditor.history_figures import LARGEST_GAIN, largest_gain  # noqa: PLC0415 - likewise

        joined, attribute = task.certain_in, task.attribute
        assert joined is not None and attribute is not None  # noqa: S101, PT018 - so cells are judged
        key = Identity(joined, attribute)
        if isinstance(joined, SummedClasses):  # counted where the table is
            self.shares.setdefault(key, LargestShares.within(joined.wholes, attribute.size + 1))
        gain = largest_gain(self.shares[key]) if key in self.shares else None
        return outcome if gain is None else replace(outcome, details={**outcome.details, LARGEST_GAIN: gain})

    def _with_units(self, outcome: Outcome, place: int) -> Outcome:
        """An outcome on rows of units with how many of these failing classes expose, and what they are called.

        Args:
            outcome: of a task on classes.
            place: the task's position.
        """
        view, unit = self.view_of_release, self.release.unit
        if view.kind != HISTORIES or view.histories is None or unit is None or outcome.status is not Status.FAILED:
            return outcome
        exposed = self.exposure.units_of({place: 0}, unit)
        having = view.histories.having_rows(view.table)
        counted = {"units": int(having.sum()), "victim_units": int((exposed & having).sum())}
        details = {**counted, **outcome.details, UNIT_NOUN: noun_of_root(view.histories)}
        return replace(outcome, details=details)

    def _report_rows(self) -> None:
        """Mark the rows of the units that fail, where units were marked."""
        marked, rows, histories = self.failing_records, self.failing_rows, self.view_of_release.histories
        if marked is None or rows is None or marked is rows or histories is None:
            return
        units = marked.masks.pop()
        rows.masks.append(None if units is None else frozen_array(np.append(units, False)[histories.unit_of_row()]))

    def _shards(self) -> AbstractContextManager[MappedShards]:
        """The records as codes in shards."""
        release = self.release
        view = self.view_of_release
        unit = () if release.unit is None else (release.unit,)
        number = () if self.failing_records is None else (self.failing_records.number,)
        columns = (*domains_of(view, named=self.options.show_values), *unit, *number)
        domains = list({one.attribute: one for one in columns}.values())
        engine = release.engine if self.failing_records is None else NumberedEngine(release.engine)
        chosen = plan(engine.rows, domains, self.memory, processors())
        if self.options.shards is not None:
            chosen = Plan(self.options.shards, chosen.spill)
        by = [d for d in view.shared() if not (self.wildcard and d.missing)]
        key = ("shards", chosen, len(by), Identity(release.engine, *domains, *by))
        return self.options.cache.borrow(key, lambda: partition(engine, domains, by, chosen, self.options.progress))

    def _run(self, tasks: Sequence[ClassTask]) -> dict[int, Result]:
        """Measure every task on all shards, several shards at a time."""
        if not tasks:
            return {}
        overlapping = self.wildcard and any(domain.missing for task in tasks for domain in task.quasi_identifiers)
        divided = (
            overlapping and self.shards.divisible and decided_per_class(tasks)
        )  # few shards are processed in parts
        most = min(PARTS * processors(), self.release.engine.rows // PART_RECORDS)
        parts = max(1, most // self.shards.count) if divided else 1
        shards: list[Sequence[Result]] = []
        every = self.shards.count * parts
        for measured in self.shards.map(self._measuring(tasks, overlapping=overlapping), parts):
            shards.append(measured.results)
            self.exposure.add(measured.exposed)
            for key, shares in measured.shares.items():
                self.shares[key] = self.shares[key].merge(shares) if key in self.shares else shares
            self.options.progress("measuring", len(shards), every)
        self.options.progress("measuring", every, every)  # some shards had no records
        return {id(task): self._merged(task, i, [results[i] for results in shards]) for i, task in enumerate(tasks)}

    def _merged(self, task: ClassTask, place: int, results: Sequence[Result]) -> Result:
        """Merge a task's results over all shards; for an attack, add the number of its victims."""
        merged = _merged(task, results)
        if merged is None or isinstance(merged, BaseException):
            return merged
        return task.with_entities(merged, self.exposure.victims_of(task, place))

    def _measuring(self, tasks: Sequence[ClassTask], *, overlapping: bool) -> Measuring:
        return Measuring(
            tasks=tasks,
            exempt=self.tasks.exempt,
            unit=self.release.unit,
            missing_is_a_value=self.conventions.missing_sensitive == "own_category",
            show_values=self.options.show_values,
            overlapping=overlapping,
            memory=self.memory,
            views=self.shards.derived if self.options.cache.room and self.shards.in_memory else None,
            limit=largest_shard(self.memory, processors()),
        )


def exposed_together(
    running: Sequence[ViewEvaluation], before: int, counted: CountedRecords, options: Options
) -> ExposureCount:
    """The records that demands expose which fail in several scenarios, each counted once.

    Their classes are of different columns, so the records are read again with all of them. Where no column is known in
    each of the scenarios, all records are in one shard; if that exceeds the memory, the number of records is not known.

    Args:
        running: the demands of each view of single rows.
        before: the number of outcomes before those of demands.
        counted: the records, and the units, that count.
        options: how to run.
    """
    failing = [one for one in running if one.failed]
    positions = {(id(one), place): before + number for one in failing for place, number in one.failed.items()}
    exposed = ExposureCount(records=None, of=counted.records, counted=tuple(sorted(positions.values())))
    first = failing[0]
    unit = first.release.unit
    if unit is not None:
        units = np.logical_or.reduce([one.exposure.units_of(one.failed, unit) for one in failing])
        exposed = replace(exposed, units=int(units.sum()), units_of=counted.entities)
    together = _Together(failing, options, unit=unit)
    if not together.is_possible:
        return exposed
    return replace(exposed, records=sum(together.exposure().records.values()))


def exposed_by_units(
    own: Sequence[ViewEvaluation],
    others: Sequence[Sequence[ViewEvaluation]],
    before: int,
    counted: CountedRecords,
    options: Options,
    of_policy: Release,
) -> ExposureCount:
    """The records that failing demands on several kinds of units expose, and the policy's own units with such a record.

    A demand that names a unit exposes all rows of the units that fail it, since its column joins them, and so does one
    on whole histories; a demand on rows exposes those of its classes. The rows are read once more, with the columns of
    all these units.

    Args:
        own: the views in which demands on the policy's own unit fail.
        others: the same of demands that name a unit, a sequence for each unit.
        before: the number of outcomes before those of demands.
        counted: the records, and the policy's own units, that count.
        options: how to run.
        of_policy: the rows with the policy's own unit.
    """
    failed = [one.failed.values() for group in (own, *others) for one in group]
    positions = tuple(sorted(before + number for numbers in failed for number in numbers))
    exposed = ExposureCount(records=None, of=counted.records, counted=positions)
    is_whole = any(one.view_of_release.is_whole for one in own)
    wholes = [*map(_whole_units, others), *([_whole_units(own)] if is_whole else [])]
    unit = of_policy.unit
    if own and not is_whole:
        together = _Together(own, options, wholes, unit)
        if not together.is_possible:
            return exposed
        measured = together.exposure()
    else:
        measured = Exposure(unit)
        columns = {one.attribute: one for one in (*(one.unit for one in wholes), *([] if unit is None else [unit]))}
        for rows in of_policy.engine.counted([*columns.values()]):
            measured.add(ExposureMeasure((), unit, rows, wholes).result())
    exposed = replace(exposed, records=sum(measured.records.values()))
    if unit is None:
        return exposed
    units = np.logical_or.reduce([*measured.entities.values(), np.zeros(unit.size + 1, dtype=bool)])
    total = int((unit.counts > 0).sum()) + bool(unit.missing)
    is_of_units = of_policy.policy.document.household is None and counted.entities is not None
    return replace(exposed, units=int(units.sum()), units_of=counted.entities if is_of_units else total)


def _whole_units(group: Sequence[ViewEvaluation]) -> ExposedUnits:
    """The units that failing demands of one kind of units expose; of households those on single rows do not count."""
    histories, unit = group[0].views.histories, group[0].release.unit
    if histories is None:
        assert unit is not None  # noqa: S101 - the column that demands name
        return ExposedUnits(unit, np.logical_or.reduce([one.exposure.units_of(one.failed, unit) for one in group]))
    of_homes = histories.release.policy.document.household is not None
    counting = [one for one in group if one.view_of_release.is_whole or not of_homes]
    units = np.logical_or.reduce([one.exposure.units_of(one.failed, histories.unit) for one in counting])
    return ExposedUnits(histories.unit, units & histories.present)


@dataclass
class _Together:
    """The failing demands of several scenarios on the rows of a release, measured on the columns of all.

    Args:
        failing: the views of single rows in which demands fail.
        options: how to run.
        wholes: units that are exposed with all of their rows.
        unit: the unit that counts once.
    """

    failing: Sequence[ViewEvaluation]
    options: Options
    wholes: Sequence[ExposedUnits] = ()
    unit: Domain | None = None

    @cached_property
    def domains(self) -> Mapping[str, Domain]:
        """Each column of the scenarios, in the coding with most values: that of a reference may have further ones."""
        widest: dict[str, Domain] = {}
        for one in (domain for view in self.failing for domain in domains_of(view.view_of_release)):
            known = widest.get(one.attribute)
            widest[one.attribute] = one if known is None or one.size > known.size else known
        return widest

    @cached_property
    def tasks(self) -> Sequence[ClassTask]:
        """The failing demands, grouped by these columns."""
        tasks = (view.on_classes[place] for view in self.failing for place in view.failed)
        return [
            replace(one, quasi_identifiers=tuple(self.domains[known.attribute] for known in one.quasi_identifiers))
            for one in tasks
        ]

    @cached_property
    def shared(self) -> Sequence[Domain]:
        """The columns that decide on the shard of a record: those that are known in every scenario, and complete."""
        wildcard = self.failing[0].wildcard
        known = [{one.attribute for one in task.quasi_identifiers} for task in self.tasks]
        names = sorted(set.intersection(*known))
        return [self.domains[name] for name in names if not (wildcard and self.domains[name].missing)]

    @cached_property
    def plan(self) -> Plan:
        """The shards; one where the scenarios have no column in common."""
        chosen = plan(self.failing[0].release.engine.rows, self._columns, self.failing[0].memory, processors())
        return Plan(chosen.shards if self.shared else 1, chosen.spill)

    @property
    def _columns(self) -> Sequence[Domain]:
        units = [*(one.unit for one in self.wholes), *([] if self.unit is None else [self.unit])]
        return [*{one.attribute: one for one in (*units, *self.domains.values())}.values()]

    @property
    def is_possible(self) -> bool:
        """Whether the same rows are read in every scenario, with the same ones exempt, and fit into the memory."""
        first = self.failing[0]
        engines = {id(one.release.engine) for one in self.failing}
        exempt = {tuple(domain.attribute for domain in one.tasks.exempt) for one in self.failing}
        rows = first.release.engine.rows
        fits = self.plan.shards > 1 or rows * WORK_BYTES <= first.memory
        return len(engines) == len(exempt) == 1 and fits

    def exposure(self) -> Exposure:
        """The records with a failing class in any scenario, or of a unit that is exposed with all of them."""
        first, measured = self.failing[0], Exposure(self.unit)
        overlapping = first.wildcard and any(one.missing for task in self.tasks for one in task.quasi_identifiers)
        measuring = first._measuring(self.tasks, overlapping=overlapping)  # noqa: SLF001 - of this module
        measuring = replace(measuring, views=None, wholes=self.wholes)
        progress = self.options.progress
        with closing(partition(first.release.engine, self._columns, self.shared, self.plan, progress)) as shards:
            for one in shards.map(measuring):
                measured.add(one.exposed)
        return measured


def _merged(task: ClassTask, results: Sequence[Result]) -> Result:
    """Merge a task's results over all shards: the first error if there is one, None if no shard has a record."""
    errors = [result for result in results if isinstance(result, BaseException)]
    summaries = [result for result in results if result is not None and not isinstance(result, BaseException)]
    return errors[0] if errors else task.merge(summaries) if summaries else None
