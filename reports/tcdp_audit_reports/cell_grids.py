"""Tables of figures as grids of rows and columns, and their failing cells in a numbered list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import state_of
from tcdp_audit.plugin.aggregate import UNBOUNDED, CellState, FailingCell, Figures, PublishedTable
from tcdp_audit.plugin.report import Audit
from tcdp_audit.plugin.sentences import Outcome, agree, count, visible

WHOLE = 40  # rows up to which a table is drawn whole; of a larger one at most so many are drawn
WIDE = 12  # columns, likewise
IN_ALL = 400  # rows that are drawn of all tables together
ROW_DIMENSIONS = 2  # that head the rows of a grid; a table with more of them has several grids
LISTED = 100  # failing cells that the list has
GRAVITY = ("error", "failed", "warning", "measured")
PUBLISHED, HIDDEN, ABSENT, IMPOSSIBLE = "published", "hidden", "absent", "impossible"
KINDS = {CellState.HIDDEN: HIDDEN, CellState.ABSENT: ABSENT, CellState.IMPOSSIBLE: IMPOSSIBLE}
SIGNS = {PUBLISHED: "•", HIDDEN: "hidden", ABSENT: "–", IMPOSSIBLE: "n/a"}
Numbers = NDArray[np.intp]


@dataclass(frozen=True)
class Reason:
    """A reason why a cell fails: the outcome's title, the id of its place on the page, its state, and a sentence."""

    title: str
    target: str
    state: str
    says: str


@dataclass(frozen=True)
class NumberedCell:
    """A failing cell: its number, from 1, what it is, and every outcome that names it."""

    number: int
    cell: FailingCell
    reasons: tuple[Reason, ...]

    @property
    def state(self) -> str:
        """The gravest state of its reasons."""
        return min((one.state for one in self.reasons), key=GRAVITY.index)


@dataclass(frozen=True)
class GridCell:
    """A cell of a grid: its kind, its text, and the numbers and the state with which it fails, if it does."""

    kind: str
    text: str
    numbers: tuple[int, ...] = ()
    state: str = ""


@dataclass(frozen=True)
class GridRow:
    """A row of a grid: its labels, its cells, and whether it is one of totals."""

    labels: tuple[str, ...]
    cells: tuple[GridCell, ...]
    is_total: bool


@dataclass(frozen=True)
class Grid:
    """A measure of a table of figures, or a part of it, in rows and columns.

    Args:
        title: the table and the measure, and the categories of all rows where it is a part.
        heads: the dimensions of its rows.
        across: the dimension of its columns; empty where the only column is the measure.
        columns: the labels of its columns.
        rows: its rows; none where nothing of it is drawn.
        note: what was left out.
    """

    title: str
    heads: tuple[str, ...]
    across: str
    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]
    note: str = ""


def numbered_cells(audit: Audit) -> list[NumberedCell]:
    """Every failing cell once: findings on the tables first, then by the policy's demands, the worst of each first."""
    cells: dict[tuple[object, ...], tuple[FailingCell, list[Reason]]] = {}
    for outcome, target in _outcomes(audit):
        state, title = state_of(outcome), visible(outcome.title or outcome.check)
        for one in outcome.failing_cells:
            _, reasons = cells.setdefault(_key(one), (one, []))
            reason = Reason(title, target, state if state in GRAVITY else "measured", one.why)
            if reason.state != "measured" or not any(other.says == reason.says for other in reasons):
                reasons.append(reason)
    return [NumberedCell(number, one, tuple(reasons)) for number, (one, reasons) in enumerate(cells.values(), 1)]


def _outcomes(audit: Audit) -> Iterator[tuple[Outcome, str]]:
    """The outcomes with the ids of their places on the page."""
    yield from ((one, f"s{number}") for number, one in enumerate(audit.structure, 1))
    yield from ((one, f"e{number}") for number, one in enumerate(audit.expectations, 1))


def _key(cell: FailingCell) -> tuple[object, ...]:
    return cell.table, cell.measure, tuple(cell.labels.items())


