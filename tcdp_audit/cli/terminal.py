"""The terminal output of `tcdp-audit check`: figures, what is wrong, reports, the verdict last."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tcdp_audit.cli.console import console as console_of_command
from tcdp_audit.outcome import Outcome, Status
from tcdp_audit.phrases import demanded, failing, observed, state_of
from tcdp_audit.results.audit import Audit
from tcdp_audit.results.verdict import VERDICTS, verdict_sentence
from tcdp_audit.visible import visible
from tcdp_audit.words import count, prose

SHAPES = {"failed": "✗", "passed": "✓", "warning": "▲", "measured": "○", "skipped": "◇", "error": "?"}
STYLES = {
    "failed": "bold red",
    "passed": "green",
    "warning": "yellow",
    "measured": "default",
    "skipped": "default",
    "error": "bold magenta",
}


def show(audit: Audit, written: list[str]) -> None:
    """Print an audit to stdout: in colour on a terminal that wants it, plain elsewhere.

    Args:
        audit: what to tell.
        written: paths of the reports that were written.
    """
    tell(console_of_command(), audit, written)


def tell(console: Console, audit: Audit, written: Sequence[str]) -> None:
    """Print an audit to a console. Names and messages are never read as markup."""
    release = audit.release
    about = f": {count(release.records, 'record')}, {count(release.columns, 'column')}"
    console.print(Text(visible(release.name), "bold") + Text(about, "default"))
    console.print(_table(audit))
    for outcome in audit.outcomes:
        if outcome.status in (Status.FAILED, Status.ERROR) or outcome.unfailable:
            console.print(_finding(outcome))
    for path in written:
        console.print(Text(f"written: {visible(path)}"), soft_wrap=True)
    console.print(_verdict(audit))


def _table(audit: Audit) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=False)
    table.add_column("status", no_wrap=True)
    table.add_column("expectation", overflow="fold")
    for name in ("observed", "demanded", "groups\nfailing", "records\nfailing"):
        table.add_column(name, justify="right", overflow="fold")
    for outcome in audit.expectations:
        table.add_row(*_row(outcome))
    table.add_row(*_columns(audit))
    return table


def _row(outcome: Outcome) -> tuple[Text, ...]:
    fails = failing(outcome)
    texts = [observed(outcome), demanded(outcome), *(("–", "–") if fails is None else map(count, fails))]
    return _status(state_of(outcome)), _name(outcome), *map(Text, texts)


def _status(state: str) -> Text:
    return Text(f"{SHAPES[state]} {state}", STYLES[state])


def _name(outcome: Outcome) -> Text:
    name = Text(visible(outcome.title or outcome.check))
    return name if outcome.attribute is None else name + Text(f"\n{visible(outcome.attribute)}", "dim")


def _columns(audit: Audit) -> tuple[Text, ...]:
    """One row for what the core asks of the columns; what is wrong stands below the table."""
    states = [state_of(one) for one in audit.structure]
    state = next((one for one in ("error", "failed", "warning") if one in states), "passed")
    return (
        _status(state),
        Text("column checks passed"),
        Text(f"{states.count('passed'):,} of {len(states):,}"),
        Text("all"),
        Text("–"),
        Text("–"),
    )


def _finding(outcome: Outcome) -> Text:
    state = state_of(outcome)
    where = "" if outcome.attribute is None else f", {visible(outcome.attribute)}"
    name = f"{visible(outcome.title or outcome.check)}{where}: "
    sentence = f"{prose(outcome.message)}{_cells(outcome)}"
    return Text(f"\n{SHAPES[state]} ", STYLES[state]) + Text(name, "bold") + Text(sentence, "default")


def _cells(outcome: Outcome) -> str:
    """The worst classes by their cells, for `--show-values` only."""
    classes = ((one.ordinal, one.cells) for one in outcome.worst if one.cells is not None)
    return "".join(
        f"\n  group {ordinal}: " + "; ".join(f"{visible(k)}: {visible(v)}" for k, v in cells.items())
        for ordinal, cells in classes
    )


def _verdict(audit: Audit) -> Text:
    style = STYLES[audit.status]
    return Text(f"\n{SHAPES[audit.status]} {VERDICTS[audit.status]}. ", style) + Text(
        verdict_sentence(audit), "default"
    )
