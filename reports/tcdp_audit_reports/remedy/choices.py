"""The remedies that were tried as marks: the information that each loses, and the demands it does not meet."""

from __future__ import annotations

from collections.abc import Sequence

from tcdp_audit.plugin._internal import in_words
from tcdp_audit.plugin.remedy import failing_demands
from tcdp_audit.plugin.report import ChangeLog, Chart, Rows, Step
from tcdp_audit.plugin.sentences import agree, count, figure, sentence_case
from tcdp_audit_reports.charts.drawing import Drawing, axis_for
from tcdp_audit_reports.charts.labelled_scatter import EDGE, Mark, across, scatter, up
from tcdp_audit_reports.charts.measured import figure_table
from tcdp_audit_reports.remedy.candidates import names, not_taken

LOSS = "information loss (mean loss of a cell)"
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
    came = Mark("as it came in", across(axis, 0.0), up(before / most), 4.5)
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
    """Grid lines at whole numbers of demands."""
    every = -(-most // ROWS)
    return [(0.0, "passes"), *((number / most, count(number)) for number in range(every, most + 1, every))]


def _table(log: ChangeLog, steps: Sequence[Step]) -> Rows:
    rows = [
        [name, figure(one.loss), count(len(one.failing)), "yes" if _is_taken(log, one) else "no"]
        for one, name in zip(steps, names(steps), strict=True)
    ]
    rows.append(["as it came in", "0", count(len(failing_demands(log.before))), "–"])
    return figure_table("Remedies that were tried", ("remedy", "loss", "demands not met", "taken"), rows)
