"""The tables next to several linked ones, such as a population: their units, with histories in the release's codes.

A companion consists of the same tables, linked in the same way. Its units become one row each, like those of the
release, so that whatever compares two tables compares whole histories: equal numbers are equal histories.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError, DataError
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.words import gibibytes, listing
from tcdp_audit.core.classes.histogram import Counts
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.encoding.keys import fold
from tcdp_audit.core.encoding.reading import union
from tcdp_audit.core.engines.base import Batch, Column, Engine
from tcdp_audit.core.policy.model import PREVIOUS, Role
from tcdp_audit.core.release.generalized_matches import generalized_match
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.units.coding import CodedHistories
from tcdp_audit.core.units.histories import ROOT, Histories, UnitsEngine, raw_numbers
from tcdp_audit.core.units.linked import LinkedTables
from tcdp_audit.core.units.reading import ROW_BYTES
from tcdp_audit.core.units.reading_tables import coded_rows, read_tables, whole_histories
from tcdp_audit.core.units.trees import CodedTable, TableHistories

if TYPE_CHECKING:
    from tcdp_audit.core.encoding.hierarchy import Hierarchy

Numbers = NDArray[np.int64]
Read = tuple[CodedTable, CountedCodes]  # a table, and its rows as they were read
BLOCK = 2**22  # pairs of cells that are compared at once


def companion_units(
    histories: Histories, companions: Mapping[str, Engine], memory: int
) -> tuple[Mapping[str, Engine], Mapping[str, Engine]]:
    """A table for each companion with a row for each unit or household, and one for the people of households.

    Nothing is read before it is asked for.

    Args:
        histories: of the release.
        companions: the tables next to it, by their names in results.
        memory: budget in bytes.
    """
    assert isinstance(histories, TableHistories)  # noqa: S101 - those of several tables are
    tables = {name: one for name, one in companions.items() if isinstance(one, LinkedTables)}
    kinds: dict[str, dict[str, LinkedTables]] = {}
    for name, table in tables.items():  # earlier releases are compared with one another as well
        kinds.setdefault(PREVIOUS if name.partition(" ")[0] == PREVIOUS else name, {})[name] = table
    groups = [CommonHistories(histories, own, memory) for own in kinds.values()]
    common = {name: one for one in groups for name in one.tables}
    roots, people = ({n: CompanionUnits(one, n, people=of) for n, one in common.items()} for of in (False, True))
    return FrozenDict(roots), FrozenDict(people)


def followed(release: Release) -> Release:
    """A table whose units are the key to those of other tables, if all have the same pseudonyms by the policy."""
    document = release.policy.document
    if not document.keep_links:
        return release
    policy = replace(release.policy, document=document.model_copy(update={"key": document.unit}))
    return replace(release, policy=policy)


class CompanionUnits(Engine):
    """The units of a companion as a table, read when it is first asked for.

    Args:
        common: the companions that are coded together with this one.
        companion: its name.
        people: whether its rows are the people of households.
    """

    def __init__(self, common: CommonHistories, companion: str, *, people: bool) -> None:
        lender = common.tables[companion]
        self.name, self.uri, self.ordered = lender.name, lender.uri, False
        self._common, self._companion, self._people = common, companion, people

    @cached_property
    def _units(self) -> UnitsEngine:
        return self._common.units(self._companion, people=self._people)

    @property
    def columns(self) -> Sequence[Column]:
        """The history of each unit, and the columns of the table of units."""
        return self._units.columns

    @property
    def records(self) -> int:
        """The number of units."""
        return self._units.records

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with the number of units that have each."""
        return self._units.domain(attribute)

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All units as codes."""
        return self._units.batches(domains)

    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:  # noqa: ARG002
        """None: a unit has no place in a file."""
        return None

    def table(self) -> pa.Table:
        """Raise an error: there is no such table for libraries to read."""
        raise DataError(f"{self.name}: several tables cannot be read as one")

    def sha256(self) -> str | None:
        """None: the tables that the units are of have digests."""
        return None


@dataclass(frozen=True)
class CommonHistories:
    """A release of several tables and companions of it, whose histories have common codes.

    Args:
        ours: the histories of the release.
        tables: the companions, by their names in results.
        memory: budget in bytes.
    """

    ours: TableHistories
    tables: Mapping[str, LinkedTables]
    memory: int

    def units(self, name: str, *, people: bool) -> UnitsEngine:
        """The units of a companion, or the people of its households.

        Raises:
            CheckError: its tables cannot be linked, or compared with the release's; or the rows exceed the memory.

        Cost: two scans of each table of the release and of its companions, and `code_histories` for each table.
        """
        place = [*self.tables].index(name)
        theirs, codes = self._theirs[place], self._codes[0][place]
        if people and theirs.people is not None:
            return _units_of(theirs.people, self._codes[1][place])
        numbers = self._numbers[place] if self.ours.release.policy.document.keep_links else None
        return _units_of(theirs, codes, numbers)

    @cached_property
    def _theirs(self) -> Sequence[TableHistories]:
        policy = self.ours.release.policy.with_conventions(suppressed="counted")
        whole = replace(self.ours.release, policy=policy)
        return [companion_histories(whole, name, one, self.memory) for name, one in self.tables.items()]

    @cached_property
    def _codes(self) -> tuple[Sequence[Numbers], Sequence[Numbers]]:
        """The codes of each companion's roots, and of its people: those of the release where it has the history."""
        sources = [self.ours, *self._theirs]
        self._require_memory()
        for name, one in zip(self.tables, self._theirs, strict=True):
            _require_values(name, one)
        whole, own = _coded_together(sources, self.tables)
        roots = _in_codes_of_first(_split(whole.codes, [one.unit.size for one in sources]), self.ours)
        if self.ours.people is None:
            return roots, ()
        return roots, _in_codes_of_first(_split(own.codes, [_unit_of(one).size for one in sources]), self.ours.people)

    @cached_property
    def _numbers(self) -> Sequence[Numbers]:
        """The number of each root of a companion: that of the release's with the same pseudonym, if it has it."""
        place = {label: number for number, label in enumerate(self.ours.unit.labels)}
        numbers = []
        for one in self._theirs:
            if {one.unit.values.dtype == object, self.ours.unit.values.dtype == object} == {True, False}:
                raise CheckError(
                    f"{one.unit.attribute!r} is read as text in one release and as numbers in another, where 007 and 7 "
                    "would differ or not; write it alike in all"
                )
            own = [place.setdefault(label, len(place)) for label in one.unit.labels]
            numbers.append(np.array([*own, -1], dtype=np.int64))
        return numbers

    def _require_memory(self) -> None:
        engines = [_linked(self.ours), *self.tables.values()]
        parts = [part for one in engines for part in one.tables.values()]
        needed = sum(part.records * (ROW_BYTES + 8 * len(part.columns)) for part in parts)
        if needed > self.memory:
            raise CheckError(
                f"comparing whole histories needs every row of {listing([one.name for one in engines])} at once, about "
                f"{gibibytes(needed)}, and {gibibytes(self.memory)} may be used; give more with --memory"
            )


