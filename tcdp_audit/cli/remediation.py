"""The terminal output of `tcdp-audit fix`: before and after, what was changed, what it cost, the verdict last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tcdp_audit.cli.console import console as console_of_command
from tcdp_audit.cli.terminal import SHAPES, STYLES
from tcdp_audit.outcome import Outcome, Status
from tcdp_audit.phrases import demanded, observed, state_of
from tcdp_audit.repair.fixing import Remediation
from tcdp_audit.results.change_log import ChangeLog, Step, flow
from tcdp_audit.results.verdict import VERDICTS
from tcdp_audit.visible import visible
from tcdp_audit.words import count, prose, sentence_case, share


def show_remediation(remediation: Remediation, reports: Sequence[str]) -> None:
    """Print a remediation to stdout.

    Args:
        remediation: what to tell.
        reports: paths of the reports that were written.
    """
    tell(console_of_command(), remediation, reports)


def tell(console: Console, remediation: Remediation, reports: Sequence[str]) -> None:
    """Print a remediation to a console. Names and messages are never read as markup."""
    log, after = remediation.log, remediation.after
    about = f": {count(log.records, 'record')}, {count(log.input.columns, 'column')}"
    console.print(Text(visible(log.input.name), "bold") + Text(about, "default"))
    console.print(_table(log, remediation))
    for outcome in after.outcomes:
        if outcome.status in (Status.FAILED, Status.ERROR) or outcome.unfailable:
            state = state_of(outcome)
            heading = Text(f"\n{SHAPES[state]} ", STYLES[state]) + Text(visible(outcome.title or outcome.check), "bold")
            console.print(heading + Text(f": {prose(outcome.message)}", "default"))
    for line in _changes(log):
        console.print(line)
    if log.planned and log.steps:
        console.print(Text("\nPolicy lines that do the same:\n", "dim") + Text(log.lines.rstrip(), "default"))
    for path in [*([] if remediation.written is None else [str(remediation.written)]), *reports]:
        console.print(Text(f"written: {visible(path)}"), soft_wrap=True)
    console.print(_verdict(remediation))


def _table(log: ChangeLog, remediation: Remediation) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=False)
    table.add_column("status", no_wrap=True)
    table.add_column("expectation", overflow="fold")
    for name in ("before", "after", "demanded"):
        table.add_column(name, justify="right", overflow="fold")
    before = [one for one in log.before if not one.is_structural]
    for first, then in zip(before, remediation.after.expectations, strict=False):
        table.add_row(*_row(first, then))
    return table


def _row(before: Outcome, after: Outcome) -> tuple[Text, ...]:
    state = state_of(after)
    name = Text(visible(after.title or after.check))
    if after.attribute is not None:
        name += Text(f"\n{visible(after.attribute)}", "dim")
    status = Text(f"{SHAPES[state]} {state}", STYLES[state])
    return status, name, Text(observed(before)), Text(observed(after)), Text(demanded(after))


def _changes(log: ChangeLog) -> Iterator[Text]:
    """What each remedy did, what was tried in vain, and what it cost."""
    for number, step in enumerate(log.steps, 1):
        yield Text(f"\n{number}. {step.title}", "bold") + Text(f": {_done(step, log.records)}", "default")
    if log.reason or not log.planned:
        for step in log.tried:
            parameters = f" {flow(step.parameters)}" if step.parameters else ""
            yield Text(f"\n{SHAPES['skipped']} {step.title}{visible(parameters)}", "bold") + Text(
                f": {_why_not(step)}", "default"
            )
    if log.steps:
        yield Text(f"\nInformation loss: {_figures(log.loss)}.")
        order = (
            "shuffled, seed " + str(log.seed) if log.order == "shuffled" else "in the input's order, which links them"
        )
        yield Text(f"Records: {log.records:,} in, {log.records - log.suppressed:,} out, {order}.")


def _why_not(step: Step) -> str:
    """Why a remedy that was tried is not part of the release."""
    if step.error:
        return visible(step.error)
    return f"applied but not kept: {count(len(step.failing), 'expectation')} still failed"


def _done(step: Step, records: int) -> str:
    cells = ", ".join(f"{visible(name)} {number:,}" for name, number in step.cells.items())
    suppressed = f"{count(step.suppressed, 'record')} suppressed ({share(step.suppressed, records)})"
    parts = [f"cells changed: {cells}" if cells else "no cell changed", suppressed if step.suppressed else ""]
    return "; ".join(part for part in parts if part)


def _figures(loss: Mapping[str, object]) -> str:
    """The loss in one number; the reports have the others."""
    return f"{share(float(str(loss['total'])), 1)} on average over all cells"


def _verdict(remediation: Remediation) -> Text:
    after, log = remediation.after, remediation.log
    if remediation.passed:
        verdict = (
            "the release meets its policy now" if log.steps else "the release meets its policy already; it is unchanged"
        )
    else:
        verdict = log.reason or "the release as written does not pass"
    kept = "" if remediation.written is not None or remediation.passed else "; nothing was written"
    heading = Text(f"\n{SHAPES[after.status]} {VERDICTS[after.status]}. ", STYLES[after.status])
    return heading + Text(f"{sentence_case(visible(verdict))}{kept}.", "default")
