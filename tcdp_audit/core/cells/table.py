"""A published table of figures: its dimensions, its cells, and what a reader knows of each figure.

The cells are those of the cross: every combination of one node of each dimension, whether or not the file has a row
for it. The number of a cell is its position in C order, the first dimension varying slowest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import NAMED_CELLS, FailingCell
from tcdp_audit.core.base.words import count, visible
from tcdp_audit.core.policy.aggregates import AggregateDeclaration, Measure

Band = tuple[Fraction | float, Fraction | float]
"""The values of a category of an ordered dimension: from the first, up to and without the second."""

UNBOUNDED = 2**62
"""The end of an interval that nothing bounds, in the steps of its figures."""


class CellState(IntEnum):
    """The state of a figure in the file."""

    SHOWN = 0  # it is published, exactly or rounded
    HIDDEN = 1  # a token is in its place
    ABSENT = 2  # the file has no row for it, which `absent` explains
    IMPOSSIBLE = 3  # the file has no row for it, since there can be none


@dataclass(frozen=True)
class Nodes:
    """The categories of a dimension and how they add up.

    Args:
        name: the dimension.
        labels: the label of each node, in the order of their codes.
        total: the code of the total; None where nothing is summed over the dimension.
        sums: a node, its children, and whether they are all of it; a node may be split in several ways.
        bands: the values of each node where the dimension is ordered by bounds, None for one that is no range.
        occurring: the codes of the nodes that the table has; others are declared only.
    """

    name: str
    labels: tuple[str, ...]
    total: int | None
    sums: tuple[tuple[int, tuple[int, ...], bool], ...] = ()
    bands: tuple[Band | None, ...] = ()
    occurring: frozenset[int] = frozenset()

    @cached_property
    def leaves(self) -> NDArray[np.intp]:
        """The codes of the nodes without children, in order."""
        inner = {node for node, children, _ in self.sums if children}
        return np.array([code for code in range(len(self.labels)) if code not in inner], dtype=np.intp)


@dataclass(frozen=True, repr=False)
class Figures:
    """One measure of a table: for each cell the interval that its true value lies in, from the file alone.

    Args:
        measure: its declaration.
        scale: the steps of one unit, so that every end is a whole number of steps. Counts have 1; a magnitude with two
            decimals has 200, since it is known to half a hundredth.
        low: the least possible value in steps. Shape (cells,), int64.
        high: the largest; `UNBOUNDED` where nothing bounds it. Shape (cells,), int64.
        state: what the file says. Shape (cells,), of `CellState`.
        token: the position of the token of a hidden figure among the declared ones, -1 for any other. Shape (cells,).
    """

    measure: Measure
    scale: int
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    state: NDArray[np.uint8]
    token: NDArray[np.int16]

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Whether the figure is published. Shape (cells,)."""
        return self.state == CellState.SHOWN

    @property
    def hidden(self) -> NDArray[np.bool_]:
        """Whether a token is in its place. Shape (cells,)."""
        return self.state == CellState.HIDDEN

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Whether it is hidden, or the table has no row for it and that does not mean 0. Shape (cells,)."""
        return self.hidden | ((self.state == CellState.ABSENT) & (self.low < self.high))


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with a table of figures, whatever a policy demands of it.

    Args:
        kind: `unknown_token`, `duplicate_cell`, `unknown_category`, `impossible_figure`, `contradiction` or
            `cells_agree`.
        table: the table.
        says: what is wrong, where, and what to do, without a hidden value.
        measure: the measure; empty where all are concerned.
        cells: the cells, at most `NAMED_CELLS`; empty where no cell is.
        count: how many cells there are.
    """

    kind: str
    table: str
    says: str
    measure: str = ""
    cells: tuple[FailingCell, ...] = ()
    count: int = 0


