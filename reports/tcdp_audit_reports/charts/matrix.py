"""A matrix of demands: a row for each column or scenario, a mark and a figure for each demand."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence

from tcdp_audit.plugin._internal import DemandGroup, demanded, observed, state_of
from tcdp_audit.plugin.report import Chart
from tcdp_audit.plugin.sentences import Outcome, agree, count, part_of, plural, say, sentence_case, visible
from tcdp_audit_reports.charts.drawing import (
    LETTER,
    NARROW,
    Drawing,
    Label,
    Line,
    Rectangle,
    figure_table,
    shortened,
    text_width,
)
from tcdp_audit_reports.languages import localised

KIND = "matrix"
TEXT_LINE = 14  # pixels from one line of text to the next
MARKS = {"failed": "✗", "error": "?", "warning": "!", "passed": "✓", "measured": "○", "skipped": "◇"}
WORDS = {"failed": "fails", "error": "could not be checked", "warning": "warns", "passed": "holds"}
WRONG = ("failed", "error", "warning")
GRAVITY = tuple(MARKS)
NAMES, ROW, WIDEST = 32, 15, 26  # percent of the width for names, pixels, percent of a column at most
MOST_ROWS, MOST_COLUMNS = 60, 12  # that are drawn; the table has all
FEW = 6  # columns of the release that scenarios can have in common
FIGURE = "a figure is what was found at the worst place"
TEXT_LINE = 14  # pixels from one line of text to the next
HEAD_LINES = 4  # of the name of a demand
Cells = Mapping[tuple[str, str], Outcome]  # by row and column of the picture


def chart(groups: Sequence[DemandGroup]) -> Chart | None:
    """The demands of some groups; None where they are on fewer than two columns or scenarios.

    Rows are columns of the release, those that fail most first; or scenarios, where they have few columns in common.
    Otherwise a row is a column in one scenario. Cost: linear in the demands.
    """
    noun, cells = _cells(groups)
    columns = list(dict.fromkeys(column for _, column in cells))
    rows = sorted(dict.fromkeys(row for row, _ in cells), key=lambda row: -_wrong(row, columns, cells))
    if len(rows) < 2:
        return None
    wrong = sum(_wrong(row, columns, cells) > 0 for row in rows)
    where = sentence_case(part_of(wrong, len(rows), noun))
    title = (
        say("{n/total:{noun}} {n:does|do} not meet every demand", n=wrong, total=len(rows), noun=noun)
        if 0 < wrong < len(rows)
        else f"{where} {agree(wrong, 'does', 'do')} not meet every demand"
        if wrong
        else f"{where} misses a demand"
    )
    legend = [
        say("{mark} {word:text}", mark=MARKS[one], word=word)
        for one, word in WORDS.items()
        if one in {*map(state_of, cells.values())}
    ]
    drawn, all_names = (
        f"the {MOST_ROWS} of {count(len(rows), noun)} that miss most",
        f"{plural(noun)} that miss most first",
    )
    return Chart(
        kind=KIND,
        title=title,
        subtitle="; ".join((", ".join(legend), FIGURE, drawn if len(rows) > MOST_ROWS else all_names)),
        description=_description(rows, columns, cells, noun),
        drawing=drawing(rows[:MOST_ROWS], columns[:MOST_COLUMNS], cells),
        data=figure_table(
            f"Each demand on each {noun}",
            (noun, *columns),
            [[row, *(_text(cells.get((row, column))) for column in columns)] for row in rows],
        ),
    )


def _cells(groups: Sequence[DemandGroup]) -> tuple[str, Cells]:
    """The noun of a row, and the gravest outcome by row and column."""
    attributes = {one.attribute for group in groups for one in group.outcomes if one.attribute is not None}
    scenarios = {one.scenario for group in groups for one in group.outcomes}
    by_scenario = len(scenarios) > 1 and len(attributes) <= FEW
    cells: dict[tuple[str, str], Outcome] = {}
    for group in groups:
        for one in group.outcomes:
            column, scenario = group.column_of(one), visible(one.scenario)
            demand = (
                say("{title:text} {demanded}", title=group.title, demanded=demanded(one))
                if one.threshold is not None
                else group.title
            )
            if by_scenario:
                place = (
                    scenario or "no scenario",
                    say("{demand:text}, {column}", demand=demand, column=column) if column else demand,
                )
            else:
                place = (group.subject_of(one), demand)
            if place not in cells or _gravity(one) < _gravity(cells[place]):
                cells[place] = one
    noun = "scenario" if by_scenario else "column" if len(scenarios) < 2 else "column in a scenario"
    return noun, cells


def _gravity(outcome: Outcome) -> int:
    return GRAVITY.index(state_of(outcome))


def _wrong(row: str, columns: Sequence[str], cells: Cells) -> int:
    """The number of demands on a row that do not hold."""
    return sum((row, column) in cells and state_of(cells[row, column]) in WRONG for column in columns)


def _text(outcome: Outcome | None) -> str:
    return "–" if outcome is None else f"{MARKS[state_of(outcome)]} {observed(outcome)}"


def _description(rows: Sequence[str], columns: Sequence[str], cells: Cells, noun: str) -> str:
    """The rows with the most demands that do not hold, and how many hold of each demand."""
    by_demand = Counter(column for (_, column), one in cells.items() if state_of(one) in WRONG)
    worst = [f"{column}: {by_demand[column]:,}" for column in columns if by_demand[column]]
    size = f"{count(len(rows), noun)} by {count(len(columns), 'demand')}"
    if not worst:
        return f"A table of marks, {size}; every demand holds."
    return f"A table of marks, {size}. {sentence_case(plural(noun))} where a demand does not hold: {'; '.join(worst)}."


def drawing(rows: Sequence[str], columns: Sequence[str], cells: Cells) -> Drawing:
    """A mark for each demand on each row, on a band where it does not hold; with figures where there is room."""
    left = min(NAMES, max(text_width(row) for row in rows) + 3)
    width = min((100 - left) / len(columns), WIDEST)
    places = [left + width * at for at in range(len(columns))]
    heads, top = _heads(columns, places, width)
    names = [Label(shortened(row, left - 2), 0, top + ROW * at + 11, anchor="start") for at, row in enumerate(rows)]
    wrong, marks = list[Rectangle](), list[Label]()
    for x, column in zip(places, columns, strict=True):
        shown = [(top + ROW * at, cells[row, column]) for at, row in enumerate(rows) if (row, column) in cells]
        has_figures = all(text_width(_text(one)) < width - 1.5 for _, one in shown)
        for y, one in shown:
            state = state_of(one)
            if state in WRONG:
                wrong.append(Rectangle("cell-wrong", round(x, 2), round(width - 1, 2), y + 1, ROW - 2))
            text = _text(one) if has_figures else MARKS[state]
            marks.append(Label(text, round(x + 0.8, 2), y + 11, "bad-label" if state in WRONG else "tick", "start"))
    return Drawing(
        height=top + ROW * len(rows) + 2,
        areas=tuple(wrong),
        lines=(Line("axis", 0, round(places[-1] + width, 2), top - 2, top - 2),),
        labels=(*heads, *names, *marks),
    )


def _heads(columns: Sequence[str], places: Sequence[float], width: float) -> tuple[list[Label], int]:
    """The names of demands above their columns, or their numbers below a list of them; and where the rows begin."""
    letters = int((width - 1) * NARROW / 100 / LETTER)
    columns = [localised(one) for one in columns]
    whole = [re.sub("([≥≤<>]) ", "\\1\u00a0", one) for one in columns]  # a sign stays with its figure
    wrapped = [textwrap.wrap(one, max(letters, 1), break_long_words=False, break_on_hyphens=False) for one in whole]
    if all(len(lines) <= HEAD_LINES and max(map(len, lines)) <= letters for lines in wrapped):
        listed, heads = list[Label](), wrapped
    else:
        texts = [f"{at}  {name}" for at, name in enumerate(columns, 1)]
        listed = [Label(shortened(text), 0, TEXT_LINE * at, "tick", "start") for at, text in enumerate(texts, 1)]
        heads = [[str(at)] for at in range(1, len(columns) + 1)]
    top = TEXT_LINE * (len(listed) + max(map(len, heads))) + 10
    for x, lines in zip(places, heads, strict=True):
        for at, text in enumerate(reversed(lines)):
            listed.append(Label(text, round(x + 0.8, 2), top - 8 - TEXT_LINE * at, "strong", "start"))
    return listed, top
