"""Tables about the same people as one system: a cell that two tables show is one variable under the relations of both.

A cell is identified by its labels that are no totals and by the subgroup that its table is about: the total of men of a
table `about: {sex: male}` is the cell `sex male` of a table with the dimension sex. Two further kinds of variables
appear where tables overlap without sharing a cell. The rest of a larger group that a subgroup leaves is one. The atoms
of bands that cut a dimension differently are others: 17-24, 25-34 and 17-25, 26-34 give 17-24, 25 and 26-34.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import combinations, pairwise
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import visible
from tcdp_audit.core.cells.categories import parse_band
from tcdp_audit.core.cells.system import CellSystem
from tcdp_audit.core.cells.table import (
    UNBOUNDED,
    Band,
    CellState,
    Figures,
    Nodes,
    PublishedTable,
    sums_of,
    true_limits,
)
from tcdp_audit.core.encoding.keys import fold
from tcdp_audit.core.policy.aggregates import ExceptCategory

Codes = NDArray[np.int64]
Positions = NDArray[np.intp]
Key = Any  # None for the total; a label; a band; ("not", key); ("rest", ((dimension, key), ...)); ("of", key, key)
NOWHERE = -1  # the variable of a cell that cannot be
DEEPEST = 3  # categories of a subgroup that are taken off together


@dataclass(frozen=True)
class Relation:
    """The origin of a row of a system.

    Args:
        table: the table whose dimension is summed; empty for one between tables.
        measure: its measure.
        dimension: the dimension that is summed over.
        cell: the parent's cell in the table; the variable where the relation is between tables.
    """

    table: str
    measure: str
    dimension: str
    cell: int


@dataclass(frozen=True)
class Link:
    """Two tables, and whether their figures are judged together.

    Args:
        tables: their names.
        why: the reason, as the end of a sentence.
        joined: whether they are.
    """

    tables: tuple[str, str]
    why: str
    joined: bool = False


@dataclass(frozen=True, repr=False)
class JointFigures:
    """Figures of one kind about the same people, of all tables that have them, as one system.

    Args:
        people: whom they are about, as `about: {who: …}` says.
        of: what they are: `("people",)`, `("rows", "visit")`, or `("sum", "income")`; a measure's name is added where
            a table has several of a kind.
        scale: the steps of one unit.
        system: the variables and their relations, in steps.
        variables: by table and measure the variable of each cell, -1 for a cell that cannot be. Shape (cells,).
        tables: the tables by name.
        extras: the labels of each variable that no table has: of atoms of bands, and of the rest of a group.
        origins: where the rows of the system come from: the number of the first row of a block, and of each row of it
            the parent's cell.
    """

    people: str
    of: tuple[str, ...]
    scale: int
    system: CellSystem
    variables: Mapping[tuple[str, str], NDArray[np.int64]]
    tables: Mapping[str, PublishedTable]
    extras: Mapping[int, Mapping[str, Key]]
    origins: Sequence[tuple[Relation, NDArray[np.int64]]]

    @cached_property
    def _places(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """For each variable where its cells begin; then the member and the cell of each."""
        member = np.concatenate([np.full(len(one), place) for place, one in enumerate(self.variables.values())])
        cell = np.concatenate([np.arange(len(one)) for one in self.variables.values()])
        variable = np.concatenate(list(self.variables.values()))
        order = np.argsort(variable, kind="stable")[int((variable < 0).sum()) :]
        starts = np.searchsorted(variable[order], np.arange(len(self.system.low) + 1))
        return starts, member[order], cell[order]

    def where(self, variable: int) -> list[tuple[str, str, int]]:
        """The cells that a variable is: table, measure and number; none for one that no table has."""
        starts, member, cell = self._places
        names = list(self.variables)
        inside = range(int(starts[variable]), int(starts[variable + 1]))
        return [(*names[int(member[place])], int(cell[place])) for place in inside]

    def relation(self, row: int) -> Relation:
        """The origin of a row of the system; rows of inequalities follow those of relations."""
        for relation, cells in self.origins:
            if row < len(cells):
                return Relation(relation.table, relation.measure, relation.dimension, int(cells[row]))
            row -= len(cells)
        raise IndexError(row)

    def labels(self, variable: int) -> dict[str, Key]:
        """The categories of a variable that are no totals, with those of the subgroup that its table is about."""
        places = self.where(variable)
        if not places:
            return dict(self.extras[variable])
        table, _, cell = self.tables[places[0][0]], *places[0][1:]
        own = {name: label for name, label in table.labels(cell).items() if label != table.total_of(name)}
        return {**{name: _key_of_subgroup(one) for name, one in table.declaration.subgroup.items()}, **own}

    def has_totals(self, variable: int) -> bool:
        """Whether a variable is summed over a dimension of its table."""
        return any(
            label == self.tables[table].total_of(name)
            for table, _, cell in self.where(variable)[:1]
            for name, label in self.tables[table].labels(cell).items()
        )


def _key_of_subgroup(one: str | ExceptCategory) -> Key:
    return ("not", one.not_) if isinstance(one, ExceptCategory) else one


def join_figures(tables: Sequence[PublishedTable]) -> tuple[tuple[JointFigures, ...], tuple[Link, ...]]:
    """The systems of some tables, and which of them were joined and which not.

    Raises:
        CheckError: figures are too large to be added exactly.

    Cost: O(cells x dimensions log cells).
    """
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[PublishedTable, str]]] = {}
    for table in tables:
        for name, figures in table.figures.items():
            if figures.measure.is_additive:
                groups.setdefault((table.declaration.people, _kind(figures)), []).append((table, name))
    systems = []
    for (people, kind), members in groups.items():
        names = [table.name for table, _ in members]
        if len(set(names)) == len(names):
            systems.append(_System(people, kind, members).joint())
            continue
        by_measure: dict[str, list[tuple[PublishedTable, str]]] = {}
        for table, name in members:
            by_measure.setdefault(name, []).append((table, name))
        systems += [_System(people, (*kind, name), same).joint() for name, same in by_measure.items()]
    return tuple(systems), tuple(_links(tables, systems))


def _kind(figures: Figures) -> tuple[str, ...]:
    """The kind of figures that a measure adds up."""
    measure = figures.measure
    if measure.counts == "people":
        return ("people",)
    return ("rows", measure.of or "") if measure.counts == "rows" else ("sum", str(measure.sum))


def _links(tables: Sequence[PublishedTable], systems: Sequence[JointFigures]) -> Iterator[Link]:
    for first, second in combinations(tables, 2):
        shared = [one for one in systems if first.name in one.tables and second.name in one.tables]
        whose = (first.declaration.people, second.declaration.people)
        if shared:
            people = f" of {visible(whose[0])}" if whose[0] else ""
            yield Link((first.name, second.name), f"both have {_said(shared[0].of)}{people}", joined=True)
        elif whose[0] != whose[1]:
            yield Link((first.name, second.name), "`about` says that they are about different people")
        else:
            yield Link((first.name, second.name), "they have no counts, or sums of one column, in common")


def _said(kind: tuple[str, ...]) -> str:
    if kind[0] == "people":
        return "counts of people"
    return f"counts of {visible(kind[1]) or 'rows'}" if kind[0] == "rows" else f"sums of {visible(kind[1])}"


@dataclass
class _System:
    """A system while it is built: one row of codes for each cell of each table, and then for each extra variable."""

    people: str
    kind: tuple[str, ...]
    members: Sequence[tuple[PublishedTable, str]]
    names: list[str] = field(default_factory=list)
    codes: list[dict[Key, int]] = field(default_factory=list)
    rows: list[Codes] = field(default_factory=list)
    every: Codes = field(default_factory=lambda: np.zeros((0, 0), np.int64))  # all rows together, when last asked for
    size: int = 0
    equations: list[tuple[Relation, Positions, Positions]] = field(default_factory=list)
    inequalities: list[tuple[Relation, Positions, Positions]] = field(default_factory=list)

    def joint(self) -> JointFigures:
        """The system."""
        self.names = list(dict.fromkeys(name for table, _ in self.members for name in _dimensions_of(table)))
        self.codes = [{None: 0} for _ in self.names]
        offsets = [self._add(self._codes_of(table)) for table, _ in self.members]
        for (table, measure), offset in zip(self.members, offsets, strict=True):
            self._add_sums(table, measure, offset)
        tables = self.size
        for place, name in enumerate(self.names):
            if name in self._ordered:
                self._refine(place, offsets)
        for (table, _), offset in zip(self.members, offsets, strict=True):
            self._take_off(table, offsets)
            self._nest(table, offset)
        for place in range(len(self.names)):
            self._add_up(place, offsets)
            self._complement(place)
        return self._finished(offsets, tables)

    @cached_property
    def _ordered(self) -> set[str]:
        """The dimensions of bands: of which some table says so."""
        return {nodes.name for table, _ in self.members for nodes in table.dimensions if nodes.bands}

    def _key(self, name: str, label: str) -> Key:
        """A category; the same band is the same category however it is written."""
        band = parse_band(label) if name in self._ordered else None
        return label if band is None else band

    def _code(self, place: int, key: Key) -> int:
        return self.codes[place].setdefault(key, len(self.codes[place]))

    def _add(self, rows: Codes) -> int:
        """Append rows of codes; returns the position of the first."""
        self.rows.append(rows)
        self.size += len(rows)
        return self.size - len(rows)

    def _subgroup(self, table: PublishedTable) -> dict[str, Key]:
        """The categories that everyone in a table has."""
        group = {}
        for name, one in table.declaration.subgroup.items():
            label = one.not_ if isinstance(one, ExceptCategory) else one
            key = self._key(name, label)
            group[name] = ("not", key) if isinstance(one, ExceptCategory) else key
        return group

    def _codes_of(self, table: PublishedTable) -> Codes:
        """The codes of the cells of a table in all dimensions of the system. Shape (cells, dimensions)."""
        group = self._subgroup(table)
        indices = np.indices(table.shape).reshape(len(table.shape), -1) if table.shape else None
        codes = np.zeros((table.cells, len(self.names)), np.int64)
        axes = {nodes.name: axis for axis, nodes in enumerate(table.dimensions)}
        for place, name in enumerate(self.names):
            own = group.get(name)
            if name not in axes or indices is None:
                codes[:, place] = self._code(place, own)
                continue
            of_node = self._codes_of_nodes(place, table.dimensions[axes[name]], own)
            codes[:, place] = of_node[indices[axes[name]]]
        return codes

    def _codes_of_nodes(self, place: int, nodes: Nodes, own: Key) -> Codes:
        """The codes of the nodes of a dimension, of which a subgroup may have one category already."""
        keys = [self._key(nodes.name, label) for label in nodes.labels]
        if own is not None:  # the table of men by sex: its total is men, and its women are none of all women
            keys = [key if key == own else ("of", own, key) for key in keys]
        if nodes.total is not None:
            keys[nodes.total] = own
        return np.array([self._code(place, key) for key in keys], np.int64)

    def _add_sums(self, table: PublishedTable, measure: str, offset: int) -> None:
        """The relations of a table; a cell that cannot be is 0, and takes no part."""
        for one in sums_of(table):
            of_true_figures = one.of_true_figures(table, measure)
            where = Relation(table.name, measure, one.dimension, 0)
            rows = self.equations if one.complete else self.inequalities
            rows.append((where, of_true_figures.parents + offset, of_true_figures.children + offset))

    def _stacked(self) -> Codes:
        if len(self.every) != self.size:
            self.every = np.concatenate(self.rows)
        return self.every

    def _positions(self, wanted: Codes, known: Codes | None = None) -> Positions:
        """The position of the first row with these codes, of all or of some; -1 where there is none. O(n log n)."""
        known = self._stacked() if known is None else known
        if not len(known):
            return np.full(len(wanted), -1)
        keys = self._folded(np.concatenate((known, wanted)))
        values, first = np.unique(keys[: len(known)], return_index=True)
        place = np.minimum(np.searchsorted(values, keys[len(known) :]), len(values) - 1)
        return np.where(values[place] == keys[len(known) :], first[place], -1)

    def _folded(self, rows: Codes) -> Codes:
        if not self.names:
            return np.zeros(len(rows), np.int64)
        return fold(list(rows.T), [len(one) + 1 for one in self.codes]).values

    def _present(self, wanted: Codes) -> Positions:
        """Positions of rows with these codes, which are added where there is none."""
        positions = self._positions(wanted)
        missing = positions < 0
        positions[missing] = self._add(wanted[missing]) + np.arange(int(missing.sum()))
        return positions

    def _take_off(self, table: PublishedTable, offsets: Sequence[int]) -> None:
        """A group that another table shows is a subgroup and the rest of it."""
        group = self._subgroup(table)
        own = self.rows[[one.name for one, _ in self.members].index(table.name)]
        for size in range(1, min(len(group), DEEPEST) + 1):
            for taken in combinations(group, size):
                places = [self.names.index(name) for name in taken]
                if size == 1 and self._has_dimension(own, places[0], offsets):
                    continue  # its categories are summed anyway
                whole, rest = own.copy(), own.copy()
                whole[:, places] = rest[:, places] = 0
                rest[:, places[0]] = self._code(places[0], _rest_of(taken, group))
                positions = self._positions(whole)
                there = positions >= 0
                parts = np.stack((self._positions(own)[there], self._present(rest[there])))
                self.equations.append((Relation("", "", taken[0], 0), positions[there], parts))

    def _has_dimension(self, own: Codes, place: int, offsets: Sequence[int]) -> bool:
        """Whether all these cells are cells of a table with the dimension itself, and not a complement."""
        name = self.names[place]
        keys = list(self.codes[place])
        if any(isinstance(keys[code], tuple) and keys[code][0] == "not" for code in np.unique(own[:, place])):
            return False
        with_it = [
            self._stacked()[offset : offset + table.cells]
            for (table, _), offset in zip(self.members, offsets, strict=True)
            if any(nodes.name == name and nodes.total is not None for nodes in table.dimensions)
        ]
        if not with_it:
            return False
        keys_of = self._folded(np.concatenate([own, *with_it]))
        return bool(np.isin(keys_of[: len(own)], keys_of[len(own) :]).all())

    def _nest(self, table: PublishedTable, offset: int) -> None:
        """Figures are at most those that another table shows of more people, though nothing is summed up to these."""
        own = self._stacked()[offset : offset + table.cells]
        unsummed = [nodes.name for nodes in table.dimensions if nodes.total is None]
        others = [*unsummed, *self._subgroup(table)]
        for size in range(1, min(len(others), DEEPEST) + 1):
            for taken in combinations(others, size):
                if taken[0] in unsummed:
                    larger = own.copy()
                    larger[:, [self.names.index(name) for name in taken]] = 0
                    self._limit(taken[0], self._positions(larger), np.arange(len(own)) + offset)

    def _complement(self, place: int) -> None:
        """The people outside a category are at least those in each other one."""
        every, keys = self._stacked(), list(self.codes[place])
        for code, key in enumerate(keys):
            if isinstance(key, tuple) and key[0] == "not":
                outside = [one for one, other in enumerate(keys) if not _is_category(other) or other == key[1]]
                parts = np.flatnonzero(~np.isin(every[:, place], outside))
                self._limit(self.names[place], self._positions(_coded(every[parts], place, code)), parts)

    def _add_up(self, place: int, offsets: Sequence[int]) -> None:
        """The sums of a dimension of one table hold for the cells of others, where all parts are there."""
        every, specified = self._stacked(), set[tuple[int, tuple[int, ...], bool]]()
        has_it = np.zeros(len(every), np.bool_)
        for (table, _), offset in zip(self.members, offsets, strict=True):
            for nodes in table.dimensions:
                if nodes.name == self.names[place] and nodes.name not in self._subgroup(table):
                    has_it[offset : offset + table.cells] = True
                    codes = self._codes_of_nodes(place, nodes, None).tolist()
                    for node, children, complete in nodes.sums:
                        specified.add((codes[node], tuple(codes[one] for one in children), complete))
        for node, children, complete in sorted(specified):
            parents = np.flatnonzero((every[:, place] == node) & ~has_it)
            parents = parents[np.unique(self._folded(every[parents]), return_index=True)[1]]
            for child in children:  # every part must be there
                if len(parents):
                    parents = parents[self._positions(_coded(every[parents], place, child)) >= 0]
            if len(parents):
                parts = np.stack([self._positions(_coded(every[parents], place, one)) for one in children])
                rows = self.equations if complete else self.inequalities
                rows.append((Relation("", "", self.names[place], 0), parents, parts))

    def _limit(self, name: str, parents: Positions, parts: Positions) -> None:
        there = parents >= 0
        if there.any() and self._least == 0:
            self.inequalities.append((Relation("", "", name, 0), parents[there], parts[None, there]))

    def _refine(self, place: int, offsets: Sequence[int]) -> None:
        """Bands that two tables cut differently, for the same combination of the rest, are sums of atoms.

        The bands of a subgroup's table are compared with those of the larger groups, too: their sums appear as
        variables, from which the subgroup can be taken off.
        """
        by_bands: dict[frozenset[Band], list[Codes]] = {}
        for (table, _), offset in zip(self.members, offsets, strict=True):
            bands = self._bands_of(table, self.names[place])
            if bands:
                rows = self._stacked()[offset : offset + table.cells]
                own = rows[np.isin(rows[:, place], [self.codes[place][one] for one in bands])]
                by_bands.setdefault(bands, []).extend([own, *self._larger(own, table, place)])
        if len(by_bands) < 2:
            return
        rest = [np.unique(_coded(np.concatenate(rows), place, 0), axis=0) for rows in by_bands.values()]
        combination, inverse = np.unique(np.concatenate(rest), axis=0, return_inverse=True)
        has = np.zeros((len(combination), len(rest)), np.bool_)
        has[inverse.reshape(-1), np.repeat(np.arange(len(rest)), [len(one) for one in rest])] = True
        signatures = list(by_bands)
        for present in np.unique(has[has.sum(axis=1) > 1], axis=0):
            bands = frozenset().union(*(signatures[one] for one in np.flatnonzero(present)))
            self._add_atoms(place, combination[(has == present).all(axis=1)], bands)

    def _larger(self, own: Codes, table: PublishedTable, place: int) -> Iterator[Codes]:
        """The same cells of the groups that a table's subgroup is part of, and of the category that it leaves out."""
        group = {name: key for name, key in self._subgroup(table).items() if name != self.names[place]}
        for size in range(1, min(len(group), DEEPEST) + 1):
            for taken in combinations(group, size):
                larger = own.copy()
                larger[:, [self.names.index(name) for name in taken]] = 0
                yield larger
                key = group[taken[0]]
                if size == 1 and isinstance(key, tuple) and key[0] == "not":
                    left = own.copy()
                    left[:, self.names.index(taken[0])] = self._code(self.names.index(taken[0]), key[1])
                    yield left

    def _bands_of(self, table: PublishedTable, name: str) -> frozenset[Band]:
        """The bands that a table's figures are of: those of its leaves, or of the subgroup that it is about."""
        for nodes in table.dimensions:
            if nodes.name == name:
                keys = [self._key(name, nodes.labels[leaf]) for leaf in nodes.leaves if leaf != nodes.total]
                return frozenset(one for one in keys if isinstance(one, tuple))
        own = self._subgroup(table).get(name)
        return frozenset([own]) if isinstance(own, tuple) and own[0] != "not" else frozenset()

    def _add_atoms(self, place: int, rest: Codes, bands: frozenset[Band]) -> None:
        """The relation of each band with its atoms, for some combinations of the other dimensions."""
        atoms = list(pairwise(sorted({end for band in bands for end in band})))
        for band in sorted(bands):
            inside = [one for one in atoms if band[0] <= one[0] and one[1] <= band[1]]
            if len(inside) > 1:
                codes = [self._code(place, one) for one in (band, *inside)]
                parents, *parts = (self._present(_coded(rest, place, one)) for one in codes)
                self.equations.append((Relation("", "", self.names[place], 0), parents, np.stack(parts)))

    def _finished(self, offsets: Sequence[int], tables: int) -> JointFigures:
        """Rows with the same codes are one variable, whose interval is what all of its cells leave."""
        every = self._stacked()
        possible = np.ones(len(every), np.bool_)
        scale = lcm(*(table.figures[name].scale for table, name in self.members))
        low, high = np.full(len(every), self._least), np.full(len(every), UNBOUNDED)
        for (table, name), offset in zip(self.members, offsets, strict=True):
            figures, inside = table.figures[name], slice(offset, offset + table.cells)
            possible[inside] = figures.state != CellState.IMPOSSIBLE
            low[inside], high[inside] = (_scaled(one, scale // figures.scale) for one in true_limits(table, name))
        keys = self._folded(every)
        values, first, inverse = np.unique(keys[possible], return_index=True, return_inverse=True)
        variable = np.full(len(every), NOWHERE, np.int64)
        variable[possible] = inverse
        limiting = np.isin(keys, values)  # a cell that cannot be in one table is 0 in another one
        place = np.searchsorted(values, keys[limiting])
        least, largest = np.full(len(first), -UNBOUNDED), np.full(len(first), UNBOUNDED)
        np.maximum.at(least, place, low[limiting])
        np.minimum.at(largest, place, high[limiting])
        equations, of_equations = self._matrix(self.equations, variable, len(first))
        others, of_others = self._matrix(self.inequalities, variable, len(first))
        integral = np.full(len(first), self.kind[0] != "sum", np.bool_)
        extra = np.flatnonzero(possible)[first]
        extras = {number: self._labels(every[row]) for number, row in enumerate(extra.tolist()) if row >= tables}
        return JointFigures(
            self.people,
            self.kind,
            scale,
            CellSystem(equations, least, largest, integral, others if len(of_others) else None),
            {
                (table.name, name): variable[offset : offset + table.cells]
                for (table, name), offset in zip(self.members, offsets, strict=True)
            },
            {table.name: table for table, _ in self.members},
            extras,
            (*of_equations, *of_others),
        )

    @property
    def _least(self) -> int:
        """The least value of a variable that no table has."""
        lows = [table.figures[name].measure.at_least for table, name in self.members]
        return -UNBOUNDED if any(one is not None and one < 0 for one in lows) else 0

    def _labels(self, row: Codes) -> dict[str, Key]:
        """The categories of a row of codes, without totals."""
        keys = {name: list(self.codes[place])[row[place]] for place, name in enumerate(self.names)}
        return {name: key for name, key in keys.items() if key is not None}

    def _matrix(
        self, rows: Sequence[tuple[Relation, Positions, Positions]], variable: NDArray[np.int64], variables: int
    ) -> tuple[Any, list[tuple[Relation, NDArray[np.int64]]]]:
        """The rows as a sparse matrix, and the origin of each; a row without any cell that can be is left out."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - takes a moment to import

        places, columns, signs, origins, count = [], [], [], [], 0
        for relation, parents, children in rows:
            own = variable[np.concatenate((parents[None, :], children))]
            useful = np.flatnonzero((own >= 0).any(axis=0))
            own = own[:, useful]
            number = np.broadcast_to(np.arange(len(useful)) + count, own.shape)
            sign = np.broadcast_to(np.array([1] + [-1] * len(children))[:, None], own.shape)
            places.append(number[own >= 0])
            columns.append(own[own >= 0])
            signs.append(sign[own >= 0])
            offset = 0 if not relation.table else self._offset_of(relation)
            origins.append((relation, parents[useful] - offset if relation.table else own[0]))
            count += len(useful)
        shape = (count, variables)
        if not places:
            return csr_array(shape, dtype=np.int64), []
        data = np.concatenate(signs).astype(np.int64)
        matrix = csr_array((data, (np.concatenate(places), np.concatenate(columns))), shape=shape)
        return (matrix, origins) if len(self.members) == 1 else _distinct(matrix, origins)

    def _offset_of(self, relation: Relation) -> int:
        sizes = [table.cells for table, _ in self.members]
        place = [table.name for table, _ in self.members].index(relation.table)
        return sum(sizes[:place])


def _distinct(matrix: Any, origins: Sequence[tuple[Relation, Codes]]) -> tuple[Any, list[tuple[Relation, Codes]]]:
    """The rows that differ from all before them and say anything: tables with the same cells have the same sums."""
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    seen, chosen = {(b"", b"")}, np.zeros(matrix.shape[0], np.bool_)
    for row, (start, end) in enumerate(pairwise(matrix.indptr.tolist())):
        key = matrix.indices[start:end].tobytes(), matrix.data[start:end].tobytes()
        chosen[row] = key not in seen
        seen.add(key)
    ends = np.cumsum([len(cells) for _, cells in origins])[:-1]
    parts = np.split(chosen, ends)
    left = [(relation, cells[part]) for (relation, cells), part in zip(origins, parts, strict=True)]
    return matrix[np.flatnonzero(chosen)], left


def _dimensions_of(table: PublishedTable) -> list[str]:
    return [*(nodes.name for nodes in table.dimensions), *table.declaration.subgroup]


def _rest_of(taken: Sequence[str], group: Mapping[str, Key]) -> Key:
    """The rest of a group without a subgroup; without a complement, it is the category that was left out."""
    if len(taken) > 1:
        return ("rest", tuple((name, group[name]) for name in taken))
    key = group[taken[0]]
    return key[1] if isinstance(key, tuple) and key[0] == "not" else ("not", key)


def _is_category(key: Key) -> bool:
    """Whether a key is a label or a band: no total, and not made of others."""
    return isinstance(key, str) or (key is not None and not isinstance(key[0], str))


def _coded(rows: Codes, place: int, code: int) -> Codes:
    """The same rows with another category of one dimension."""
    changed = rows.copy()
    changed[:, place] = code
    return changed


def _scaled(ends: NDArray[np.int64], factor: int) -> NDArray[np.int64]:
    """Ends in finer steps; an end that nothing bounds stays so. Raises `CheckError` where they leave 64 bits."""
    bounded = np.abs(ends) < UNBOUNDED
    if int(np.abs(ends[bounded]).max(initial=0)) * factor >= UNBOUNDED:
        raise CheckError("figures of two tables have too many digits together; round them, or declare `decimals`")
    return np.where(bounded, ends * np.where(bounded, factor, 1), ends)
