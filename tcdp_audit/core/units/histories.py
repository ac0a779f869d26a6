"""The histories of a release whose unit joins rows: read once, seen as a table of units or as rows with one.

Someone who holds the file joins a unit's rows by the unit's column. So classes are formed of the multisets of whole
rows: units with equal histories are one class. See decision 090.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cache import Identity
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.base.words import gibibytes
from tcdp_audit.core.classes.shards import suppressed_in_all, without_value
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.encoding.keys import fold, occurrences, tally
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import AttributeDeclaration, Role, Scale
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.release.unit_readings import linking_unit
from tcdp_audit.core.units.coding import CodedHistories
from tcdp_audit.core.units.engines import HISTORY, HistoryEngine, UnitsEngine, raw_numbers
from tcdp_audit.core.units.members import Members, members_of, nested_histories, people_of

ROOT = "\0root"  # the unit of a row as a number: its code; no column of a table has this name
EXEMPT = "\0exempt"  # whether a row is of an exempt unit; no column of a table has this name
INCOMPLETE = "\0incomplete"  # missing where a unit's history has a missing cell; no column of a table has this name
ROW_BYTES = 64  # what coding takes for a row, in addition to its codes
Numbers = NDArray[np.int64]
Known = tuple[str, ...]  # sensitive attributes that are known in addition to the quasi-identifiers


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


@dataclass(frozen=True, eq=False)
class Histories:
    """Whole histories of the units of a release.

    Args:
        release: the table of rows under its policy.
        unit: the units, or the households; their codes index the arrays below, the missing one last.
        by: the histories by the quasi-identifiers, and by these and further known attributes. Owners are unit codes.
        present: which units have a row that counts, bool, shape (units + 1,).
        exempt: which units are exempt: every cell of all their rows that could be known is suppressed.
        constant: for each attribute that has one value in all rows of each unit, the code of each unit's value.
        varying: for each attribute that has not, how many units have several values.
        lacking: which units have a missing quasi-identifier in some row, bool, shape (units + 1,).
        per_row: the smallest number of units `k`, and the number of `classes`, where classes are formed of single rows;
            of several tables for each by its name.
        alone_at_depth: of several tables the number of units alone by what those down to each depth show.
        members: the people of households; None where units are judged.
    """

    release: Release
    unit: Domain
    by: Mapping[Known, CodedHistories]
    present: NDArray[np.bool_]
    exempt: NDArray[np.bool_]
    constant: Mapping[str, Numbers]
    varying: Mapping[str, int]
    lacking: NDArray[np.bool_]
    per_row: Mapping[str, Any]
    alone_at_depth: tuple[int, ...] = ()
    members: Members | None = None
    _domains: dict[Known, Domain] = field(default_factory=dict, repr=False)
    _engines: dict[str, Engine] = field(default_factory=dict, repr=False)

    def under(self, release: Release) -> Self:
        """The same histories under another policy that reads the same columns in the same way.

        Engines are shared, so that what was counted of them is found again.
        """
        return self if release is self.release else replace(self, release=release)

    @cached_property
    def sizes(self) -> Numbers:
        """The number of units with each history, in the order of the codes; 0 for one that only exempt units have."""
        whole = self.by[()]
        return occurrences(whole.codes[self.present], whole.distinct)

    @property
    def is_of_households(self) -> bool:
        """Whether the units are households."""
        return self.unit.attribute == self.release.policy.document.household

    @property
    def k(self) -> int:
        """The number of units in the smallest class of whole histories."""
        sizes = self.sizes[self.sizes > 0]
        return int(sizes.min()) if len(sizes) else 0

    @property
    def classes(self) -> int:
        """The number of different histories."""
        return int((self.sizes > 0).sum())

    @property
    def alone(self) -> int:
        """The number of units that no other one has the history of."""
        return int((self.sizes == 1).sum())

    @property
    def units(self) -> int:
        """The number of units with a row that counts."""
        return int(self.present.sum())

    @cached_property
    def units_release(self) -> Release:
        """A table with one row for each unit: its history as the only quasi-identifier, and what is constant in it."""
        declared = self.release.policy.attributes
        plain = {
            name: one.model_copy(update={"role": Role.INSENSITIVE}) if one.role is Role.QUASI_IDENTIFIER else one
            for name, one in declared.items()
        }
        known = AttributeDeclaration(role=Role.QUASI_IDENTIFIER, scale=Scale.NUMERIC)  # numbers are read fastest
        further = AttributeDeclaration(role=Role.INSENSITIVE, scale=Scale.NUMERIC)
        numbers = {self.name(one): further if one else known for one in self.by}
        numbers[ROOT] = further
        policy = declaring(self.release.policy, {**plain, **numbers}, ROOT)
        weighted = policy.document.model_copy(update={"weight": self.release.policy.document.root_weight})
        policy = replace(policy, document=weighted)
        if "units" not in self._engines:
            self._engines["units"] = self._engine_of_units()
        return Release(self._engines["units"], policy, self.release.original, self.release.cache)

    def _engine_of_units(self) -> Engine:
        chosen = np.flatnonzero(self.present)
        columns = {}
        for known, coded in self.by.items():
            codes = coded.codes[chosen]
            columns[self.name(known)] = (raw_numbers(codes, coded.distinct), codes)
        for name, codes in self.constant.items():
            if name != self.unit.attribute:
                columns[name] = self._own_column(name, codes[chosen])
        columns[ROOT] = (
            RawDomain(np.arange(self.unit.size), self.present[:-1].astype(np.int64), int(self.present[-1])),
            chosen,
        )
        columns |= self.columns_of_incomplete(chosen)
        return UnitsEngine(self.release.engine, columns)

    @cached_property
    def rows_release(self) -> Release:
        """The rows of the table, each with the history of its unit."""
        if "rows" not in self._engines:
            self._engines["rows"] = self._engine_of_rows()
        known = AttributeDeclaration(role=Role.INSENSITIVE, scale=Scale.NUMERIC)
        policy = declaring(self.release.policy, {**self.release.policy.attributes, ROOT: known}, ROOT)
        return replace(self.release, engine=self._engines["rows"], policy=policy)

    def _engine_of_rows(self) -> Engine:
        columns = {
            self.name(known): (raw_numbers(coded.codes, coded.distinct), coded.codes)
            for known, coded in self.by.items()
        }
        columns |= self.columns_of_exempt(np.arange(self.unit.size + 1))
        columns |= self.columns_of_incomplete(np.arange(self.unit.size + 1))
        numbers = np.arange(self.unit.size)
        columns[ROOT] = (RawDomain(numbers, self.unit.counts, self.unit.missing), np.append(numbers, self.unit.size))
        return HistoryEngine(self.release.engine, self.unit, columns)

    def unit_of_row(self) -> Numbers:
        """The position of each row's unit in the table of units, in the table's order; -1 for an exempt unit."""
        position = np.where(self.present, np.cumsum(self.present) - 1, -1)
        batches = self.release.engine.batches([self.unit])
        return np.concatenate([np.zeros(0, np.int64), *(position[batch[self.unit.attribute]] for batch in batches)])

    def column(self, known: Known = ()) -> Domain:
        """The column of histories by the quasi-identifiers and what else is known."""
        if known not in self._domains:
            coded = self.by[known]
            counts = occurrences(coded.codes, coded.distinct).astype(np.int64)
            numbers = np.arange(coded.distinct)
            self._domains[known] = Domain(self.name(known), numbers, counts, 0, numbers)
        return self._domains[known]

    @cached_property
    def exempt_column(self) -> tuple[Domain, ...]:
        """The column in which rows of exempt units are suppressed; none where no unit is exempt."""
        if not self.exempt.any():
            return ()
        two = np.arange(2)
        return (Domain(EXEMPT, two, np.ones(2, dtype=np.int64), 0, two, frozenset([1])),)

    @cached_property
    def incomplete_column(self) -> tuple[Domain, ...]:
        """The column that is missing where a unit's history has a missing cell; none where no history has one."""
        lacking = int(self.lacking.sum())
        one = np.array([self.units - lacking])
        return (Domain(INCOMPLETE, np.arange(1), one, lacking, np.arange(1)),) if lacking else ()

    def columns_of_incomplete(self, chosen: NDArray[np.integer]) -> dict[str, tuple[RawDomain, Numbers]]:
        """The raw column of `incomplete_column`, for some codes of units."""
        lacking = self.lacking[chosen].astype(np.int64)
        raw = RawDomain(np.arange(1), np.array([len(lacking) - lacking.sum()]), int(lacking.sum()))
        return {INCOMPLETE: (raw, lacking)} if self.incomplete_column else {}

    def columns_of_exempt(self, chosen: NDArray[np.integer]) -> dict[str, tuple[RawDomain, Numbers]]:
        """The raw column of `exempt_column`, for some codes of units; none where no unit is exempt."""
        codes = self.exempt[chosen].astype(np.int64)
        return {EXEMPT: (raw_numbers(codes, 2), codes)} if self.exempt.any() else {}

    @property
    def incomplete(self) -> tuple[Domain, ...]:
        """The quasi-identifiers with a missing cell."""
        return tuple(one for one in self.release.quasi_identifiers if one.missing)

    @property
    def records(self) -> int:
        """The number of rows of units that are not exempt."""
        return int(np.append(self.unit.counts, self.unit.missing)[self.present].sum())

    def records_of(self, units: NDArray[np.bool_]) -> int:
        """The number of rows of some units. Shape (units + 1,)."""
        return int(np.append(self.unit.counts, self.unit.missing)[units & self.present].sum())

    def name(self, known: Known) -> str:
        """The name of the column of histories by what is known."""
        return ":".join([HISTORY, *known])

    def _own_column(self, name: str, codes: Numbers) -> tuple[RawDomain, Numbers]:
        """A column of the release, in the table of units: `codes` are those of its domain."""
        domain = self.release.domain(name)
        raw = self.release.engine.domain(name)
        place = np.full(domain.size + 1, len(raw.values), dtype=np.int64)
        place[domain.code_of_raw[::-1]] = np.arange(len(raw.values))[::-1]  # the first raw value of each code
        place[domain.size] = len(raw.values)
        position = place[codes]
        counts = np.bincount(position, minlength=len(raw.values) + 1)
        return RawDomain(raw.values, counts[:-1].astype(np.int64), int(counts[-1])), position


