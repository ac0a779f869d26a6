"""A frontier on a terminal: what each setting costs, the front, and what the policy itself costs last."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tcdp_audit.api import SHAPES
from tcdp_audit.cli.console import console as console_of_command
from tcdp_audit.core.results.frontier import Frontier
from tcdp_audit.core.results.frontier_tables import points_table, settings_table
from tcdp_audit.core.results.reporter import Rows
from tcdp_audit.plugin.sentences import count, sentence_case, visible

STATES = {0: ("passed", "green"), 1: ("failed", "bold red"), 3: ("error", "bold magenta")}


def show_frontier(frontier: Frontier, written: Sequence[str], *, brief: bool = False) -> None:
    """Print a frontier to stdout; see `tell`."""
    tell(console_of_command(), frontier, written, brief=brief)


def tell(console: Console, frontier: Frontier, written: Sequence[str], *, brief: bool = False) -> None:
    """Print a frontier to a console. Names are never read as markup.

    Args:
        console: where to.
        frontier: what to tell.
        written: paths of the reports that were written.
        brief: whether to leave out the settings and the points.
    """
    if not brief:
        release = frontier.release
        about = f": {count(release.records, 'record')}, {count(release.columns, 'column')}"
        console.print(Text(visible(release.name), "bold") + Text(about, "default"), soft_wrap=True)
        _print(console, settings_table(frontier))
        if frontier.points:
            _print(console, points_table(frontier))
            console.print(Text("\nPolicy lines of a point: --point N, of all: --report FILE.html"), soft_wrap=True)
    for path in written:
        console.print(Text(f"written: {visible(path)}"), soft_wrap=True)
    state, style = STATES[frontier.exit_code]
    told = visible(sentence_case(frontier.sentence))
    console.print(Text(f"\n{SHAPES[state]} ", style) + Text(f"{told}.", "default"))


def _print(console: Console, rows: Rows) -> None:
    console.print(Text(f"\n{rows.caption}:\n"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=False)
    for heading in rows.head:
        is_text = heading in ("remedy", "setting", "")
        table.add_column(Text(visible(heading)), justify="left" if is_text else "right", overflow="fold")
    for row in rows.body:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console.print(table)