def companion_histories(release: Release, name: str, tables: LinkedTables, memory: int) -> TableHistories:
    """The whole histories of a companion by itself, under the policy of a release.

    Raises:
        CheckError: a column that the release is known by is not there or cannot be read, or as `read_tables` does.
    """
    own = Release(tables, release.policy, None, release.cache)
    document = release.policy.document
    joining = [one for one in (document.unit, document.household) if one is not None]
    for column in [*release.policy.with_role(Role.QUASI_IDENTIFIER), *joining]:
        if column not in own.columns:
            raise CheckError(f"column {column!r} is not in the {name}; the same tables and columns are compared")
        if column in own.unreadable:
            raise CheckError(f"{name}: {own.unreadable[column]}")
        if column in own.misfits:
            raise CheckError(f"column {column!r} of the {name} holds {own.misfits[column].reason}")
    try:
        return read_tables(own, memory)
    except CheckError as error:
        raise CheckError(f"{name}: {error}") from None


def counts_of_secret(release: Release, memory: int, attribute: Domain, *, in_cells: bool) -> tuple[Counts, int]:
    """The values of a sensitive attribute in the original of a release, each once for a unit.

    Args:
        release: several tables under their policy, with an original of the same tables.
        memory: budget in bytes.
        attribute: the attribute, coded as the original has it.
        in_cells: whether a value counts once for each unit and class of rows, and not once for each unit.

    Returns:
        The count of each code, the missing one last, int64, shape (values + 1,); and the number of units with a value.

    Raises:
        CheckError: there is no such original, or as `companion_histories` does.

    Cost: one further scan of the attribute's table.
    """
    original = release.original
    if not isinstance(original, LinkedTables):
        raise CheckError("the reference is the original, and no original is given")
    histories = companion_histories(release, "original", original, memory)
    table = original.table_of(attribute.attribute)
    one, own = histories.coded[table], histories.release
    known = [domain for domain in own.quasi_identifiers if original.table_of(domain.attribute) == table]
    links, unit = original.links.by_table, _unit_of(histories)
    _, rows = coded_rows(own, original, table, links, unit, [*known, attribute])
    link = rows[one.link_domain.attribute] if one.link is not None else rows[unit.attribute]
    owner = one.root_of_link[link]
    root = np.where(owner < 0, histories.unit.size, owner if histories.home is None else histories.home[owner])
    counted = ~histories.exempt[root]
    secret = rows[attribute.attribute].astype(np.int64)
    columns, sizes = [root, secret], [histories.unit.size + 1, attribute.size + 1]
    if in_cells:
        columns += [rows[domain.attribute] for domain in known]
        sizes += [domain.size + 1 for domain in known]
        if one.above_of_link is not None:
            columns.append(one.above_of_link[link])
            sizes.append(int(one.above_of_link.max(initial=0)) + 1)
    keys = fold([column[counted] for column in columns], sizes)
    first = np.unique(keys.values, return_index=True)[1]
    root, secret = root[counted][first], secret[counted][first]
    missing_counts = release.policy.conventions.missing_sensitive == "own_category"
    having = np.unique(root[(secret < attribute.size) | missing_counts])
    return np.bincount(secret, minlength=attribute.size + 1).astype(np.int64), len(having)


