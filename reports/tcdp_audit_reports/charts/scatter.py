"""Groups by their size and by the check's figure: a mark in each cell of a grid, larger where more groups are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from tcdp_audit.plugin.report import Chart, Rows
from tcdp_audit.plugin.sentences import Outcome, count, decimal, figure
from tcdp_audit_reports.charts.drawing import (
    Axis,
    Drawing,
    Label,
    Line,
    Measured,
    Point,
    Rectangle,
    axis_for,
    figure_table,
    shortened,
    text_width,
)
from tcdp_audit_reports.charts.histogram import compact

DETAIL = "by_size"
MOST = 16  # columns and rows that are drawn
LEFT = 14.0  # percent of the width for the values
TOP, TALL, BEYOND = 40, 170, 26  # pixels: above the marks, of the marks, and of the row of infinite ones
LEAST, LARGEST = 1.5, 6.5  # pixels: radii of marks
INFINITE = "∞"


@dataclass(frozen=True)
class Grid:
    """Groups in cells."""

    sizes: Sequence[int]  # edges of columns, the last of which closes the last one
    figures: Sequence[float]  # edges of rows, likewise
    # column, row and number of groups; the row of infinite figures is None
    groups: Sequence[tuple[int, int | None, int]]

    @property
    def columns(self) -> list[tuple[int, int]]:
        """The least and the largest size of each."""
        return [(low, high - 1) for low, high in zip(self.sizes, self.sizes[1:], strict=False)]

    @property
    def rows(self) -> list[tuple[float, float]]:
        """The edges of each."""
        return [*zip(self.figures, self.figures[1:], strict=False)]

    @property
    def infinite(self) -> bool:
        """Whether some figure is."""
        return any(row is None for _, row, _ in self.groups)


def chart(outcome: Outcome, measured: Measured | None) -> Chart | None:
    """The marks of at least two sizes and two figures; None for any others."""
    grid = grid_of(outcome)
    if measured is None or grid is None:
        return None
    return Chart(
        kind="scatter",
        title="Groups by size and value",
        subtitle=f"{measured.label}, against the {measured.people} in the group; a larger mark is more groups",
        description=_description(grid, measured),
        drawing=_drawing(grid, measured),
        data=_table(grid, measured),
    )


def grid_of(outcome: Outcome) -> Grid | None:
    """The grid in an outcome's details; None where it has none that is worth a picture, or something else."""
    counted = outcome.details.get(DETAIL)
    if not isinstance(counted, Mapping) or {*counted} != {"sizes", "figures", "groups"}:
        return None
    sizes, figures, groups = ([*counted[name]] for name in ("sizes", "figures", "groups"))
    if not (_are_edges(sizes) and _are_edges(figures) and all(_is_group(one) for one in groups)):
        return None
    columns, rows = ({one[i] for one in groups} for i in (0, 1))
    if not columns <= {*range(len(sizes) - 1)} or not rows <= {None, *range(len(figures) - 1)}:
        return None
    return Grid(sizes, figures, [tuple(one) for one in groups]) if len(columns) > 1 and len(rows) > 1 else None


def _are_edges(edges: Sequence[Any]) -> bool:
    numbers = all(isinstance(one, int | float) for one in edges)
    return 1 < len(edges) <= MOST + 1 and numbers and sorted({*edges}) == edges


def _is_group(one: Any) -> bool:
    return isinstance(one, list | tuple) and len(one) == 3 and isinstance(one[2], int) and one[2] > 0


