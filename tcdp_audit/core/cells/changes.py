"""Changes of released tables of figures that are tried in memory: hidden cells, margins left out, rounded counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.cells.figures import limits_of, noise_of, rounded_count, rounding_of
from tcdp_audit.core.cells.table import UNBOUNDED, CellState, Figures, PublishedTable
from tcdp_audit.core.cells.view import CellsView
from tcdp_audit.core.policy.aggregates import Rounding

Place = tuple[str, str, int]
"""A figure: its table, its measure and the number of its cell."""

Margin = tuple[str, str]
"""A table, and a dimension of it whose total is left out."""

BASES = (3, 5, 10, 15, 20, 25, 50, 100)
"""The bases that are tried, the smallest first."""


@dataclass(frozen=True)
class TableChange:
    """A change of some tables of figures, as it would be made where they are made.

    Args:
        hidden: figures that a text hides, which says nothing about them.
        margins: totals over a dimension that a table does not have any more. A reader still knows that its categories
            add up, as `exhaustive` declares, so that every such total is an unknown figure, and no relation is lost.
        base: the base that every published count is rounded to, a half up; None where none is.
    """

    hidden: tuple[Place, ...] = ()
    margins: tuple[Margin, ...] = ()
    base: int | None = None

    def applied(self, view: CellsView) -> CellsView:
        """The changed tables under the same policy. O(cells)."""
        tables = dict(view.tables)
        for name in dict.fromkeys(one[0] for one in self.hidden):
            tables[name] = _with_hidden(tables[name], [one[1:] for one in self.hidden if one[0] == name])
        for name in dict.fromkeys(one[0] for one in self.margins):
            tables[name] = _without_margins(tables[name], [one[1] for one in self.margins if one[0] == name])
        if self.base is not None:
            tables = {name: _rounded(table, self.base) for name, table in tables.items()}
        return replace(view, tables=tables)

    def lost(self, before: CellsView) -> list[Place]:
        """The published figures that are not shown, or not exactly, after the change."""
        after = self.applied(before)
        return [
            (name, measure, int(cell))
            for name, table in before.tables.items()
            for measure, figures in table.figures.items()
            for cell in np.flatnonzero(_is_lost(figures, after.tables[name].figures[measure]))
        ]


def _is_lost(before: Figures, after: Figures) -> NDArray[np.bool_]:
    wider = (after.low < before.low) | (after.high > before.high)
    return before.shown & (~after.shown | wider)


def can_be_rounded(view: CellsView) -> bool:
    """Whether some count is published, and none is rounded or has noise already."""
    counts = [
        (table, figures)
        for table in view.tables.values()
        for figures in table.figures.values()
        if figures.measure.counts is not None
    ]
    masked = any(
        rounding_of(figures.measure, table.declaration) or noise_of(figures.measure, table.declaration)
        for table, figures in counts
    )
    return not masked and any(figures.shown.any() for _, figures in counts)


def margins_of(view: CellsView) -> Sequence[Margin]:
    """The totals that a table has over its dimensions."""
    return [
        (name, nodes.name)
        for name, table in view.tables.items()
        for nodes in table.dimensions
        if nodes.total is not None and nodes.total in nodes.occurring
    ]


def _with_hidden(table: PublishedTable, places: Iterable[tuple[str, int]]) -> PublishedTable:
    cells: dict[str, list[int]] = {}
    for measure, cell in places:
        cells.setdefault(measure, []).append(cell)
    chosen = {measure: np.array(own, np.intp) for measure, own in cells.items()}
    return replace(table, figures=_unknown(table.figures, chosen, CellState.HIDDEN))


def _without_margins(table: PublishedTable, dimensions: Sequence[str]) -> PublishedTable:
    """The table with every cell of these totals as one that it does not have, and that is not 0."""
    inside = np.zeros(table.shape, np.bool_)
    for axis, nodes in enumerate(table.dimensions):
        if nodes.name in dimensions and nodes.total is not None:
            np.moveaxis(inside, axis, 0)[nodes.total] = True
    cells = np.flatnonzero(inside)
    return replace(table, figures=_unknown(table.figures, dict.fromkeys(table.figures, cells), CellState.ABSENT))


def _unknown(
    figures: Mapping[str, Figures], cells: Mapping[str, NDArray[np.intp]], state: CellState
) -> dict[str, Figures]:
    """The figures of a table, some of them with nothing known but what any figure of their measure can be."""
    changed = dict(figures)
    for name, chosen in cells.items():
        own = figures[name]
        low, high = limits_of(own.measure)
        ends = (
            -UNBOUNDED if low is None else ceil(low * own.scale),
            UNBOUNDED if high is None else floor(high * own.scale),
        )
        lows, highs, states, tokens = own.low.copy(), own.high.copy(), own.state.copy(), own.token.copy()
        lows[chosen], highs[chosen] = ends
        states[chosen], tokens[chosen] = state, -1
        changed[name] = Figures(own.measure, own.scale, lows, highs, states, tokens)
    return changed


def _rounded(table: PublishedTable, base: int) -> PublishedTable:
    """The table with its counts to the nearest multiple, and the declaration that says so."""
    if all(one.measure.counts is None for one in table.figures.values()):
        return table
    rounding = Rounding.model_validate({"base": base, "half": "up"})
    figures = {name: _rounded_figures(one, rounding, base) for name, one in table.figures.items()}
    declaration = table.declaration.model_copy(update={"rounding": rounding})
    return replace(table, figures=figures, declaration=declaration)


def _rounded_figures(figures: Figures, rounding: Rounding, base: int) -> Figures:
    if figures.measure.counts is None:
        return figures
    shown = figures.shown & (figures.low == figures.high)
    printed = (figures.low[shown] + base // 2) // base * base
    low, high = figures.low.copy(), figures.high.copy()
    distinct, inverse = np.unique(printed, return_inverse=True)
    ends = [rounded_count(int(one), rounding) or (int(one), int(one)) for one in distinct]
    pairs = np.array(ends, np.int64).reshape(-1, 2)[inverse]
    low[shown], high[shown] = np.maximum(pairs[:, 0], 0), pairs[:, 1]
    return replace(figures, low=low, high=high)
