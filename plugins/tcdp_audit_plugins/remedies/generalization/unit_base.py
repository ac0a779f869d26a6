"""Columns of one or several tables as axes of a lattice, and units in base classes by their whole histories.

Columns of several tables that have one meaning are one axis, so that equal values get equal labels in all of them.
Units are grouped once, by their histories at the lowest levels; of each group one unit is coded again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

import numpy as np

from tcdp_audit.plugin._internal import Floats, LinkedRows
from tcdp_audit.plugin.detector import PolicyDocument, Role
from tcdp_audit.plugin.remedy import Attribute, RemedyError, RemedyView
from tcdp_audit.plugin.sentences import listing
from tcdp_audit_plugins.remedies._shared.masking import MASKED
from tcdp_audit_plugins.remedies.generalization.levels import GeneralizationLevels, Numbers, generalization_levels

SEPARATOR = "."  # between a table and its column
Widths = Sequence[Fraction]
T = TypeVar("T")


@dataclass(frozen=True)
class CodedColumn:
    """A column of one table on all of its levels.

    Args:
        table: the table.
        levels: the levels.
    """

    table: str
    levels: GeneralizationLevels

    @property
    def codes(self) -> Numbers:
        """The value of each row. Shape (rows,)."""
        return self.levels.attribute.codes

    @cached_property
    def texts(self) -> Sequence[str]:
        """The different labels of all levels."""
        return list(dict.fromkeys(text for level in self.levels.levels for text in level.labels))

    @cached_property
    def labels(self) -> Numbers:
        """The label of each value on each level, as a position in `texts`. Shape (levels, values + 1)."""
        place = {text: number for number, text in enumerate(self.texts)}
        return np.array([np.array([place[text] for text in one.labels])[one.codes] for one in self.levels.levels])

    @cached_property
    def penalty(self) -> Floats:
        """The cost of each value on each level, from 0 to 1. Shape (levels, values + 1)."""
        return np.array([one.penalty[one.codes] for one in self.levels.levels])

    def is_hidden(self, level: int) -> bool:
        """Say whether no row shows a value on a level."""
        chosen = self.levels.levels[level]
        return bool(chosen.hidden[chosen.codes[np.unique(self.codes)]].all())


@dataclass(frozen=True)
class Axis:
    """Columns that get one level: one, or those of several tables that have the same name, scale and order.

    Args:
        columns: the columns.
        choices: the levels that the search may choose, ascending.
    """

    columns: Sequence[CodedColumn]
    choices: Sequence[int]

    @property
    def name(self) -> str:
        """The name of its column, or the names of all of them."""
        return listing([one.levels.name for one in self.columns])

    @property
    def height(self) -> int:
        """The highest level."""
        return self.columns[0].levels.height


def axes_of(views: Mapping[str, RemedyView], fixed: Mapping[str, int], widths: Mapping[str, Widths]) -> list[Axis]:
    """The axes of the quasi-identifiers of some tables.

    Args:
        views: the views of the tables, by name.
        fixed: levels that are given, by column.
        widths: widths of bins that are given, by column.

    Raises:
        RemedyError: columns of one meaning have different hierarchies, bins or levels, one would stay finer, or a level
            does not exist.
    """
    document = next(iter(views.values())).policy.document
    attributes = {one.name: (table, one) for table, view in views.items() for one in view.quasi_identifiers}
    axes, done = [], set[str]()
    for name in attributes:
        if name not in done:
            alike = list(_alike(document, name))
            axis = _axis(views, {one: attributes[one] for one in alike if one in attributes}, fixed, widths)
            _require_none_finer(document, name, alike, axis)
            axes.append(axis)
            done.update(alike)
    return axes


def _alike(document: PolicyDocument, name: str) -> Iterator[str]:
    """The quasi-identifiers and sensitive attributes of several tables that have the meaning of one of them."""
    table, _, column = name.partition(SEPARATOR)
    if document.tables is None:
        yield name
        return
    own = document.tables[table].attributes[column]
    for other, declared in document.tables.items():
        same = declared.attributes.get(column)
        if same is not None and same.role in MASKED and (same.scale, same.order) == (own.scale, own.order):
            yield f"{other}{SEPARATOR}{column}"


def _require_none_finer(document: PolicyDocument, name: str, alike: Sequence[str], axis: Axis) -> None:
    """Insist that no sensitive attribute shows what a quasi-identifier does not any more."""
    for other in alike if [*axis.choices] != [0] else ():
        table, _, column = other.partition(SEPARATOR)
        if document.tables is not None and document.tables[table].attributes[column].role is Role.SENSITIVE:
            raise RemedyError(
                f"{name!r} is a sensitive attribute as {other!r}, which would stay finer; leave it as it is by "
                f"`levels: {{{name}: 0}}`, or declare both alike"
            )


def _axis(
    views: Mapping[str, RemedyView],
    columns: Mapping[str, tuple[str, Attribute]],
    fixed: Mapping[str, int],
    widths: Mapping[str, Widths],
) -> Axis:
    attributes = [one for _, one in columns.values()]
    names = listing([repr(one) for one in columns])
    level = _one_of("level", names, [fixed[one] for one in columns if one in fixed])
    bins = _one_of("list of widths", names, [widths[one] for one in columns if one in widths])
    if bins is None and any(_steps(one) != _steps(attributes[0]) for one in attributes):
        raise RemedyError(f"{names} have different hierarchies, and are recoded alike; declare the same one for each")
    levels = [
        CodedColumn(table, generalization_levels(views[table], one, bins, attributes))
        for table, one in columns.values()
    ]
    if level is None:
        return Axis(levels, sorted({number for one in levels for number in one.levels.distinct}))
    if level > levels[0].levels.height:
        raise RemedyError(f"{names}: there is no level {level}; the levels go from 0 to {levels[0].levels.height}")
    return Axis(levels, [level])


def _steps(attribute: Attribute) -> object:
    """The label of each value on each level of its hierarchy; None without one."""
    hierarchy = attribute.hierarchy
    return None if hierarchy is None else (hierarchy.height, {**hierarchy.lineage})


def _one_of(what: str, names: str, given: Sequence[T]) -> T | None:
    """The parameter that some columns share; None where none of them has one."""
    if any(one != given[0] for one in given):
        raise RemedyError(f"{names} are recoded alike; give one {what} for all of them")
    return given[0] if given else None


@dataclass(frozen=True)
class UnitBase:
    """Units, or households, whose histories no node distinguishes.

    Args:
        axes: what is recoded.
        rows: the rows of all units.
        lowest: the lowest level of each axis.
    """

    axes: Sequence[Axis]
    rows: LinkedRows
    lowest: Sequence[int]

    @cached_property
    def _grouped(self) -> tuple[Numbers, Numbers, Numbers]:
        """One unit of each base class, the base class of each unit, and the units of each."""
        everyone = np.tile(np.array(self.lowest, dtype=np.int64), (self.rows.count, 1))
        places = {table: np.arange(rows) for table, rows in self.rows.sizes.items()}
        codes = self.rows.histories(self._labels(self.rows, places, everyone))
        here = np.flatnonzero(np.bincount(self.rows.roots, minlength=self.rows.count))
        _, first, classes, sizes = np.unique(codes[here], return_index=True, return_inverse=True, return_counts=True)
        of_root = np.full(self.rows.count, -1, dtype=np.int64)
        of_root[here] = classes
        return here[first], of_root, sizes

    @property
    def of_root(self) -> Numbers:
        """The base class of each unit; -1 for a number that no row has. Shape (roots,)."""
        return self._grouped[1]

    @property
    def sizes(self) -> Numbers:
        """Units of each base class. Shape (base classes,)."""
        return self._grouped[2]

    @cached_property
    def _one_of_each(self) -> tuple[LinkedRows, Mapping[str, Numbers], Numbers]:
        """The rows of one unit of each base class, their places, and the base class of each such unit."""
        chosen = np.zeros(self.rows.count, dtype=bool)
        chosen[self._grouped[0]] = True
        rows, places = self.rows.among(chosen)
        return rows, places, self.of_root[np.flatnonzero(chosen)]

    def _labels(
        self, rows: LinkedRows, places: Mapping[str, Numbers], state: Numbers
    ) -> dict[str, list[tuple[Numbers, int]]]:
        """The labels of some rows, where their units have some levels, shape (roots, axes)."""
        labels: dict[str, list[tuple[Numbers, int]]] = {}
        for at, axis in enumerate(self.axes):
            for one in axis.columns:
                level = state[rows.roots_of(one.table), at]
                own = one.labels[level, one.codes[places[one.table]]]
                labels.setdefault(one.table, []).append((own, len(one.texts)))
        return labels

    def classes(self, state: Numbers) -> Numbers:
        """The class of each base class, by whole histories. Shape (base classes,).

        Args:
            state: the level of each base class on each axis, shape (base classes, axes).

        Cost: that of the histories of one unit of each base class.
        """
        rows, places, numbers = self._one_of_each
        classes = np.empty(len(self.sizes), dtype=np.int64)
        classes[numbers] = rows.histories(self._labels(rows, places, state[numbers]))
        return classes

    def state(self, levels: Sequence[int]) -> Numbers:
        """The levels of a node for each base class. Shape (base classes, axes)."""
        return np.tile(np.array(levels, dtype=np.int64), (len(self.sizes), 1))

    @cached_property
    def penalties(self) -> Sequence[Floats]:
        """For each axis what each base class costs on each level, all its units together: (levels, base classes).

        Those of all axes add up to a mean over the columns, each over the rows of its table.
        """
        rows, places, numbers = self._one_of_each
        costs = [np.zeros((axis.height + 1, len(self.sizes))) for axis in self.axes]
        for cost, axis in zip(costs, self.axes, strict=True):
            for one in axis.columns:
                owner = numbers[rows.roots_of(one.table)]
                for level, penalty in enumerate(one.penalty):
                    each = np.bincount(owner, penalty[one.codes[places[one.table]]], len(self.sizes))
                    cost[level] += each * self.sizes * self._share(one)
        return costs

    @cached_property
    def whole(self) -> Floats:
        """The cost of each base class where all its units are dropped: every cell costs 1. Shape (base classes,)."""
        rows, _, numbers = self._one_of_each
        cost = np.zeros(len(self.sizes))
        for one in (column for axis in self.axes for column in axis.columns):
            cost += np.bincount(numbers[rows.roots_of(one.table)], minlength=len(self.sizes)) * self._share(one)
        return cost * self.sizes

    def _share(self, column: CodedColumn) -> float:
        """The part of one cell of a column in the loss."""
        return 1 / (len(column.codes) * sum(len(axis.columns) for axis in self.axes))

    def hides_all(self, levels: Sequence[int]) -> bool:
        """Say whether a node shows no value of any column."""
        at = zip(self.axes, levels, strict=True)
        return all(one.is_hidden(level) for axis, level in at for one in axis.columns)
