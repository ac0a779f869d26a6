"""Several linked tables as one release: columns named `table.column`, and the links between rows, checked.

Rows are never joined: a join would multiply or lose them. What belongs to a row is found by the column that both tables
have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import ORPHAN_ROWS, REPEATED_UNIT
from tcdp_audit.core.base.provenance import digest_of_tables
from tcdp_audit.core.base.words import agree, count
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.engines.base import Batch, Column, Engine, domain_as_typed
from tcdp_audit.core.policy.model import SEPARATOR, PolicyDocument, TableDeclaration
from tcdp_audit.core.policy.tables import top_of

Numbers = NDArray[np.int64]


class LinkedTables(Engine):
    """The tables of a release as one table whose columns are `table.column`; records are those of the table of units.

    Of tables that nothing links, those of all of them.
    Columns of one table can be read together, and those of several cannot.

    Args:
        engines: the tables by name.
        document: the policy that links them.
    """

    borrowed = ("tables",)  # of the session that opened them

    def __init__(self, engines: Mapping[str, Engine], document: PolicyDocument) -> None:
        assert document.tables is not None  # noqa: S101 - made for a policy of tables
        self.tables, self.declared = dict(engines), document.tables
        self.top = top_of(document.tables)
        self.name = ", ".join(one.name for one in engines.values())
        self.uri = ", ".join(one.uri for one in engines.values())
        self.ordered = False
        self.value_labels = {
            f"{name}{SEPARATOR}{column}": labelled
            for name, engine in engines.items()
            for column, labelled in engine.value_labels.items()
        }
        self._document = document

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of every table, each with its table."""
        return tuple(
            Column(f"{name}{SEPARATOR}{column.name}", column.type)
            for name, engine in self.tables.items()
            for column in engine.columns
        )

    @property
    def records(self) -> int:
        """The number of rows of the table of units; of all tables if nothing links them."""
        return self.tables[self.top].records if self.top else sum(one.records for one in self.tables.values())

    @property
    def is_of_rows(self) -> bool:
        """Whether there is no table of units: the only table has the rows of units that no table lists."""
        return self.declared[self.top].belongs_to is not None

    @cached_property
    def links(self) -> Links:
        """The links between the tables, with their faults."""
        return links_of_tables(self, self._document)

    def home(self, attribute: str) -> tuple[Engine, str]:
        """The table of a column, and the column's name there."""
        table = self.table_of(attribute)
        return self.tables[table], attribute[len(table) + 1 :]

    def table_of(self, attribute: str) -> str:
        """The name of a column's table."""
        having = [name for name in self.tables if attribute.startswith(f"{name}{SEPARATOR}")]
        return max(having, key=len)

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with their counts."""
        engine, column = self.home(attribute)
        return engine.domain(column)

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records of one table as codes."""
        engine, own = self._own(domains)
        return (self._renamed(batch, domains, own) for batch in engine.batches(own))

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All records of one table as codes, equal ones counted where its engine can."""
        engine, own = self._own(domains)
        return (CountedCodes(self._renamed(rows, domains, own), rows.times) for rows in engine.counted(own))

    def _own(self, domains: Sequence[Domain]) -> tuple[Engine, list[Domain]]:
        homes = [self.home(one.attribute) for one in domains]
        if len({id(engine) for engine, _ in homes}) > 1:
            names = sorted({self.table_of(one.attribute) for one in domains})
            raise DataError(
                f"columns of {' and '.join(names)} are in several tables; this reads the rows of one, so demand it in "
                "a policy of that table, or demand what judges whole histories"
            )
        own = [replace(one, attribute=column) for one, (_, column) in zip(domains, homes, strict=True)]
        return homes[0][0], own

    def _renamed(self, rows: Batch, domains: Sequence[Domain], own: Sequence[Domain]) -> dict[str, NDArray[Any]]:
        return {one.attribute: rows[renamed.attribute] for one, renamed in zip(domains, own, strict=True)}

    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:
        """The first record of a column's table, from 1, that holds one of these raw values."""
        engine, column = self.home(attribute)
        return engine.locate(column, values)

    def table(self) -> pa.Table:
        """Raise an error: several tables are no single one."""
        raise DataError(f"{self.name}: several tables cannot be read as one; use a policy of each table for this")

    def sha256(self) -> str | None:
        """SHA-256 over the names and digests of all tables; None if one has no digest."""
        return digest_of_tables({name: engine.sha256() for name, engine in self.tables.items()})

    def require_unchanged(self) -> None:
        """Insist that every file is what it was when it was opened."""
        for engine in self.tables.values():
            engine.require_unchanged()

    def close(self) -> None:
        """Leave the tables open: the session that opened them closes them."""


@dataclass(frozen=True)
class Link:
    """The link of the rows of a table to those of another.

    Args:
        table: the table of the rows that belong.
        parent: the table that they belong to.
        own: the column of links in the table, its raw values as codes.
        of_parent: for each code of `own` the code of the same value in the parent's column; -1 for a missing one and
            for one that the parent lacks. Shape (values + 1,).
        key: the parent's column, its raw values as codes.
        orphans: the number of rows whose link the parent lacks, or that have none.
    """

    table: str
    parent: str
    own: Domain
    of_parent: Numbers
    key: Domain
    orphans: int


