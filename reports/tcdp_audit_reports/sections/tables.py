"""Tables of figures: each drawn with its hidden and failing cells, then why these fail and what a reader computes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcdp_audit.plugin._internal import Block
from tcdp_audit.plugin.report import Audit, Heading, Items, Paragraph, Rows
from tcdp_audit.plugin.sentences import agree, count, say, sentence_case, visible
from tcdp_audit_reports.cell_grids import (
    LISTED,
    SIGNS,
    Grid,
    GridCell,
    NumberedCell,
    grids,
    is_computed,
    is_in_table,
    numbered_cells,
)
from tcdp_audit_reports.templating import fill_template

NOT_REPEATED = (
    "Published figures are not repeated here, since a failing one is itself the disclosure: a dot is drawn for each."
)
LIST = "Failing figures: why they fail, and what a reader computes"
MARKS = {"error": "✗", "failed": "✗", "warning": "!", "measured": "○"}


def html(audit: Audit) -> str:
    """The grids, then the list of failing cells, to which the numbers in the grids lead."""
    cells = numbered_cells(audit)
    return fill_template(
        "tables.html.j2",
        summary=summary(audit, cells),
        grids=grids(audit, cells),
        cells=cells[:LISTED],
        places={one.number: place(audit, one) for one in cells[:LISTED]},
        rest=_rest(cells),
        title=LIST,
        sign=SIGNS["published"],
        shows_values=audit.shows_values,
    )


def blocks(audit: Audit) -> Iterator[Block]:
    """The same as tables of text, and the failing cells as a numbered list."""
    cells = numbered_cells(audit)
    yield summary(audit, cells)
    for grid in grids(audit, cells):
        if grid.rows:
            yield _rows(grid)
        else:
            yield f"{grid.title}. {grid.note}"
    if cells:
        yield Heading(LIST)
        yield Items([_entry(audit, one) for one in cells[:LISTED]], ordered=True)
    if rest := _rest(cells):
        yield rest


def summary(audit: Audit, cells: Sequence[NumberedCell]) -> str:
    """The numbers of failing and of hidden cells, and the meaning of a dot."""
    total = sum(one["cells"] for one in audit.sizes_of_figures.values())
    hidden = sum(one["hidden"] for one in audit.sizes_of_figures.values())
    failing = [one for one in cells if one.state != "measured"]
    sentences = [
        f"{sentence_case(_failing(audit, failing, total))}{f', {_measured(cells)}' if _measured(cells) else ''}."
    ]
    if hidden:
        sentences.append(f"{sentence_case(count(hidden, 'figure'))} {agree(hidden, 'is', 'are')} hidden.")
    if audit.figures and not audit.shows_values:
        sentences.append(NOT_REPEATED)
    return " ".join(sentences)


def _failing(audit: Audit, cells: Sequence[NumberedCell], total: int) -> str:
    """`3 figures fail, in tables of 96 cells`; figures that can be computed may be in no table."""
    if not cells:
        return "no figure fails a demand that was examined"
    inside = sum(is_in_table(audit, one.cell) for one in cells)
    return say(
        "{n:figure} {n:fails|fail}[{total>0?}[{outside>0?}: [{inside>0?}{inside} in tables of {total:cell}, and ]"
        "{outside} that {outside:stands|stand} in no table and can be computed|, in tables of {total:cell}]]",
        n=len(cells),
        inside=inside,
        total=total if audit.figures else 0,
        outside=len(cells) - inside,
    )


def _measured(cells: Sequence[NumberedCell]) -> str:
    number = sum(one.state == "measured" for one in cells)
    noun = "more figure" if number < len(cells) else "figure"
    return f"{count(number, noun)} {agree(number, 'is', 'are')} named by measurements" if number else ""


def place(audit: Audit, one: NumberedCell) -> str:
    """The measure, the table and the line of a cell."""
    cell = one.cell
    if is_computed(audit, cell):
        return say("in no table[{measure?}: {measure}]", measure=visible(cell.measure))
    parts = [visible(one) for one in (cell.measure, cell.table) if one and one != cell.name]
    of = say("{measure} of {table}", measure=parts[0], table=parts[1]) if len(parts) > 1 else "".join(parts)
    table = audit.release.tables.get(cell.table) or audit.companions.get(cell.table)
    file = "" if table is None else visible(table.name)
    place = say("{file}, line {n}", file=file, n=cell.line) if file and cell.line else file
    return ", ".join(filter(None, (of, place)))


def _rest(cells: Sequence[NumberedCell]) -> str:
    rest = len(cells) - LISTED
    if rest <= 0:
        return ""
    cells_are = agree(rest, "cell is", "cells are")
    return f"{count(rest)} more {cells_are} in the machine-readable result, a thousand of each demand at most."


def _entry(audit: Audit, one: NumberedCell) -> Paragraph:
    reasons = [f"{reason.title}{f': {reason.says}' if reason.says else ''}." for reason in one.reasons]
    return Paragraph(" ".join((f"({place(audit, one)}).", *reasons)), lead=one.cell.name)


def _rows(grid: Grid) -> Rows:
    caption = say("{title}[{across?}, {across} in columns]", title=grid.title, across=grid.across)
    return Rows(
        (*grid.heads, *grid.columns),
        [(*row.labels, *map(_text, row.cells)) for row in grid.rows],
        caption=caption,
        note=grid.note,
        numeric_from=len(grid.heads),
    )


def _text(cell: GridCell) -> str:
    """A cell as text: its mark and its numbers where it fails, then what the table says."""
    mark = f"{MARKS[cell.state]} {', '.join(map(str, cell.numbers))}".strip() if cell.state else ""
    return " ".join(filter(None, (mark, cell.text)))
