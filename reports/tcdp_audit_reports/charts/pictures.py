"""Pictures of the figures inside an outcome's details, by their form and never by the check's name; of tables, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeGuard

from tcdp_audit.plugin._internal import LinkedTable, TablesOverview
from tcdp_audit.plugin.report import Chart
from tcdp_audit.plugin.sentences import (
    Outcome,
    count,
    figure,
    listing,
    percent,
    plural,
    say,
    sentence_case,
    share,
    visible,
)
from tcdp_audit_reports.charts import dumbbell
from tcdp_audit_reports.charts.drawing import Drawing, Label, Line, Rectangle, figure_table, shortened, text_width
from tcdp_audit_reports.fact_labels import Labels
from tcdp_audit_reports.languages import localised

MOST = 20  # rows; the table has more
ROW, TOP = 24, 24  # pixels
LEFT = 36  # percent of the width for names
TONES = 10


def heat_map(title: str, what: str, widths: Sequence[str], shares: Mapping[str, Sequence[float]]) -> Chart | None:
    """The map; None where there is nothing to compare, or a number is no share.

    Each name has a share for every width; `what` is the name of widths, such as `p`.
    """
    cells = [share for row in shares.values() for share in row]
    if not cells or len(cells) < 2 or not all(0 <= share <= 1 for share in cells):
        return None
    rows = sorted(shares.items(), key=lambda one: -one[1][-1])
    return Chart(
        kind="heat",
        title=title,
        subtitle=f"Share by column and {what}; darker is more",
        description="; ".join(f"{name}: {', '.join(percent(one) for one in row)}" for name, row in rows[:MOST]),
        drawing=_drawing(what, widths, rows[:MOST]),
        data=figure_table(
            title, ("name", *(f"{what} {one}" for one in widths)), [[n, *map(percent, row)] for n, row in rows]
        ),
    )


def _drawing(what: str, widths: Sequence[str], rows: Sequence[tuple[str, Sequence[float]]]) -> Drawing:
    step = (100 - LEFT) / len(widths)
    areas, labels = [], []
    for place, width in enumerate(widths):
        labels.append(Label(f"{what} {width}", round(LEFT + (place + 0.5) * step, 2), 15, "tick strong"))
    for row, (name, shares) in enumerate(rows):
        y = TOP + row * ROW
        labels.append(Label(shortened(localised(name), LEFT - 2), LEFT - 1.5, y + 15, "label", "end"))
        for place, part in enumerate(shares):
            x = round(LEFT + place * step, 2)
            areas.append(Rectangle(f"heat-{round(part * (TONES - 1))}", x, round(step - 0.4, 2), y, ROW - 2))
            labels.append(Label(percent(part), round(x + step / 2, 2), y + 15, "value halo"))
    return Drawing(TOP + len(rows) * ROW, tuple(areas), (), tuple(labels))


MOST_BARS = 15  # bars; the table has more
BAR_ROW, BAR_TOP, THICK = 24, 6, 14  # pixels
BAR_LEFT, WIDEST = 36, 52  # percent of the width: where bars begin, and how long the longest is

Named = Sequence[tuple[str, float]]


def named_bars(title: str, subtitle: str, named: Named, *, ordered: bool = False) -> Chart | None:
    """The bars of two or more numbers, none below zero and one above; None for others. `ordered` keeps their order."""
    if len(named) < 2 or any(value < 0 for _, value in named) or not any(value for _, value in named):
        return None
    bars = list(named) if ordered else sorted(named, key=lambda one: -one[1])
    longest = max(value for _, value in bars)
    shown, total = bars[:MOST_BARS], len(bars)
    rest = f"{MOST_BARS} of {count(total)} are drawn." if total > MOST_BARS else ""
    return Chart(
        kind="bars",
        title=title,
        subtitle=subtitle,
        description="; ".join(say("{name:text}: {value}", name=name, value=figure(value)) for name, value in shown),
        drawing=_bars_drawing(shown, longest),
        data=figure_table(title, ("name", "value"), [[name, figure(value)] for name, value in bars], rest),
    )


def _bars_drawing(bars: Named, longest: float) -> Drawing:
    areas, labels = [], []
    for row, (name, value) in enumerate(bars):
        y = BAR_TOP + row * BAR_ROW
        width = round(WIDEST * value / longest, 2)
        areas.append(Rectangle("bar", BAR_LEFT, width, y, THICK))
        labels.append(Label(shortened(localised(name), BAR_LEFT - 2), BAR_LEFT - 1.5, y + 11, "label", "end"))
        labels.append(Label(figure(value), round(BAR_LEFT + width + 1.5, 2), y + 11, "value", "start"))
    height = 2 * BAR_TOP + len(bars) * BAR_ROW - (BAR_ROW - THICK)
    return Drawing(height, tuple(areas), (Line("axis", BAR_LEFT, BAR_LEFT, 0, height),), tuple(labels))


DRAWN = "distribution"
FACTS = frozenset({"shared_value", "shift", "worst_with_value", "success"})  # details whose parts sentences have


def drawn(outcome: Outcome) -> frozenset[str]:
    """The details that a picture's own table has."""
    bars = (name for name, value in outcome.details.items() if name not in FACTS and _has_bars(value, outcome))
    return frozenset([*bars, *([dumbbell.DETAIL] if dumbbell.has_picture(outcome) else [])])


