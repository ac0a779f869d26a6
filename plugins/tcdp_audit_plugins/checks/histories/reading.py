"""The events that a check asks its view for, and what their columns must be like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import gibibytes, linking_columns
from tcdp_audit.plugin.check import Parameters, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import count, plural
from tcdp_audit_plugins.checks.histories.combinations import BLOCK, EACH
from tcdp_audit_plugins.checks.histories.events import Events, Flags, events_of
from tcdp_audit_plugins.checks.histories.nearby import NearbyEvents

if TYPE_CHECKING:
    from tcdp_audit.plugin._internal import Counts, UnitRows

OF_EVENT = 200  # bytes that an event takes while combinations are formed
MEMBERS = "members"  # the people of households, as a table
MOST_NEAR = 3  # known events where their times may be wrong


class EventParameters(Parameters):
    """Parameters of the checks that know some events of a unit."""

    table: Annotated[
        Text | None,
        Field(
            description="The table whose rows are the events, where the policy has several; `members`: the people of "
            "households are. By default the rows of units."
        ),
    ] = None
    attributes: Annotated[
        list[Text] | None,
        Field(
            min_length=1,
            description="The columns that are known of an event; by default all quasi-identifiers of its table.",
        ),
    ] = None
    tolerance: Annotated[
        dict[Text, Annotated[Exact, Field(ge=0)]] | None,
        Field(
            min_length=1,
            max_length=1,
            description="The column `time`, and by how much what is known of it may be wrong (in days for dates).",
        ),
    ] = None


class KnownEventsParameters(EventParameters):
    """Parameters of `known_events`."""

    k: Annotated[
        int | None, Field(ge=1, description="The least number of units that have any events that one of them has.")
    ] = None
    m: Annotated[int, Field(ge=1, description="How many events of a unit an intruder knows, at the most.")] = 3
    C: Annotated[
        Exact | None,
        Field(gt=0, le=1, description="The largest share of the units with some known events that have one value."),
    ] = None
    attribute: Annotated[
        Text | None,
        Field(description="The sensitive attribute that may be inferred; by default the only one that there is."),
    ] = None
    values: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The values of `attribute` that must not be inferred; by default all of them."),
    ] = None
    repeats: Annotated[
        Literal["counted", "ignored"],
        Field(description="Whether an intruder knows how often equal events occurred, or only that they did."),
    ] = "counted"
    order: Annotated[
        Literal["none", "sequence"],
        Field(description="With `sequence`, the order of the events is known in the place of their times."),
    ] = "none"
    window: Annotated[
        Exact | None,
        Field(
            gt=0, description="All events of a period of this length are known (in days for dates); `m` does not apply."
        ),
    ] = None


@dataclass(frozen=True)
class ReadEvents:
    """Events as an intruder uses them.

    Args:
        events: with points for labels where times may be wrong.
        nearby: what is near to each, where times may be wrong.
        without_time: how many events have no time; None where no time is used.
        rows: as the view gave them.
    """

    events: Events
    nearby: NearbyEvents | None
    without_time: int | None
    rows: UnitRows

    @property
    def untimed(self) -> tuple[Events, NearbyEvents]:
        """The events for a sample: without times where their order matters, so that supports are larger."""
        if self.nearby is not None:
            return self.events, self.nearby
        nearby = NearbyEvents.of(Events(self.events.unit, self.events.label, self.events.static), 0)
        return Events(self.events.unit, nearby.point, self.events.static), nearby


def read_events(rows: UnitRows, tolerance: Mapping[str, Fraction] | None, *, order: bool = False) -> ReadEvents:
    """The events of some rows.

    Args:
        rows: as the view gives them.
        tolerance: as the policy has it.
        order: whether an intruder knows which event was earlier, and no times.

    Raises:
        CheckError: there is no event, or no time where one is needed.
    """
    if tolerance is None and not order:
        return ReadEvents(events_of(rows, timed=False), None, None, rows)
    if rows.time is None or rows.time_column is None:
        what = "`order: sequence`" if order else "`tolerance`"
        raise CheckError(f"{what} needs the times of events; name their column in the policy as `time:`")
    events = events_of(rows, timed=True, left_out=[rows.time_column])
    assert events.without_time is not None  # noqa: S101 - it has times
    missing = int(events.without_time.sum())
    if tolerance is None:
        if events.without_time.all():
            raise CheckError("no event has a time, so that the order of none is known")
        return ReadEvents(events.of(~events.without_time), None, missing, rows)
    ((column, allowed),) = tolerance.items()
    if not _is_column(column, rows.time_column):
        raise CheckError(f"`tolerance` is of {column!r}, and the time of these events is {rows.time_column!r}")
    nearby = NearbyEvents.of(events, floor(allowed / rows.step))
    return ReadEvents(Events(events.unit, nearby.point, events.static), nearby, missing, rows)


def known_of_events(parameters: EventParameters, document: PolicyDocument) -> list[str] | None:
    """The quasi-identifiers of an event; None where the parameters say which columns are known."""
    if parameters.attributes is not None:
        return None
    known, table = document.with_role(Role.QUASI_IDENTIFIER), document.table_of_events(parameters.table)
    return [name for name in known if not table or name.partition(".")[0] == table]


def require_events(view: TableView, rows: UnitRows, *, at: bool, order: bool = False) -> None:
    """Refuse what cannot be measured.

    Args:
        view: of the release.
        rows: as the view gives them.
        at: whether an intruder knows about when events were, by a tolerance or a window.
        order: whether the order of events is known in the place of their times.

    Raises:
        CheckError: there is no event, nothing is known of one, or there are too many for the memory.
    """
    if not len(rows.unit):
        raise CheckError("the table has no events, so nothing can be known of one; leave the check out")
    if not at and not {*rows.codes} - ({rows.time_column} if order else set()):
        raise CheckError(
            "no column is known of an event, so there is nothing to measure; declare quasi-identifiers that differ "
            "within units, or name columns in `attributes`"
        )
    needed = OF_EVENT * len(rows.unit)
    if view.memory is not None and needed > view.memory:
        raise CheckError(
            f"{count(len(rows.unit), 'event')} need about {gibibytes(needed)}, and {gibibytes(view.memory)} may be "
            "used; give more with --memory"
        )


def once_each(read: ReadEvents) -> ReadEvents:
    """Each of a unit's equal events once."""
    if read.nearby is None:
        return ReadEvents(read.events.once_each(), None, read.without_time, read.rows)
    events = read.events.once_each()
    return ReadEvents(events, read.nearby.once_each(), read.without_time, read.rows)