def _units_of(histories: Histories, codes: Numbers, numbers: Numbers | None = None) -> UnitsEngine:
    """A table with one row for each unit of a companion."""
    chosen = np.flatnonzero(histories.present)
    codes = codes[chosen]
    columns = {histories.name(()): (raw_numbers(codes, int(codes.max(initial=-1)) + 1), codes)}
    for name, own in histories.constant.items():
        if name != histories.unit.attribute:
            columns[name] = histories.own_column(name, own[chosen])
    if numbers is not None:
        own = numbers[chosen]
        size = int(own.max(initial=-1)) + 1
        missing = own < 0
        columns[ROOT] = (
            RawDomain(np.arange(size), np.bincount(own[~missing], minlength=size).astype(np.int64), int(missing.sum())),
            np.where(missing, size, own),
        )
    return UnitsEngine(histories.release.engine, columns)


def _linked(histories: Histories) -> LinkedTables:
    engine = histories.release.engine
    assert isinstance(engine, LinkedTables)  # noqa: S101 - histories over tables are read from these
    return engine


def _unit_of(histories: Histories) -> Domain:
    return histories.release.domains[histories.release.policy.document.unit or ""]


# Histories of several releases as one


def _coded_together(
    sources: Sequence[TableHistories], names: Mapping[str, Any]
) -> tuple[CodedHistories, CodedHistories]:
    """The histories of the roots, and of the units, of several releases one after another.

    The rows of each table follow one another as well, and belong to parents of their own release: nothing is linked
    across releases, so that the multisets of all are numbered in one pass, exactly.
    """
    known = _common_domains(sources, names)
    tables = [
        {
            name: coded_rows(
                one.release, _linked(one), name, _linked(one).links.by_table, _unit_of(one), list(own[name])
            )
            for name in one.coded
        }
        for one, own in zip(sources, known, strict=True)
    ]
    units = [_unit_of(one).size for one in sources]
    stacked = {
        name: _stacked([own[name] for own in tables], [own[name] for own in known], tables, units) for name in tables[0]
    }
    home: Numbers | None = None
    if all(one.home is not None for one in sources):
        starts = _starts([one.unit.size for one in sources])
        homes = [(one.home, start) for one, start in zip(sources, starts, strict=True) if one.home is not None]
        home = np.concatenate([np.where(own >= 0, own + start, -1) for own, start in homes])
    root = _numbered_domain(sources[0].unit, [one.unit.size for one in sources])
    return whole_histories(stacked, root, home, _numbered_domain(_unit_of(sources[0]), units))


