"""The terminal output of `tcdp-audit fix`: before and after, what was changed, what it cost, the verdict last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from tcdp_audit.api import SHAPES, Remediation, demanded, observed
from tcdp_audit.cli.console import console as console_of_command
from tcdp_audit.cli.terminal import Line, conclude, line_of, present
from tcdp_audit.core.results.change_log import ChangeLog, Step, flow
from tcdp_audit.core.results.verdict import verdict_title
from tcdp_audit.plugin.sentences import Outcome, Status, count, sentence_case, share, visible


def show_remediation(remediation: Remediation, reports: Sequence[str], *, brief: bool = False) -> None:
    """Print a remediation to stdout; see `tell`."""
    tell(console_of_command(), remediation, reports, brief=brief)


def tell(console: Console, remediation: Remediation, reports: Sequence[str], *, brief: bool = False) -> None:
    """Print a remediation to a console. Names and messages are never read as markup.

    Args:
        console: where to.
        remediation: what to tell.
        reports: paths of the reports that were written.
        brief: whether to leave out demands that nobody has to act on.
    """
    log = remediation.log
    if log.dropped:
        console.print(Text(f"{sentence_case(visible(log.drops))}.", "bold"))
    before = (one for one in log.before if not one.is_structural)
    lines = [_line(first, then) for first, then in zip(before, remediation.after.expectations, strict=False)]
    wrong = [line_of(one, ("", "", "")) for one in remediation.after.structure if one.status is not Status.PASSED]
    present(console, log.input, ("before", "after", "demanded"), [*wrong, *lines], brief=brief)
    for line in _changes(log):
        console.print(line)
    if log.planned and log.steps:
        console.print(Text("\nPolicy lines that do the same:\n", "dim") + Text(log.lines.rstrip(), "default"))
    written = [*([] if remediation.written is None else [str(remediation.written)]), *reports]
    after = remediation.after
    conclude(console, written, after.verdict, _verdict(remediation), title=verdict_title(after))


def _line(before: Outcome, after: Outcome) -> Line:
    return line_of(after, [observed(before), observed(after), demanded(after)])


def _changes(log: ChangeLog) -> Iterator[Text]:
    """What each remedy did, what was tried in vain, and what it cost."""
    for number, step in enumerate(log.steps, 1):
        yield Text(f"\n{number}. {step.title}", "bold") + Text(f": {_done(step, log.records)}", "default")
        yield from _unhelped(step)
        for attack in (one for one in log.attacks if one.step == number - 1):
            yield Text(f"{attack.title}: {visible(attack.sentence)}")
    if log.reason or not log.planned:
        for step in log.tried:
            parameters = f" {flow(step.parameters)}" if step.parameters else ""
            yield Text(f"\n{SHAPES['skipped']} {step.title}{visible(parameters)}", "bold") + Text(
                f": {_why_not(step)}", "default"
            )
            yield from _unhelped(step)
    if log.reason and log.left_out:
        yield Text("\nNot tried:", "bold")
        for reason, titles in log.left_out_by_reason.items():
            yield Text(f"- {visible(', '.join(titles))}: {visible(reason)}")
    if log.steps:
        yield Text("\nWhat it costs those who use it:")
        yield from (Text(f"- {one}") for one in log.utility_impact)
    yield from _records(log)


def _records(log: ChangeLog) -> Iterator[Text]:
    """How many records came in and went out, in which order, and what they were judged with."""
    if log.steps or log.dropped or log.order == "shuffled":
        start = "" if log.steps else "\n"
        order = (
            "shuffled, seed " + str(log.seed) if log.order == "shuffled" else "in the input's order, which links them"
        )
        yield Text(f"{start}Records: {log.records:,} in, {log.records - log.suppressed:,} out, {order}.")
    if log.judged_with_columns:
        yield Text(f"{sentence_case(visible(log.restored_columns))}.")
    if log.aligned:
        yield Text(f"{sentence_case(log.aligned)}.")


def _unhelped(step: Step) -> Iterator[Text]:
    """What a remedy of the policy does not act on."""
    if step.unhelped:
        yield Text(f"   It {visible(step.unhelped)}.")


def _why_not(step: Step) -> str:
    """Why a remedy that was tried is not part of the release."""
    if step.error:
        return visible(step.error)
    return f"applied but not kept: {count(len(step.failing), 'demand')} still failed"


def _done(step: Step, records: int) -> str:
    cells = ", ".join(f"{visible(name)} {number:,}" for name, number in step.cells.items())
    suppressed = f"{count(step.suppressed, 'record')} suppressed ({share(step.suppressed, records)})"
    parts = [f"cells changed: {cells}" if cells else "no cell changed", suppressed if step.suppressed else ""]
    return "; ".join(part for part in parts if part)


def _since(remediation: Remediation) -> str:
    """Whether it met its policy before, and what became of it."""
    if remediation.log.steps:
        return "now"
    if remediation.log.dropped:
        return f"{'already' if remediation.before.passed else 'now'}; nothing but columns was dropped"
    if remediation.log.order == "shuffled":
        return "already; its records are shuffled, and nothing else was changed"
    return "already; it is unchanged"


def _verdict(remediation: Remediation) -> str:
    log = remediation.log
    if remediation.passed:
        sentence = f"the release meets its policy {_since(remediation)}"
    else:
        sentence = log.reason or "the release as written does not pass"
    end = "" if remediation.written is not None or remediation.passed else "; nothing was written"
    return f"{sentence_case(visible(sentence))}{end}."
