"""The share of each value in the worst group against that in the whole table: two marks in a row, and a line between.

Names are masked in the outcome already, unless a person asked to see the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tcdp_audit.plugin.report import Chart
from tcdp_audit.plugin.sentences import Outcome, figure, visible
from tcdp_audit_reports.charts.drawing import (
    Axis,
    Drawing,
    Label,
    Line,
    Point,
    Say,
    axis_for,
    figure_table,
    shortened,
    text_width,
    tick_label,
)
from tcdp_audit_reports.languages import localised

KIND = "dumbbell"
DETAIL = "worst_group"
ROW, TOP = 24, 42  # pixels: from one value to the next, and to the first
LEFT, SPAN = 46.0, 42.0  # percent of the width: where none is, and how wide the plot is
GROUP, REFERENCE = "of-group", "of-reference"
NOTE = "At most six values, those that differ most, in whole percents. Of equally bad groups this is the largest."

Entry = tuple[str, float, float]  # name, share in the group, share in the reference


@dataclass
class Seen:
    """The pictures that a report has already, so that several checks of a column do not repeat one."""

    numbers: dict[Any, tuple[int, str]] = field(default_factory=dict)

    def before(self, outcome: Outcome, number: int, title: str) -> tuple[int, str] | None:
        """The number and the title of the finding that has an outcome's picture; None for the first that has it."""
        entries = tuple(_entries(outcome))
        if len(entries) < 2:
            return None
        first = self.numbers.setdefault((outcome.attribute, _reference(outcome), entries), (number, title))
        return None if first == (number, title) else first


def has_picture(outcome: Outcome) -> bool:
    """Whether an outcome has the shares of at least two values."""
    return len(_entries(outcome)) > 1


def chart(outcome: Outcome, once: Say = str) -> Chart | None:
    """The marks of at least two values; None where the outcome does not have them."""
    if not has_picture(outcome):
        return None
    entries, reference = _entries(outcome), _reference(outcome)
    return Chart(
        kind=KIND,
        title=f"The worst group against {reference}",
        subtitle=_subtitle(outcome),
        description=_description(entries, reference),
        drawing=drawing(entries, ("the worst group", reference)),
        data=figure_table(
            "",
            ("value", "worst group", reference),
            [[name, _percent(one), _percent(other)] for name, one, other in entries],
            once(NOTE),
        ),
    )


def beliefs(outcome: Outcome) -> str:
    """Beliefs about a person of the worst group: before the release, after the table and after the group.

    It is about the value whose share grows most in the group. Nothing where the outcome lacks shares or the number of
    values.

    Source: Li, Li, Venkatasubramanian (2007), section 3, B0 to B2.
    """
    entries, values = _entries(outcome), outcome.details.get("domain_size")
    if not entries or not isinstance(values, int) or values < 1:
        return ""
    name, in_group, in_reference = next((one for one in entries if one[1] > one[2]), entries[0])
    reference = _reference(outcome)
    guess = _percent(1 / values) if values <= 100 else f"{100 / values:.1g}%"
    return (
        f"A stranger holds {name} with {guess} (B0), a reader of {reference} with {_percent(in_reference)} (B1), a "
        f"finder of the worst group with {_percent(in_group)} (B2)."
    )


def _entries(outcome: Outcome) -> list[Entry]:
    label_room = outcome.details.get(DETAIL)
    if not isinstance(label_room, list | tuple) or not all(_is_entry(one) for one in label_room):
        return []
    return [(visible(str(one["value"])), float(one["in_group"]), float(one["in_reference"])) for one in label_room]


def _is_entry(one: Any) -> bool:
    if not isinstance(one, Mapping) or {*one} != {"value", "in_group", "in_reference"}:
        return False
    return all(isinstance(one[name], int | float) and 0 <= one[name] <= 1 for name in ("in_group", "in_reference"))


def _reference(outcome: Outcome) -> str:
    return "the reference" if outcome.conventions.get("reference", "release") != "release" else "the whole table"


def _subtitle(outcome: Outcome) -> str:
    name = outcome.attribute or ""
    return f"Share of each value of {visible(outcome.naming.labels.get(name, name))}" if name else "Share of each value"


def _percent(share: float) -> str:
    return f"{figure(round(100 * share))}%"


def _description(entries: Sequence[Entry], reference: str) -> str:
    name, one, other = entries[0]
    return (
        f"Two marks for each value; they are furthest apart for {name}, which has "
        f"{_percent(one)} of the worst group and {_percent(other)} of {reference}."
    )


def drawing(entries: Sequence[Entry], legend: tuple[str, str]) -> Drawing:
    """Two marks for each name, of which one share at least is above zero; the legend says what each is."""
    axis = axis_for([0.0, *(round(100 * share) for _, *shares in entries for share in shares)], None, SPAN)
    foot = TOP + len(entries) * ROW - ROW // 2
    rows = [(TOP + row * ROW, *entry) for row, entry in enumerate(entries)]
    legend_points = Point(REFERENCE, 36.5, 9, 5), Point(GROUP, 1.5, 9, 4.5)  # so that the latter is drawn above
    names = [Label(text, x, 13, "strong", "start") for text, x in zip(legend, (4, 39), strict=True)]
    return Drawing(
        height=foot + 22,
        lines=(Line("axis", LEFT, LEFT, TOP - ROW // 2, foot), *(_between(axis, *row) for row in rows)),
        points=(*legend_points, *(point for row in rows for point in _points(axis, *row))),
        labels=(*names, *_ticks(axis, foot), *(label for row in rows for label in _labels(axis, *row))),
    )


def _place(axis: Axis, share: float) -> float:
    return round(LEFT + axis.place(100 * share), 2)


def _ticks(axis: Axis, foot: int) -> Iterator[Label]:
    ends = axis.named_ticks()
    for place, text in (ends[0], ends[-1]):
        yield tick_label(f"{text}%", LEFT + place, foot + 16)


def _between(axis: Axis, y: int, _: str, one: float, other: float) -> Line:
    return Line("between", _place(axis, min(one, other)), _place(axis, max(one, other)), y, y)


def _points(axis: Axis, y: int, _: str, one: float, other: float) -> tuple[Point, Point]:
    return Point(REFERENCE, _place(axis, other), y, 5), Point(GROUP, _place(axis, one), y, 4.5)


def _labels(axis: Axis, y: int, name: str, one: float, other: float) -> Iterator[Label]:
    """The name, and each share on the outer side of its mark, the lower one not on the axis; equal ones once."""
    yield Label(shortened(localised(name), LEFT - 10), 0, y + 4, "label", "start")
    low, high = sorted((one, other))
    yield Label(_percent(high), round(_place(axis, high) + 2.4, 2), y + 4, "value" if one == high else "tick", "start")
    if low == high:
        return
    text, x = _percent(low), _place(axis, low) - 2.4
    edge = x if x - text_width(text) > LEFT else LEFT - 2.4
    yield Label(text, round(edge, 2), y + 4, "value" if one == low else "tick", "end")
