"""The output of `fix`, `frontier`, `diff` and `verify`: blocks, then the conclusion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import Console

from tcdp_audit.api import Remediation, demanded, observed
from tcdp_audit.cli.demand_lines import Line, line_of
from tcdp_audit.cli.document import STATES, console, print_blocks, print_conclusion, print_written
from tcdp_audit.cli.terminal import fitting, print_outcomes, print_verdict
from tcdp_audit.core.results.change_log import ChangeLog, Step, flow
from tcdp_audit.core.results.comparison import AuditComparison
from tcdp_audit.core.results.document import Block, Heading, Items, Lines, Paragraph, Rows
from tcdp_audit.core.results.frontier import Frontier, points_table, settings_table
from tcdp_audit.core.results.verdict import verdict_title
from tcdp_audit.plugin.sentences import Status, count, sentence_case, share
from tcdp_audit.verification.digests import Point, State

EXIT_STATES = {0: "passed", 1: "failed", 3: "error"}
GRAVER_LAST = (State.CONFIRMED, State.NOTE, State.UNVERIFIED, State.DIFFERS)
MOST_POINTS = 40  # that are printed


def print_comparison(comparison: AuditComparison, written: Sequence[str]) -> None:
    """Print two audits compared, and the paths of the reports that were written."""
    terminal = console()
    print_blocks(terminal, comparison.blocks())
    print_written(terminal, written)
    print_conclusion(terminal, comparison.verdict.value, f"{comparison.title}.", comparison.sentence)


def print_frontier(frontier: Frontier, written: Sequence[str], *, brief: bool = False) -> None:
    """Print a frontier and the paths of its reports; with `brief` without settings and points."""
    terminal = console()
    print_blocks(terminal, () if brief else _frontier(frontier))
    print_written(terminal, written)
    print_conclusion(terminal, EXIT_STATES[frontier.exit_code], "", f"{sentence_case(frontier.sentence)}.")


def _frontier(frontier: Frontier) -> Iterator[Block]:
    release = frontier.release
    yield Paragraph(release.size, lead=f"{release.name}:")
    yield settings_table(frontier)
    if frontier.points:
        yield replace(points_table(frontier), note="Policy lines of a point: --point N, of all: --report FILE.html")


def print_points(points: Sequence[Point], conclusion: str, state: State) -> None:
    """Print what was verified, differences last, and the conclusion in a sentence or a few, marked by its state."""
    terminal = console()
    graver_first = sorted(points, key=lambda one: -GRAVER_LAST.index(one.state))
    shown = sorted(graver_first[:MOST_POINTS], key=lambda one: GRAVER_LAST.index(one.state))
    rows = [(f"{STATES[one.state][0]} {one.subject}", one.sentence) for one in shown]
    print_blocks(terminal, [Rows(("", ""), rows, states=[one.state for one in shown])])
    if len(points) > MOST_POINTS:
        print_blocks(terminal, [f"  and {count(len(points) - MOST_POINTS, 'more point')}"])
    print_conclusion(terminal, state, "", conclusion)


def print_remediation(
    terminal: Console, remediation: Remediation, reports: Sequence[str], *, brief: bool = False, verbose: bool = False
) -> None:
    """Print a remediation and the paths of its reports: before and after, the changes, their cost, the verdict last.

    `brief` omits demands that need no action, and `verbose` prints every demand however many there are.
    """
    log, after = remediation.log, remediation.after
    if log.dropped:
        print_blocks(terminal, [Paragraph("", lead=f"{sentence_case(log.drops)}.")])
    before = (one for one in log.before if not one.is_structural)
    pairs = zip(before, after.expectations, strict=False)
    lines = [
        line_of(then, [observed(first), observed(then), demanded(then)], number)
        for number, (first, then) in enumerate(pairs, 1)
    ]
    wrong = [line_of(one, ("", "", "")) for one in after.structure if one.status is not Status.PASSED]
    written = [*([] if remediation.written is None else [str(remediation.written)]), *reports]

    def print_all(on: Console, lines: Sequence[Line]) -> None:
        print_outcomes(on, log.input, ("before", "after", "demanded"), lines, brief=brief)
        print_blocks(on, _changes(log), below=True)
        print_verdict(on, written, after.verdict, _verdict(remediation), title=verdict_title(after))

    lines = [*wrong, *lines]
    print_all(terminal, lines if verbose else fitting(terminal, lines, after.demand_groups, print_all, brief=brief))


def _changes(log: ChangeLog) -> Iterator[Block]:
    """The changes of each remedy, the remedies that were tried and not kept, and the cost."""
    if log.steps:
        yield Items([_applied(log, number, step) for number, step in enumerate(log.steps)], ordered=True)
    if (log.reason or not log.planned) and log.tried:
        yield Items([_tried(step) for step in log.tried])
    if log.reason and log.left_out:
        yield Heading("Not tried")
        yield Items([f"{', '.join(titles)}: {reason}" for reason, titles in log.left_out_by_reason.items()])
    if log.steps:
        yield Heading("What it costs those who use it")
        yield Items(log.utility_impact)
    yield from _records(log)
    if log.planned and log.steps:
        yield Lines(log.lines, "Policy lines that do the same")


def _records(log: ChangeLog) -> Iterator[str]:
    """The numbers of records read and written, their order, and what they were judged with."""
    if log.steps or log.dropped or log.order == "shuffled":
        order = f"shuffled, seed {log.seed}" if log.order == "shuffled" else "in the input's order, which links them"
        yield f"Records: {log.records:,} in, {log.records - log.suppressed:,} out, {order}."
    if log.redrawn:
        yield f"{sentence_case(log.links)}."
    if log.judged_with_columns:
        yield f"{sentence_case(log.restored_columns)}."
    if log.aligned:
        yield f"{sentence_case(log.aligned)}."


def _applied(log: ChangeLog, number: int, step: Step) -> Paragraph:
    """A remedy that was applied: its changes, the demands on which it does not act, the attacks on it."""
    attacks = [f"{one.title}: {one.sentence}" for one in log.attacks if one.step == number]
    return Paragraph("\n".join([_changed(step, log.records), *_unaffected(step), *attacks]), lead=f"{step.name}:")


def _tried(step: Step) -> Paragraph:
    """A remedy that was tried, with the reason why it is not part of the release."""
    parameters = f" {flow(step.parameters)}" if step.parameters else ""
    reason = step.error or f"applied but not kept: {count(len(step.failing), 'demand')} still failed"
    return Paragraph("\n".join([reason, *_unaffected(step)]), lead=f"{step.name}{parameters}:")


def _unaffected(step: Step) -> list[str]:
    """The demands on which a remedy of the policy does not act."""
    return [f"It {step.unhelped}."] if step.unhelped else []


def _changed(step: Step, records: int) -> str:
    cells = ", ".join(f"{name} {number:,}" for name, number in step.cells.items())
    suppressed = f"{count(step.suppressed, 'record')} suppressed ({share(step.suppressed, records)})"
    parts = [f"cells changed: {cells}" if cells else "no cell changed", suppressed if step.suppressed else ""]
    return "; ".join(part for part in parts if part)


def _since(remediation: Remediation) -> str:
    """Since when the release meets its policy, and the changes that are no remedy."""
    if remediation.log.steps:
        return "now"
    if remediation.log.dropped:
        return f"{'already' if remediation.before.passed else 'now'}; nothing but columns was dropped"
    if remediation.log.redrawn:
        return "already; nothing but the pseudonyms that link its tables was changed"
    if remediation.log.order == "shuffled":
        return "already; its records are shuffled, and nothing else was changed"
    return "already; it is unchanged"


def _verdict(remediation: Remediation) -> str:
    if remediation.passed:
        sentence = f"the release meets its policy {_since(remediation)}"
    else:
        sentence = remediation.log.reason or "the release as written does not pass"
    end = "" if remediation.written is not None or remediation.passed else "; nothing was written"
    return f"{sentence_case(sentence)}{end}."
