"""The terminal output of `tcdp-audit check`: figures, problems, reports, the verdict last."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from tcdp_audit.api import ConventionVariant, Policy, flips
from tcdp_audit.cli.demand_lines import Line, abridge, lines_of
from tcdp_audit.cli.document import STATES, console, marked, print_blocks, print_conclusion, print_written
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.document import Block, Heading, Items, Rows
from tcdp_audit.core.results.reporter import Unaudited
from tcdp_audit.core.results.verdict import VERDICTS, verdict_sentence, verdict_title
from tcdp_audit.plugin.report import Table as Release
from tcdp_audit.plugin.sentences import Status, count, listing, sentence_case, visible

if TYPE_CHECKING:
    from tcdp_audit.core.results.change_log import Step
    from tcdp_audit.core.results.demand_groups import DemandGroup
    from tcdp_audit.core.results.setting_trial import FigureTrial, RemedyTrial

STATUS, GAP = 12, 2  # columns of the status, and between two figures
WIDEST, SHORTEST = 14, 16  # of a figure, and of a name however narrow the terminal is
MOST, LEAST = 60, 20  # lines in all, and those that demands have however many the rest takes
NOT_SUITED = "·"
WORDS = {"passed": "met", "measured": "measured, not judged", "failed": "not met", "error": "not audited completely"}


def announce(policy: Path) -> None:
    """Print the policy whose audit follows, among several."""
    terminal = console()
    terminal.print(Text(f"\n── {visible(str(policy))} ──", "bold"), soft_wrap=True)
    terminal.file.flush()


def summarise(results: Sequence[Audit | Unaudited], written: Iterable[str], code: int) -> None:
    """Print the audits of several policies as a table, with a verdict on all of them."""
    terminal = console()
    states = ["error" if isinstance(one, Unaudited) else one.verdict for one in results]
    rows = [(f"{STATES[state][0]} {state}", *_row(one)) for state, one in zip(states, results, strict=True)]
    head = ("verdict", "policy", "release", "records\nor cells", "demands\nnot met")
    if all(isinstance(one, Unaudited) or one.has_records for one in results):
        head = ("verdict", "policy", "release", "records", "demands\nnot met")
    print_blocks(terminal, [Rows(head, rows, numeric_from=3, states=states)], below=True)
    tally = [f"{states.count(state):,} {words}" for state, words in WORDS.items() if state in states]
    worst = max(states, key=list(WORDS).index)
    sentence = f"{count(len(results), 'policy')}: {listing(tally)}. Exit code {code}."
    titles = [verdict_title(one) for one in results if not isinstance(one, Unaudited) and one.verdict == worst]
    print_verdict(terminal, written, worst, sentence, title=next((one for one in titles if one != VERDICTS[worst]), ""))


def _row(result: Audit | Unaudited) -> tuple[str, ...]:
    if isinstance(result, Unaudited):
        return str(result.path), "–", "–", "–"
    failing_demands = sum(one.blocks for one in result.outcomes)
    path = result.policy.path or result.policy.name
    cells = sum(one["cells"] for one in result.sizes_of_figures.values())
    size = f"{result.release.records:,}" if result.has_records else f"{cells:,}"
    return str(path), result.release.name, size, f"{failing_demands:,}"


def print_audit(
    terminal: Console,
    audit: Audit,
    written: Sequence[str],
    *,
    brief: bool = False,
    verbose: bool = False,
    seconds: float | None = None,
) -> None:
    """Print an audit after `seconds`, with the paths of its reports; `brief` omits what needs no action.

    Where that takes more than sixty lines, demands of one check are a few lines together, unless `verbose`. Names and
    messages are never read as markup.
    """
    tables = () if audit.linked_tables is None else (audit.linked_tables.rows,)
    size = audit.size if audit.figures or audit.models else ""

    def print_all(on: Console, lines: Sequence[Line]) -> None:
        print_outcomes(on, audit.release, ("observed", "demanded"), lines, brief=brief, tables=tables, size=size)
        _print_conclusions(on, audit, written, brief=brief, seconds=seconds)

    lines = lines_of(audit)
    print_all(terminal, lines if verbose else fitting(terminal, lines, audit.demand_groups, print_all, brief=brief))


def _print_conclusions(
    terminal: Console, audit: Audit, written: Sequence[str], *, brief: bool, seconds: float | None
) -> None:
    """Print what would help, the reports that were written, and the verdict."""
    print_blocks(terminal, () if audit.remedy_trial is None else _trial(audit.remedy_trial), below=True)
    print_blocks(terminal, () if audit.figure_trial is None else _figure_trial(audit.figure_trial), below=True)
    took = "" if seconds is None else f" in {seconds:.1f} s"
    counts = f"{audit.tally.demands.line}{took}"
    print_verdict(terminal, written, audit.verdict, verdict_sentence(audit), counts, verdict_title(audit))
    if audit.verdict == "measured" and not brief:
        terminal.print(Text(_next_step(audit)), soft_wrap=True)


def fitting(
    terminal: Console,
    lines: Sequence[Line],
    groups: Sequence[DemandGroup],
    print_all: Callable[[Console, Sequence[Line]], None],
    *,
    brief: bool,
) -> Sequence[Line]:
    """The lines of demands in as many lines of the terminal as `print_all` leaves of sixty; see `abridge`.

    The rest of the output is rendered twice, the first time only to count its lines, unless demands are few.
    """
    shown = [line for line in lines if line.is_brief] if brief else lines
    height = partial(_height, terminal)
    if sum(map(height, shown)) <= LEAST:
        return lines
    unseen = io.StringIO()
    print_all(Console(file=unseen, width=terminal.width, highlight=False), ())
    return abridge(shown, groups, max(MOST - _lines_of(unseen.getvalue(), terminal.width), LEAST), height)


def _height(terminal: Console, line: Line) -> int:
    """The lines of the terminal that a line takes with its sentence."""
    width = max(terminal.width - STATUS, SHORTEST)
    return 1 + sum(len(Text(text.strip()).wrap(terminal, width)) for text in line.sentence.splitlines())


def _lines_of(text: str, width: int) -> int:
    return sum(max(1, -(-cell_len(line) // width)) for line in text.splitlines())


def _next_step(audit: Audit) -> str:
    """The step that turns a measurement into a demand."""
    one = audit.expectations[-1].check if audit.expectations else "k_anonymity"
    return f"To judge it, name a `profile`, or a threshold: tcdp-audit explain {visible(one)}"


def _trial(trial: RemedyTrial) -> Iterator[Block]:
    """The effect of remedies on the release."""
    log = trial.log
    if log is not None and log.dropped:
        yield f"{sentence_case(log.drops)}."
    if log is not None and log.steps:
        yield Heading("Remedies, tried in memory; nothing was written")
        yield Items([_step(step) for step in log.steps], ordered=True)
        yield f"The cost: {log.cost}."
    if trial.passes:
        emptied = f", and be useless for {listing(log.constant_columns)}" if log and log.constant_columns else ""
        yield f"The release would then pass{emptied}; `tcdp-audit fix` writes and proves it."
    else:
        tried = log is not None and (log.tried or log.steps)
        none = "None of the remedies that were tried makes it pass" if tried else "No remedy could be tried on it"
        yield f"{none}: {trial.reason}."


def _figure_trial(trial: FigureTrial) -> Iterator[Block]:
    """The changes of tables of figures that would help, each with what it costs."""
    if trial.proposals:
        yield "What would help, tried in memory; nothing was written."
    for one in trial.proposals:
        yield Heading(one.title)
        yield f"{one.effect} {one.declaration}"
        if one.hidden:
            yield Items(one.cells)
    yield Heading("Then audit the changed tables again")
    yield trial.note


def _step(step: Step) -> str:
    cells = ", ".join(f"{name} {cells:,}" for name, cells in step.cells.items())
    return f"{step.name}{f': cells changed: {cells}' if cells else ''}"


def print_outcomes(
    terminal: Console,
    release: Release,
    headings: Sequence[str],
    lines: Sequence[Line],
    *,
    brief: bool = False,
    tables: Sequence[Block] = (),
    size: str = "",
) -> None:
    """Print the audited table, and a line for each demand, with a sentence below where one is needed.

    `headings` are those of the figures after status and name; `brief` omits what needs no action; `tables` says
    more of a release of several; `size` is that of a release that has more than records.
    """
    shown = [line for line in lines if line.is_brief] if brief else lines
    about = f": {size or (count(len(release.tables), 'table') if tables else release.size)}"
    if not brief:
        terminal.print(Text(visible(release.name), "bold") + Text(about, "default"), soft_wrap=True)
        if tables:
            print_blocks(terminal, tables, below=True)
            terminal.print()
    widths = [
        min(max(cell_len(text) for text in (heading, *(line.figures[number] for line in shown))), WIDEST)
        for number, heading in enumerate(headings)
    ]
    room = _room(terminal, shown, widths)
    if shown and not brief:
        _print_line(terminal, Text(f"{'status':<{STATUS}}", "dim"), "expectation", headings, room, widths, "dim")
    for line in shown:
        _print_line(terminal, marked(line.state), line.name, line.figures, room, widths)
        for text in line.sentence.splitlines():
            _print_wrapped(terminal, text)


def _print_wrapped(terminal: Console, text: str) -> None:
    """Print a text below the names of expectations; where it is wrapped, further lines begin below its first word."""
    indent = STATUS + len(text) - len(text.lstrip())
    for part in Text(text.strip()).wrap(terminal, max(terminal.width - indent, SHORTEST)):
        terminal.print(Text(" " * indent) + Text(part.plain.rstrip()), soft_wrap=True)


def _room(terminal: Console, lines: Sequence[Line], widths: Sequence[int]) -> int:
    """The width of names: what the terminal leaves; elsewhere that of the longest, since nothing wraps there."""
    needed = max((cell_len(line.name) for line in lines), default=0)
    left = terminal.width - STATUS - sum(GAP + width for width in widths)
    return max(min(needed, left), SHORTEST) if terminal.is_terminal else max(needed, SHORTEST)


def _print_line(
    terminal: Console,
    status: Text,
    name: str,
    figures: Sequence[str],
    room: int,
    widths: Sequence[int],
    style: str = "default",
) -> None:
    """Print one line; what does not fit is cut."""
    status.pad_right(STATUS - status.cell_len)
    cut = [_cut(one, width) for one, width in zip(figures, widths, strict=True)]
    ranged = [" " * (GAP + width - cell_len(one)) + one for one, width in zip(cut, widths, strict=True)]
    text = "".join([set_cell_size(_cut(name, room), room), *ranged])
    terminal.print(status + Text(text.rstrip(), style), soft_wrap=True)


def _cut(text: str, room: int) -> str:
    """A text that fits: its beginning, and its end, which names the measured figure."""
    if cell_len(text) <= room:
        return text
    end = text.rpartition(": ")[2] if cell_len(text.rpartition(": ")[2]) < room // 2 else ""
    return f"{set_cell_size(text, max(room - cell_len(end) - 1, 0))}…{end}"


def print_verdict(
    terminal: Console, written: Iterable[str], status: str, sentence: str, counts: str = "", title: str = ""
) -> None:
    """Print the files that were written, and the verdict: its title, by default that of its status, and its sentence.

    `counts` is a line below on the demands of each status and the time that the audit took.
    """
    print_written(terminal, written)
    print_conclusion(terminal, status, f"{title or VERDICTS[status]}.", sentence)
    if counts:
        terminal.print(Text(sentence_case(counts)), soft_wrap=True)


def show_conventions(policy: Policy, variants: Sequence[ConventionVariant]) -> None:
    """Print the verdict of each expectation under each combination, and which of them flip."""
    print_blocks(console(), _conventions(policy, variants), below=True)


def _conventions(policy: Policy, variants: Sequence[ConventionVariant]) -> Iterator[Block]:
    if len(variants) == 1:
        yield "No convention could change a verdict: the release gives none of them anything to decide."
        return
    yield _combinations(variants)
    flipping = flips(variants)
    for position in flipping:
        expectation = policy.expectations[position]
        verdicts = sorted({one.verdicts[position].value for one in variants} - {Status.SKIPPED.value})
        title = expectation.check.titled(expectation.parameters)
        result = " or ".join(verdicts) if len(verdicts) > 1 else "some of its demands differ"
        yield f"{position + 1} {title}: {result}, by convention"
    if not flipping:
        yield f"No verdict changes under any of the {len(variants)} combinations of conventions."


def _combinations(variants: Sequence[ConventionVariant]) -> Rows:
    """A row a combination; only what differs from the policy's own is named."""
    head = ("conventions", *(str(number) for number in range(1, len(variants[0].verdicts) + 1)))
    own = variants[0].conventions
    rows = []
    for variant in variants:
        changed = {name: value for name, value in variant.conventions.items() if value != own[name]}
        label = ", ".join(f"{name}: {value}" for name, value in changed.items()) or "as in the policy"
        rows.append((label, *(_mark(verdict) for verdict in variant.verdicts)))
    note = f"Columns are the expectations of the policy, in its order. {NOT_SUITED} does not suit the conventions."
    return Rows(head, rows, note=note, numeric_from=1)


def _mark(verdict: Status) -> str:
    return NOT_SUITED if verdict is Status.SKIPPED else STATES[verdict.value][0]
