"""The tables in which an audit examines a release: its rows, its units with their whole histories, and both together.

Without a unit that joins rows there is one view, the table as it is. With one, each demand is judged in the view that
its reading asks for:

- `units`: a row for each unit, and its whole history as the only quasi-identifier;
- `histories`: the rows, each with the history of its unit. A secret that differs within units is judged here: in
  classes of histories, where a share is the share of units that have a value in any row, or in cells, the rows of a
  class of histories that agree in their quasi-identifiers;
- `rows`: the rows by themselves. This is what a policy asks for that says `known_rows: one`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.base.words import noun_form, noun_of_column, visible
from tcdp_audit.core.check.specification import LINKED, Specification
from tcdp_audit.core.check.threshold import Target
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import SEPARATOR
from tcdp_audit.core.policy.policy import Expectation, Policy
from tcdp_audit.core.release.release import Release

if TYPE_CHECKING:
    from tcdp_audit.core.classes.histogram import Counts
    from tcdp_audit.core.units.histories import Histories

ROWS, UNITS, HISTORIES = "rows", "units", "histories"
WILDCARD = (
    "cannot be evaluated: under `missing_quasi_identifier: wildcard` histories with a missing cell form no classes; "
    "use `own_category`, under which a missing cell is a separate value, or say `known_rows: one` of this demand"
)
UNDEFINED = (
    "cannot be evaluated: it is not defined for whole histories; demand `known_events`, whose details say how little "
    "identifies someone, or say `known_rows: one` of this demand"
)


@runtime_checkable
class SeveralTables(Protocol):
    """An engine over several linked tables."""

    tables: Mapping[str, Engine]

    def table_of(self, attribute: str) -> str:
        """The name of a column's table."""
        ...


@runtime_checkable
class SummedParts(Protocol):
    """Histories that were compared where the table is, of which each secret has separate rows."""

    def part(self, attribute: str, reading: str) -> str:
        """The name of the view in which a secret is judged."""
        ...

    def release_of(self, attribute: str, reading: str) -> Release:
        """The rows of that view."""
        ...


