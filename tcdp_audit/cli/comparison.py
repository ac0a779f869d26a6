"""Two audits on a terminal: a line an expectation, what else differs, the verdict last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from tcdp_audit.cli.console import console as console_of_command
from tcdp_audit.core.results.comparison import AuditComparison, Change, Fact
from tcdp_audit.core.results.written_title import title_in
from tcdp_audit.plugin.sentences import visible

MARKS = {
    "better": ("▲", "green"),
    "worse": ("▼", "bold red"),
    "same": ("=", "default"),
    "different": ("~", "yellow"),
    "demand": ("~", "yellow"),
    "new": ("+", "default"),
    "gone": ("−", "yellow"),
}


def show_comparison(comparison: AuditComparison, written: Sequence[str]) -> None:
    """Print a comparison to stdout.

    Args:
        comparison: what to tell.
        written: paths of the reports that were written.
    """
    console = console_of_command()
    was, now = (title_in(one.result) for one in (comparison.old, comparison.new))
    for name, one, verdict in (("old", comparison.old, was), ("new", comparison.new, now)):
        about = f"{visible(one.path.name)}: {visible(one.release.name)}, {verdict}"
        console.print(Text(f"{name}  ", "bold") + Text(about, "default"))
    console.print()
    console.print(_expectations(comparison.expectations))
    for title, facts in (("Columns", comparison.changed_columns), ("", comparison.changed_facts)):
        if facts:
            console.print(_facts(title or "Besides", facts))
    for path in written:
        console.print(Text(f"written: {visible(path)}"), soft_wrap=True)
    mark, style = MARKS[comparison.verdict.value]
    told = f"Still: {now}." if was == now else f"Was: {was}. Is: {now}."
    console.print(Text(f"\n{mark} {told} ", style) + Text(visible(comparison.sentence), "default"))


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=False)
    for position, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=position == 0)
    return table


def _expectations(changes: Iterable[Change]) -> Table:
    table = _table("", "expectation", "was", "is")
    for one in changes:
        mark, style = MARKS[one.kind]
        about = "".join(f"\n{line}" for line in (one.attribute, one.parameters, one.demands) if line)
        table.add_row(
            Text(f"{mark} {one.kind}", style),
            Text(one.title) + Text(about, "dim"),
            Text(f"{one.observed(one.old)}\n{one.state(one.old)}"),
            Text(f"{one.observed(one.new)}\n{one.state(one.new)}"),
        )
    return table


def _facts(title: str, facts: Iterable[Fact]) -> Table:
    table = _table(f"\n{title}", "\nwas", "\nis")
    for one in facts:
        table.add_row(*(Text(visible(text)) for text in (one.name, one.old, one.new)))
    return table
