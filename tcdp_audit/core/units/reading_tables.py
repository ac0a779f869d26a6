"""Histories read from linked tables: the rows of a child table become one column of their parent, deepest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cache import Identity
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.base.words import gibibytes
from tcdp_audit.core.classes.shards import suppressed_in_all, without_value
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import fold, occurrences
from tcdp_audit.core.policy.model import PolicyDocument
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.units.coding import CodedHistories, OwnedRows, code_histories
from tcdp_audit.core.units.linked import Link, LinkedTables, depth_of
from tcdp_audit.core.units.members import People, members_of
from tcdp_audit.core.units.reading import ROW_BYTES, constancy, per_row, roles_of
from tcdp_audit.core.units.trees import CodedTable, TableHistories, people_of_households

Numbers = NDArray[np.int64]


def read_tables(release: Release, memory: int) -> TableHistories:
    """Code the whole histories of units over linked tables.

    Raises:
        CheckError: links are faulty, rows belong to nothing, generalised cells of a unit would have to be read
            together, or the rows would exceed the memory.

    Cost: one scan of each table, and `code_histories` for each table that belongs to another.
    """
    engine = release.engine
    if not isinstance(engine, LinkedTables):  # its cells are read together; see `as_read`
        raise CheckError(
            "units have generalised cells, which are read together over all rows of a unit in one table only; give it "
            "a policy without `tables`"
        )
    key = ("tables", *roles_of(release), Identity(engine, *release.domains.values()))
    return release.cache.get(key, lambda: _read(release, engine, memory)).under(release)


def _read(release: Release, engine: LinkedTables, memory: int) -> TableHistories:
    document = release.policy.document
    if engine.links.faults:
        raise CheckError(f"{engine.links.sentence}; correct the links, or leave these rows out of every table")
    links = engine.links.by_table
    unit = _unit_of(release, document)
    needed = sum(one.records * (ROW_BYTES + 8 * len(one.columns)) for one in engine.tables.values())
    if needed > memory:
        raise CheckError(
            f"whole histories need every row of {engine.name} at once, about {gibibytes(needed)}, and "
            f"{gibibytes(memory)} may be used; give more with --memory"
        )
    tables = {name: coded_rows(release, engine, name, links, unit)[0] for name in _by_depth(engine)}
    tables = _with_roots(tables, unit)
    root, people = _root_of(release, document, unit)
    exempt = _exempt_roots(release, engine, tables, root, people)
    depths = max(depth_of(name, engine.declared) for name in tables)
    whole: CodedHistories | None = None
    own: CodedHistories | None = None  # of people of households
    alone = []
    present = _present(tables[engine.top], unit) if people is None else _present_homes(people, root)
    present &= ~exempt
    for depth in range(depths + 1):
        shown = {name: one for name, one in tables.items() if depth_of(name, engine.declared) <= depth}
        whole, own = whole_histories(shown, root, people, unit)
        sizes = occurrences(whole.codes[present], whole.distinct)
        alone.append(int((sizes == 1).sum()))
    assert whole is not None  # noqa: S101 - there is one depth at least
    constant, varying = _constancy_of_top(release, engine, unit, None)
    of_people, members = None, None
    if people is not None:
        assert own is not None  # noqa: S101 - of each unit of a household
        here = np.flatnonzero(people >= 0)
        members = members_of(People(people[here], own.codes[here], np.ones(len(here), np.int64)), whole, present)
        counted_people = (people >= 0) & present[people]
        of_people = people_of_households(release, unit, own, counted_people, constant, varying)
        constant, varying = _constancy_of_top(release, engine, unit, people)
    counted = np.append(~exempt if people is None else ~exempt[people], True)
    per_row_of = {name: _per_row(one, unit, counted) for name, one in tables.items()}
    return TableHistories(
        release=release,
        unit=root,
        by=FrozenDict({(): whole}),
        present=present,
        exempt=exempt,
        constant=FrozenDict(constant),
        varying=FrozenDict(varying),
        lacking=_lacking(tables, root, people),
        per_row=FrozenDict(per_row_of),
        coded=FrozenDict(tables),
        home=people,
        people=of_people,
        members=members,
        alone_at_depth=tuple(alone),
    )


def _exempt_roots(
    release: Release,
    engine: LinkedTables,
    tables: Mapping[str, CodedTable],
    root: Domain,
    people: Numbers | None,
) -> NDArray[np.bool_]:
    """The roots that do not count by convention: every cell of all their rows that matters is suppressed.

    Cost: a further scan of each table whose columns have suppressed cells, only under `suppressed: exempt`.
    """
    shown = np.zeros(root.size + 1, dtype=bool)
    hidden = np.zeros(root.size + 1, dtype=bool)
    if release.policy.conventions.suppressed == "counted":
        return hidden
    for name, one in tables.items():
        domains = [*release.quasi_identifiers, *release.sensitive]
        examined = [domain for domain in domains if engine.table_of(domain.attribute) == name]
        for rows in engine.counted([*examined, one.link_domain]) if examined else ():
            units = one.root_of_link[rows[one.link_domain.attribute]]
            roots = units if people is None else people[units]
            suppressed = suppressed_in_all(rows, examined)
            hidden[roots[suppressed]] = True
            shown[roots[~suppressed]] = True
    return hidden & ~shown


def _lacking(tables: Mapping[str, CodedTable], root: Domain, people: Numbers | None) -> NDArray[np.bool_]:
    """Which roots have a missing quasi-identifier in some row of some table."""
    lacking = np.zeros(root.size + 1, dtype=bool)
    for one in tables.values():
        units = one.root_of_link[one.link_codes[one.lacking]]
        lacking[units if people is None else people[units]] = True
    return lacking


def _unit_of(release: Release, document: PolicyDocument) -> Domain:
    assert document.unit is not None  # noqa: S101 - a policy of tables names one
    if obstacle := release.obstacle(document.unit):
        raise CheckError(obstacle)
    return release.domains[document.unit]


def _by_depth(engine: LinkedTables) -> list[str]:
    return sorted(engine.tables, key=lambda name: depth_of(name, engine.declared))


def coded_rows(
    release: Release,
    engine: LinkedTables,
    name: str,
    links: Mapping[str, Link],
    unit: Domain,
    known: Sequence[Domain] | None = None,
) -> tuple[CodedTable, CountedCodes]:
    """One table, and its rows as they were read: the codes of its quasi-identifiers and links, in the same order.

    Links are compared as they are written, so their codes are those of the raw values. `known` has other columns to
    know rows by than the quasi-identifiers.

    Cost: one scan of the table.
    """
    link = links.get(name)
    known, keys = _known_of(release, engine, name) if known is None else known, _keys_of(name, links)
    own = unit if link is None else link.own
    domains = {one.attribute: one for one in (*known, own)} | keys
    empty = CountedCodes({name: np.zeros(0, one.dtype) for name, one in domains.items()})
    rows = CountedCodes.joined([*engine.counted([*domains.values()])] or [empty])
    links_of_rows = rows[own.attribute]
    if own.attribute in keys:  # the unit, which the policy may read in another order
        links_of_rows = np.append(own.code_of_raw, own.size)[links_of_rows]
    labels = fold([rows[one.attribute] for one in known], [one.size + 1 for one in known]) if known else None
    table = CodedTable(
        name,
        link,
        own,
        np.zeros(rows.rows, dtype=np.int64) if labels is None else labels.values,
        1 if labels is None else labels.span,
        FrozenDict({attribute: rows[attribute] for attribute in keys}),
        links_of_rows,
        rows.times,
        without_value(rows, known),
    )
    return table, rows


def _known_of(release: Release, engine: LinkedTables, name: str) -> list[Domain]:
    return [one for one in release.quasi_identifiers if engine.table_of(one.attribute) == name]


def _keys_of(name: str, links: Mapping[str, Link]) -> dict[str, Domain]:
    return {one.key.attribute: one.key for one in links.values() if one.parent == name}


def _with_roots(tables: Mapping[str, CodedTable], unit: Domain) -> dict[str, CodedTable]:
    """The tables with the unit of each link, and what is known of the rows above."""
    done: dict[str, CodedTable] = {}
    for name, one in tables.items():
        link = one.link
        if link is None:
            done[name] = replace(one, root_of_link=np.append(np.arange(unit.size), -1))
            continue
        parent = done[link.parent]
        root_of_key = np.full(link.key.size + 1, -1, dtype=np.int64)
        root_of_key[parent.key[link.key.attribute]] = parent.root_of_link[parent.link_codes]
        root = np.where(link.of_parent >= 0, root_of_key[link.of_parent], -1)
        above = np.zeros(link.key.size + 1, dtype=np.int64)
        above[parent.key[link.key.attribute]] = _label_of_row(parent)[0]
        above = above[link.of_parent]
        done[name] = replace(one, root_of_link=root, above_of_link=above)
    return done


def _label_of_row(one: CodedTable) -> tuple[Numbers, int]:
    """The label of each row with those of the rows above it, and a number above all."""
    if one.above_of_link is None:
        return one.label, one.span
    above = one.above_of_link[one.link_codes]
    keys = fold([above, one.label], [int(above.max(initial=0)) + 1, one.span])
    return keys.values, keys.span


def whole_histories(
    tables: Mapping[str, CodedTable], root: Domain, people: Numbers | None, unit: Domain
) -> tuple[CodedHistories, CodedHistories]:
    """The histories of all roots and of all units by some of the tables, deepest first."""
    columns: dict[str, list[tuple[Numbers, int]]] = {name: [] for name in tables}
    for name in reversed([*tables]):
        one = tables[name]
        label, span = _with_columns(one, columns[name])
        if one.link is None:
            owner = one.link_codes.astype(np.int64)
            own = code_histories(owner, label, unit.size + 1, span, one.times)
            if people is None:
                return own, own
            here = np.flatnonzero(people >= 0)
            return code_histories(people[here], own.codes[here], root.size + 1, own.distinct), own
        link = one.link
        owner = link.of_parent[one.link_codes]
        coded = code_histories(owner, label, link.key.size + 1, span, one.times)
        parent = tables[link.parent]
        columns[link.parent].append((coded.codes[parent.key[link.key.attribute]], coded.distinct))
    raise AssertionError("the table of units comes first")


def _with_columns(one: CodedTable, columns: Sequence[tuple[Numbers, int]]) -> tuple[Numbers, int]:
    if not columns:
        return one.label, one.span
    keys = fold([one.label, *(codes for codes, _ in columns)], [one.span, *(size for _, size in columns)])
    return keys.values, keys.span


def _present(top: CodedTable, unit: Domain) -> NDArray[np.bool_]:
    return occurrences(top.link_codes, unit.size + 1) > 0


def _present_homes(home: Numbers, root: Domain) -> NDArray[np.bool_]:
    return occurrences(home[home >= 0], root.size + 1) > 0


def _root_of(release: Release, document: PolicyDocument, unit: Domain) -> tuple[Domain, Numbers | None]:
    """The household and the code of each unit's, or the unit and None."""
    if document.household is None:
        return unit, None
    if obstacle := release.obstacle(document.household):
        raise CheckError(obstacle)
    household = release.domains[document.household]
    home = np.full(unit.size + 1, -1, dtype=np.int64)
    moved = np.zeros(unit.size + 1, dtype=bool)
    for rows in release.engine.batches([unit, household]):
        person, homes = rows[unit.attribute], rows[household.attribute]
        moved[person[(home[person] >= 0) & (home[person] != homes)]] = True
        home[person] = homes
        moved[person[home[person] != homes]] = True  # in two of them within a batch
    if moved.any():
        raise CheckError(f"{int(moved.sum()):,} units are in several households; correct {document.household!r}")
    return household, home


