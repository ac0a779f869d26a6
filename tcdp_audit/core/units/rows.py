"""The rows of each unit, for checks that look into histories: who has which row, when, and what is secret of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.words import gibibytes
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import fold, freeze_arrays, numbered, occurrences
from tcdp_audit.core.encoding.periods import period_of
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import MEMBERS, Role
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.units.coding import code_histories
from tcdp_audit.core.units.reading import read_histories, root_of

STEPS = 2**62  # times are whole steps below this
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - times of a table have the zone that it writes, or none
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class UnitRows:
    """The rows of units. A unit is a household where the rows of households were asked for.

    Args:
        units: the number of units.
        unit: the unit of each row, from 0 to `units` - 1; int64, shape (rows,).
        codes: the code of each row in each column that an intruder may know of it; a missing cell has a code, too.
        sizes: a number above all codes of each of these columns.
        static: the class of what is always known of each unit: its columns with `of: unit`. Shape (units,).
        history: the code of each unit's whole history, shape (units,).
        time: when each row was, in whole steps; None where the policy names no time. Shape (rows,).
        without_time: which rows have no time, shape (rows,).
        step: one step of time: days for dates, otherwise a part of 1.
        time_column: the column of times; None without one.
        secret: the code of each sensitive value, -1 for a missing one; None where none was asked for. They are those of
            the rows, or of those of another table.
        secret_unit: the unit of each sensitive value. Same shape.
        secrets: the number of sensitive values.
        secret_labels: the sensitive values as text, for parameters that name values; never put one into an answer.
        table: the table of the rows, where the policy has several.
    """

    units: int
    unit: Numbers
    codes: Mapping[str, Numbers]
    sizes: Mapping[str, int]
    static: Numbers
    history: Numbers
    time: Numbers | None
    without_time: NDArray[np.bool_]
    step: Fraction
    time_column: str | None
    secret: Numbers | None
    secret_unit: Numbers | None
    secrets: int
    secret_labels: Sequence[str]
    table: str | None = None

    def __post_init__(self) -> None:
        """Lock its arrays."""
        freeze_arrays(self, "unit", "static", "history", "time", "without_time", "secret", "secret_unit")

    @property
    def least_class(self) -> int:
        """The number of units in the smallest class of whole histories."""
        return int(np.unique(self.history, return_counts=True)[1].min(initial=self.units))


def unit_rows(
    release: Release, attributes: Sequence[str] | None, attribute: str | None, table: str | None, memory: int
) -> UnitRows:
    """The rows of the units of a release.

    Args:
        release: the table under its policy.
        attributes: the columns that an intruder may know of a row; None for all quasi-identifiers without `of: unit`.
        attribute: a sensitive attribute; None for none.
        table: `members` for the rows of households, each of which is a person; None for those of units.
        memory: budget in bytes.

    Raises:
        CheckError: the policy names no such unit, members have several rows, a column cannot be used, or the rows
            exceed the memory.

    Cost: two scans of the table.
    """
    unit = _owner(release, table)
    declared = release.policy.attributes
    always = [one for one in release.policy.with_role(Role.QUASI_IDENTIFIER) if declared[one].of == "unit"]
    known = [n for n in release.policy.with_role(Role.QUASI_IDENTIFIER) if n not in always]
    known = known if attributes is None else sorted(attributes)
    time = release.policy.document.time
    secret = [] if attribute is None else [attribute]
    names: list[str] = [*known, *always, *([] if time is None else [time]), *secret]
    for name in names:
        if obstacle := release.obstacle(name):
            raise CheckError(obstacle)
    domains = {name: release.domain(name) for name in names}
    rows = each_row(release.engine, [*domains.values(), unit], release.engine.records, memory)
    position, units = _positions(unit, release, memory)
    owner = position[rows[unit.attribute]]
    counts = owner >= 0  # rows of exempt units support no one
    rows = rows.take(np.flatnonzero(counts))
    owner = owner[counts]
    times, without, step = times_of(domains[time], rows[time]) if time is not None else (None, None, Fraction(1))
    return UnitRows(
        units=units,
        unit=owner,
        codes=FrozenDict({name: rows[name].astype(np.int64) for name in known}),
        sizes=FrozenDict({name: domains[name].size + 1 for name in known}),
        static=class_by_constant_columns(rows, [domains[name] for name in always], owner, units),
        history=_history(rows, known, always, owner, units, domains),
        time=times,
        without_time=np.zeros(len(owner), dtype=bool) if without is None else without,
        step=step,
        time_column=time,
        secret=None if attribute is None else secret_codes(release, domains[attribute], rows[attribute]),
        secret_unit=None if attribute is None else owner,
        secrets=0 if attribute is None else domains[attribute].size + 1,
        secret_labels=() if attribute is None else tuple(domains[attribute].labels),
    )


def _owner(release: Release, table: str | None) -> Domain:
    document = release.policy.document
    name = document.household if table == MEMBERS else document.unit
    if table in (document.tables or ()):
        raise CheckError(
            f"the events of {table!r} alone are not judged, since several tables are judged as whole histories; give "
            "it a separate policy"
        )
    if table not in (None, MEMBERS):
        raise CheckError(f"the policy has no table {table!r}; leave `table` out, or say `{MEMBERS}` of a household's")
    if name is None:
        asked = "household" if table == MEMBERS else "unit"
        raise CheckError(f"the policy names no `{asked}:` whose rows could be known")
    if obstacle := release.obstacle(name):
        raise CheckError(obstacle)
    if table == MEMBERS and release.unit is not None and release.unit.repeats:
        raise CheckError("some people have several rows, so that a row is no member; make one row of each person")
    return release.domains[name]


def each_row(engine: Engine, domains: Sequence[Domain], records: int, memory: int) -> CountedCodes:
    """One row for each record: equal rows of a unit are several events.

    Raises:
        CheckError: they exceed the memory.
    """
    needed = records * 8 * (len(domains) + 4)
    if needed > memory:
        raise CheckError(f"the rows of all units need about {gibibytes(needed)} at once; give more with --memory")
    unique = {one.attribute: one for one in domains}
    empty = CountedCodes({one.attribute: np.zeros(0, one.dtype) for one in domains})
    return CountedCodes.joined([*map(CountedCodes, engine.batches([*unique.values()]))] or [empty])


def _positions(unit: Domain, release: Release, memory: int) -> tuple[Numbers, int]:
    """The number of each unit that counts; -1 for the others. Shape (units + 1,)."""
    root = root_of(release)
    present = np.append(unit.counts, unit.missing) > 0
    if root is not None and root.attribute == unit.attribute and unit.repeats and release.quasi_identifiers:
        present = read_histories(release, [], memory).present
    return np.where(present, np.cumsum(present) - 1, -1), int(present.sum())


def class_by_constant_columns(rows: CountedCodes, domains: Sequence[Domain], owner: Numbers, units: int) -> Numbers:
    """The class of each unit by the columns that are the same in all its rows.

    Raises:
        CheckError: one is not.
    """
    if not domains:
        return np.zeros(units, dtype=np.int64)
    keys = fold([rows[one.attribute] for one in domains], [one.size + 1 for one in domains])
    of_unit = np.zeros(units, dtype=np.int64)
    of_unit[owner] = keys.values
    differs = occurrences(owner[of_unit[owner] != keys.values], units) > 0
    if differs.any():
        raise CheckError(f"{int(differs.sum()):,} units have several values of a column that is declared `of: unit`")
    return numbered(of_unit, keys.span)[1].astype(np.int64)


def _history(
    rows: CountedCodes,
    known: Sequence[str],
    always: Sequence[str],
    owner: Numbers,
    units: int,
    domains: Mapping[str, Domain],
) -> Numbers:
    """Whole histories by the columns that may be known: their classes are within those of any part of them."""
    names = [*dict.fromkeys([*known, *always])]
    if not names:  # events differ by their number only
        return code_histories(owner, np.zeros(len(owner), dtype=np.int64), units, 1).codes
    keys = fold([rows[name] for name in names], [domains[name].size + 1 for name in names])
    return code_histories(owner, keys.values, units, keys.span).codes


def secret_codes(release: Release, domain: Domain, codes: NDArray[np.integer]) -> Numbers:
    """Codes of sensitive values; a missing one is none, unless it is one by convention."""
    values = codes.astype(np.int64)
    if release.policy.conventions.missing_sensitive == "own_category":
        return values
    return np.where(values == domain.size, -1, values)


def times_of(domain: Domain, codes: NDArray[np.integer]) -> tuple[Numbers, NDArray[np.bool_], Fraction]:
    """The time of each row in whole steps, which rows have none, and what a step is; exact for decimals and dates.

    Raises:
        CheckError: a value is neither a number nor a date.
    """
    moments = [None if code in domain.suppressed else _moment(text) for code, text in enumerate(domain.labels)]
    wrong = [code for code, one in enumerate(moments) if one is None and code not in domain.suppressed]
    if wrong:
        records = int(domain.counts[wrong].sum())
        raise CheckError(
            f"the time {domain.attribute!r} is neither a number nor a date (such as 2026-11-20) in {records:,} records"
        )
    step = Fraction(1, lcm(1, *(one.denominator for one in moments if one is not None)))
    whole = [0 if one is None else int(one / step) for one in moments]
    if max(map(abs, whole), default=0) >= STEPS:
        raise CheckError(f"the times of {domain.attribute!r} have too many digits to be compared exactly; round them")
    has_time = np.array([*(one is not None for one in moments), False])
    return np.array([*whole, 0], dtype=np.int64)[codes], ~has_time[codes], step


def _moment(text: str) -> Fraction | None:
    """A time as a number: a decimal, or the days of a date since 1970; None for what is neither.

    A period of the calendar, such as `2024-Q1`, has the time of its first day.
    """
    try:
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        pass
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        period = period_of(text)
        return None if period is None else Fraction(period.first - EPOCH.toordinal())
    return Fraction((moment.replace(tzinfo=None) - EPOCH) // timedelta(microseconds=1), 24 * 3600 * 10**6)