def _common_domains(sources: Sequence[TableHistories], names: Mapping[str, Any]) -> list[dict[str, list[Domain]]]:
    """The known columns of the rows of each table of each release, over the values of all."""
    by_table: list[dict[str, list[Domain]]] = [{name: [] for name in one.coded} for one in sources]
    hierarchies = sources[0].release.hierarchies
    for domain in sources[0].release.quasi_identifiers:
        column = domain.attribute
        own = [one.release.domain(column) for one in sources]
        ordered = sources[0].release.policy.attributes[column].is_ordered
        for name, other in zip(names, own[1:], strict=True):
            if _is_coarser(own[0], other, hierarchies.get(column), ordered=ordered) or _is_coarser(
                other, own[0], hierarchies.get(column), ordered=ordered
            ):
                raise CheckError(
                    f"column {column!r} is generalised in another way in the release than in the {name}, so that equal "
                    "histories are not written alike; generalise both alike"
                )
        try:
            united = union(own)
        except DataError as error:
            raise CheckError(str(error)) from None
        table = _linked(sources[0]).table_of(column)
        for known, one in zip(by_table, united, strict=True):
            known[table].append(one)
    return by_table


def _is_coarser(one: Domain, other: Domain, hierarchy: Hierarchy | None, *, ordered: bool) -> bool:
    """Whether a cell of one table covers a value of another one that is not the same cell; suppressed ones aside."""
    if one.covers is None and other.covers is None and (ordered or not _may_be_coarser([one, other], hierarchy)):
        return False
    match = generalized_match(one, other, hierarchy, ordered=ordered)
    values = np.flatnonzero(~other.is_uninformative)
    labels = np.array([*other.labels, None], dtype=object)
    cells = np.flatnonzero(~one.is_uninformative)
    each = max(1, BLOCK // max(1, len(values)))
    for start in range(0, len(cells), each):
        some = cells[start : start + each]
        rows, columns = np.repeat(some, len(values)), np.tile(values, len(some))
        matches = match.matches(rows, columns)
        own = np.array([*one.labels, None], dtype=object)[rows[matches]]
        if (own != labels[columns[matches]]).any():
            return True
    return False


def _may_be_coarser(domains: Sequence[Domain], hierarchy: Hierarchy | None) -> bool:
    """Whether labels are sets of values, or nodes of several levels of a hierarchy."""
    labels = {label for one in domains for label in one.labels}
    lineage = {} if hierarchy is None else hierarchy.lineage
    levels = {lineage[label][0] for label in labels if label in lineage}
    return len(levels) > 1 or any(label.startswith("{") for label in labels)


def _stacked(
    read: Sequence[Read], known: Sequence[Sequence[Domain]], tables: Sequence[Mapping[str, Read]], units: Sequence[int]
) -> CodedTable:
    """The rows of one table of several releases as those of one."""
    first = read[0][0]
    columns = [
        np.concatenate([rows[own[place].attribute] for (_, rows), own in zip(read, known, strict=True)])
        for place in range(len(known[0]))
    ]
    sizes = [one.size + 1 for one in known[0]]
    label = fold(columns, sizes) if columns else None
    counts = [rows.each for _, rows in read]
    times = np.concatenate(counts) if any(table.times is not None for table, _ in read) else None
    key = {}
    for attribute in first.key:
        children = [_child(own, first.name, attribute) for own in tables]
        starts = _starts([one.link.key.size for one in children if one.link is not None])
        key[attribute] = _shifted([table.key[attribute] for table, _ in read], starts)
    link, link_starts = first.link, _starts(units)
    if link is not None:
        links = [table.link for table, _ in read if table.link is not None]
        link_starts, parents = _starts([one.own.size for one in links]), [one.key.size for one in links]
        of_parent = [
            np.where(one.of_parent >= 0, one.of_parent + start, -1)
            for one, start in zip(links, _starts(parents), strict=True)
        ]
        link = replace(link, of_parent=np.concatenate(of_parent), key=_numbered_domain(link.key, parents))
    return replace(
        first,
        link=link,
        label=np.zeros(sum(rows.rows for _, rows in read), np.int64) if label is None else label.values,
        span=1 if label is None else label.span,
        key=FrozenDict(key),
        link_codes=_shifted([table.link_codes for table, _ in read], link_starts),
        times=times,
        lacking=np.concatenate([table.lacking for table, _ in read]),
    )


def _child(tables: Mapping[str, Read], parent: str, attribute: str) -> CodedTable:
    """A table that belongs to another one by a column of it."""
    coded = (table for table, _ in tables.values())
    return next(
        one
        for one in coded
        if one.link is not None and one.link.parent == parent and one.link.key.attribute == attribute
    )


def _starts(sizes: Sequence[int]) -> list[int]:
    """The first number of the codes of each release, where each has one more for what is missing."""
    return np.cumsum([0, *(size + 1 for size in sizes[:-1])]).tolist()


def _shifted(codes: Sequence[NDArray[Any]], starts: Sequence[int]) -> Numbers:
    return np.concatenate([own.astype(np.int64) + start for own, start in zip(codes, starts, strict=True)])


def _numbered_domain(domain: Domain, sizes: Sequence[int]) -> Domain:
    """A domain with as many values as those of several releases have, each with one for what is missing."""
    numbers = np.arange(sum(size + 1 for size in sizes) - 1)
    return Domain(domain.attribute, numbers, np.ones(len(numbers), np.int64), 0, numbers)


def _split(codes: Numbers, sizes: Sequence[int]) -> list[Numbers]:
    return np.split(codes, _starts(sizes)[1:])


def _in_codes_of_first(codes: Sequence[Numbers], ours: Histories) -> list[Numbers]:
    """Common codes as those of the release, and further ones for histories that it does not have."""
    own = ours.by[()]
    code = np.full(max(int(one.max(initial=0)) for one in codes) + 1, -1, dtype=np.int64)
    code[codes[0]] = own.codes
    strange = np.flatnonzero(code < 0)
    code[strange] = own.distinct + np.arange(len(strange))
    return [code[one] for one in codes[1:]]


def _require_values(name: str, theirs: TableHistories) -> None:
    """Insist that a missing quasi-identifier of a companion is a value.

    Raises:
        CheckError: it is not, by convention, and one is missing.
    """
    convention = theirs.release.policy.conventions.missing_quasi_identifier
    if convention != "own_category" and theirs.lacking.any():
        raise CheckError(
            f"a quasi-identifier is missing in the {name}, which `missing_quasi_identifier: {convention}` does not "
            "take for a value, so that whole histories cannot be compared; fill it in, or use `own_category`"
        )