def _constancy_of_top(
    release: Release, engine: LinkedTables, unit: Domain, people: Numbers | None
) -> tuple[dict[str, Numbers], dict[str, int]]:
    """The columns of the table of units that an audit reads; see `constancy`. In a table of rows some may vary.

    Of households the weight alone: what is secret is a secret of their people.
    """
    document = release.policy.document
    weights = {*filter(None, (document.weight, document.household_weight))} & release.columns
    if people is None:
        names = [name for name in release.domains if engine.table_of(name) == engine.top and name != unit.attribute]
        names = [*dict.fromkeys([*names, *sorted(weights)])]
    else:
        names = [name for name in sorted(weights) if name == document.root_weight]
    domains = [release.domain(name) for name in names]
    if not domains:
        return {}, {}
    rows = CountedCodes.joined([*engine.counted([*domains, unit])])
    owner = rows[unit.attribute] if people is None else people[rows[unit.attribute]]
    return constancy(rows, domains, owner, unit.size + 1 if people is None else int(people.max(initial=-1)) + 1)


def _per_row(one: CodedTable, unit: Domain, counted: NDArray[np.bool_]) -> dict[str, int]:
    """The figures of `per_row` for the rows of a table, each with what is known of the rows above.

    Args:
        one: the table.
        unit: the units.
        counted: which of them count; those without one last. Shape (units + 2,).
    """
    owner = one.root_of_link[one.link_codes]
    here = counted[owner]
    label, span = _label_of_row(one)
    owned = OwnedRows(np.where(owner < 0, unit.size, owner)[here], label[here], unit.size + 1, span)
    return per_row(owned, occurrences(owned.owner, owned.owners) > 0)
