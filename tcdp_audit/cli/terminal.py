"""The terminal output of `tcdp-audit check`: figures, what is wrong, reports, the verdict last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tcdp_audit.cli.console import console as console_of_command
from tcdp_audit.notebook import SHAPES
from tcdp_audit.outcome import Outcome, Status
from tcdp_audit.phrases import demanded, failing, observed, state_of
from tcdp_audit.provenance import Table as Release
from tcdp_audit.results.audit import Audit
from tcdp_audit.results.unaudited import Unaudited
from tcdp_audit.results.verdict import VERDICTS, verdict_sentence
from tcdp_audit.visible import visible
from tcdp_audit.words import count, listing, prose

Row = tuple[Text, ...]
WORDS = {"passed": "met", "measured": "measured, not judged", "failed": "not met", "error": "not audited completely"}
STYLES = {
    "failed": "bold red",
    "passed": "green",
    "warning": "yellow",
    "measured": "default",
    "skipped": "default",
    "error": "bold magenta",
}


def show(audit: Audit, written: Sequence[str]) -> None:
    """Print an audit to stdout: in colour on a terminal that wants it, plain elsewhere.

    Args:
        audit: what to tell.
        written: paths of the reports that were written.
    """
    tell(console_of_command(), audit, written)


def announce(policy: Path) -> None:
    """Print whose audit follows, among those of several policies."""
    console = console_of_command()
    console.print(Text(f"\n── {visible(str(policy))} ──", "bold"), soft_wrap=True)
    console.file.flush()


def summarise(results: Sequence[Audit | Unaudited], written: Iterable[str], code: int) -> None:
    """Print the audits of several policies as a table, with a verdict on all of them."""
    console = console_of_command()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=False)
    for name in ("verdict", "policy", "release"):
        table.add_column(name, overflow="fold")
    for name in ("records", "demands\nnot met"):
        table.add_column(name, justify="right")
    for result in results:
        table.add_row(*_line(result))
    console.print()
    console.print(table)
    states = ["error" if isinstance(one, Unaudited) else one.status for one in results]
    tally = [f"{states.count(state):,} {words}" for state, words in WORDS.items() if state in states]
    worst = max(states, key=list(WORDS).index)
    sentence = f"{count(len(results), 'policy')}: {listing(tally)}. Exit code {code}."
    conclude(console, written, worst, sentence)


def _line(result: Audit | Unaudited) -> Row:
    if isinstance(result, Unaudited):
        return _status("error"), Text(visible(str(result.path))), *map(Text, ("–", "–", "–"))
    blocking = sum(one.blocks for one in result.outcomes)
    path = result.policy.path or result.policy.name
    figures = (visible(result.release.name), f"{result.release.records:,}", f"{blocking:,}")
    return _status(result.status), Text(visible(str(path))), *map(Text, figures)


def tell(console: Console, audit: Audit, written: Sequence[str]) -> None:
    """Print an audit to a console. Names and messages are never read as markup."""
    headings = ("observed", "demanded", "groups\nfailing", "records\nfailing")
    rows = [*map(_row, audit.expectations), _columns(audit)]
    present(console, audit.release, headings, rows, audit.outcomes)
    conclude(console, written, audit.status, verdict_sentence(audit))


def present(
    console: Console, release: Release, headings: Sequence[str], rows: Iterable[Row], outcomes: Iterable[Outcome]
) -> None:
    """Print what was audited, the expectations as a table, and what is wrong in sentences.

    Args:
        console: where to.
        release: the table that was audited.
        headings: of the columns after the status and the name of an expectation.
        rows: one an expectation.
        outcomes: everything that came of it.
    """
    about = f": {count(release.records, 'record')}, {count(release.columns, 'column')}"
    console.print(Text(visible(release.name), "bold") + Text(about, "default"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=False)
    table.add_column("status", no_wrap=True)
    table.add_column("expectation", overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)
    for outcome in outcomes:
        if outcome.status in (Status.FAILED, Status.ERROR) or outcome.unfailable or outcome.is_estimated:
            console.print(_finding(outcome))


def conclude(console: Console, written: Iterable[str], status: str, sentence: str) -> None:
    """Print the files that were written, and the verdict."""
    for path in written:
        console.print(Text(f"written: {visible(path)}"), soft_wrap=True)
    console.print(Text(f"\n{SHAPES[status]} {VERDICTS[status]}. ", STYLES[status]) + Text(sentence, "default"))


def _row(outcome: Outcome) -> Row:
    fails = failing(outcome)
    texts = [observed(outcome), demanded(outcome), *(("–", "–") if fails is None else map(count, fails))]
    return row_of(outcome, texts)


def row_of(outcome: Outcome, figures: Iterable[str]) -> Row:
    """A row of the table: the state of an expectation, its name, and some figures."""
    name = Text(visible(outcome.title or outcome.check))
    if outcome.attribute is not None:
        name += Text(f"\n{visible(outcome.attribute)}", "dim")
    return _status(state_of(outcome)), name, *map(Text, figures)


def _status(state: str) -> Text:
    return Text(f"{SHAPES[state]} {state}", STYLES[state])


def _columns(audit: Audit) -> Row:
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
        f"\n  class {ordinal}: " + "; ".join(f"{visible(k)}: {visible(v)}" for k, v in cells.items())
        for ordinal, cells in classes
    )