def declaring(policy: Policy, attributes: Mapping[str, AttributeDeclaration], unit: str) -> Policy:
    """A policy with other attributes and another unit."""
    changes = {"attributes": attributes, "unit": unit, "unit_released": True}
    return replace(policy, document=policy.document.model_copy(update=changes))


def read_histories(release: Release, known: Sequence[Known], memory: int) -> Histories:
    """Code the histories of a release whose unit joins rows.

    Args:
        release: the table under its policy; `is_linked` is true of it, and it has quasi-identifiers.
        known: sets of sensitive attributes that some demands take to be known.
        memory: budget in bytes.

    Raises:
        CheckError: the rows would exceed the memory, or some units are in several households.

    Cost: one scan of the table, and `code_histories` for each set.
    """
    sets = [(), *sorted({one for one in known if one})]
    domains = _columns(release, sets)
    key = ("histories", tuple(sets), *roles_of(release), Identity(release.engine, *domains))
    return release.cache.get(key, lambda: _read(release, sets, domains, memory)).under(release)


def roles_of(release: Release) -> tuple[Hashable, ...]:
    """A key of what a policy says of columns that decides on histories: roles, links, and whether any unit is exempt.

    The domain of a column is the same object under another role, as a session asks for.
    """
    document, known, secret = release.policy.document, release.quasi_identifiers, release.sensitive
    links = (document.unit, document.household, document.root_weight)
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
