"""The remedies that were tried, each once: what to call them, what came of them, and why one was not taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tcdp_audit.plugin._internal import in_words
from tcdp_audit.plugin.report import ChangeLog, Rows, Step
from tcdp_audit.plugin.sentences import agree, count, decimal, figure, noun_form, prose, sentence_case, visible
from tcdp_audit_reports.remedy.sentences import listed_outcomes
from tcdp_audit_reports.sections.findings import plain

SHOWN = 12  # rows of the table of what was tried


def not_taken(log: ChangeLog) -> list[Step]:
    """What was tried besides the steps that made the release; each error of a remedy once."""
    untaken: dict[object, Step] = {}
    for one in log.tried:
        if one not in log.steps:
            untaken.setdefault((one.remedy, one.error) if one.error else id(one), one)
    return list(untaken.values())


def names(steps: Sequence[Step]) -> list[str]:
    """What to call each step in a plot: what distinguishes it from the others, its remedy, its parameters or both."""
    repeats = Counter(one.remedy for one in steps)
    if len(repeats) == 1:
        return [parameters_of(one) for one in steps]
    return [plain(one.remedy) + (f", {parameters_of(one)}" if repeats[one.remedy] > 1 else "") for one in steps]


def parameters_of(step: Step) -> str:
    """The parameters of a step in words."""
    return ", ".join(_parameters(step.parameters)) or "default parameters"


def _parameters(parameters: Mapping[str, Any]) -> list[str]:
    """Parameters in words; what a list or a mapping holds may be cells, and is counted."""
    return [f"{plain(name)} {_value_in_words(value)}" for name, value in parameters.items()]


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
    """What was not taken, with the reason; None where nothing else was tried."""
    others = not_taken(log)
    if not others:
        return None
    rows = [[visible(one.title or one.remedy), parameters_of(one), fate(log, one)] for one in others]
    rest = len(rows) - SHOWN
    note = f"{count(rest)} more {agree(rest, 'is', 'are')} in the machine-readable result." if rest > 0 else ""
    what = "What else was tried" if log.steps else "What was tried"
    caption = f"{what}, and why it was not taken"
    return Rows(("remedy", "parameters", "why"), rows[:SHOWN], caption, note, style="tried")


def fate(log: ChangeLog, step: Step) -> str:
    """Why a step was not taken."""
    if step.error:
        return _sentence(prose(step.error))
    against = step.failing
    if against:
        number = len(against)
        predicate = f"{noun_form('demand', number)} {agree(number, 'is', 'are')} still not met"
        return _sentence(f"{in_words(number)} {predicate}: {listed_outcomes(against)}")
    return _beaten(log, step)


def _sentence(text: str) -> str:
    """The text with a full stop and a capital, unless it begins with the name of a figure such as k."""
    sentence = text.rstrip(".") + "."
    return sentence if sentence[1:2] == " " else sentence_case(sentence)


def _beaten(log: ChangeLog, step: Step) -> str:
    """Why a step was not taken though the release passes after it."""
    taken = log.steps[-1].loss if log.steps else None
    if step.loss is None or taken is None:
        return "It was not needed: the release passes without it."
    if step.loss == taken:
        return "It passes with the same loss; the one taken came first."
    return f"It passes, and loses {figure(step.loss)} where the one taken loses {figure(taken)}."