def grids(audit: Audit, cells: Sequence[NumberedCell]) -> list[Grid]:
    """The measures of all tables of figures as grids, in the policy's order. Cost: linear in the cells of the tables.

    A large table has only rows with a failing or hidden cell, failing ones first.
    """
    drawn, left = [], IN_ALL
    for table in audit.figures.values():
        for measure, figures in table.figures.items():
            own = [*_drawn(table, measure, figures, cells, min(left, WHOLE), shows_values=audit.shows_values)]
            left -= sum(len(one.rows) for one in own)
            drawn += own
    return drawn


def _drawn(
    table: PublishedTable,
    measure: str,
    figures: Figures,
    cells: Sequence[NumberedCell],
    most: int,
    *,
    shows_values: bool,
) -> Iterator[Grid]:
    """One measure of a table as grids: one, or one for each combination of the dimensions that do not fit into it."""
    failing = _positions(table, measure, cells)
    shape = (-1, table.shape[-1] if len(table.shape) > 1 else 1)
    numbers = np.arange(table.cells).reshape(shape)
    fails, hidden = np.isin(numbers, [*failing]), figures.hidden.reshape(shape)
    columns = _chosen(fails.sum(axis=0), hidden.sum(axis=0), WIDE)
    rows = _chosen(fails[:, columns].sum(axis=1), hidden[:, columns].sum(axis=1), most)
    note = _left_out(fails, hidden, rows, columns)
    title = f"{visible(table.name)}: {visible(measure)}"
    of_columns = table.dimensions[-1:] if len(table.shape) > 1 else ()
    heads = table.dimensions[: len(table.dimensions) - len(of_columns)]
    labels = tuple(visible(of_columns[0].labels[at]) for at in columns) if of_columns else (visible(measure),)
    whole = [
        (
            _labels_of(table, int(numbers[row, 0]), len(heads)),
            tuple(_cell(table, figures, int(numbers[row, at]), failing, shows_values=shows_values) for at in columns),
        )
        for row in rows
    ]
    apart = max(len(heads) - ROW_DIMENSIONS, 0)
    groups = [(fixed, [*part]) for fixed, part in groupby(whole, key=lambda one: one[0][:apart])] or [((), [])]
    for at, (fixed, part) in enumerate(groups):
        named = ", ".join(f"{visible(one.name)} {label}" for one, (label, _) in zip(heads, fixed, strict=False))
        yield Grid(
            title=f"{title}, {named}" if named else title,
            heads=tuple(visible(one.name) for one in heads[apart:]) or ("table",),
            across=visible(of_columns[0].name) if of_columns else "",
            columns=labels,
            rows=tuple(
                GridRow(
                    tuple(label for label, _ in head[apart:]) or (visible(table.name),),
                    row,
                    any(is_total for _, is_total in head[apart:]),
                )
                for head, row in part
            ),
            note=note if at == len(groups) - 1 else "",
        )


def _labels_of(table: PublishedTable, cell: int, heads: int) -> tuple[tuple[str, bool], ...]:
    """The labels of a cell in the first dimensions, each with whether it is the total."""
    codes = np.unravel_index(cell, table.shape)[:heads] if table.dimensions else ()
    return tuple(
        (visible(one.labels[int(code)]), code == one.total)
        for one, code in zip(table.dimensions[:heads], codes, strict=True)
    )


def _positions(table: PublishedTable, measure: str, cells: Sequence[NumberedCell]) -> dict[int, list[NumberedCell]]:
    """The failing cells of a measure by their position in the table; those that it has no cell for are left out."""
    codes = [{label: code for code, label in enumerate(one.labels)} for one in table.dimensions]
    positions: dict[int, list[NumberedCell]] = {}
    for one in cells:
        labels = one.cell.labels
        if one.cell.table != table.name or one.cell.measure not in ("", measure) or len(labels) != len(codes):
            continue
        at = [own.get(labels.get(nodes.name, "")) for own, nodes in zip(codes, table.dimensions, strict=True)]
        if all(code is not None for code in at):
            position = int(np.ravel_multi_index(at, table.shape)) if at else 0  # type: ignore[arg-type] # none is None
            positions.setdefault(position, []).append(one)
    return positions


def is_in_table(audit: Audit, cell: FailingCell) -> bool:
    """Whether a failing cell is one of a table, and not a figure that is only computed, of categories of several."""
    table = audit.figures.get(cell.table)
    if table is None or len(cell.labels) != len(table.dimensions):
        return False
    return all(cell.labels.get(nodes.name) in nodes.labels for nodes in table.dimensions)


