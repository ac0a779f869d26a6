"""One number for each name, such as what each column contributes: bars in descending order."""

from __future__ import annotations

from collections.abc import Sequence

from tcdp_audit.plugin.sentences import count, figure
from tcdp_audit_reports.chart import Chart, Table
from tcdp_audit_reports.drawing import Drawing, Label, Line, Rectangle, shortened

MOST = 15  # bars; the table has more
ROW, TOP, THICK = 24, 6, 14  # pixels
LEFT, WIDEST = 36, 52  # percent of the width: where bars begin, and how long the longest is

Named = Sequence[tuple[str, float]]


def chart(title: str, subtitle: str, named: Named, *, ordered: bool = False) -> Chart | None:
    """The bars of at least two numbers, none below zero and one above; None for any others.

    Args:
        title: of the chart.
        subtitle: what a bar shows.
        named: names with their numbers.
        ordered: whether the order of the names is their own.
    """
    if len(named) < 2 or any(value < 0 for _, value in named) or not any(value for _, value in named):
        return None
    bars = list(named) if ordered else sorted(named, key=lambda one: -one[1])
    longest = max(value for _, value in bars)
    shown = bars[:MOST]
    return Chart(
        kind="bars",
        title=title,
        subtitle=subtitle,
        description="; ".join(f"{name}: {figure(value)}" for name, value in shown),
        drawing=_drawing(shown, longest),
        data=Table(title, ("name", "value"), [[name, figure(value)] for name, value in bars], _rest(len(bars))),
    )


def _rest(total: int) -> str:
    return f"{MOST} of {count(total)} are drawn." if total > MOST else ""


def _drawing(bars: Named, longest: float) -> Drawing:
    areas, labels = [], []
    for row, (name, value) in enumerate(bars):
        y = TOP + row * ROW
        width = round(WIDEST * value / longest, 2)
        areas.append(Rectangle("bar", LEFT, width, y, THICK))
        labels.append(Label(shortened(name, LEFT - 2), LEFT - 1.5, y + 11, "label", "end"))
        labels.append(Label(figure(value), round(LEFT + width + 1.5, 2), y + 11, "value", "start"))
    height = 2 * TOP + len(bars) * ROW - (ROW - THICK)
    return Drawing(height, tuple(areas), (Line("axis", LEFT, LEFT, 0, height),), tuple(labels))
