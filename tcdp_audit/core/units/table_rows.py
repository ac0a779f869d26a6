"""The rows of one of several linked tables, for checks that look into histories; see `rows` for those of one table.

An intruder who knows rows of a table knows what is said of the rows above them, too, up to the unit. Of the other
tables nothing is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import fold, numbered
from tcdp_audit.core.policy.model import MEMBERS, SEPARATOR, Role
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.units.coding import code_histories
from tcdp_audit.core.units.rows import UnitRows, class_by_constant_columns, each_row, secret_codes, times_of
from tcdp_audit.core.units.trees import ANCESTORS, CodedTable, TableHistories

Numbers = NDArray[np.int64]


def rows_of_table(
    histories: TableHistories, attributes: Sequence[str] | None, attribute: str | None, table: str | None, memory: int
) -> UnitRows:
    """The rows of one table, each with its unit; see `unit_rows` for the parameters.

    Args:
        histories: of all tables.
        attributes: columns of the table; None for its quasi-identifiers. What is known of the rows above is not named.
        attribute: a sensitive attribute of any table; None for none.
        table: the table; `members` for the people of households; None where only one has rows of units.
        memory: budget in bytes.

    Raises:
        CheckError: there is no such table, a column is of another one or cannot be used, or the rows exceed the memory.

    Cost: a scan of the table, and one of the attribute's.
    """
    release, document = histories.release, histories.release.policy.document
    name = _table_of_events(histories, table)
    owners = _Owners(histories, of_households=table == MEMBERS)
    one = histories.coded[name]
    known, constant = _known_columns(release, name, attributes, owners)
    declared = (document.tables or {})[name].time
    time = None if declared is None else f"{name}{SEPARATOR}{declared}"
    domains = {column: _readable(release, column) for column in (*known, *constant, *([time] if time else []))}
    rows = _rows(histories, one, [*domains.values()], memory)
    owner = owners.of(one, rows)
    rows, owner = rows.take(np.flatnonzero(owner >= 0)), owner[owner >= 0]
    codes = {column: rows[column].astype(np.int64) for column in known}
    sizes = {column: domains[column].size + 1 for column in known}
    if _is_described(release, document.lineage(name)[1:-1]) and one.above_of_link is not None:
        codes[ANCESTORS] = one.above_of_link[rows[one.link_domain.attribute]]
        sizes[ANCESTORS] = int(one.above_of_link.max(initial=0)) + 1
    static = owners.static(one)
    if constant:
        static = class_by_constant_columns(rows, [domains[column] for column in constant], owner, owners.number)
    times, without, step = times_of(domains[time], rows[time]) if time is not None else (None, None, Fraction(1))
    secret, secret_unit, labels = _secret(histories, owners, attribute, memory)
    return UnitRows(
        units=owners.number,
        unit=owner,
        codes=FrozenDict(codes),
        sizes=FrozenDict(sizes),
        static=static,
        history=_histories_of(static, codes, sizes, owner),
        time=times,
        without_time=np.zeros(len(owner), dtype=bool) if without is None else without,
        step=step,
        time_column=time,
        secret=secret,
        secret_unit=secret_unit,
        secrets=0 if attribute is None else len(labels) + 1,
        secret_labels=labels,
        table=MEMBERS if table == MEMBERS else name,
    )


class _Owners:
    """The units or households that count, by their number; those of exempt ones support no one.

    Args:
        histories: of all tables.
        of_households: whether they are households.
    """

    def __init__(self, histories: TableHistories, *, of_households: bool) -> None:
        self.of_households, self._histories = of_households, histories
        home = histories.home
        units = len(histories.present) if home is None else len(home)
        self._of_unit = np.arange(units) if home is None or not of_households else home
        present = histories.present
        if home is not None and not of_households:  # a unit counts where its household does
            present = (home >= 0) & histories.present[home]
        self._position = np.where(present, np.cumsum(present) - 1, -1)
        self.number = int(present.sum())

    def of(self, one: CodedTable, rows: CountedCodes) -> Numbers:
        """The owner of each row of a table, -1 for one that does not count."""
        unit = one.root_of_link[rows[one.link_domain.attribute]]
        owner = self._of_unit[np.where(unit < 0, len(self._of_unit) - 1, unit)]  # the last: rows without a unit
        return np.where(owner < 0, -1, self._position[owner])

    def static(self, one: CodedTable) -> Numbers:
        """The class of each owner by what is always known of it: the row of the unit, above those of `one`."""
        static = np.zeros(self.number, dtype=np.int64)
        if one.link is None or self.of_households:
            return static
        top = self._histories.coded[self._histories.release.policy.document.lineage(one.name)[-1]]
        owner = self._position[np.asarray(top.link_codes)]
        static[owner[owner >= 0]] = top.label[owner >= 0]
        return numbered(static, max(top.span, 1))[1].astype(np.int64)


def _table_of_events(histories: TableHistories, table: str | None) -> str:
    """The table whose rows are known: of members that of the units."""
    document = histories.release.policy.document
    name = document.table_of_events(table)
    if not name:
        raise CheckError(f"`table` must name the table whose rows are the events, and is {table!r}")
    if table == MEMBERS and name != table and histories.release.domains[str(document.unit)].repeats:
        raise CheckError("some people have several rows, so that a row is no member; make one row of each person")
    return name


def _known_columns(
    release: Release, table: str, attributes: Sequence[str] | None, owners: _Owners
) -> tuple[list[str], list[str]]:
    """The columns of a table that may be known of a row, and those that are constant in a unit.

    Raises:
        CheckError: one that is named is of another table.
    """
    declared = release.policy.attributes
    for name in attributes or ():
        if name.partition(SEPARATOR)[0] != table:
            raise CheckError(
                f"{name!r} is no column of {table!r}, whose rows are the events; what is said of the rows above them "
                "is known in any case, and of other tables nothing is"
            )
    own = [one for one in release.policy.with_role(Role.QUASI_IDENTIFIER) if one.partition(SEPARATOR)[0] == table]
    constant = [one for one in own if declared[one].of == "unit" and not owners.of_households]
    known = [one for one in own if one not in constant] if attributes is None else sorted(attributes)
    return known, constant


def _readable(release: Release, column: str) -> Domain:
    if obstacle := release.obstacle(column):
        raise CheckError(obstacle)
    return release.domain(column)


def _rows(histories: TableHistories, one: CodedTable, domains: Sequence[Domain], memory: int) -> CountedCodes:
    """Every row of a table, with its link."""
    engine, records = histories.release.engine, int(np.sum(one.times)) if one.times is not None else len(one.label)
    return each_row(engine, [*domains, one.link_domain], records, memory)


def _is_described(release: Release, tables: Sequence[str]) -> bool:
    """Whether something is known of the rows of some tables."""
    return any(one.partition(SEPARATOR)[0] in tables for one in release.policy.with_role(Role.QUASI_IDENTIFIER))


def _secret(
    histories: TableHistories, owners: _Owners, attribute: str | None, memory: int
) -> tuple[Numbers | None, Numbers | None, tuple[str, ...]]:
    """The sensitive values of the rows of an attribute's table, whose they are, and the labels of all values."""
    if attribute is None:
        return None, None, ()
    release = histories.release
    one, domain = histories.coded[attribute.partition(SEPARATOR)[0]], _readable(release, attribute)
    rows = _rows(histories, one, [domain], memory)
    owner = owners.of(one, rows)
    codes = secret_codes(release, domain, rows[attribute])
    return codes[owner >= 0], owner[owner >= 0], tuple(domain.labels)


def _histories_of(static: Numbers, codes: dict[str, Numbers], sizes: dict[str, int], owner: Numbers) -> Numbers:
    """Whole histories by what may be known: their classes are within those of any part of them."""
    keys = fold([np.zeros(len(owner), dtype=np.int64), *codes.values()], [1, *sizes.values()])
    own = code_histories(owner, keys.values, len(static), keys.span)
    whole = fold([static, own.codes], [int(static.max(initial=0)) + 1, max(own.distinct, 1)])
    return numbered(whole.values, whole.span)[1].astype(np.int64)
