"""Histories over linked tables in plain Python: trees of rows, compared one by one; nothing here is the auditor's.

A row's tree is the tuple of its quasi-identifiers, and for each child table the multiset of the trees of its rows.
A household's tree is the multiset of its people's. Roots of equal trees are one class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from brute_classes import TOKENS, Conventions, Counts, Judged, OneClass, Record, Value
from brute_histories import UNITS


@dataclass(frozen=True)
class Table:
    """One table.

    Args:
        name: as the policy calls it.
        rows: its rows, by their places.
        known: its quasi-identifiers.
        secrets: its sensitive attributes.
        parent: the table that its rows belong to; None for the table of units.
        of: the place of the row that each row belongs to. Empty for the table of units.
    """

    name: str
    rows: Sequence[Record]
    known: Sequence[str]
    secrets: Sequence[str]
    parent: str | None = None
    of: Sequence[int] = ()


@dataclass(frozen=True)
class Trees:
    """A release of several tables.

    Args:
        tables: the table of units first, and each parent before its children.
        conventions: what a verdict means.
        home: the household of each unit; empty where units are judged.
    """

    tables: Sequence[Table]
    conventions: Conventions
    home: Sequence[Hashable] = ()

    @property
    def top(self) -> Table:
        """The table of units."""
        return self.tables[0]

    def children(self, table: Table, row: int) -> Iterator[tuple[Table, Sequence[int]]]:
        """The child tables, each with the places of the rows that belong to one row."""
        for one in self.tables:
            if one.parent == table.name:
                yield one, [place for place, parent in enumerate(one.of) if parent == row]

    def tree(self, table: Table, row: int) -> Hashable:
        """What is known of a row, with everything below it."""
        below = (
            frozenset(Counter(self.tree(child, one) for one in rows).items())
            for child, rows in self.children(table, row)
        )
        return (self.label(table, row), *below)

    def label(self, table: Table, row: int) -> Hashable:
        """The quasi-identifiers of a row."""
        return tuple(table.rows[row][name] for name in table.known)

    def path(self, table: Table, row: int) -> Hashable:
        """The quasi-identifiers of a row and of all rows above it."""
        if table.parent is None:
            return (self.label(table, row),)
        parent = next(one for one in self.tables if one.name == table.parent)
        return (self.path(parent, table.of[row]), self.label(table, row))

    def unit_of(self, table: Table, row: int) -> int:
        """The place of a row's unit."""
        while table.parent is not None:
            row, table = table.of[row], next(one for one in self.tables if one.name == table.parent)
        return row

    @property
    def everyone(self) -> Mapping[Hashable, Sequence[int]]:
        """The units of each root, exempt ones too."""
        units = range(len(self.top.rows))
        roots = self.home or list(units)
        return {root: [unit for unit in units if roots[unit] == root] for root in roots}

    @property
    def roots(self) -> Mapping[Hashable, Sequence[int]]:
        """The roots that count: one is exempt only if its whole tree has cells that matter, and all are suppressed."""
        return {root: units for root, units in self.everyone.items() if not self._is_exempt(units)}

    def _is_exempt(self, units: Sequence[int]) -> bool:
        cells = [
            row[name]
            for table in self.tables
            for place, row in enumerate(table.rows)
            if self.unit_of(table, place) in units
            for name in (*table.known, *table.secrets)
        ]
        return self.conventions.suppressed == "exempt" and bool(cells) and all(cell in TOKENS for cell in cells)

    def whole(self, units: Sequence[int]) -> Hashable:
        """The tree of a root."""
        trees = [self.tree(self.top, unit) for unit in units]
        return frozenset(Counter(trees).items()) if self.home else trees[0]

    def classes(self) -> Iterator[Mapping[Hashable, Sequence[int]]]:
        """The roots of each tree, with their units."""
        left = dict(self.roots)
        while left:
            first = self.whole(next(iter(left.values())))
            alike = {root: units for root, units in left.items() if self.whole(units) == first}
            left = {root: units for root, units in left.items() if root not in alike}
            yield alike

    @property
    def sizes(self) -> list[int]:
        """The number of roots of each class."""
        return [len(one) for one in self.classes()]

    def per_row(self, table: Table) -> tuple[int, int]:
        """The fewest units with a row that agrees with its ancestors, and the number of different ones."""
        counted = {unit for units in self.roots.values() for unit in units}
        units: dict[Hashable, set[int]] = {}
        for row in range(len(table.rows)):
            if self.unit_of(table, row) in counted:
                units.setdefault(self.path(table, row), set()).add(self.unit_of(table, row))
        return (min(map(len, units.values())), len(units)) if units else (0, 0)

    # What is secret

    def judged(self, attribute: str | None, reading: str, other_reference: Counts | None = None) -> Judged:
        """The classes, or the cells, in which an attribute is judged; without one the classes of roots."""
        everyone = len(self.roots)
        table = next((one for one in self.tables if attribute in one.secrets), None)
        if table is None or attribute is None:
            return Judged([OneClass(len(one), len(one), {}) for one in self.classes()], {}, everyone)
        if table is self.top and not self.home:
            parts = [self._of_units(one, attribute) for one in self.classes()]
        elif reading == UNITS:
            parts = [self._of_shares(one, table, attribute) for one in self.classes()]
        else:
            parts = [cell for one in self.classes() for cell in self._cells(one, table, attribute)]
        parts = [one for one in parts if one.records]
        mixture: Counter[Value] = Counter()
        for one in parts:
            mixture.update(one.counts)
        having = sum(one.members for one in parts) if any(one.of_members for one in parts) else None
        if other_reference is not None:
            return Judged(parts, other_reference, everyone)
        return Judged(parts, mixture, everyone, having)

    def _rows(self, units: Sequence[int], table: Table) -> list[int]:
        return [row for row in range(len(table.rows)) if self.unit_of(table, row) in units]

    def _values(self, rows: Sequence[int], table: Table, attribute: str) -> set[Value]:
        values: set[Value] = {table.rows[row][attribute] for row in rows}
        return values if self.conventions.missing_sensitive == "own_category" else values - {None}

    def _counted(self, rows: Sequence[Sequence[int]], table: Table, attribute: str) -> tuple[Counts, int]:
        """How many roots have each value in their rows, and how many have any."""
        values = [self._values(one, table, attribute) for one in rows]
        return Counter(value for own in values for value in own), sum(map(bool, values))

    def _of_units(self, roots: Mapping[Hashable, Sequence[int]], attribute: str) -> OneClass:
        counts, members = self._counted([*roots.values()], self.top, attribute)
        return OneClass(len(roots), len(roots), counts, members)

    def _of_shares(self, roots: Mapping[Hashable, Sequence[int]], table: Table, attribute: str) -> OneClass:
        rows = [self._rows(units, table) for units in roots.values()]
        counts, members = self._counted(rows, table, attribute)
        return OneClass(sum(map(len, rows)), len(roots), counts, members, of_members=True)

    def _cells(self, roots: Mapping[Hashable, Sequence[int]], table: Table, attribute: str) -> Iterator[OneClass]:
        """The rows of a class that agree in their own quasi-identifiers and in those of the rows above them."""
        rows = [self._rows(units, table) for units in roots.values()]
        whole, members = self._counted(rows, table, attribute)
        held = [value for value, count in whole.items() if count == members]
        for path in {self.path(table, row) for own in rows for row in own}:
            alike = [[row for row in own if self.path(table, row) == path] for own in rows]
            counts, having = self._counted(alike, table, attribute)
            yield OneClass(sum(map(len, alike)), len(roots), counts, having, (), held)