def block_for(view: TableView, size: int) -> int:
    """The number of combinations of so many events that are looked at together."""
    return BLOCK if view.memory is None else min(BLOCK, max(view.memory // (EACH * (size + 1)), 1))


def generator_of(view: TableView) -> np.random.Generator:
    """A generator of random numbers that the seed of the policy determines."""
    return np.random.default_rng(view.policy.document.seed)


def time_faults(parameters: EventParameters, name: str, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Say why a parameter that needs the times of events cannot be measured."""
    time, table = document.time, document.table_of_events(parameters.table)
    if table:
        declared = (document.tables or {})[table].time
        time = None if declared is None else f"{table}.{declared}"
    given = [*(parameters.tolerance or {})] if name == "tolerance" else []
    if time is None:
        yield name, "needs the times of events; name their column in the policy as `time:`"
    elif given and not _is_column(given[0], time):
        yield name, f"is of {given[0]!r}, which is not the time of events; name the column that `time:` names"


def _is_column(name: str, column: str) -> bool:
    """Whether a column is named, with its table or without."""
    return name in (column, column.partition(".")[2])


def table_faults(parameters: EventParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Say why there are no such events: it is open whose rows they are, or there is no such table."""
    possible, table = document.event_tables, parameters.table
    if document.tables is None:
        yield from _faults_of_one_table(table, document)
        return
    choice = f"say one of {', '.join(possible)}" if possible else "no table belongs to another one"
    if table == MEMBERS and document.household is not None and table in possible:
        yield "table", f"may be the table {table!r} or the people of households; give the table another name"
    elif table == MEMBERS and document.household is None and table not in possible:
        yield "table", "the policy names no `household:` whose people could be known"
    elif table is None and len(possible) != 1:
        yield "table", f"it is open whose rows are the events; {choice}"
    elif not document.table_of_events(table):
        yield "table", f"{table!r} is no table whose rows are events of {_units(document)}; {choice}"


def _faults_of_one_table(table: str | None, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    if table not in (None, MEMBERS):
        yield "table", f"the policy has one table; leave `table` out, or say `{MEMBERS}` of a household's"
    elif table == MEMBERS and document.household is None:
        yield "table", "the policy names no `household:` whose people could be known"
    elif table is None and document.unit is None and document.household is not None:
        yield "table", f"the policy names no `unit:` whose rows could be known; say `{MEMBERS}`, or name the unit"


def _units(document: PolicyDocument) -> str:
    return plural(document.unit_name or "unit")


def tolerance_faults(
    parameters: EventParameters, known: int, name: str, document: PolicyDocument
) -> Iterator[tuple[str, str]]:
    """Say why a tolerance cannot be measured."""
    if parameters.tolerance is None:
        return
    yield from time_faults(parameters, "tolerance", document)
    if known > MOST_NEAR:
        yield (
            name,
            (
                f"more than {MOST_NEAR} events whose times may be wrong are not compared; lower `{name}`, or leave "
                "`tolerance` out and make the time coarser"
            ),
        )


def attribute_faults(parameters: EventParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Say why columns cannot be known of an event: they join rows, or there are no such events."""
    yield from table_faults(parameters, document)
    table = document.table_of_events(parameters.table)
    for name in parameters.attributes or []:
        if name in (document.unit, document.key, document.household, *linking_columns(document)):
            yield "attributes", f"{name!r} joins the rows of a unit; name columns that can be known of an event"
        elif name not in document.attributes:
            yield "attributes", f"the policy declares no attribute {name!r}"
        elif table and name.partition(".")[0] != table:
            yield (
                "attributes",
                (
                    f"{name!r} is no column of {table!r}, whose rows are the events; what is said of the rows above "
                    "them is known in any case, and of other tables nothing is"
                ),
            )


def failing_units(supports: Counts, inferred: Flags, parameters: KnownEventsParameters) -> int | None:
    """The number of units that fail a demand of `known_events`; None without one."""
    if parameters.k is None and parameters.C is None:
        return None
    return int(((supports < (parameters.k or 0)) | inferred).sum())


def event_details(read: ReadEvents) -> dict[str, Any]:
    """The details on the events that were read."""
    rows, events = read.rows, read.events
    table = {} if rows.table is None else {"table": rows.table}
    without = {} if read.without_time is None else {"without_time": read.without_time}
    return {
        **table,
        "events": len(rows.unit),
        "largest_history": int(events.lengths.max(initial=0)),
        "units_without_events": int((events.lengths == 0).sum()),
        **without,
    }
