"""The lines of demands on a terminal: one for each, or of very many a few for each group of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tcdp_audit.api import demanded, observed, prose, state_of
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.demand_groups import GRAVITY, DemandGroup
from tcdp_audit.plugin.sentences import Outcome, Status, count, decimal, visible

NAMED = 5  # failing cells of a demand
DETAILS = re.compile(r" of .*(?= in line \d+$| that the profile )")  # of a demand that implies another
VERBOSE = "--verbose shows all"


@dataclass(frozen=True)
class Line:
    """The outcome of one demand on one line: its state, name and figures, and a sentence below if one is needed.

    `number` is that of the demand among the audit's expectations, from 1; 0 for any other line.
    """

    state: str
    name: str
    figures: tuple[str, ...]
    sentence: str = ""
    number: int = 0

    @property
    def is_brief(self) -> bool:
        """Whether it is printed in a brief output, which has only what needs action."""
        return self.state in ("failed", "error", "warning")


def lines_of(audit: Audit) -> list[Line]:
    """A line for each demand of an audit, below those for the checks of its columns."""
    numbered = enumerate(audit.expectations, 1)
    return [*_columns(audit), *(line_of(one, (observed(one), demanded(one)), number) for number, one in numbered)]


def line_of(outcome: Outcome, figures: Sequence[str], number: int = 0) -> Line:
    """The line of an expectation."""
    where = "" if outcome.attribute is None else f": {visible(outcome.attribute)}"
    name = f"{visible(outcome.title or outcome.check)}{where}"
    sentence = "\n".join(filter(None, (_sentence(outcome).strip("\n"), strictness_of(outcome))))
    return Line(state_of(outcome), name, tuple(figures), sentence, number)


def strictness_of(outcome: Outcome) -> str:
    """A line on a demand that is laxer than usual, or that another demand implies; else nothing.

    `laxer than usual (≥ 11), and than a profile demands (≥ 20)`; the report and `lint` have the sources.
    """
    if outcome.implied_by:
        return f"implied by {visible(DETAILS.sub('', outcome.implied_by))}"
    if not outcome.laxer_than or outcome.comparison is None:
        return ""
    sign = outcome.comparison.sign
    strictest = {bool(one.profile): f"({sign} {decimal(one.threshold)})" for one in outcome.laxer_than}
    words = {False: "usual", True: "a profile demands"}
    return (
        f"laxer than {' and than '.join(f'{words[of_profile]} {figure}' for of_profile, figure in strictest.items())}"
    )


def _columns(audit: Audit) -> list[Line]:
    """A line for all checks of columns that pass, one for those of tables, and one for each that does not pass."""
    passed = Counter(one.cells is not None for one in audit.structure if _needs_no_line(one))
    names = {False: count(passed[False], "schema check"), True: f"{count(passed[True], 'check')} of the tables"}
    others = [line_of(one, ("", "")) for one in audit.structure if not _needs_no_line(one)]
    return [*(Line("passed", name, ("", "")) for kind, name in names.items() if passed[kind]), *others]


def _needs_no_line(outcome: Outcome) -> bool:
    """Whether a check of columns or of tables passed, without a note on what was not compared or is acknowledged."""
    return state_of(outcome) == "passed" and not _has_note(outcome)


def _has_note(outcome: Outcome) -> bool:
    """Find out if a structural outcome has a sentence though it passed."""
    return bool(outcome.message) and (outcome.cells is not None or "acknowledged" in outcome.details)


def _sentence(outcome: Outcome) -> str:
    """The sentence of an outcome that failed, that a person must decide, or whose figures are not enough."""
    has_note = outcome.is_structural and _has_note(outcome)
    if (
        outcome.status in (Status.FAILED, Status.ERROR, Status.SKIPPED)
        or outcome.unfailable
        or outcome.is_estimated
        or has_note
    ):
        return f"{prose(outcome.message)}{_cells(outcome)}"
    return _cells(outcome).removeprefix("\n")


def _cells(outcome: Outcome) -> str:
    """The failing cells of tables of figures; or the worst classes by their cells, for `--show-values` only."""
    failing = () if outcome.status is Status.PASSED else outcome.failing_cells
    named = [f"\n  {one.description}" for one in failing[:NAMED]]
    total = max(len(failing), (outcome.cells and outcome.cells.failing) or 0) if failing else 0
    if rest := total - len(named):
        named.append(f"\n  and {count(rest, 'more cell')}")
    classes = ((one.ordinal, one.cells) for one in outcome.worst if one.cells is not None)
    named += [
        f"\n  class {ordinal}: " + "; ".join(f"{visible(k)}: {visible(v)}" for k, v in cells.items())
        for ordinal, cells in classes
    ]
    return "".join(named)


LEVELS = ((3, True), (3, False), (1, False), (0, False))  # the worst of each group, and whether single demands explain


def abridge(
    lines: Sequence[Line], groups: Sequence[DemandGroup], room: int, height: Callable[[Line], int]
) -> Sequence[Line]:
    """Lines that fit, the gravest first, if all do not: a few for each group of demands, then fewer, then the first.

    Nothing is left out without a sentence on how many and of which state.

    Args:
        lines: a line for each demand, and any others.
        groups: the groups of demands, by the numbers of their lines.
        room: how many lines of the terminal there are.
        height: how many of these a line takes with its sentence.
    """
    if sum(map(height, lines)) <= room:
        return lines
    entries: list[_Entry] = []
    for worst, explains in LEVELS:
        entries = sorted(_entries(lines, groups, worst, explains=explains), key=lambda one: _gravity(one.lines[0]))
        if sum(height(line) for entry in entries for line in entry.lines) <= room:
            return [line for entry in entries for line in entry.lines]
    return _first(entries, room - 2, height)  # without two for the sentence on the rest


@dataclass(frozen=True)
class _Entry:
    """The lines of a group of demands or of a single one, and the lines of its demands one by one."""

    lines: list[Line]
    whole: list[Line]


def _gravity(line: Line) -> int:
    return GRAVITY.index(line.state)


def _entries(lines: Sequence[Line], groups: Sequence[DemandGroup], worst: int, *, explains: bool) -> Iterator[_Entry]:
    """The lines of each group, and each other line by itself, with its sentence or without."""
    by_number = {line.number: line for line in lines if line.number}
    group_of = {number: group for group in groups for number in group.numbers}
    begun: set[int] = set()
    for line in lines:
        group = group_of.get(line.number)
        if group is None:
            yield _Entry([line if explains else replace(line, sentence="")], [line])
        elif id(group) not in begun:
            begun.add(id(group))
            yield _Entry(
                _group(group, by_number, worst, explains=explains),
                [by_number[one] for one in group.numbers if one in by_number],
            )


def _group(group: DemandGroup, by_number: Mapping[int, Line], worst: int, *, explains: bool) -> list[Line]:
    """A line for a group, for the worst of it that do not hold, and the number of the others."""
    members = [(by_number[number], outcome) for number, outcome in group.ranked if number in by_number]
    alike = [
        column[0] if len({*column}) == 1 else "" for column in zip(*(one.figures for one, _ in members), strict=True)
    ]
    strictness = {strictness_of(one) for one in group.outcomes} if explains else set()
    sentences = [*(strictness if len(strictness) == 1 else ()), group.sentence]
    head = Line(group.state, f"{group.title}: {group.subjects}", tuple(alike), "\n".join(filter(None, sentences)))
    named = [
        Line(line.state, f"  {group.subject_of(outcome)}", line.figures) for line, outcome in members if line.is_brief
    ][:worst]
    return _with_rest([head, *named], [line for line, _ in members[len(named) :]])


def _with_rest(shown: list[Line], rest: Sequence[Line]) -> list[Line]:
    """The same lines, the last of which says how many more there are."""
    if not rest:
        return shown
    known = len(shown) == 1 and shown[0].sentence.endswith(".")  # how many of a group there are is said already
    lines = [f"{shown[0].sentence[:-1]}; {VERBOSE}."] if known else [shown[-1].sentence, f"{_tally(rest)}; {VERBOSE}."]
    says = "\n".join(filter(None, lines))
    return [*shown[:-1], replace(shown[-1], sentence=says)]


def _tally(lines: Iterable[Line]) -> str:
    """`51 more: 8 failed, 43 passed`."""
    states = Counter(line.state for line in lines)
    if len(states) == 1:
        return f"{states.total():,} more {next(iter(states))}"
    return f"{states.total():,} more: {', '.join(f'{states[one]:,} {one}' for one in GRAVITY if states[one])}"


def _first(entries: Sequence[_Entry], room: int, height: Callable[[Line], int]) -> Sequence[Line]:
    """The first entries that there is room for, and how many demands and checks are in the others."""
    used, fitting = 0, 0
    for entry in entries:
        used += sum(map(height, entry.lines))
        if used > room and fitting:  # the first is there however narrow the terminal is
            break
        fitting += 1
    shown = [line for entry in entries[:fitting] for line in entry.lines]
    return _with_rest(shown, [line for entry in entries[fitting:] for line in entry.whole])
