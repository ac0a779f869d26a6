"""Histories read from one table: which column joins rows, and one scan that codes the rows of each unit.

Where the table compared histories itself, no row is read; see `units.summed`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cache import Identity
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.base.words import gibibytes
from tcdp_audit.core.classes.shards import suppressed_in_all, without_value
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import distinct_of, fold, narrow, occurrences
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.release.unit_readings import linking_unit
from tcdp_audit.core.units.coding import OwnedRows
from tcdp_audit.core.units.histories import Histories, Known
from tcdp_audit.core.units.members import members_of, nested_histories, people_of

ROW_BYTES = 64  # what coding takes for a row, in addition to its codes
Numbers = NDArray[np.int64]


@runtime_checkable
class HistoriesThere(Protocol):
    """A table that compared histories itself."""

    def histories(self, release: Release, memory: int) -> Histories:
        """The histories of a release that is read from it."""
        ...


def is_linked(release: Release) -> bool:
    """Whether a released unit, or a household, joins several rows of the table.

    Where a unit does and no household, its rows are in several households, which is an error; see `read_histories`.
    """
    unit = None if linking_unit(release.policy) is None else release.unit
    return any(one is not None and one.repeats for one in (root_of(release), unit))


def root_of(release: Release) -> Domain | None:
    """The column that joins rows to what is judged as a whole: the household, or else the unit; None without one.

    A unit that is dropped before release joins nothing.
    """
    household, unit = release.policy.document.household, linking_unit(release.policy)
    name = household if household in release.columns else unit
    return None if name is None else release.domains.get(name)


def read_histories(release: Release, known: Sequence[Known], memory: int) -> Histories:
    """Code the histories of a release whose unit joins rows.

    Args:
        release: the table under its policy; `is_linked` is true of it, and it has quasi-identifiers.
        known: sets of sensitive attributes that some demands take to be known.
        memory: budget in bytes.

    Raises:
        CheckError: the rows would exceed the memory, or some units are in several households.

    Cost: one scan of the table, and `code_histories` for each set; nothing of these where the table compared histories
    itself.
    """
    engine = release.engine
    if isinstance(engine, HistoriesThere):
        return release.cache.get(("histories", Identity(engine)), lambda: engine.histories(release, memory)).under(
            release
        )
    sets = [(), *sorted({one for one in known if one})]
    domains = _columns(release, sets)
    key = ("histories", tuple(sets), *roles_of(release), Identity(release.engine, *domains))
    return release.cache.get(key, lambda: _read(release, sets, domains, memory)).under(release)


def roles_of(release: Release) -> tuple[Hashable, ...]:
    """A key of what a policy says of columns that decides on histories: roles, links, and whether any unit is exempt.

    The domain of a column is the same object under another role, as a session asks for.
    """
    document, known, secret = release.policy.document, release.quasi_identifiers, release.sensitive
    links = (document.unit, document.household, document.weight, document.household_weight)
    return links, release.policy.conventions.suppressed, len(known), Identity(*known, *secret)


def _columns(release: Release, sets: Sequence[Known]) -> list[Domain]:
    """The columns to read: what is known, what is secret, the weight, the people of households, and the root last."""
    unit, weight = root_of(release), release.policy.document.root_weight
    assert unit is not None  # noqa: S101 - asked only where it joins rows
    named = {one.attribute: one for one in (*release.quasi_identifiers, *release.sensitive)}
    if weight is not None and weight in release.columns:
        named[weight] = release.domain(weight)
    people = release.unit
    if people is not None and people is not unit and people.repeats:
        named[people.attribute] = people
    further = {name: release.domains[name] for known in sets for name in known}
    return [*(one for name, one in {**named, **further}.items() if name != unit.attribute), unit]


def _read(release: Release, sets: Sequence[Known], domains: Sequence[Domain], memory: int) -> Histories:
    unit = domains[-1]
    needed = release.engine.rows * (sum(one.dtype.itemsize for one in domains) + ROW_BYTES)
    if needed > memory:
        raise CheckError(
            f"whole histories need every row of {release.engine.name} at once, about {gibibytes(needed)} for "
            f"{release.engine.rows:,}, and {gibibytes(memory)} may be used; give more with --memory"
        )
    rows = CountedCodes.joined([*release.engine.counted(domains)])
    owner, owners = rows[unit.attribute], unit.size + 1
    known = release.quasi_identifiers
    exempt = _exempt(release, rows, owner, owners)
    person = _person(release, rows, unit)

    def owned(further: Known) -> OwnedRows:
        columns = [*known, *(release.domains[name] for name in further)]
        keys = fold([rows[one.attribute] for one in columns], [one.size + 1 for one in columns])
        return OwnedRows(owner, keys.values, owners, keys.span)

    whole = owned(())
    by = {further: nested_histories(rows, person, owned(further) if further else whole) for further in sets}
    differing = dict.fromkeys((one.attribute for one in known), whole.others)
    constant, varying = constancy(rows, domains[:-1], owner, owners, differing)
    present, members = (np.append(unit.counts, unit.missing) > 0) & ~exempt, None
    if unit.attribute == release.policy.document.household:
        members = members_of(people_of(rows, person, whole), by[()], present)
    return Histories(
        release,
        unit,
        FrozenDict(by),
        present,
        exempt,
        FrozenDict(constant),
        FrozenDict(varying),
        lacking=occurrences(owner[without_value(rows, [one for one in known if one.missing])], owners) > 0,
        per_row=FrozenDict(per_row(whole, present)),
        members=members,
    )


def _person(release: Release, rows: CountedCodes, root: Domain) -> Domain | None:
    """The people of households, where someone has several rows; None where each row is a person, or a unit is judged.

    Raises:
        CheckError: some are in several households.
    """
    people = release.unit
    if people is None or people is root or people.attribute not in rows:
        return None
    home = np.full(people.size + 1, -1, dtype=np.int64)
    moved = np.zeros(people.size + 1, dtype=bool)
    person, owner = rows[people.attribute], rows[root.attribute]
    home[person] = owner
    moved[person[home[person] != owner]] = True
    if moved.any():
        raise CheckError(f"{int(moved.sum()):,} units are in several households; correct {root.attribute!r}")
    return people


def _exempt(release: Release, rows: CountedCodes, owner: NDArray[np.integer], owners: int) -> NDArray[np.bool_]:
    """The units that do not count by convention: all their rows are suppressed in every cell that matters."""
    nothing = np.zeros(owners, dtype=bool)
    examined = (*release.quasi_identifiers, *release.sensitive)
    if release.policy.conventions.suppressed == "counted" or not all(one.suppressed for one in examined):
        return nothing
    some = np.zeros(owners, dtype=bool)
    some[owner[~suppressed_in_all(rows, examined)]] = True
    return ~some & (occurrences(owner, owners) > 0)


def constancy(
    rows: CountedCodes,
    domains: Sequence[Domain],
    owner: NDArray[np.integer],
    owners: int,
    others: Mapping[str, NDArray[np.intp]] = FrozenDict(),
) -> tuple[dict[str, Numbers], dict[str, int]]:
    """The attributes with one value in all rows of each unit, and the others with the number of units that differ.

    Args:
        rows: of the units.
        domains: the attributes.
        owner: the unit of each row. Shape (rows,).
        owners: a number above all units.
        others: for some attributes the rows among which are all that differ from the last row of their unit.
    """
    last_row = np.full(owners, len(owner), dtype=narrow(len(owner) + 1))
    last_row[owner] = np.arange(len(owner), dtype=last_row.dtype)
    with_rows = np.flatnonzero(last_row < len(owner))
    constant, varying = {}, {}
    for domain in domains:
        codes, some = rows[domain.attribute], others.get(domain.attribute, slice(None))
        last = np.zeros(owners, dtype=codes.dtype)
        last[with_rows] = codes[last_row[with_rows]]
        unit = owner[some]
        differing = unit[last[unit] != codes[some]]
        if len(differing):
            varying[domain.attribute] = len(distinct_of(differing, owners))
        else:
            constant[domain.attribute] = last.astype(np.int64)
    return constant, varying


def per_row(owned: OwnedRows, counted: NDArray[np.bool_]) -> dict[str, int]:
    """The smallest number of units `k` among rows that agree, and the number of such `classes`; 0 without a row.

    Args:
        owned: the rows, each with its unit and a label that says whether they agree.
        counted: the units that count, all of which have a row. Shape (units,).
    """
    units = owned.per_label(counted)
    return {"k": int(units.min()), "classes": len(units)} if len(units) else {"k": 0, "classes": 0}