def is_computed(audit: Audit, cell: FailingCell) -> bool:
    """Whether a failing cell is of tables of figures and in none of them: it is only computed from several."""
    return cell.table in audit.figures and not is_in_table(audit, cell)


def is_hidden(audit: Audit, cell: FailingCell) -> bool:
    """Whether a failing cell is one of a table, which hides its figure."""
    position = _position(audit, cell)
    return position is not None and bool(audit.figures[cell.table].figures[cell.measure].hidden[position])


def is_of_few(audit: Audit, cell: FailingCell, k: int) -> bool:
    """Whether fewer than k people are in a failing cell itself, and not only in what is left of it or was added."""
    position = _position(audit, cell)
    if position is None:
        return is_computed(audit, cell)
    figures = audit.figures[cell.table].figures[cell.measure]
    return figures.measure.counts == "people" and bool(figures.hidden[position] or figures.low[position] < k)


def _position(audit: Audit, cell: FailingCell) -> int | None:
    """The number of a failing cell in its table; None where no table has a figure there."""
    if not is_in_table(audit, cell) or cell.measure not in audit.figures[cell.table].figures:
        return None
    table = audit.figures[cell.table]
    codes = tuple(nodes.labels.index(cell.labels[nodes.name]) for nodes in table.dimensions)
    return int(np.ravel_multi_index(codes, table.shape)) if codes else 0


def _chosen(fails: Numbers, hidden: Numbers, most: int) -> Numbers:
    """The lines to draw, in order: all if they are few; otherwise those with the most failing, then hidden cells."""
    if len(fails) <= most:
        return np.arange(len(fails))
    ranked = [at for at in np.lexsort((-hidden, -fails)) if fails[at] or hidden[at]]
    return np.sort(np.array(ranked[:most], dtype=np.intp))


def _left_out(fails: NDArray[np.bool_], hidden: NDArray[np.bool_], rows: Numbers, columns: Numbers) -> str:
    """The numbers of rows and columns that are not drawn, and of failing and hidden cells in them."""
    drawn = np.ix_(rows, columns)
    left = {name: int(one.sum() - one[drawn].sum()) for name, one in (("failing", fails), ("hidden", hidden))}
    lines = zip(("row", "column"), fails.shape, (rows, columns), strict=True)
    parts = [f"{total - len(own):,} of {count(total, noun)}" for noun, total, own in lines if len(own) < total]
    if not parts:
        return ""
    marks = [f"{number:,} {name}" for name, number in left.items() if number]
    cells = (
        f"{' and '.join(marks)} {agree(sum(left.values()), 'cell', 'cells')}" if marks else "no failing or hidden cell"
    )
    return f"Not drawn: {' and '.join(parts)}, with {cells}."


def _cell(
    table: PublishedTable,
    figures: Figures,
    cell: int,
    failing: Mapping[int, Sequence[NumberedCell]],
    *,
    shows_values: bool,
) -> GridCell:
    own = failing.get(cell, ())
    kind = KINDS.get(CellState(int(figures.state[cell])), PUBLISHED)
    text = SIGNS[kind]
    if kind == PUBLISHED and shows_values:
        text = published(figures, cell)
    elif kind == HIDDEN and figures.token[cell] >= 0:
        text = visible([*table.declaration.suppressed][int(figures.token[cell])])
    state = min((one.state for one in own), key=GRAVITY.index, default="")
    return GridCell(kind, text, tuple(one.number for one in own if one.number <= LISTED), state)


def published(figures: Figures, cell: int) -> str:
    """A published figure as far as it is known from the file: the number, or the ends of its interval."""
    low, high = int(figures.low[cell]), int(figures.high[cell])
    if low == high or high - low == 2 <= figures.scale:  # exact, or rounded to half a unit of its last digit
        return _plain(Fraction(low + high, 2 * figures.scale))
    ends = (_plain(Fraction(low, figures.scale)), "∞" if high >= UNBOUNDED else _plain(Fraction(high, figures.scale)))
    return f"{ends[0]}–{ends[1]}"


def _plain(value: Fraction) -> str:
    return f"{float(value):,.15g}"