def pictures(outcome: Outcome, labels: Labels) -> list[Chart]:
    """Heat maps of figures by column and width, and bars of numbers by name."""
    charts = (*_heat_maps(outcome, labels), *_bars(outcome, labels), _directions(outcome, labels))
    return [one for one in charts if one is not None]


def _heat_maps(outcome: Outcome, labels: Labels) -> Iterator[Chart | None]:
    """Lists of entries that each have one number that differs and one mapping of columns to shares."""
    for name, value in outcome.details.items():
        if name == DRAWN or not isinstance(value, list | tuple) or not value:
            continue
        if not all(isinstance(one, Mapping) for one in value):
            continue
        inner = next((key for key, one in value[0].items() if _is_numbers(one)), None)
        width = next((key for key, one in value[0].items() if _is_number(one)), None)
        if inner is None or width is None or not all(_same(one.get(inner), value[0][inner]) for one in value):
            continue
        shares = {labels.of_name(outcome, key): [float(one[inner][key]) for one in value] for key in value[0][inner]}
        widths = [figure(float(one[width])) for one in value]
        by = labels.of_key(width)
        yield heat_map(f"{sentence_case(labels.of_key(inner))}, by {by}", by, widths, shares)


def _bars(outcome: Outcome, labels: Labels) -> Iterator[Chart | None]:
    """Mappings of names to numbers: by columns in descending order, by anything else in their own."""
    columns = {*outcome.known, *outcome.naming.labels}
    for name, value in outcome.details.items():
        if name in FACTS or not _has_bars(value, outcome):
            continue
        of_columns = columns >= {*value}
        named = [(labels.of_name(outcome, key), float(one)) for key, one in value.items()]
        title = sentence_case(labels.of_key(name))
        by = "A bar for each column" if of_columns else ""
        yield named_bars(title, by, named, ordered=not of_columns)


def _directions(outcome: Outcome, labels: Labels) -> Chart | None:
    """Mappings with the same keys, compared: the first figure of each."""
    sides = {name: value for name, value in outcome.details.items() if _is_numbers(value) and _is_side(outcome, value)}
    if len(sides) < 2:
        return None
    first = next(iter(next(iter(sides.values()))))
    named = [(sentence_case(labels.of_key(name)), float(value[first])) for name, value in sides.items()]
    return named_bars("In both directions", sentence_case(labels.of_key(first)), named, ordered=True)


def _has_bars(value: object, outcome: Outcome) -> TypeGuard[Mapping[str, float]]:
    """Whether a detail is numbers by name that differ: equal ones are a table, and no picture."""
    if not _is_numbers(value) or _is_side(outcome, value):
        return False
    return min(value.values()) >= 0 and max(value.values()) > min(value.values())


def _is_side(outcome: Outcome, value: Mapping[str, Any]) -> bool:
    """Whether another detail has the same keys, and the outcome's own figures have their names."""
    keys = {*value}
    same = [one for one in outcome.details.values() if isinstance(one, Mapping) and {*one} == keys]
    return len(same) > 1 and keys <= {*outcome.details}


def _is_numbers(value: object) -> TypeGuard[Mapping[str, float]]:
    return isinstance(value, Mapping) and len(value) > 1 and all(_is_number(one) for one in value.values())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def _same(one: object, other: Mapping[str, Any]) -> bool:
    return isinstance(one, Mapping) and {*one} == {*other} and _is_numbers(one)


# The tables of a release as a tree: each below its parent and further to the right, so that every arrow is to the left
# of all that is below it, and none crosses a text. Below the tree a bar for each depth of it.
TABLE_ROW, BOX, NAME = 50, 26, 17  # pixels: from table to table, the height of one, and its name's baseline in it
STEP, INSIDE = 4.5, 2.5  # percent of the width: by how much a deeper table is indented, and text inside a table
LINKED, ALONE_ROW, LONGEST_BAR = 36, 42, 48  # pixels from the last table to the bars, and for a bar; percent of a bar


