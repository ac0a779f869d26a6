"""The remedies that were tried, each once: their names, their results, and why one was not taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tcdp_audit.plugin._internal import in_words
from tcdp_audit.plugin.remedy import failing_demands
from tcdp_audit.plugin.report import ChangeLog, Chart, Rows, Step
from tcdp_audit.plugin.sentences import (
    Status,
    agree,
    count,
    decimal,
    figure,
    noun_form,
    percent,
    prose,
    say,
    sentence_case,
    visible,
)
from tcdp_audit_reports.charts.drawing import Drawing, axis_for, figure_table
from tcdp_audit_reports.charts.labelled_scatter import EDGE, Mark, across, scatter, up
from tcdp_audit_reports.fact_labels import plain
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.remedy.sentences import listed_outcomes
from tcdp_audit_reports.remedy.shifts import key_of

UNJUDGED = "cannot be evaluated: "  # before the reason in the message of a demand that could not be judged
SHOWN = 12  # rows of the table of what was tried


def not_taken(log: ChangeLog) -> list[Step]:
    """The steps that were tried and are not among those that made the release; each error of a remedy once."""
    untaken: dict[object, Step] = {}
    for one in log.tried:
        if one not in log.steps and not _is_idle(one):
            untaken.setdefault((one.remedy, one.error) if one.error else id(one), one)
    return list(untaken.values())


def _is_idle(step: Step) -> bool:
    """True for a step that changed nothing of what others had made."""
    return bool(step.after) and not step.error and not step.suppressed and not any(step.cells.values())


def names(steps: Sequence[Step]) -> list[str]:
    """What to call each step in a plot: what distinguishes it from the others, its remedy, its parameters or both."""
    repeats = Counter(one.remedy for one in steps)
    if len(repeats) == 1:
        return [parameters_of(one) for one in steps]
    return [plain(one.remedy) + (f", {parameters_of(one)}" if repeats[one.remedy] > 1 else "") for one in steps]


PAIRS: Mapping[tuple[str, str], str] = {  # parameters whose name says nothing without the title of their remedy
    ("of", "cells"): "only single cells",
    ("of", "records"): "only whole rows",
}


def parameters_of(step: Step) -> str:
    """The parameters of a step in words; what a list or a mapping holds may be cells, and is counted."""
    words = (
        PAIRS.get((name, str(value))) or say("{name:text} {value:text}", name=plain(name), value=_value_in_words(value))
        for name, value in step.parameters.items()
    )
    return ", ".join(words) or "default parameters"


def _value_in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"for {count(len(value), 'attribute')}"
    if isinstance(value, list | tuple):
        return count(len(value), "value")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Fraction):
        return decimal(value)
    return figure(value) if isinstance(value, int | float) else visible(str(value))


def tried_table(log: ChangeLog) -> Rows | None:
    """A table of what was not taken, with the reason; None where nothing else was tried."""
    others = not_taken(log)
    if not others:
        return None
    rows = [[visible(one.name or one.remedy), parameters_of(one), fate(log, one)] for one in others]
    rest = len(rows) - SHOWN
    note = f"{count(rest)} more {agree(rest, 'is', 'are')} in the machine-readable result." if rest > 0 else ""
    what = "What else was tried" if log.steps else "What was tried"
    caption = f"{what}, and why it was not taken"
    return Rows(("remedy", "parameters", "why"), rows[:SHOWN], caption, note, style="tried")


def fate(log: ChangeLog, step: Step) -> str:
    """The reason why a step was not taken."""
    if step.error:
        return _sentence(quoted(prose(step.error)))
    against = step.failing
    if against and all(one.status is Status.ERROR for one in against):
        return say(
            "Nothing can be judged after it by {titles:text}: {why:text}.",
            titles=listed_outcomes(against),
            why=quoted(prose(against[0].message.removeprefix(UNJUDGED)).rstrip(".")),
        )
    if against:
        number = len(against)
        if number > 1 and Counter(map(key_of, against)) == Counter(map(key_of, failing_demands(log.before))):
            return say("All {number:text} demands are still not met.", number=in_words(number))
        predicate = f"{noun_form('demand', number)} {agree(number, 'is', 'are')} still not met"
        return _sentence(f"{in_words(number)} {predicate}: {listed_outcomes(against)}")
    return _beaten(log, step)


def _sentence(text: str) -> str:
    """The text with a full stop and a capital, unless it begins with the name of a figure such as k."""
    sentence = text.rstrip(".") + "."
    return sentence if sentence[1:2] == " " else sentence_case(sentence)


def _beaten(log: ChangeLog, step: Step) -> str:
    taken = log.steps[-1].loss if log.steps else None
    if step.loss is None or taken is None:
        return "It was not needed: the release passes without it."
    if step.loss == taken:
        return "It passes with the same loss; the one taken came first."
    return f"It passes, and loses {percent(step.loss)} of the detail where the one taken loses {percent(taken)}."


LOSS = "information loss (mean loss of an entry)"
ROWS = 6  # grid lines at most
LONGEST = 34  # letters of a name in the plot; the table has it whole


def chart(log: ChangeLog) -> Chart | None:
    """The plot of at least two measured remedies, those that made the release among them."""
    taken = [one for one in log.steps if one.loss is not None]
    steps = [*reversed(taken), *(one for one in not_taken(log) if one.loss is not None)]
    if len(steps) < 2:
        return None
    return Chart(
        kind="scatter",
        title=_title(log, steps),
        subtitle="Each mark is a release that a remedy made: information lost, and demands still not met",
        description=_description(steps),
        drawing=_drawing(log, steps, names(steps)),
        data=_table(log, steps),
    )


def _title(log: ChangeLog, steps: Sequence[Step]) -> str:
    passing = [one for one in steps if not one.failing]
    if not passing:
        return f"None of the {in_words(len(steps))} remedies that were tried passes"
    least = min(one.loss or 0.0 for one in passing)
    passed = f"{_part(len(passing), len(steps))} that were tried {agree(len(passing), 'passes', 'pass')}"
    taken = [one.loss for one in log.steps[-1:] if not one.failing]
    if len(passing) > 1 and taken == [least]:
        return f"{passed}; the one that loses least was used"
    return passed


def _part(number: int, total: int) -> str:
    if number == total:
        return "Both remedies" if total == 2 else f"All {in_words(total)} remedies"
    return f"{sentence_case(in_words(number))} of {in_words(total)} remedies"


def _description(steps: Sequence[Step]) -> str:
    losses = [one.loss or 0.0 for one in steps]
    return (
        f"Scatter plot of {count(len(steps), 'remedied release')}, with losses from {figure(min(losses))} to "
        f"{figure(max(losses))} and up to {count(max(len(one.failing) for one in steps), 'demand')} not met."
    )


def _drawing(log: ChangeLog, steps: Sequence[Step], called: Sequence[str]) -> Drawing:
    before = len(failing_demands(log.before))
    most = max(before, 1, *(len(one.failing) for one in steps))
    axis = axis_for([0.0, *(one.loss or 0.0 for one in steps)], None, 100 - 2 * EDGE)
    marks = [
        (_mark(log, one, name, across(axis, one.loss or 0.0), up(len(one.failing) / most)), _style(log, one))
        for one, name in zip(steps, called, strict=True)
    ]
    came = Mark("before the repair", across(axis, 0.0), up(before / most), 4.5)
    return scatter(axis, LOSS, _rows(most), [marks[0], (came, "ring"), *marks[1:]])


def _mark(log: ChangeLog, step: Step, name: str, x: float, y: float) -> Mark:
    text = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    if _is_taken(log, step):
        return Mark(f"{text}: taken", x, y, 6.5, "strong halo" if not step.failing else "bad-label halo")
    return Mark(text, x, y, 4.5)


def _style(log: ChangeLog, step: Step) -> str:
    if not _is_taken(log, step):
        return "mark-plain" if not step.failing else "mark-open"
    return "fill-passed" if not step.failing else "fill-failed"


def _is_taken(log: ChangeLog, step: Step) -> bool:
    return step in log.steps


def _rows(most: int) -> list[tuple[float, str]]:
    every = -(-most // ROWS)
    return [(0.0, "passes"), *((number / most, count(number)) for number in range(every, most + 1, every))]


def _table(log: ChangeLog, steps: Sequence[Step]) -> Rows:
    rows = [
        [name, figure(one.loss), count(len(one.failing)), "yes" if _is_taken(log, one) else "no"]
        for one, name in zip(steps, names(steps), strict=True)
    ]
    rows.append(["before the repair", "0", count(len(failing_demands(log.before))), "–"])
    return figure_table("Remedies that were tried", ("remedy", "loss", "demands not met", "taken"), rows)