def _range_of_sizes(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _range(low: float, high: float) -> str:
    return f"{figure(low)} to below {figure(high)}"


def _description(grid: Grid, measured: Measured) -> str:
    column, row, groups = max(grid.groups, key=lambda one: one[2])
    where = "infinite" if row is None else f"from {_range(*grid.rows[row])}"
    return (
        f"A mark for each size and value that groups have; {count(groups, 'group')}, more than anywhere else, of "
        f"{_range_of_sizes(*grid.columns[column])} {measured.people} each, have a value {where}."
    )


def _table(grid: Grid, measured: Measured) -> Rows:
    """A row for each range of figures, highest first, and a column for each range of sizes."""
    cells = {(column, row): groups for column, row, groups in grid.groups}
    rows: list[int | None] = [*([None] if grid.infinite else []), *reversed(range(len(grid.rows)))]
    names = {row: "infinite" if row is None else _range(*grid.rows[row]) for row in rows}
    body = [
        [names[row], *(count(cells.get((column, row), 0)) for column in range(len(grid.columns)))]
        for row in rows
        if any((column, row) in cells for column in range(len(grid.columns)))
    ]
    heads = (_range_of_sizes(*one) for one in grid.columns)
    return figure_table(f"Groups by value and by the {measured.people} in them", ("value", *heads), body)


def _drawing(grid: Grid, measured: Measured) -> Drawing:
    threshold = None if measured.threshold is None else float(measured.threshold)
    axis = axis_for([grid.figures[0], grid.figures[-1]], threshold, TALL)
    top = TOP + (BEYOND if grid.infinite else 0)
    foot = top + TALL
    return Drawing(
        height=foot + 42,
        areas=_failing_side(axis, measured, threshold, top, foot),
        lines=(*_grid_lines(axis, foot), *_limit(axis, threshold, foot)),
        points=tuple(_points(grid, axis, top, foot)),
        labels=(
            *_values(axis, foot),
            *([Label(INFINITE, LEFT - 2, top - 14, "tick strong", "end")] if grid.infinite else []),
            *_sizes(grid, foot),
            Label(shortened(f"{measured.people} in the group →"), 100, foot + 36, "label", "end"),
            *_demanded(measured),
        ),
    )


def _place(grid: Grid, column: int) -> float:
    return round(LEFT + (column + 0.5) * (100 - LEFT) / len(grid.columns), 2)


def _points(grid: Grid, axis: Axis, top: int, foot: int) -> Iterator[Point]:
    most = max(groups for *_, groups in grid.groups)
    for column, row, groups in grid.groups:
        middle = None if row is None else sum(axis.place(edge) for edge in grid.rows[row]) / 2
        y = top - 18 if middle is None else round(foot - middle, 1)
        yield Point("of-group", _place(grid, column), y, round(LEAST + (LARGEST - LEAST) * sqrt(groups / most), 1))


def _grid_lines(axis: Axis, foot: int) -> Iterator[Line]:
    for place, _ in axis.named_ticks():
        y = round(foot - place, 1)
        yield Line("grid" if place else "axis", LEFT, 100, y, y)


def _values(axis: Axis, foot: int) -> Iterator[Label]:
    for place, text in axis.named_ticks():
        yield Label(text, LEFT - 2, round(foot - place + 4, 1), anchor="end")


def _sizes(grid: Grid, foot: int) -> Iterator[Label]:
    """The least size of each column under it, those that have room."""
    texts = [compact(low) if low == high else f"{compact(low)}+" for low, high in grid.columns]
    every = 1
    while max(map(text_width, texts)) + 1 > every * (100 - LEFT) / len(texts):
        every += 1
    for column in range(0, len(texts), every):
        yield Label(texts[column], _place(grid, column), foot + 17)


def _limit(axis: Axis, threshold: float | None, foot: int) -> Iterator[Line]:
    if threshold is not None:
        y = round(foot - axis.place(threshold), 1)
        yield Line("limit", LEFT, 100, y, y)
        yield Line("limit", 0, 7, 10, 10)


def _demanded(measured: Measured) -> Iterator[Label]:
    """What the line is, above the marks, where no line is."""
    if measured.threshold is None:
        return
    kind = "demanded" if measured.comparison.higher_is_safer else "allowed"
    strict = {"<": "below ", ">": "above "}.get(measured.comparison.value, "")
    yield Label(f"{kind}: {strict}{decimal(measured.threshold)}", 9, 14, "limit-label", "start")


def _failing_side(
    axis: Axis, measured: Measured, threshold: float | None, top: int, foot: int
) -> tuple[Rectangle, ...]:
    if threshold is None:
        return ()
    limit = round(foot - axis.place(threshold), 1)
    start, end = (limit, foot) if measured.comparison.higher_is_safer else (top - BEYOND + 10, limit)
    return (Rectangle("hatched-soft", LEFT, 100 - LEFT, start, round(max(0.0, end - start), 1)),)
