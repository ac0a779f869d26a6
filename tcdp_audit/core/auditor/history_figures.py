"""Figures of whole histories: what an intruder learns of a unit, and what each column adds to the risk.

Someone who does not know a column still knows how many rows there are, and which belongs to which. So a unit may be
alone by no column at all, and the columns share only what they add to that.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.audit_figures import ColumnRisk
from tcdp_audit.core.classes.column_risk import Sizes, Subsets, affordable, risks_by_subsets
from tcdp_audit.core.classes.histogram import LargestShares
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import occurrences
from tcdp_audit.core.units.coding import LinkedRows
from tcdp_audit.core.units.histories import Histories
from tcdp_audit.core.units.linked import LinkedTables, depth_of
from tcdp_audit.core.units.reading import HistoriesThere
from tcdp_audit.core.units.reading_tables import coded_rows
from tcdp_audit.core.units.trees import TableHistories

LARGEST_GAIN = "largest_gain"  # the detail of a demand on cells with what classes of histories show
BORDERLINE = 1e-9  # within which fractions decide
Numbers = NDArray[np.int64]
UNITS = ""  # the rows of units, above those of every table; no table has this name
Column = tuple[str, Numbers, int]  # its table, the code of each row, and a number above all of them


def largest_gain(shares: LargestShares) -> Fraction | None:
    """How much more frequent a value is among the units of a class of histories than among all, at the most.

    Args:
        shares: of the units of all classes of histories that have each value in any row.

    Returns:
        The share of the units with any value that have one, in the class less in the release; None without a value.
    """
    if not shares.members:
        return None
    there = np.flatnonzero(shares.having)
    own, of, having = shares.own[there], shares.of[there], shares.having[there]
    gain = own / of - having / shares.members
    near = np.flatnonzero(gain >= gain.max() - BORDERLINE)  # decided by fractions: floats are exact to less
    values = zip(*(one[near].tolist() for one in (own, of, having)), strict=True)
    return max(Fraction(one, among) - Fraction(every, shares.members) for one, among, every in values)


class HistorySubsets(Subsets):
    """The sizes of classes of whole histories.

    Args:
        rows: whose rows they are.
        columns: each with its table, the codes of its rows and a number above all of them.
        counted: the roots that count.
    """

    def __init__(self, rows: LinkedRows, columns: Sequence[Column], counted: NDArray[np.intp]) -> None:
        super().__init__(len(counted))
        self.rows, self.columns, self.counted = rows, columns, counted

    def sizes(self, subset: tuple[int, ...]) -> Sizes:
        """Units in each class. Cost: that of `code_histories` for each table."""
        labels: dict[str, list[tuple[Numbers, int]]] = {}
        for table, codes, span in (self.columns[place] for place in subset):
            labels.setdefault(table, []).append((codes, span))
        codes = self.rows.histories(labels)[self.counted]
        sizes = occurrences(codes, int(codes.max(initial=-1)) + 1).astype(np.int64)
        return sizes[sizes > 0]


def history_risks(histories: Histories, noun: str) -> list[ColumnRisk]:
    """Measure what each column adds to the risk of those whose whole histories are judged, the most risky first.

    Args:
        histories: of the units or households.
        noun: what these are called.

    Returns:
        The columns; none where there would be too many subsets of them, where no unit counts, or where a missing cell
        forms no class of histories.

    Cost: a scan of each table, and `code_histories` of each table for every subset of up to eight columns.
    """
    release = histories.release
    known = release.quasi_identifiers
    engine = release.engine
    tables = [*engine.tables.values()] if isinstance(engine, LinkedTables) else [engine]
    records = sum(one.records for one in tables)
    if release.policy.conventions.missing_quasi_identifier == "wildcard" and histories.incomplete:
        return []
    if isinstance(engine, HistoriesThere) or not histories.units or not affordable(len(known), records):
        return []  # what was compared where the table is has no rows here
    subsets = of_tables(histories) if isinstance(histories, TableHistories) else of_one_table(histories)
    labels = {name: one.label for name, one in release.policy.attributes.items() if one.label}
    return risks_by_subsets([one.attribute for one in known], subsets, labels, noun)


def of_tables(histories: TableHistories) -> HistorySubsets:
    """The subsets of the columns of several linked tables."""
    release, engine = histories.release, histories.release.engine
    assert isinstance(engine, LinkedTables)  # noqa: S101 - histories over tables are read from these
    unit = release.domains[str(release.policy.document.unit)]
    units = np.arange(unit.size + 1)
    links, columns = engine.links.by_table, dict[str, Column]()
    parents, parent_rows, sizes = dict[str, str](), dict[str, Numbers](), {UNITS: len(units)}
    row_of_key: dict[str, Numbers] = {}  # of each table, by the codes of the column by which others belong to it
    for name in sorted(engine.tables, key=lambda one: depth_of(one, engine.declared)):
        table, rows = coded_rows(release, engine, name, links, unit)
        each = np.repeat(np.arange(rows.rows), rows.each)
        sizes[name], own = len(each), table.link_codes[each].astype(np.int64)
        for one in release.quasi_identifiers:
            if engine.table_of(one.attribute) == name:
                columns[one.attribute] = (name, rows[one.attribute][each].astype(np.int64), one.size + 1)
        parents[name] = UNITS if table.link is None else table.link.parent
        parent_rows[name] = own if table.link is None else row_of_key[name][table.link.of_parent[own]]
        for link in (one for one in links.values() if one.parent == name):
            place = np.full(link.key.size + 1, -1, dtype=np.int64)
            place[table.key[link.key.attribute][each]] = np.arange(len(each))
            row_of_key[link.table] = place
    roots = units if histories.home is None else np.where(histories.home < 0, len(histories.present), histories.home)
    deepest_first = {name: parents[name] for name in reversed([*parents])}
    linked = LinkedRows(UNITS, roots, deepest_first, parent_rows, sizes)
    return HistorySubsets(
        linked, [columns[one.attribute] for one in release.quasi_identifiers], np.flatnonzero(histories.present)
    )


def of_one_table(histories: Histories) -> HistorySubsets:
    """The subsets of the columns of one table whose unit, or household, joins rows."""
    release, root = histories.release, histories.unit
    people = release.unit if histories.is_of_households else None
    nested = people if people is not None and people.repeats else None
    domains: list[Domain] = [*release.quasi_identifiers, root, *([] if nested is None else [nested])]
    rows = CountedCodes.joined([*release.engine.counted(domains)])
    each = np.repeat(np.arange(rows.rows), rows.each)
    owner = rows[root.attribute][each].astype(np.int64)
    columns = [("rows", rows[one.attribute][each].astype(np.int64), one.size + 1) for one in release.quasi_identifiers]
    if nested is None:
        linked = LinkedRows("rows", owner, {}, {}, {"rows": len(each)})
    else:
        person = rows[nested.attribute][each].astype(np.int64)
        home = np.full(nested.size + 1, len(histories.present), dtype=np.int64)
        home[person] = owner
        linked = LinkedRows(UNITS, home, {"rows": UNITS}, {"rows": person}, {UNITS: len(home), "rows": len(each)})
    return HistorySubsets(linked, columns, np.flatnonzero(histories.present))