@dataclass(frozen=True, repr=False)
class PublishedTable:
    """A table of figures as it was read.

    Args:
        name: the table's name in the policy.
        declaration: what the policy says of it.
        place: the file, or what else it was read from.
        dimensions: its dimensions, in the policy's order.
        figures: its measures by name, in the policy's order.
        line: the line of each cell in the file, counted from 1; 0 where the file has no row for it. Shape (cells,).
        findings: what is wrong with it by itself: its texts, categories and figures.
    """

    name: str
    declaration: AggregateDeclaration
    place: str
    dimensions: tuple[Nodes, ...]
    figures: Mapping[str, Figures]
    line: NDArray[np.int64]
    findings: tuple[Finding, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of nodes of each dimension; none for a table of one cell."""
        return tuple(len(one.labels) for one in self.dimensions)

    @property
    def cells(self) -> int:
        """The number of cells of the cross."""
        return len(self.line)

    @cached_property
    def published_cells(self) -> int:
        """The number of cells that the table has: shown or hidden in a measure."""
        there = [(one.state == CellState.SHOWN) | (one.state == CellState.HIDDEN) for one in self.figures.values()]
        return int(np.any(there, axis=0).sum()) if there else 0

    def labels(self, cell: int) -> dict[str, str]:
        """The label of a cell in each dimension."""
        codes = np.unravel_index(cell, self.shape) if self.dimensions else ()
        return {one.name: one.labels[int(code)] for one, code in zip(self.dimensions, codes, strict=True)}

    def total_of(self, dimension: str) -> str | None:
        """The label of the total of a dimension; None where it has none."""
        nodes = next(one for one in self.dimensions if one.name == dimension)
        return None if nodes.total is None else nodes.labels[nodes.total]

    def say(self, cell: int) -> str:
        """A cell in words, by the labels that are no totals: `ward A, age 80+`, `the total of ward A`."""
        labels = self.labels(cell)
        named = {name: label for name, label in labels.items() if label != self.total_of(name)}
        return say_labels([say_label(*one) for one in named.items()], total=len(named) < len(labels))

    @cached_property
    def sums(self) -> tuple[Sum, ...]:
        """The ways in which its totals and nodes are split, by dimension."""
        return tuple(sums_of(self))

    @cached_property
    def cells_by_labels(self) -> dict[tuple[tuple[str, str], ...], int]:
        """The number of each cell by its labels, ordered by dimension."""
        return {self.key(cell): cell for cell in range(self.cells)}

    def key(self, cell: int) -> tuple[tuple[str, str], ...]:
        """The labels of a cell, ordered by dimension, as another table of the same dimensions has them."""
        return tuple(sorted(self.labels(cell).items()))

    def place_of(self, cell: int) -> str:
        """The file and the line of a cell, as messages name them."""
        line = int(self.line[cell])
        return f"{self.place}:{line}" if line else self.place

    def failing_cells(
        self, cells: Sequence[int] | NDArray[np.intp], measure: str, says: str
    ) -> tuple[FailingCell, ...]:
        """The first of some cells, as results name them."""
        return tuple(
            FailingCell(self.name, self.labels(int(one)), measure, int(self.line[one]), says, self.say(int(one)))
            for one in cells[:NAMED_CELLS]
        )

    def finding(self, kind: str, cells: NDArray[np.intp], problem: str, advice: str, measure: str = "") -> Finding:
        """A finding about at least one cell, which names the first and counts the others."""
        subject = f"{measure} of {self.say(int(cells[0]))}" if measure else self.say(int(cells[0]))
        others = f", likewise {count(len(cells) - 1, 'other cell')}" if len(cells) > 1 else ""
        says = f"{self.place_of(int(cells[0]))}: {subject} {problem}{others}; {advice}."
        return Finding(kind, self.name, says, measure, self.failing_cells(cells, measure, problem), len(cells))


def say_labels(labels: Sequence[str], *, total: bool) -> str:
    """A cell by its labels in words."""
    if not labels:
        return "the grand total" if total else "the only cell"
    return f"the total of {', '.join(labels)}" if total else ", ".join(labels)


def say_label(dimension: str, label: str) -> str:
    """A category in words, with the dimension's name unless the label begins with it: `ward A`, `county-1`."""
    if re.match(rf"{re.escape(dimension)}\b.", label, re.IGNORECASE):
        return visible(label)
    return f"{visible(dimension)} {visible(label)}"


@dataclass(frozen=True, repr=False)
class Sum:
    """One way to split a node of a dimension, for every combination of the others.

    Args:
        dimension: the dimension.
        complete: whether the children are all of the node; where not, it is at least their sum.
        parents: the cell of the node for each combination. Shape (combinations,).
        children: the cells of its children. Shape (children, combinations).
    """

    dimension: str
    complete: bool
    parents: NDArray[np.intp]
    children: NDArray[np.intp]

    def only(self, combinations: NDArray[np.bool_]) -> Sum:
        """The same for some of the combinations."""
        return Sum(self.dimension, self.complete, self.parents[combinations], self.children[:, combinations])

    def of_true_figures(self, table: PublishedTable, measure: str) -> Sum:
        """The same without combinations whose total is of what is shown, where some of it is hidden."""
        if table.declaration.totals == "all":
            return self
        unknown = table.figures[measure].unknown
        return self.only(~(unknown[self.parents] | unknown[self.children].any(axis=0)))


def sums_of(table: PublishedTable) -> Iterator[Sum]:
    """The sums of a table, by dimension. O(cells) for each way to split nodes."""
    cells = np.arange(table.cells).reshape(table.shape)
    for axis, nodes in enumerate(table.dimensions):
        by_node = np.moveaxis(cells, axis, 0).reshape(len(nodes.labels), -1)
        for node, children, complete in nodes.sums:
            yield Sum(nodes.name, complete, by_node[node], by_node[list(children)])


def true_limits(table: PublishedTable, measure: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ends of the true figures in steps, shape (cells,) each: a total of what is shown may be larger in truth.

    Under `totals: shown` a total with a hidden figure below it, at any depth, is only the least that it can be.
    """
    figures = table.figures[measure]
    if table.declaration.totals == "all":
        return figures.low, figures.high
    partial, sums = figures.unknown.copy(), list(sums_of(table))
    while True:
        before = int(partial.sum())
        for one in sums:
            partial[one.parents] |= partial[one.children].any(axis=0)
        if int(partial.sum()) == before:
            break
    parents = np.zeros(table.cells, np.bool_)
    for one in sums:
        parents[one.parents] = True
    partial &= parents & figures.shown
    signed = figures.measure.at_least is not None and figures.measure.at_least < 0
    return np.where(partial & signed, -UNBOUNDED, figures.low), np.where(partial, UNBOUNDED, figures.high)
