"""Exposed records: those of failing demands, each counted once.

Whether a demand fails is known only when all shards are measured. Therefore every shard reports the number of its
records for each set of demands that they fail; the sets with a failing demand are added up afterwards. An entity may be
in several shards, so each demand has a separate list of entities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.auditor.class_tasks import NUMBER, ClassTask, FailingRecordMask
from tcdp_audit.core.auditor.tasks import CountedRecords, Places, ShardExposure
from tcdp_audit.core.auditor.views import ROWS
from tcdp_audit.core.base.audit_figures import ExposureCount, failures
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Outcome, Severity, Status
from tcdp_audit.core.classes.grouping import Grouping, MatchedClasses
from tcdp_audit.core.classes.shards import without_value
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import distinct_of, fold, frozen_array, tally
from tcdp_audit.core.engines.base import BorrowedEngine, Engine

if TYPE_CHECKING:
    from tcdp_audit.core.units.histories import Histories

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ExposedUnits:
    """The units of one kind that failing demands expose with all of their rows.

    Args:
        unit: the column that joins the rows of each.
        exposed: whether each is, by its code, the missing one last. Shape (units + 1,).
    """

    unit: Domain
    exposed: Mask


@dataclass
class ExposureMeasure:
    """The records exposed in a shard, or in a part of its classes, collected task by task.

    Args:
        tasks: all tasks on classes.
        unit: the domain of the entity column, where the unit of privacy is not the row.
        shard: the rows; None where only those of classes matter.
        wholes: units that are exposed with all of their rows, in addition to the classes; the shard has their columns.
    """

    tasks: Sequence[ClassTask]
    unit: Domain | None
    shard: CountedCodes | None = None
    wholes: Sequence[ExposedUnits] = ()
    _masks: dict[int, tuple[Grouping, Mask]] = field(default_factory=dict)
    _victims: dict[int, tuple[Grouping, Mask]] = field(default_factory=dict)

    def add(self, task: ClassTask, classes: Grouping | MatchedClasses, failing: Mask) -> None:
        """Mark the classes that fail a task; `classes` may be a part of all."""
        some = bool(failing.any())
        if judges(task) and (some or task.incomplete):
            self._mark(self._masks, task, classes, failing)
        if some and counts_victims(task, self.unit):
            self._mark(self._victims, task, classes, failing)

    def _mark(
        self,
        masks: dict[int, tuple[Grouping, Mask]],
        task: ClassTask,
        classes: Grouping | MatchedClasses,
        failing: Mask,
    ) -> None:
        grouping, some = (classes.grouping, classes.classes) if isinstance(classes, MatchedClasses) else (classes, ...)
        place = next(number for number, one in enumerate(self.tasks) if one is task)
        whole = masks.setdefault(place, (grouping, np.zeros(len(grouping.records), dtype=bool)))[1]
        whole[some] |= failing

    def result(self) -> ShardExposure:
        """The number of records, and the entities, that fail each set of tasks."""
        victims = {place: grouping.entities_in(failing) for place, (grouping, failing) in self._victims.items()}
        return replace(self._failing(), victims=victims)

    def _failing(self) -> ShardExposure:
        if self.wholes:
            return self._with_wholes()
        if not self._masks:
            return ShardExposure({})
        if decided_per_class([self.tasks[place] for place in self._masks]):
            grouping = next(iter(self._masks.values()))[0]
            records = _by_places({place: mask for place, (_, mask) in self._masks.items()}, grouping.records)
        else:
            shard = next(iter(self._masks.values()))[0].shard
            records = _by_places({place: self._rows(place) for place in self._masks}, shard.each)
        if self.unit is None:
            return ShardExposure(records)
        return ShardExposure(records, {place: self._failing_entities(place) for place in self._masks})

    def _failing_entities(self, place: int) -> NDArray[np.integer[Any]]:
        """The entities of the rows that fail a task."""
        (grouping, failing), incomplete = self._masks[place], self.tasks[place].incomplete
        if incomplete:
            return self._entities(grouping.shard, self._rows(place))
        return grouping.entities_in(failing)

    def _with_wholes(self) -> ShardExposure:
        """The same with all rows of some units, whose places are negative."""
        assert self.shard is not None  # noqa: S101 - given with them
        rows = {place: self._rows(place) for place in self._masks}
        rows |= {
            -number: whole.exposed[self.shard[whole.unit.attribute]] for number, whole in enumerate(self.wholes, 1)
        }
        records = _by_places(rows, self.shard.each)
        if self.unit is None:
            return ShardExposure(records)
        return ShardExposure(records, {place: self._entities(self.shard, some) for place, some in rows.items()})

    def _entities(self, shard: CountedCodes, rows: Mask) -> NDArray[np.integer[Any]]:
        """The entities of some rows."""
        assert self.unit is not None  # noqa: S101 - called only where an entity counts once
        return distinct_of(shard[self.unit.attribute][rows], self.unit.size + 1)

    def _rows(self, place: int) -> Mask:
        """The rows of the classes that fail a task, and those that lack a value required by a convention."""
        grouping, failing = self._masks[place]
        rows = grouping.rows_of(failing) if failing.any() else np.zeros(grouping.shard.rows, dtype=bool)
        return rows | without_value(grouping.shard, self.tasks[place].incomplete)


def judges(task: ClassTask) -> bool:
    """Whether a task may fail a release."""
    parameters = task.expectation.parameters
    return parameters.severity is Severity.ERROR and bool(task.violation or task.check.demands(parameters))


def counts_victims(task: ClassTask, unit: Domain | None) -> bool:
    """Whether a task measures a share of entities, some of which have several records."""
    return unit is not None and unit.repeats and not task.check.judges_each_class


def decided_per_class(tasks: Sequence[ClassTask]) -> bool:
    """Whether classes determine which records fail: all tasks group alike, and no record fails by itself."""
    alike = {tuple(domain.attribute for domain in task.quasi_identifiers) for task in tasks}
    return len(alike) == 1 and not any(task.incomplete for task in tasks)


def _by_places(masks: Mapping[int, Mask], records: NDArray[np.int64]) -> dict[Places, int]:
    """Count the records for each non-empty set of masks that are true. Cost: `tally` of the records with one."""
    places, some = list(masks), np.flatnonzero(np.logical_or.reduce(list(masks.values())))
    if not len(some):
        return {}
    columns = [masks[place][some] for place in places]
    keys = fold(columns, [2] * len(columns))
    distinct, totals = tally(keys.values, keys.span, records[some])
    sets = (frozenset(compress(places, of_set)) for of_set in zip(*keys.decode(distinct), strict=True))
    return dict(zip(sets, totals.tolist(), strict=True))


@dataclass
class Exposure:
    """The exposure over all shards.

    Args:
        unit: the domain of the entity column, where the unit of privacy is not the row.
    """

    unit: Domain | None
    records: Counter[Places] = field(default_factory=Counter)
    entities: dict[int, Mask] = field(default_factory=dict)
    victims: dict[int, Mask] = field(default_factory=dict)

    def add(self, part: ShardExposure) -> None:
        """Add a shard. Cost: a byte for each entity and task that exposes one, and for each attack."""
        self.records.update(part.records)
        for marked, of_places in ((self.entities, part.entities), (self.victims, part.victims)):
            for place, codes in of_places.items():
                if place not in marked and self.unit is not None:
                    marked[place] = np.zeros(self.unit.size + 1, dtype=bool)
                marked[place][codes] = True

    def victims_of(self, task: ClassTask, place: int) -> int | None:
        """The number of entities on which an attack succeeds; None where records are counted."""
        if not counts_victims(task, self.unit):
            return None
        return int(self.victims[place].sum()) if place in self.victims else 0

    def of(self, failed: Mapping[int, int], outcomes: Sequence[Outcome], counted: CountedRecords) -> ExposureCount:
        """The records that failing demands expose.

        Args:
            failed: the position of the outcome of each failing task on classes, by the task's position.
            outcomes: all outcomes.
            counted: the records, and the entities, that are not exempt.
        """
        if not failed:
            return _of_a_table(outcomes, counted.records)
        exposed = ExposureCount(
            records=sum(number for places, number in self.records.items() if not places.isdisjoint(failed)),
            of=counted.records,
            counted=tuple(sorted(failed.values())),
        )
        if self.unit is None:
            return exposed
        return replace(exposed, units=self._units(failed, self.unit), units_of=counted.entities)

    def _units(self, failed: Mapping[int, int], unit: Domain) -> int:
        """The number of entities with an exposed record."""
        return int(self.units_of(failed, unit).sum())

    def units_of(self, failed: Mapping[int, int], unit: Domain) -> Mask:
        """The entities that have an exposed record, as a mask. Shape (units + 1,)."""
        exposed = np.zeros(unit.size + 1, dtype=bool)
        for place in failed.keys() & self.entities.keys():
            exposed |= self.entities[place]
        return exposed


@dataclass(frozen=True)
class ExposedView:
    """What failing demands of one view expose.

    Args:
        kind: that of the view.
        exposure: what its tasks expose, whether they fail or not.
        failed: the position of the outcome of each failing task on classes, by the task's position.
    """

    kind: str
    exposure: Exposure
    failed: Mapping[int, int]

    def units(self, unit: Domain) -> Mask:
        """The units that have an exposed record, as a mask. Shape (units + 1,)."""
        return self.exposure.units_of(self.failed, unit)


def exposed_by(
    views: Sequence[ExposedView],
    outcomes: Sequence[Outcome],
    counted: CountedRecords,
    histories: Histories | None,
    together: Callable[[], ExposureCount],
) -> ExposureCount:
    """The records and units that failing demands expose, each counted once, over all views of a release.

    Args:
        views: those of all scenarios.
        outcomes: all outcomes.
        counted: the records, and the units, that are not exempt.
        histories: the whole histories; None where no unit joins rows.
        together: counts the records of classes of rows that fail in several scenarios.
    """
    failing = [one for one in views if one.failed]
    if not failing:
        return _of_a_table(outcomes, counted.records)
    if histories is None or all(one.kind == ROWS for one in failing):  # what they expose are the rows of their classes
        return failing[0].exposure.of(failing[0].failed, outcomes, counted) if len(failing) == 1 else together()
    if histories.release.policy.document.household is not None:
        return _of_households(failing, histories)
    counted = CountedRecords(histories.records, histories.units)
    units = np.logical_or.reduce([one.units(histories.unit) for one in failing])
    return ExposureCount(
        records=histories.records_of(units),
        of=counted.records,
        counted=_positions(failing),
        units=int((units & histories.present).sum()),
        units_of=counted.entities,
    )


def _positions(views: Iterable[ExposedView]) -> tuple[int, ...]:
    """The positions of their failing outcomes."""
    return tuple(sorted({position for one in views for position in one.failed.values()}))


@dataclass(frozen=True, eq=False)
class FailingUnits:
    """The units, or the households, that have a row which fails a demand on classes.

    Args:
        unit: the column of units or households.
        failing: whether each has one, by its code, the missing one last. Shape (units + 1,).
    """

    unit: Domain
    failing: Mask


def failing_units(views: Iterable[ExposedView], histories: Histories | None) -> FailingUnits | None:
    """The units that fail a demand on classes of whole histories; None where no histories are judged."""
    if histories is None:
        return None
    whole = [one.units(histories.unit) for one in views if one.kind != ROWS]
    return FailingUnits(histories.unit, np.logical_or.reduce(whole)) if whole else None


def _of_households(failing: Sequence[ExposedView], histories: Histories) -> ExposureCount:
    """The rows of people in exposed households; demands on single rows count only where no other fails."""
    of_homes = [one for one in failing if one.kind != ROWS]
    homes = np.logical_or.reduce([one.units(histories.unit) for one in of_homes])
    return ExposureCount(records=histories.records_of(homes), of=histories.records, counted=_positions(of_homes))


def _of_a_table(outcomes: Sequence[Outcome], records: int) -> ExposureCount:
    """The records of the only failing demand that counts records, if no failing demand is on classes."""
    tallies = {position: outcomes[position].records for position in failures(outcomes)}
    counts = {position: one.failing for position, one in tallies.items() if one is not None and one.failing is not None}
    if len(counts) != 1:
        return ExposureCount(records=None, of=records)
    ((position, failing),) = counts.items()
    return ExposureCount(records=failing, of=records, counted=(position,))


_NOTHING = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class FailingRecordMasks:
    """The records that fail each expectation, collected while an audit runs.

    Args:
        records: the number of records of the release.
        masks: for each outcome of an expectation whether each record fails it; None if it does not apply to records.
    """

    records: int
    masks: list[NDArray[np.bool_] | None] = field(default_factory=list)

    @property
    def number(self) -> Domain:
        """The column of the records' numbers."""
        return _Numbers(NUMBER, _NOTHING, _NOTHING, 0, _NOTHING, records=self.records)

    def blank(self, incomplete: Sequence[Domain]) -> FailingRecordMask:
        """An empty mask for the records that fail one expectation; see `FailingRecordMask`."""
        return FailingRecordMask(incomplete, np.zeros(self.records, dtype=bool))

    def close(self, task: ClassTask | None, outcome: Outcome) -> None:
        """Store the mask of an outcome, or None if it is not on classes or was not evaluated."""
        mask = None if task is None or outcome.status is Status.ERROR else task.failing_records
        if mask is not None and outcome.records is not None and outcome.records.failing is None:
            mask = self.blank(())  # without a demand no missing value fails
        self.masks.append(None if mask is None else frozen_array(mask.failing))


@dataclass(frozen=True)
class _Numbers(Domain):
    """A domain with a code for each record."""

    records: int = 0

    @property
    def size(self) -> int:
        """The number of records."""
        return self.records


class NumberedEngine(BorrowedEngine):
    """A table whose records are numbered in order instead of counted; `DataError` if they have no order."""

    def __init__(self, lender: Engine) -> None:
        super().__init__(lender)
        if not lender.ordered:
            raise DataError(
                f"{lender.name}: its records have no order where they are, so that none of them can be pointed out; "
                "read them into a frame first"
            )

    @property
    def rows(self) -> int:
        """The number of records, as each is a row."""
        return self.records

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All records as codes with their numbers."""
        (number,) = (one for one in domains if one.attribute == NUMBER)
        start = 0
        for batch in self.batches([one for one in domains if one is not number]):
            codes = dict(batch)
            stop = start + len(next(iter(codes.values())))
            yield CountedCodes({**codes, NUMBER: np.arange(start, stop, dtype=number.dtype)})
            start = stop
