"""Whole histories in words: the rows of a unit that has a history, where evidence may show values.

Classes of histories are numbered, and a number says nothing to a reader. So the cells of a worst class are those of the
rows of one of its units: `visits: quarter 1 (drugs: drug A; drug B); 2 × quarter 3`. No link and no pseudonym is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from tcdp_audit.core.base.outcome import Outcome, WorstClass
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.policy.model import SEPARATOR
from tcdp_audit.core.units.histories import Histories, Known, Numbers
from tcdp_audit.core.units.linked import LinkedTables
from tcdp_audit.core.units.reading_tables import coded_rows
from tcdp_audit.core.units.trees import ANCESTORS, CodedTable, TableHistories

MOST, INSIDE = 10, 3  # different rows that a list names, and one inside another
WHOLE = "whole history"  # what the rows of one table are called
NOTHING = "none"
Row = tuple[tuple[int, ...], str, int]  # its codes, by which rows are ordered, its text, and how many rows it is


class HistoriesInWords:
    """Histories in words.

    Args:
        histories: of the units of a release.
        table: the table whose rows are judged, of several; empty where units are.
    """

    def __init__(self, histories: Histories, table: str = "") -> None:
        self._histories, self._table = histories, table
        self._known = {histories.name(known): known for known in histories.by}
        self._tables = TablesInWords(histories) if isinstance(histories, TableHistories) else None
        self._read: dict[Known, CountedCodes] = {}

    def named(self, outcome: Outcome) -> Outcome:
        """An outcome whose worst classes, where they have cells, are named by rows instead of by codes.

        Cost: one scan of the release for each set of columns that is taken to be known, the first time.
        """
        if all(one.cells is None for one in outcome.worst):
            return outcome
        return replace(outcome, worst=tuple(map(self._named, outcome.worst)))

    def _named(self, worst: WorstClass) -> WorstClass:
        cells: dict[str, str] = {}
        for name, text in (worst.cells or {}).items():
            cells |= self._in_words(name, text)
        return replace(worst, cells=cells)

    def _in_words(self, name: str, text: str) -> Mapping[str, str]:
        """A cell, or the cells that replace it: of a history, or of the rows above a row."""
        if name in self._known:
            return self._history(self._known[name], int(text))
        if name == ANCESTORS and self._tables is not None:
            return self._tables.above(self._table, int(text))
        return {name: text}

    def _history(self, known: Known, code: int) -> Mapping[str, str]:
        histories = self._histories
        root = int(np.flatnonzero((histories.by[known].codes == code) & histories.present)[0])
        if self._tables is not None:
            return self._tables.of(root)
        return {WHOLE: listed(self._rows(root, known))}

    def _rows(self, root: int, known: Known) -> list[Row]:
        """The rows of a unit, or the people of a household with theirs."""
        histories = self._histories
        release = histories.release
        shown = [*release.quasi_identifiers, *(release.domains[name] for name in known)]
        person = _person(histories)
        if known not in self._read:
            domains = {one.attribute: one for one in (*shown, *([] if person is None else [person]), histories.unit)}
            self._read[known] = CountedCodes.joined([*release.engine.counted([*domains.values()])])
        rows = self._read[known]
        here = np.flatnonzero(rows[histories.unit.attribute] == root)
        if person is None:
            return [*_in_words(rows, here, shown)]
        people = rows[person.attribute][here]
        lists = (listed(_in_words(rows, here[people == one], shown), INSIDE) for one in np.unique(people))
        return [((), f"a person (rows: {one})", 1) for one in lists]


class TablesInWords:
    """Histories over several tables in words.

    Args:
        histories: of the units of a release of several tables.
    """

    def __init__(self, histories: TableHistories) -> None:
        self._histories = histories

    def of(self, root: int) -> Mapping[str, str]:
        """The rows of a unit, by table: its row's cells, then the rows that belong to it, with theirs."""
        histories, top = self._histories, self._engine.top
        units = self._coded[top].link_codes
        owners = units if histories.home is None else histories.home[units]
        here = np.flatnonzero(owners == root)
        if not histories.top:
            return {top: listed(self._with_children(top, int(row)) for row in here)}
        ((_, text, _),) = _in_words(self._rows[top], here[:1], self._shown(top))
        own = {top: text} if self._shown(top) else {}
        return {**own, **{name: listed(rows) for name, rows in self._children(top, int(here[0]))}}

    def above(self, table: str, code: int) -> Mapping[str, str]:
        """The cells of the rows above a row of a table, by the code of what is known of them; not those of the unit."""
        one = self._histories.coded[table]
        assert one.above_of_link is not None  # noqa: S101 - asked only for a table that belongs to another
        used = np.unique(one.link_codes)
        return self._above(table, int(used[one.above_of_link[used] == code][0]))

    def _above(self, table: str, link_code: int) -> Mapping[str, str]:
        link = self._coded[table].link
        if link is None or link.parent in self._histories.top:
            return {}
        parent = self._coded[link.parent]
        row = int(np.flatnonzero(parent.key[link.key.attribute] == link.of_parent[link_code])[0])
        codes = self._rows[link.parent]
        own = {one.attribute: one.label(int(codes[one.attribute][row])) for one in self._shown(link.parent)}
        return {**self._above(link.parent, int(parent.link_codes[row])), **own}

    @property
    def _engine(self) -> LinkedTables:
        engine = self._histories.release.engine
        assert isinstance(engine, LinkedTables)  # noqa: S101 - histories over tables are read from these
        return engine

    @cached_property
    def _read(self) -> Mapping[str, tuple[CodedTable, CountedCodes]]:
        """Each table and its rows, of one scan: another one may have another order."""
        engine, release = self._engine, self._histories.release
        links, unit = engine.links.by_table, release.domains[release.policy.document.unit or ""]
        return {name: coded_rows(release, engine, name, links, unit) for name in self._histories.coded}

    @cached_property
    def _rows(self) -> Mapping[str, CountedCodes]:
        return {name: rows for name, (_, rows) in self._read.items()}

    @cached_property
    def _coded(self) -> Mapping[str, CodedTable]:
        return {name: table for name, (table, _) in self._read.items()}

    @cached_property
    def _by_parent(self) -> Mapping[str, tuple[Numbers, Numbers]]:
        """The rows of each table that belongs to another, in the order of what they belong to, and this."""
        parents = {name: one.link.of_parent[one.link_codes] for name, one in self._coded.items() if one.link}
        orders = {name: np.argsort(one, kind="stable") for name, one in parents.items()}
        return {name: (order, parents[name][order]) for name, order in orders.items()}

    def _shown(self, table: str) -> list[Domain]:
        known = self._histories.release.quasi_identifiers
        return [one for one in known if self._engine.table_of(one.attribute) == table]

    def _children(self, table: str, row: int) -> Iterator[tuple[str, list[Row]]]:
        """The tables whose rows belong to a row, each with these."""
        for name, one in self._coded.items():
            link = one.link
            if link is not None and link.parent == table:
                key = self._coded[table].key[link.key.attribute][row]
                order, parents = self._by_parent[name]
                first, last = np.searchsorted(parents, [key, key + 1])
                yield name, [self._with_children(name, int(child)) for child in order[first:last]]

    def _with_children(self, table: str, row: int) -> Row:
        """A row, and in brackets the rows that belong to it."""
        ((codes, text, times),) = _in_words(self._rows[table], np.array([row]), self._shown(table))
        inside = "; ".join(f"{name}: {listed(rows, INSIDE)}" for name, rows in self._children(table, row) if rows)
        return codes, f"{text} ({inside})" if inside else text, times


