"""Whole histories over linked tables: the rows of each table with the history of their unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.encoding.keys import Codes, occurrences
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import AttributeDeclaration, Role, Scale
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.units.coding import CodedHistories
from tcdp_audit.core.units.histories import HISTORY, ROOT, Histories, HistoryEngine, declaring
from tcdp_audit.core.units.linked import Link, LinkedTables

ANCESTORS = "\0ancestors"  # what is known of the rows above a row, the unit's included
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TableHistories(Histories):
    """Whole histories over several tables; see `Histories`.

    Args:
        coded: the rows of each table.
        home: the code of the household of each unit; None where units are judged.
    """

    coded: Mapping[str, CodedTable] = FrozenDict()
    home: Numbers | None = None

    def rows_of(self, table: str) -> Release:
        """The rows of one table, each with its unit, the history of it, and what is known of the rows above."""
        one, declared = self.coded[table], self.release.policy.attributes
        known = {name: attribute for name, attribute in declared.items() if self._tables.table_of(name) == table}
        if one.above_of_link is not None:
            known[ANCESTORS] = AttributeDeclaration(role=Role.QUASI_IDENTIFIER, scale=Scale.NUMERIC)
        known[ROOT] = AttributeDeclaration(role=Role.INSENSITIVE, scale=Scale.NUMERIC)
        if table not in self._engines:
            self._engines[table] = self._engine_of(one)
        policy = declaring(self.release.policy, known, ROOT)
        return replace(self.release, engine=self._engines[table], policy=policy)

    def having_rows(self, table: str) -> NDArray[np.bool_]:
        """The units, or households, that count and have a row in a table. Shape (units + 1,)."""
        one, having = self.coded[table], np.zeros(len(self.present), dtype=bool)
        units = one.root_of_link[one.link_codes]
        having[units if self.home is None else self.home[units]] = True
        return having & self.present

    def _engine_of(self, one: CodedTable) -> Engine:
        whole = self.by[()]
        home = np.arange(self.unit.size + 1) if self.home is None else self.home
        root = np.where(one.root_of_link >= 0, home[one.root_of_link], self.unit.size)
        columns: dict[str, tuple[RawDomain, Numbers]] = {
            HISTORY: (_counted(one, whole.codes[root], whole.distinct), whole.codes[root]),
            ROOT: (_counted(one, root, self.unit.size), root),
            **self.columns_of_incomplete(root),
            **self.columns_of_exempt(root),
        }
        if one.above_of_link is not None:
            size = int(one.above_of_link.max(initial=0)) + 1
            columns[ANCESTORS] = (_counted(one, one.above_of_link, size), one.above_of_link)
        return HistoryEngine(OneTable(self._tables, one.name), one.link_domain, columns)

    @property
    def _tables(self) -> LinkedTables:
        assert isinstance(self.release.engine, LinkedTables)  # noqa: S101 - histories over tables are read from these
        return self.release.engine

    @property
    def top(self) -> frozenset[str]:
        """The table of units, whose columns are constant in each; none where households are judged."""
        return frozenset() if self.home is not None or self._tables.is_of_rows else frozenset([self._tables.top])

    @cached_property
    def table_names(self) -> Sequence[str]:
        """The tables of rows, the table of units first."""
        return tuple(self.coded)


@dataclass(frozen=True, eq=False)
class CodedTable:
    """The rows of one table.

    Args:
        name: the table.
        link: how they belong to the parent's; None for the table of units.
        link_domain: the column of the link; of the table of units that of the unit.
        label: the key of each row by the quasi-identifiers of this table. Shape (rows,).
        span: a number above all labels.
        key: the code of each row in the column by which further tables belong to it, by that column. Shape (rows,).
        link_codes: the code of each row's link; for the table of units of its unit. Shape (rows,).
        times: how many records each row is; None for one.
        lacking: which rows have a missing quasi-identifier. Shape (rows,).
        root_of_link: the unit of each link, -1 for none. Shape (links + 1,).
        above_of_link: a code of what is known of the rows above, by link; None in the table of units.
    """

    name: str
    link: Link | None
    link_domain: Domain
    label: Numbers
    span: int
    key: Mapping[str, Codes]
    link_codes: Codes
    times: Numbers | None
    lacking: NDArray[np.bool_]
    root_of_link: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    above_of_link: Numbers | None = None


class OneTable(LinkedTables):
    """One of several linked tables, its columns still named with it."""

    def __init__(self, lender: LinkedTables, table: str) -> None:
        self.tables, self.declared, self.top = {table: lender.tables[table]}, lender.declared, table
        self.name, self.uri, self.ordered = lender.tables[table].name, lender.tables[table].uri, False


def people_of_households(
    release: Release,
    unit: Domain,
    own: CodedHistories,
    present: NDArray[np.bool_],
    constant: Mapping[str, Numbers],
    varying: Mapping[str, int],
) -> Histories:
    """The histories of people of households, each by itself."""
    nothing = np.zeros(len(present), dtype=bool)
    return Histories(
        release,
        unit,
        FrozenDict({(): own}),
        present,
        exempt=nothing,
        constant=FrozenDict(constant),
        varying=FrozenDict(varying),
        lacking=nothing,
        per_row=FrozenDict(),
    )


def _counted(one: CodedTable, of_link: Numbers, size: int) -> RawDomain:
    """Codes of links as values of a column, with the number of rows that have each."""
    counts = occurrences(of_link[one.link_codes], size + 1, one.times)
    return RawDomain(np.arange(size), counts[:size].astype(np.int64), int(counts[size]))
