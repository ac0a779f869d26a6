"""Blocks of the document model on a terminal. No text of them acts on it: only rich's own styles do.

A block begins below an empty line. A paragraph follows its predecessor directly, and so does a block its heading.
Everywhere but on a terminal rich leaves out the colours and takes 80 columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import IO, assert_never, cast

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from tcdp_audit.api import visible_lines
from tcdp_audit.cli.printing import current
from tcdp_audit.core.results.document import (
    Block,
    Chart,
    Definitions,
    Group,
    Heading,
    Items,
    Lines,
    Paragraph,
    Rows,
    summary_blocks,
)
from tcdp_audit.plugin.sentences import visible

NARROWEST = 20  # of the text of an entry, however narrow the terminal is
STATES = {  # the mark and the style of each state that a row or a conclusion may have
    "passed": ("✓", "green"),
    "failed": ("✗", "bold red"),
    "warning": ("▲", "yellow"),
    "measured": ("○", "default"),
    "skipped": ("◇", "default"),
    "error": ("?", "bold magenta"),
    "better": ("▲", "green"),
    "worse": ("▼", "bold red"),
    "same": ("=", "default"),
    "different": ("~", "yellow"),
    "demand": ("~", "yellow"),
    "new": ("+", "default"),
    "gone": ("−", "yellow"),
    "confirmed": ("✓", "green"),
    "note": ("·", "default"),
    "unverified": ("?", "bold magenta"),
    "differs": ("✗", "bold red"),
}


class VisibleConsole(Console):
    """A console that writes out every character that would act on the terminal, in tables and progress bars too."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The parts of something to print; only rich's own control codes stay as they are."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible_lines(segment.text), segment.style)


def console(*, stderr: bool = False) -> Console:
    """The console of the command that runs."""
    stream = current().err if stderr else current().out
    return VisibleConsole(file=cast("IO[str]", stream.as_it_is), highlight=False)


def print_blocks(terminal: Console, blocks: Iterable[Block], *, below: bool = False) -> None:
    """Print blocks, below others or not; names in them are never read as markup. Charts and groups are left out."""
    previous: Block | None = "" if below else None
    for block in summary_blocks([*blocks]):
        goes_on = isinstance(block, str | Paragraph) and isinstance(previous, str | Paragraph | Items) and previous
        if previous is not None and not goes_on and not isinstance(previous, Heading):
            terminal.print()
        _print_block(terminal, block)
        previous = block


def print_conclusion(terminal: Console, state: str, title: str, sentence: str) -> None:
    """Print a conclusion: the mark of a state with a title, and a sentence."""
    mark, style = STATES[state]
    terminal.print(Text(f"\n{mark} {title}", style) + Text(f"{' ' if title else ''}{sentence}", "default"))


def print_written(terminal: Console, paths: Iterable[str]) -> None:
    """Print the paths of files that were written, each on one line however long it is."""
    for path in paths:
        terminal.print(Text(f"written: {visible(path)}"), soft_wrap=True)


def marked(state: str, text: str = "") -> Text:
    """A state with its mark and its style, or a text in its place."""
    mark, style = STATES[state]
    return Text(f"{mark} {text or state}", style)


def _print_block(terminal: Console, block: Block) -> None:
    match block:
        case str():
            terminal.print(Text(visible(block)))
        case Heading():
            terminal.print(Text(f"{visible(block.text)}:", "bold"))
        case Paragraph():
            terminal.print(_line(block))
            _print_lines(terminal, block.lines)
        case Items():
            _print_items(terminal, block)
        case Definitions():
            _print_table(terminal, Rows(("", ""), block.pairs))
        case Rows():
            _print_rows(terminal, block)
        case Lines():
            if block.title:
                terminal.print(Text(f"{visible(block.title)}:", "dim"))
            _print_lines(terminal, block.text)
        case Chart() | Group():
            pass  # left out, or dissolved already
        case _:
            assert_never(block)


def _line(block: Paragraph) -> Text:
    parts = [
        *([Text(visible(block.lead), "bold")] if block.lead else []),
        *(Text(visible(text), "default") for text in (block.text, block.code) if text),
    ]
    return Text(" ").join(parts)


def _print_lines(terminal: Console, lines: str) -> None:
    """Print lines as they are, so that they can be copied: none is wrapped."""
    if lines:
        terminal.print(Text(visible_lines(lines.rstrip("\n"))), soft_wrap=True)


def _print_items(terminal: Console, block: Items) -> None:
    """Print a list; further lines of an entry begin below its first word."""
    for number, entry in enumerate(block.entries, 1):
        one = Paragraph(entry) if isinstance(entry, str) else entry
        mark = f"{number}. " if block.ordered else "- "
        texts = [_line(Paragraph(text, "" if at else one.lead)) for at, text in enumerate(one.text.split("\n"))]
        lines = [line for text in texts for line in text.wrap(terminal, max(terminal.width - len(mark), NARROWEST))]
        for at, line in enumerate(lines):
            line.rstrip()
            terminal.print(Text(" " * len(mark) if at else mark) + line, soft_wrap=True)


def _print_rows(terminal: Console, rows: Rows) -> None:
    if rows.caption:
        terminal.print(Text(f"{visible(rows.caption)}:\n"))
    _print_table(terminal, rows)
    if rows.note:
        terminal.print(Text(visible(rows.note)))


def _print_table(terminal: Console, rows: Rows) -> None:
    """Print a table without the blanks that would fill its last column."""
    for segments in terminal.render_lines(_table(terminal, rows), pad=False):
        line = Text.assemble(*((one.text, one.style or "") for one in segments))
        line.rstrip()
        terminal.print(line, soft_wrap=True)


def _table(terminal: Console, rows: Rows) -> Table:
    """A table without rules; one whose columns have no names has no header."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", show_header=any(rows.head))
    for position, (heading, right) in enumerate(zip(rows.head, _figures(rows), strict=True)):
        longest = max((cell_len(line) for row in rows.body for line in row[position].split("\n")), default=0)
        unwrapped = position == 0 and longest <= terminal.width // 3  # what heads the rows is read first
        table.add_column(
            Text(visible_lines(heading)), justify="right" if right else "left", overflow="fold", no_wrap=unwrapped
        )
    for number, row in enumerate(rows.body):
        style = STATES[rows.states[number]][1] if rows.states else "default"
        table.add_row(Text(visible_lines(row[0]), style), *(_cell(text) for text in row[1:]))
    return table


def _figures(rows: Rows) -> Sequence[bool]:
    """The columns that hold figures, which are aligned right."""
    styles = rows.style.split()
    start = rows.numeric_from or (1 if "figures" in styles else len(rows.head))
    end = len(rows.head) - ("remedies" in styles)  # whose last column is what was done
    return [start <= position < end for position in range(len(rows.head))]


def _cell(text: str) -> Text:
    """A cell; its lines after the first are details."""
    first, line_break, details = text.partition("\n")
    return Text(visible(first), "default") + Text(f"{line_break}{visible_lines(details)}", "dim")