def listed(rows: Iterable[Row], most: int = MOST) -> str:
    """Rows in words, equal ones counted, in the order of their codes; of many the first, and how many more there are.

    Example:
        >>> listed([((1,), "quarter 3", 2), ((0,), "quarter 1", 1), ((2,), "quarter 4", 5)], most=2)
        'quarter 1; 2 × quarter 3; and 5 more'
    """
    times: dict[tuple[tuple[int, ...], str], int] = {}
    for codes, text, number in rows:
        times[codes, text] = times.get((codes, text), 0) + number
    ordered = sorted(times.items())
    parts = [text if number == 1 else f"{number:,} × {text}" for (_, text), number in ordered[:most]]
    rest = sum(number for _, number in ordered[most:])
    return "; ".join([*parts, *([f"and {rest:,} more"] if rest else [])]) or NOTHING


def _in_words(rows: CountedCodes, here: np.ndarray, shown: Sequence[Domain]) -> Iterator[Row]:
    """Some rows, each cell with its column's name, without its table's."""
    for row in here:
        codes = tuple(int(rows[one.attribute][row]) for one in shown)
        cells = (_cell(one, code) for one, code in zip(shown, codes, strict=True))
        times = 1 if rows.times is None else int(rows.times[row])
        yield codes, ", ".join(cells) or "a row", times


def _cell(domain: Domain, code: int) -> str:
    return f"{domain.attribute.rpartition(SEPARATOR)[2]} {domain.label(code)}"


def _person(histories: Histories) -> Domain | None:
    """The people of households, where someone has several rows."""
    people = histories.release.unit
    is_other = people is not None and people.attribute != histories.unit.attribute and people.repeats
    return people if is_other else None