@dataclass(frozen=True)
class View:
    """A table in which some demands are judged.

    Args:
        kind: `rows`, `units` or `histories`.
        release: the table under the policy of this view.
        histories: the whole histories of its units; None for rows that no unit joins.
        failure: why histories could not be read; empty if they could.
        table: the table whose rows it has, where there are several.
        part: the secret and its reading, where each has rows; see `SummedParts`.
        in_original: counts the values of a sensitive attribute in an original of several tables, once for each unit and
            class of rows or once for each unit, and the units that have one; None where the original is one table.
    """

    kind: str
    release: Release
    histories: Histories | None = None
    failure: str = ""
    table: str = ""
    part: str = ""
    in_original: Callable[..., tuple[Counts, int]] | None = None

    @property
    def key(self) -> str:
        """The key that distinguishes it from the other views of a release."""
        return " ".join(filter(None, (self.kind, self.table, self.part)))

    @property
    def is_whole(self) -> bool:
        """Whether whole histories are judged."""
        return self.kind != ROWS

    @property
    def known_rows(self) -> str | None:
        """The rows that are known, as its outcomes say: `all`, or `one`; None where no unit joins rows."""
        return None if self.histories is None else "all" if self.is_whole else "one"

    @property
    def record_name(self) -> str:
        """The noun of a record of the view: a unit, or a record of one of several tables; empty for the only one's."""
        if self.kind == UNITS and self.histories is not None:
            return noun_of_root(self.histories)
        return f"record of {visible(self.table)}" if self.table else ""

    @property
    def is_of_households(self) -> bool:
        """Whether whole households are judged."""
        return self._whole is not None and self._whole.is_of_households

    @property
    def _whole(self) -> Histories | None:
        """The histories that are judged as wholes; None where single rows are judged."""
        return self.histories if self.is_whole else None

    def grouped_by(self, check: Specification[Any], parameters: Any, target: Target) -> tuple[Domain, ...]:
        """The domains that define the classes of a target."""
        history = () if self._whole is None else (self._history(target.known),)
        if history and (self.kind == UNITS or check.reading(parameters) != "cells"):
            return history
        known = (self.release.domains[name] for name in target.known)
        return (*history, *self.release.quasi_identifiers, *known)

    def certain_in(self, check: Specification[Any], parameters: Any, target: Target) -> Domain | None:
        """The column of histories, where a value that is certain in a class of them is certain in each of its cells."""
        in_cells = self.kind == HISTORIES and check.reading(parameters) == "cells"
        if not in_cells or self._whole is None or not target.attributes:
            return None
        return self._whole.certain_in(target.known, target.attributes[0])

    def counts_units(self, check: Specification[Any], parameters: Any) -> bool:
        """Whether a share of a class is the share of its units that have a value, and not of its values."""
        return self.kind == HISTORIES and check.reading(parameters) == "units"

    def shared(self) -> tuple[Domain, ...]:
        """The columns that every grouping of the view contains, which decide on the shard of a record."""
        return self.release.quasi_identifiers if self._whole is None else (self._history(),)

    def further(self) -> tuple[Domain, ...]:
        """The columns of histories and exemptions that its shards hold."""
        histories = () if self._whole is None else map(self._history, self._whole.by)
        return (*histories, *self.incomplete, *self.exempt)

    def _history(self, known: tuple[str, ...] = ()) -> Domain:
        assert self.histories is not None  # noqa: S101 - asked only where there are some
        if self.kind == UNITS:  # without exempt units
            return self.release.domain(self.histories.name(known))
        return self.histories.column(known)

    @property
    def incomplete(self) -> tuple[Domain, ...]:
        """The column that is missing where a whole history has a missing cell, by a convention that this fails."""
        fails = self.release.policy.conventions.missing_quasi_identifier == "fail"
        return self._whole.incomplete_column if self._whole is not None and fails else ()

    @property
    def exempt(self) -> tuple[Domain, ...]:
        """The columns in all of which an exempt row is suppressed, where whole histories are judged."""
        return () if self.kind != HISTORIES or self.histories is None else self.histories.exempt_column

    def obstacle(self, check: Specification[Any], parameters: Any, target: Target) -> str:
        """The reason why a demand cannot be judged here; empty if it can."""
        if self.failure:
            return f"cannot be evaluated: {self.failure}"
        return "" if self._whole is None else self._obstacle_of_histories(self._whole, check, parameters, target)

    def _obstacle_of_histories(
        self, histories: Histories, check: Specification[Any], parameters: Any, target: Target
    ) -> str:
        policy = histories.release.policy
        if policy.conventions.missing_quasi_identifier == "wildcard" and histories.incomplete:
            return WILDCARD
        if unusable := next(filter(None, map(histories.release.obstacle, target.known)), ""):
            return f"cannot be evaluated: {unusable}"
        if not histories.units:
            return "cannot be evaluated: every record is fully suppressed"
        if check.reading(parameters) == "none":
            return UNDEFINED
        weight = policy.document.root_weight
        if self.kind == UNITS and weight is not None and weight in histories.varying and not check.on_classes:
            units, more = histories.varying[weight], ""
            if self.is_of_households:
                more = "; name the column with the weights of households as `household_weight:`"
            whose = noun_form(noun_of_root(histories), units)
            return f"cannot be evaluated: the weight {weight!r} is not the same in all rows of {units:,} {whose}{more}"
        return ""


@dataclass(frozen=True)
class Views:
    """The views of a release, and the one in which each demand is judged.

    Args:
        policy: the policy as written.
        rows: the table as it is.
        histories: the whole histories of its units, where these join rows.
        units: a row for each unit.
        both: the rows with their histories, by table; an empty name where there is one table.
    """

    policy: Policy
    rows: View
    histories: Histories | None = None
    units: View | None = None
    both: Mapping[str, View] = field(default_factory=dict)

    def __iter__(self) -> Iterator[View]:
        """Each view in which a demand is judged, the rows first."""
        asked = {self.of(*one).key for one in targets_of(self.policy)}
        views = (one for one in (self.rows, self.units, *self.both.values()) if one is not None)
        yield from (one for one in views if one.key in asked or (one is self.rows and not asked))

    def of(self, expectation: Expectation, target: Target) -> View:
        """The view in which a demand is judged."""
        if self.histories is None or self.units is None:
            return self.rows
        reading = expectation.check.reading(expectation.parameters)
        if reading == LINKED:
            reading = "rows" if self.policy.document.tables is None else "units"
        if reading in ("rows", "events") or known_rows_of(expectation, self.policy) == "one":
            return self.rows
        constant = all(name in self.histories.constant for name in target.attributes)
        if constant or not target.attributes:
            return self.units
        attribute, histories = target.attributes[0], self.histories
        part = histories.part(attribute, reading) if isinstance(histories, SummedParts) else ""
        return self.both.get(part or table_of(self.rows.release, attribute), self.units)


def noun_of_root(histories: Histories) -> str:
    """The noun of what is judged as a whole: a household, or what the policy's unit is called."""
    document = histories.release.policy.document
    return "household" if histories.is_of_households else document.unit_name or noun_of_column(document.unit or "")


def targets_of(policy: Policy) -> Sequence[tuple[Expectation, Target]]:
    """Each expectation with each of its targets, in the policy's order."""
    return policy.targets