@dataclass(frozen=True)
class LinkFault:
    """A fault of a column that links tables.

    Args:
        check: the structural outcome that reports it.
        column: the column, with its table.
        rows: the number of rows concerned; None where they cannot be counted.
        sentence: what is wrong, without a cell.
    """

    check: str
    column: str
    rows: int | None
    sentence: str


@dataclass(frozen=True)
class Links:
    """The links between the tables of a release.

    Args:
        by_table: the link of each table that belongs to another one, by its name; without those that cannot be read.
        faults: everything that is wrong with them, in the policy's order.
    """

    by_table: Mapping[str, Link]
    faults: tuple[LinkFault, ...]

    @property
    def sentence(self) -> str:
        """All faults; empty where there are none."""
        return "; ".join(one.sentence for one in self.faults)


def links_of_tables(engine: LinkedTables, document: PolicyDocument) -> Links:
    """The links of the tables, each checked. Cost: O(distinct links)."""
    links: dict[str, Link] = {}
    faults = [*_faults_of_units(engine, document.unit_column)]
    for name, declared in engine.declared.items():
        parent = declared.belongs_to
        if parent not in engine.declared:  # none, or units that no table lists
            continue
        column = declared.by or document.unit_column or ""
        is_unit = (parent, column) == (engine.top, document.unit_column)  # whose repetition is a fault already
        unusable = next(_faults_of_link(engine, name, parent, column, is_unit=is_unit), None)
        if unusable is not None:
            faults.append(unusable)
            continue
        links[name] = link = _link(engine, name, parent, column)
        if link.orphans:
            lacks = f"{count(link.orphans, 'row')} of {name!r} {agree(link.orphans, 'belongs', 'belong')}"
            sentence = f"{lacks} to no row of {parent!r}, by {column!r}"
            faults.append(LinkFault(ORPHAN_ROWS, link.own.attribute, link.orphans, sentence))
    return Links(links, tuple(dict.fromkeys(faults)))


def _faults_of_units(engine: LinkedTables, column: str | None) -> Iterator[LinkFault]:
    """The table of units has one row for each of them."""
    table = engine.tables[engine.top]
    if engine.is_of_rows or column is None or column not in {one.name for one in table.columns}:
        return
    fault = _repetition(table.domain(column), column, engine.top, "; it must have one row for each unit")
    if fault is not None:
        yield replace(fault, check=REPEATED_UNIT)


def _repetition(key: RawDomain, column: str, table: str, consequence: str) -> LinkFault | None:
    """The rows of a table that share a link with others, or have none."""
    repeated = int((key.counts > 1).sum())
    if not (repeated or key.nulls):
        return None
    rows = int(key.counts[key.counts > 1].sum())
    parts = [f"{count(repeated, 'value')} of {column!r} in {rows:,} rows"] if repeated else []
    parts += [f"{count(key.nulls, 'row')} without {column!r}"] if key.nulls else []
    sentence = f"the table {table!r} has {' and '.join(parts)}{consequence}"
    return LinkFault(ORPHAN_ROWS, f"{table}{SEPARATOR}{column}", rows + key.nulls, sentence)


def _faults_of_link(
    engine: LinkedTables, table: str, parent: str, column: str, *, is_unit: bool
) -> Iterator[LinkFault]:
    """The reasons why rows of a table cannot be assigned to those of another."""
    for name in (table, parent):
        if column not in {one.name for one in engine.tables[name].columns}:
            sentence = f"the table {name!r} has no column {column!r}, by which {table!r} belongs to {parent!r}"
            yield LinkFault(ORPHAN_ROWS, f"{name}{SEPARATOR}{column}", None, sentence)
            return
    own, key = engine.tables[table].domain(column), engine.tables[parent].domain(column)
    consequence = f", so that rows of {table!r} belong to several or to none"
    fault = None if is_unit else _repetition(key, column, parent, consequence)
    if fault is not None:
        yield fault
    if own.is_text != key.is_text and len(own.values) and len(key.values):
        kinds = {True: "text", False: "numbers"}
        sentence = (
            f"{column!r} is read as {kinds[own.is_text]} in {table!r} and as {kinds[key.is_text]} in {parent!r}, where "
            "007 and 7 would differ or not; write it alike in both"
        )
        yield LinkFault(ORPHAN_ROWS, f"{table}{SEPARATOR}{column}", None, sentence)


def _link(engine: LinkedTables, table: str, parent: str, column: str) -> Link:
    own, key = engine.tables[table].domain(column), engine.tables[parent].domain(column)
    place = {value: code for code, value in enumerate(key.values.tolist())}
    of_parent = np.array([*(place.get(value, -1) for value in own.values.tolist()), -1], dtype=np.int64)
    orphans = int(np.append(own.counts, own.nulls)[of_parent < 0].sum())
    names = (f"{table}{SEPARATOR}{column}", f"{parent}{SEPARATOR}{column}")
    return Link(table, parent, domain_as_typed(names[0], own), of_parent, domain_as_typed(names[1], key), orphans)


def depth_of(table: str, declared: Mapping[str, TableDeclaration]) -> int:
    """The number of tables above one."""
    depth, at = 0, declared[table].belongs_to
    while at is not None and at in declared:
        depth, at = depth + 1, declared[at].belongs_to
    return depth
