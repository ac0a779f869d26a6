"""Histories read from one table: which column joins rows, and one scan that codes the rows of each unit.

Where the table can compare histories itself, no row is read; see `with_summed_units`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cache import Cache, Identity
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.base.words import gibibytes
from tcdp_audit.core.classes.shards import suppressed_in_all, without_value
from tcdp_audit.core.encoding.counted import CountedCodes, UnitClasses
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import fold, occurrences, tally
from tcdp_audit.core.engines.base import BorrowedEngine, Column, Engine
from tcdp_audit.core.policy.model import Role
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.release.common_parts import common_parts_of
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.release.unit_readings import linking_unit
from tcdp_audit.core.units.histories import Histories, Known
from tcdp_audit.core.units.members import members_of, nested_histories, people_of
from tcdp_audit.core.units.summed import SummedUnits, Units, numbers_of, positions_among

SEVERAL = 2  # rows
ROW_BYTES = 64  # what coding takes for a row, in addition to its codes
Numbers = NDArray[np.int64]


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
    if isinstance(engine, SummedUnits):
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
    has_rows = occurrences(owner, owners, rows.times) > 0
    person = _person(release, rows, unit)
    by, labels = {}, None
    for further in sets:
        columns = [*known, *(release.domains[name] for name in further)]
        keys = fold([rows[one.attribute] for one in columns], [one.size + 1 for one in columns])
        by[further] = nested_histories(rows, unit, person, keys)
        labels = keys if labels is None else labels
    constant, varying = constancy(rows, domains[:-1], owner, owners)
    assert labels is not None  # noqa: S101 - the first set is there always
    counted = ~exempt[owner]
    present, members = has_rows & ~exempt, None
    if unit.attribute == release.policy.document.household:
        members = members_of(people_of(rows, unit, person, labels), by[()], present)
    return Histories(
        release,
        unit,
        FrozenDict(by),
        present,
        exempt,
        FrozenDict(constant),
        FrozenDict(varying),
        lacking=occurrences(owner[without_value(rows, known)], owners) > 0,
        per_row=FrozenDict(per_row(labels.values[counted], labels.span, owner[counted], owners)),
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
    rows: CountedCodes, domains: Sequence[Domain], owner: NDArray[np.integer], owners: int
) -> tuple[dict[str, Numbers], dict[str, int]]:
    """The attributes with one value in all rows of each unit, and the others with the number of units that differ."""
    constant, varying = {}, {}
    for domain in domains:
        codes = rows[domain.attribute].astype(np.int64)
        last = np.zeros(owners, dtype=np.int64)
        last[owner] = codes
        differs = np.zeros(owners, dtype=bool)
        differs[owner[last[owner] != codes]] = True
        if differs.any():
            varying[domain.attribute] = int(differs.sum())
        else:
            constant[domain.attribute] = last
    return constant, varying


def per_row(labels: Numbers, span: int, owner: NDArray[np.integer], owners: int) -> dict[str, int]:
    """The smallest number of units `k` among rows that agree, and the number of such `classes`; 0 without a row."""
    if not len(labels):
        return {"k": 0, "classes": 0}
    keys = fold([labels, owner], [span, owners])
    label, _ = keys.decode(tally(keys.values, keys.span)[0])
    units = tally(label, span)[1]
    return {"k": int(units.min()), "classes": len(units)}


class _WithoutUnit(BorrowedEngine):
    """A table without the column of its units, whose values are not asked for."""

    def __init__(self, lender: Engine, unit: str) -> None:
        super().__init__(lender)
        self._unit = unit

    @property
    def columns(self) -> Sequence[Column]:
        """The other columns."""
        return tuple(one for one in self._lender.columns if one.name != self._unit)


def with_summed_units(policy: Policy, engine: Engine, secrets: Sequence[str], cache: Cache) -> Engine:
    """The table with its histories compared where it is.

    Args:
        policy: under which it is judged. Every demand judges whole histories.
        engine: the table.
        secrets: the sensitive attributes of demands.
        cache: keeps the answer for the next audit.

    Returns:
        The same engine where its rows have to be read: where it cannot compare histories, where no unit has several
        rows, or where cells that are written differently may mean the same, which
        is known here only.
    """
    unit, known = policy.document.unit, policy.with_role(Role.QUASI_IDENTIFIER)
    names = {one.name for one in engine.columns}
    if unit is None or not known or not names.issuperset([unit, *known, *secrets]):
        return engine
    classes = engine.unit_classes(unit, known, policy.conventions.missing_tokens)
    if classes is None:
        return engine
    declared = tuple((name, one.reading, one.role, one.of) for name, one in policy.attributes.items())
    key = ("summed", unit, tuple(secrets), declared, policy.document.key, policy.conventions.model_dump_json())
    return cache.get((*key, Identity(engine)), lambda: _summed(policy, engine, classes, unit, secrets))


def _summed(policy: Policy, engine: Engine, classes: UnitClasses, unit: str, secrets: Sequence[str]) -> Engine:
    release = Release(_WithoutUnit(engine, unit), policy)
    plain = {*policy.with_role(Role.QUASI_IDENTIFIER), *secrets}
    constant = {name for name, one in policy.attributes.items() if one.of == "unit"}
    if not constant <= plain or not all(_is_plain(release, name) for name in sorted(plain)) or classes.is_doubtful():
        return engine
    varying = {name: units for name, units in classes.varying(secrets).items() if units} if secrets else {}
    same = [name for name in secrets if name not in varying]
    table = classes.values(same) if secrets else classes.sizes()
    values = {name: positions_among(engine.domain(name), table[name]) for name in same}
    known = {name: one for name, one in values.items() if one is not None}
    if len(known) < len(same):
        return engine
    if numbers_of(table, "rows").max(initial=0) < SEVERAL:
        return engine
    joined = _units_joined(release, classes, unit)
    if joined is None:
        return engine
    units = Units.of_values(table, known) if secrets else Units.of_sizes(table)
    return SummedUnits(engine, classes, unit, units, joined, varying, policy.conventions.missing_tokens)


def _units_joined(release: Release, classes: UnitClasses, unit: str) -> Mapping[str, int] | None:
    """The columns that join rows as the unit does, with the number of units that they join; None if unknown here."""
    document, conventions = release.policy.document, release.policy.conventions
    absent = (*conventions.missing_tokens, *conventions.suppressed_tokens)
    joined = {}
    for name, one in sorted(release.policy.attributes.items()):
        if one.role not in (Role.SENSITIVE, Role.INSENSITIVE) or name in (unit, document.key) or release.obstacle(name):
            continue
        units = classes.units_joined(name, absent)
        if units is not None:
            if not _is_injective(release, name):
                return None
            joined[name] = units
    return joined


def _is_plain(release: Release, name: str) -> bool:
    """Whether different cells of a column mean different values, of which none stands for several."""
    if release.obstacle(name) or not _is_injective(release, name):
        return False
    declared, hierarchy = release.policy.attributes[name], release.hierarchies.get(name)
    return common_parts_of(release.domain(name), declared, hierarchy, missing_is_open=False) is None


def _is_injective(release: Release, name: str) -> bool:
    """Whether different cells of a column mean different values, and what is missing is a null or a missing token."""
    domain, raw = release.domain(name), release.engine.domain(name)
    is_value = domain.code_of_raw < domain.size
    if len(np.unique(domain.code_of_raw[is_value])) < is_value.sum():
        return False
    tokens = release.policy.conventions.missing_tokens
    return bool(is_value.all()) or (raw.is_text and {*raw.values[~is_value].tolist()} <= {*tokens})