def known_rows_of(expectation: Expectation, policy: Policy) -> str:
    """The number of rows of a unit that a demand takes to be known: by a parameter, or the convention."""
    own = getattr(expectation.parameters, "known_rows", None)
    return own or policy.conventions.known_rows


def views_of(release: Release, memory: int) -> Views:
    """The views of a release as it is read.

    Raises:
        CheckError: whole histories would exceed the memory.
    """
    policy = release.policy
    if policy.document.root is None:
        return Views(policy, View(ROWS, release))
    from tcdp_audit.core.units.reading import is_linked, read_histories  # noqa: PLC0415 - only where rows may be joined

    if has_tables(release):
        return _views_of_tables(release, memory)
    if not is_linked(release) or not release.quasi_identifiers or _unreadable(release):
        return Views(policy, View(ROWS, release))
    known = [target.known for _, target in targets_of(policy)]
    readable = [one for one in known if not any(map(release.obstacle, one))]
    try:
        histories = read_histories(release, readable, memory)
    except CheckError as error:  # of each demand on classes, so that none passes by single rows
        return Views(policy, View(ROWS, release, failure=str(error)))
    units, rows = View(UNITS, histories.units_release, histories), View(ROWS, release, histories)
    if isinstance(histories, SummedParts):
        return Views(policy, rows, histories, units, _parts(policy, histories))
    return Views(policy, rows, histories, units, {"": View(HISTORIES, histories.rows_release, histories)})


def _parts(policy: Policy, histories: Histories) -> dict[str, View]:
    """A view for each secret that differs within units, and each reading of it."""
    assert isinstance(histories, SummedParts)  # noqa: S101 - as the caller saw
    parts = {}
    for expectation, target in targets_of(policy):
        reading = expectation.check.reading(expectation.parameters)
        for name in set(target.attributes) - histories.constant.keys():
            part = histories.part(name, reading)
            parts[part] = View(HISTORIES, histories.release_of(name, reading), histories, part=part)
    return parts


def _views_of_tables(release: Release, memory: int) -> Views:
    """The views of several linked tables, which are always judged as whole histories."""
    from tcdp_audit.core.units.reading_tables import read_tables  # noqa: PLC0415 - only for several tables

    try:
        histories = read_tables(release, memory)
    except CheckError as error:
        return Views(release.policy, View(ROWS, release, failure=str(error)))
    in_original: Callable[..., tuple[Counts, int]] | None = None
    if release.policy.conventions.reference == "original":
        from tcdp_audit.core.units.companions import counts_of_secret  # noqa: PLC0415 - only for this reference

        in_original = partial(counts_of_secret, release, memory)
    both = {
        name: View(HISTORIES, histories.rows_of(name), histories, table=name, in_original=in_original)
        for name in histories.table_names
        if name not in histories.top
    }
    units = View(UNITS, histories.units_release, histories, in_original=in_original)
    return Views(release.policy, View(ROWS, release, histories), histories, units, both)


def has_tables(release: Release) -> bool:
    """Whether a release is several linked tables."""
    return release.policy.document.tables is not None


def table_of(release: Release, attribute: str) -> str:
    """The table of an attribute; empty where there is one table."""
    return str(release.engine.table_of(attribute)) if isinstance(release.engine, SeveralTables) else ""


def of_table(outcome: Outcome, release: Release, columns: Iterable[str]) -> Outcome:
    """The outcome with the one of several tables that has all these columns; unchanged where there is one table."""
    tables = release.policy.document.tables
    if tables is None:
        return outcome
    having = {name.partition(SEPARATOR)[0] for name in columns}
    return replace(outcome, table=having.pop() if len(having) == 1 and having <= {*tables} else "")


def columns_of_demand(expectation: Expectation, target: Target) -> Sequence[str]:
    """The columns that a demand is on: its attribute, those that it compares, or its table as if it were one."""
    given = expectation.parameters
    named = [*target.attributes, *(getattr(given, "attributes", None) or ())]
    return named or [one for one in [getattr(given, "table", None)] if one]


def _unreadable(release: Release) -> bool:
    """Whether a column that histories are made of cannot be used; every demand then says why."""
    return any(map(release.obstacle, release.policy.with_role("quasi_identifier")))  # type: ignore[arg-type]


def domains_of(view: View, *, named: bool = True) -> Sequence[Domain]:
    """Every column that the shards of a view hold, except the unit.

    Args:
        view: the view.
        named: whether classes are named by their cells; otherwise what a history determines of each row is left out.
    """
    release = view.release
    determined = frozenset[str]() if named else frozenset().union(*(one.determines for one in view.further()))
    known = (one for one in release.quasi_identifiers if one.attribute not in determined)
    return [*view.further(), *known, *release.sensitive]
