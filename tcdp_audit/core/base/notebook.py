"""Outcomes as lines of text and as a table of HTML, as consoles and notebooks display an audit.

The HTML needs no script, style sheet or request. It takes text and background colours from its page; its own colours
can be distinguished on white and on black. Neither form holds a cell of a release, whatever was asked for.

It is part of the core and no host: a notebook calls `_repr_html_` of an object, so outcomes, audits and repairs have
that method, and nothing of a notebook is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import count, prose, sentence_case, visible

SHAPES = {"failed": "✗", "passed": "✓", "warning": "▲", "measured": "○", "skipped": "◇", "error": "?"}
COLOURS = {"failed": "#d1451b", "passed": "#12806f", "warning": "#a06a00", "error": "#9a55c8"}
GREY = "#71787f"
LINES = 5  # of a text
ROWS = 50  # of a table; an audit may have thousands
HEADINGS = ("status", "expectation", "observed", "demanded")
OF_RECORDS, OF_CELLS = ("groups failing", "records failing"), ("cells failing",)
CELL = "padding:.25em .8em;vertical-align:top;border-bottom:1px solid rgba(128,128,128,.4)"
NAME = "font-weight:normal;max-width:40em;white-space:normal;overflow-wrap:anywhere"
LEFT, RIGHT = f"{CELL};text-align:left", f"{CELL};text-align:right;white-space:nowrap"


@dataclass(frozen=True)
class Row:
    """One outcome."""

    state: str  # its status, or "warning" for a failure that only warns
    name: str  # the check, and the attribute that it measured
    observed: str  # the figure
    demanded: str  # the threshold with its comparison, or "none"
    failing: tuple[int, int] | None  # how many classes and records fail, where that is known
    note: str  # what was found, in a sentence without cells
    title: str  # what a person calls the check
    failing_cells: int | None = None  # how many cells of tables of figures fail; None for an outcome of records

    @property
    def matters(self) -> bool:
        """Whether it is a failure, a warning or an error."""
        return self.state in ("failed", "error", "warning")

    @property
    def line(self) -> str:
        """The row as text."""
        demand = "" if self.demanded == "none" else f", demanded {self.demanded}"
        return f"{visible(self.name)}: {self.state}, observed {self.observed}{demand}"


def as_text(head: str, rows: Iterable[Row]) -> str:
    """A head, and what matters of its outcomes, a line each. Only the first are named."""
    lines = [f"{SHAPES[row.state]} {row.line}" for row in rows if row.matters]
    more = [f"… and {len(lines) - LINES:,} more"] if len(lines) > LINES else []
    return "\n".join([head, *lines[:LINES], *more])


def as_html(rows: Sequence[Row], *, state: str = "", verdict: str = "", sentence: str = "", about: str = "") -> str:
    """Outcomes as a table. Where there are too many, those that matter come first.

    `state` is the status of their audit; with one, the verdict, the sentence that explains it and the name of what was
    audited (`about`) precede the table.
    """
    chosen = rows if len(rows) <= ROWS else sorted(rows, key=lambda row: not row.matters)[:ROWS]
    more = f"… and {count(len(rows) - ROWS, 'outcome')} more" if len(rows) > ROWS else ""
    of_cells = any(row.failing_cells is not None for row in rows)
    of_records = not of_cells or any(row.failing is not None for row in rows)
    named = (*HEADINGS, *(OF_RECORDS if of_records else ()), *(OF_CELLS if of_cells else ()))
    headings = "".join(
        f'<th scope="col" style="{RIGHT if number > 1 else LEFT}">{one}</th>' for number, one in enumerate(named)
    )
    strong = f"{_mark(state)} <strong>{_text(verdict)}.</strong>" if state else ""
    parts = [
        f'<p style="margin:.3em 0;max-width:60em">{strong} {_text(sentence)}<br>{_text(about)}</p>' if state else "",
        f'<table style="border-collapse:collapse"><thead><tr>{headings}</tr></thead>',
        f"<tbody>{''.join(_row(row, of_records=of_records, of_cells=of_cells) for row in chosen)}</tbody></table>",
        f"<p>{more}</p>" if more else "",
    ]
    return f"<div>{''.join(parts)}</div>"


def as_paragraph(clause: str) -> str:
    """A clause as a paragraph; nothing for none."""
    return f"<p>{_text(sentence_case(clause))}.</p>" if clause else ""


def _row(row: Row, *, of_records: bool, of_cells: bool) -> str:
    note = f'<br><span style="opacity:.8">{_text(prose(row.note))}</span>' if row.matters and row.note else ""
    numbers = [*((row.failing or (None, None)) if of_records else ()), *([row.failing_cells] if of_cells else [])]
    failing = ["–" if one is None else count(one) for one in numbers]
    figures = "".join(f'<td style="{RIGHT}">{_text(one)}</td>' for one in (row.observed, row.demanded, *failing))
    return (
        f'<tr><td style="{LEFT};white-space:nowrap">{_mark(row.state)} {row.state}</td>'
        f'<th scope="row" style="{LEFT};{NAME}" title="{_text(row.title)}">'
        f"{_text(row.name)}{note}</th>{figures}</tr>"
    )


def _mark(state: str) -> str:
    return f'<span aria-hidden="true" style="color:{COLOURS.get(state, GREY)}">{SHAPES[state]}</span>'


def _text(text: str) -> str:
    from html import escape  # noqa: PLC0415 - only in a notebook

    return escape(visible(text))