def tables_picture(overview: TablesOverview) -> Chart:
    """The tables of a release, their links and sizes, and how many people are alone by those down to each depth."""
    people, links = plural(overview.noun), [one for one in overview.tables if one.parent]
    drawn = [_table_box(number, one) for number, one in enumerate(overview.tables)]
    arrows = [line for number, one in enumerate(overview.tables) if one.parent for line in _arrow(overview, number)]
    top = (len(overview.tables) - 1) * TABLE_ROW + BOX
    bars = [_alone_bar(overview, depth, top + LINKED) for depth in range(len(overview.alone))]
    heading = (
        [Label(f"{sentence_case(people)} who are alone, by what is known", 0, top + LINKED, "strong", "start")]
        if bars
        else []
    )
    joined = "; ".join(
        f"{visible(one.name)} belongs to {visible(one.parent)} by {visible(one.column)}" for one in links
    )
    alone = "; ".join(f"{_down_to(overview, depth)}: {count(one)}" for depth, one in enumerate(overview.alone))
    sizes = ", ".join(say("{name} {n:record}", name=visible(one.name), n=one.records) for one in overview.tables)
    body = [[_down_to(overview, depth), count(one)] for depth, one in enumerate(overview.alone)]
    return Chart(
        kind="tree",
        title=overview.sentence.rstrip(".") or f"{sentence_case(overview.size)} and their links",
        subtitle=_legend(overview),
        description=". ".join(
            filter(
                None,
                (sizes, joined, f"{sentence_case(people)} who are alone, by what is known: {alone}" if alone else ""),
            )
        ),
        drawing=Drawing(
            top + 8 + (LINKED + len(bars) * ALONE_ROW if bars else 0),
            tuple(box for box, _ in drawn) + tuple(bar for bar, _ in bars if bar is not None),
            tuple(arrows),
            (
                *(label for _, labels in drawn for label in labels),
                *heading,
                *(one for _, labels in bars for one in labels),
            ),
        ),
        data=figure_table(f"{sentence_case(people)} who are alone", ("known", people), body),
    )


def _legend(overview: TablesOverview) -> str:
    if not overview.alone:
        return "An arrow names the column by which rows belong to those of the table above."
    return (
        "An arrow names the column by which rows belong to those of the table above; a bar counts those whom no other "
        f"{overview.noun} is like."
    )


def _table_box(number: int, table: LinkedTable) -> tuple[Rectangle, list[Label]]:
    """A table with its name and size, and the column of its link above it."""
    x, y = STEP * table.depth, number * TABLE_ROW
    size = count(table.records, "record")
    room = 100 - x - 3 * INSIDE - text_width(size)
    labels = [
        Label(shortened(visible(table.name), room), x + INSIDE, y + NAME, "value", "start"),
        Label(size, 100 - INSIDE, y + NAME, anchor="end"),
    ]
    if table.parent:
        by = shortened(f"by {visible(table.column)}", 100 - x - INSIDE)
        labels.append(Label(by, x + INSIDE, y - 8, anchor="start"))
    return Rectangle("box", x, 100 - x, y, BOX), labels


def _arrow(overview: TablesOverview, number: int) -> list[Line]:
    """From the parent, or from the arrow to the child before, down and to the right."""
    child = overview.tables[number]
    before = [at for at, one in enumerate(overview.tables[:number]) if one.parent == child.parent]
    parent = next(at for at, one in enumerate(overview.tables) if one.name == child.parent)
    x = STEP * (child.depth - 1) + STEP / 2
    begins = before[-1] * TABLE_ROW + BOX / 2 if before else parent * TABLE_ROW + BOX
    ends = number * TABLE_ROW + BOX / 2
    return [Line("axis", x, x, begins, ends), Line("axis arrow", x, STEP * child.depth, ends, ends)]


def _alone_bar(overview: TablesOverview, depth: int, top: int) -> tuple[Rectangle | None, list[Label]]:
    """How many are alone by the tables down to a depth: the tables in a line, and a bar below with its number."""
    alone, y = overview.alone[depth], top + 12 + depth * ALONE_ROW
    width = round(LONGEST_BAR * alone / overview.total, 2) if overview.total else 0
    bar = Rectangle("bad", 0, max(width, 0.4), y + 16, 14) if alone else None
    number = say(
        "{alone/total:{noun}}[{alone>0?} ({share})]",
        alone=alone,
        total=overview.total,
        noun=overview.noun,
        share=share(alone, overview.total),
    )
    after = (max(width, 0.4) + 1.5) if alone else 0
    return bar, [
        Label(shortened(localised(_down_to(overview, depth))), 0, y + 9, anchor="start"),
        Label(number, after, y + 27, "bad-label" if alone else "value", "start"),
    ]


def _down_to(overview: TablesOverview, depth: int) -> str:
    """The tables down to a depth, of which the first has the people: `patients`, `with visits and drugs`."""
    names = [visible(one.name) for at in range(min(depth, 1), depth + 1) for one in overview.added_at(at)]
    return say("with {names:names}", names=names) if depth else listing(names)
