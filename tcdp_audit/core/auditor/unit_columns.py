"""Schema checks of attributes that differ within units, and of columns that join rows as the unit does.

Both need to know which units have each value of a column. One pass over the records says it: for each value the unit of
a record that has it, and whether another record with the value is of another unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.auditor.column_warnings import warning_of
from tcdp_audit.core.auditor.identifying_columns import IdentifyingColumns
from tcdp_audit.core.auditor.views import table_of
from tcdp_audit.core.base.cache import Identity
from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import LINKABLE_ROWS, NOT_CONSTANT, STRUCTURE, Outcome, Severity, Status
from tcdp_audit.core.base.words import agree, count, listing, plural
from tcdp_audit.core.detection.column import MOST
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import Role
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.release.structure import noun_of_unit

if TYPE_CHECKING:
    from tcdp_audit.core.units.summed import SummedUnits

NUMBERS = frozenset("GHIJKLMR")  # Safe Harbor's letters of numbers and codes that someone has
SHOWN = 3  # columns in a message
NO_UNIT = np.int64(-1)
Mask = NDArray[np.bool_]


def unit_columns(release: Release, identity: IdentifyingColumns | None) -> Iterator[Outcome]:
    """Run the schema checks on columns of units.

    Args:
        release: a table under a policy.
        identity: the columns that identify; None where none was looked at.

    Cost: where a unit or a household joins records, one pass over the columns that are neither known nor links, with
    8 bytes for each of their values; columns whose values several units share are left out after a first look at
    10,000 records in engines that fetch them.
    """
    yield _not_constant(release)
    yield _linkable_rows(release, identity)


def _not_constant(release: Release) -> Outcome:
    """Report attributes that are declared `of: unit`, with the number of units that have several values, or unread."""
    unit, noun = release.unit, noun_of_unit(release.policy.document)
    declared = [name for name, one in sorted(release.policy.attributes.items()) if one.of == "unit"]
    there = [name for name in declared if not release.obstacle(name)] if unit is not None and unit.repeats else []
    domains = _readable(release, there)
    varying = {} if unit is None else _varying(release, unit, domains)
    unread = sorted({*there} - {one.attribute for one in domains})
    said = [f"column {name!r} differs within {count(number, noun)}" for name, number in varying.items()]
    said += [f"column {name!r} cannot be read, so that it may differ within {plural(noun)}" for name in unread]
    return Outcome(
        check=NOT_CONSTANT,
        title="Attributes of units differ within units" if said else "Attributes of units are the same in all rows",
        status=Status.FAILED if said else Status.PASSED,
        observed=float(len(said)),
        details={"columns": [*varying, *unread], **({"units": varying} if varying else {})},
        message=f"{'; '.join(said)}, and is declared `of: unit`; correct these rows, or leave `of` out" if said else "",
        source=STRUCTURE,
    )


def _compared_there(release: Release) -> SummedUnits | None:
    """The table, if its histories were compared where it is."""
    from tcdp_audit.core.units.summed import SummedUnits  # noqa: PLC0415 - only where a unit joins rows

    return release.engine if isinstance(release.engine, SummedUnits) else None


def _varying(release: Release, unit: Domain, domains: Sequence[Domain]) -> dict[str, int]:
    """The number of units with several values of each column; a missing value is one."""
    if not domains:
        return {}

    if (compared := _compared_there(release)) is not None:
        differing = compared.classes.varying([one.attribute for one in domains])
        return {name: units for name, units in differing.items() if units}

    def read() -> dict[str, int]:
        last = {one.attribute: np.full(unit.size + 1, NO_UNIT) for one in domains}
        differs = {one.attribute: np.zeros(unit.size + 1, dtype=bool) for one in domains}
        for rows in release.engine.counted([*{one.attribute: one for one in (*domains, unit)}.values()]):
            checkpoint()
            for one in domains:
                _note(last[one.attribute], differs[one.attribute], rows[unit.attribute], rows[one.attribute])
        return {name: int(one.sum()) for name, one in differs.items() if one.any()}

    key = ("varying", Identity(release.engine, unit, *domains))
    return release.cache.get(key, read)


def _note(last: NDArray[np.int64], differs: Mask, place: NDArray[Any], value: NDArray[Any]) -> None:
    """Note the value at each place, and the places that have several."""
    new = np.asarray(value, dtype=np.int64)
    fresh = last[place] == NO_UNIT
    last[place[fresh]] = new[fresh]
    differs[place[last[place] != new]] = True


@dataclass(frozen=True)
class _Joins:
    """The rows that a column joins.

    Args:
        values: the number of its values that several records have.
        records: the number of records that have one of these.
        units: the number of units that these records are of; None where no unit is declared.
        kind: what its values look like; empty where a unit is declared.
    """

    values: int
    records: int
    units: int | None = None
    kind: str = ""

    def as_details(self) -> dict[str, Any]:
        units = {} if self.units is None else {"units": self.units}
        return {"values": self.values, "records": self.records, **units, **({"kind": self.kind} if self.kind else {})}


def _linkable_rows(release: Release, identity: IdentifyingColumns | None) -> Outcome:
    """Warn of columns that join the rows of a person and are neither known nor declared as what joins them.

    With a unit: columns of which each value belongs to one unit, and some value to several of its records. Of a
    household the same. Without both: columns of numbers or codes that someone has, of which some value repeats.
    """
    root = _root(release)
    joins = _by_detectors(release, identity) if root is None else _by_root(release, root)
    titles = "No other column joins rows", "Columns join rows that no demand joins"
    return warning_of(
        LINKABLE_ROWS,
        titles,
        sorted(joins),
        _sentence(release, joins),
        {"joins": {name: joins[name].as_details() for name in sorted(joins)}} if joins else None,
    )


def _sentence(release: Release, joins: Mapping[str, _Joins]) -> str:
    if not joins:
        return ""
    names = sorted(joins)
    said = [_clause(name, joins[name], _noun(release)) for name in names[:SHOWN]]
    more = [count(len(names) - SHOWN, "further column")] if len(names) > SHOWN else []
    if _root(release) is None:
        advice = f"name {agree(len(names), 'it', 'one')} as `unit:`, so that whole histories are judged"
    else:
        advice = f"declare {agree(len(names), 'it', 'them')} as quasi-identifiers if an intruder may know them"
    return f"{listing([*said, *more])}; drop {agree(len(names), 'it', 'them')} before release, or {advice}"


def _clause(name: str, joins: _Joins, noun: str) -> str:
    if joins.units is None:
        return (
            f"column {name!r} looks like {joins.kind} and joins rows: {count(joins.values, 'value')} "
            f"{agree(joins.values, 'stands', 'stand')} in {joins.records:,} records"
        )
    several = f"{count(joins.records, 'record')} of {count(joins.units, noun)}"
    return f"column {name!r} is not a quasi-identifier and yet joins rows: {several}"


def _noun(release: Release) -> str:
    document = release.policy.document
    return "household" if document.household is not None else noun_of_unit(document)


def _root(release: Release) -> Domain | None:
    """The column of households or of units, which joins what belongs together; None if the table has none."""
    document = release.policy.document
    named = (one for one in (document.household, document.unit) if one is not None)
    return next((release.domains[one] for one in named if one in release.domains), None)


def _by_detectors(release: Release, identity: IdentifyingColumns | None) -> dict[str, _Joins]:
    joins = {}
    detected = {} if identity is None else identity.detected
    numbers = [name for name, one in detected.items() if one.detector.safe_harbor in NUMBERS and one.is_mostly]
    for domain in _readable(release, numbers):
        joined = _repeated(domain)
        if joined.any():
            records = int(domain.counts[joined].sum())
            kind = detected[domain.attribute].detector.plural
            joins[domain.attribute] = _Joins(int(joined.sum()), records, kind=kind)
    return joins


def _by_root(release: Release, root: Domain) -> dict[str, _Joins]:
    document = release.policy.document
    judging = (one for one in release.policy.expectations if one.check.demands(one.parameters))
    judged = {one.parameters.unit for one in judging if one.parameters.severity is Severity.ERROR}
    links = {document.unit, document.household, document.key, *judged}
    roles = (Role.SENSITIVE, Role.INSENSITIVE)
    names = [name for name, one in release.policy.attributes.items() if one.role in roles and name not in links]
    if document.tables is not None:  # what joins the rows of other tables is declared, and judged
        names = [name for name in names if table_of(release, name) == table_of(release, root.attribute)]
    there = tuple(name for name in sorted(names) if not release.obstacle(name))

    if (compared := _compared_there(release)) is not None:
        domains = _readable(release, [name for name in there if name in compared.joined])
        return {
            one.attribute: _joined_by(one, compared.joined[one.attribute]) for one in domains if _repeated(one).any()
        }

    def joining() -> dict[str, _Joins]:
        return _joining(release.engine, root, _readable(release, _at_first_look(release, root, there)))

    readings = tuple((name, release.policy.attributes[name].reading) for name in there)
    key = ("linkable", readings, release.policy.conventions.model_dump_json(), Identity(release.engine, root))
    return release.cache.get(key, joining) if there and root.repeats else {}


def _at_first_look(release: Release, root: Domain, names: Sequence[str]) -> Sequence[str]:
    """The columns that may join rows by the records that come first, where an engine would fetch all."""
    with release.engine.glimpse([*names, root.attribute], MOST) as some:
        if some.records == release.engine.records:
            return names
        first = Release(some, release.policy)
        may_join = _belonging(some, first.domain(root.attribute), _readable(first, names))
        return [one.attribute for one, _ in may_join]


def _joining(engine: Engine, root: Domain, domains: Sequence[Domain]) -> dict[str, _Joins]:
    """The rows that columns join: of each every value belongs to one unit, and some value to several records."""
    repeated = {one.attribute: _repeated(one) for one in domains}
    repeating = [one for one in domains if repeated[one.attribute].any()]
    joins = {}
    for domain, owners in _belonging(engine, root, repeating):
        units = len(np.unique(owners[:-1][repeated[domain.attribute]]))
        joins[domain.attribute] = _joined_by(domain, units)
    return joins


def _joined_by(domain: Domain, units: int) -> _Joins:
    joined = _repeated(domain)
    return _Joins(int(joined.sum()), int(domain.counts[joined].sum()), units)


def _repeated(domain: Domain) -> Mask:
    """The values that several records have, as a mask, without suppressed ones. Shape (values,)."""
    repeated = domain.counts > 1
    repeated[list(domain.suppressed)] = False
    return np.asarray(repeated)


def _belonging(engine: Engine, root: Domain, domains: Sequence[Domain]) -> Sequence[tuple[Domain, NDArray[np.int64]]]:
    """The columns of which each value belongs to one unit, with the unit of each value.

    A missing or suppressed cell is no value.
    """
    open_ones = {one.attribute: one for one in domains}
    owners = {name: np.full(one.size + 1, NO_UNIT) for name, one in open_ones.items()}
    shared = {name: np.zeros(one.size + 1, dtype=bool) for name, one in open_ones.items()}
    for rows in engine.counted([*domains, root]) if domains else ():
        checkpoint()
        for name, domain in [*open_ones.items()]:
            _note(owners[name], shared[name], rows[name], rows[root.attribute])
            if (shared[name] & ~domain.is_uninformative).any():
                del open_ones[name]
    return [(domain, owners[name]) for name, domain in open_ones.items()]


def _readable(release: Release, names: Sequence[str]) -> list[Domain]:
    """The domains of the columns that are there and have distinct values to speak of."""
    domains = []
    for name in names:
        with suppress(DataError):
            if not release.obstacle(name):
                domains.append(release.domain(name))
    return domains
