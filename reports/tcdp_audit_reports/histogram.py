"""Classes by a whole figure, such as their size: bars, the failing ones hatched, with the records below."""

from __future__ import annotations

from collections.abc import Sequence

from tcdp_audit.plugin.sentences import agree, count, share
from tcdp_audit_reports.bins import LEAST, Bin, binned, compact
from tcdp_audit_reports.chart import Chart, Measured, Table
from tcdp_audit_reports.drawing import SMALL_LETTER, Drawing, Label, Line, Rectangle, shortened, text_width

MOST = 9  # bins
LEFT = 12  # percent of the width for the names of the rows
WIDEST = 14  # percent of the width that a bar takes at most
HEIGHT, BASE, TALLEST = 250, 190, 150  # pixels


def chart(measured: Measured) -> Chart:
    """The histogram of a distribution of whole figures."""
    threshold = None if measured.threshold is None else int(measured.threshold)
    bins = _fitting(measured, threshold)
    return Chart(
        kind="histogram",
        title=_title(measured, threshold),
        subtitle=f"Number of groups by {measured.label}, with the {measured.people} in them below",
        description=_description(bins),
        drawing=_drawing(bins, threshold, measured.people),
        data=_table(bins, measured),
    )


def _fitting(measured: Measured, threshold: int | None) -> list[Bin]:
    """As many bins as have room for their labels on a phone."""
    for number in range(MOST, LEAST, -1):
        bins = binned(measured.distribution, threshold, number)
        widest = max(text_width(text, SMALL_LETTER) for one in bins for text in _texts(one))
        if widest + 1 <= (100 - LEFT) / len(bins):
            return bins
    return binned(measured.distribution, threshold, LEAST)


def _texts(one: Bin) -> tuple[str, str, str]:
    return compact(one.classes), one.label, compact(one.records)


def _title(measured: Measured, threshold: int | None) -> str:
    figures = [int(figure) for figure, _, _ in measured.distribution]
    total = count(measured.classes, "group")
    if threshold is None:
        return (
            f"{total}, from {min(figures):,} to {max(figures):,}"
            if len(figures) > 1
            else f"{total}, all at {figures[0]:,}"
        )
    below = sum(classes for figure, classes, _ in measured.distribution if figure < threshold)
    if not below:
        return f"No group is below {threshold:,}"
    return f"{below:,} of {total} {agree(below, 'is', 'are')} below {threshold:,}"


def _description(bins: Sequence[Bin]) -> str:
    bars = "; ".join(f"{one.range}: {count(one.classes, 'group')}" for one in bins)
    return f"Bar chart of groups by value. {bars}."


def _table(bins: Sequence[Bin], measured: Measured) -> Table:
    rows = [[one.range, count(one.classes), count(one.records), share(one.records, measured.records)] for one in bins]
    return Table(
        f"Groups by {measured.label}", (measured.label, "groups", measured.people, f"share of {measured.people}"), rows
    )


def _drawing(bins: Sequence[Bin], threshold: int | None, people: str) -> Drawing:
    step = (100 - LEFT) / len(bins)
    tallest = max(one.classes for one in bins)
    areas, labels = [], list(_row_names(people))
    for position, one in enumerate(bins):
        middle, height = LEFT + (position + 0.5) * step, TALLEST * one.classes / tallest
        width = min(0.8 * step, WIDEST)
        bar = (round(middle - width / 2, 2), round(width, 2), round(BASE - height, 1), round(height, 1))
        areas.append(Rectangle("bad" if one.failing else "bar", *bar))
        if one.failing:
            areas.append(Rectangle("hatched", *bar))
        labels += _bar_labels(one, round(middle, 2), round(BASE - 6 - height, 1))
    lines = [Line("axis", LEFT, 100, BASE, BASE), Line("grid", 0, 100, 219, 219)]
    if threshold is not None:
        place = round(LEFT + step * sum(one.failing for one in bins), 2)
        lines.append(Line("limit", place, place, 6, 216))
        labels.append(_limit_label(f"demanded: {threshold:,} or more", place))
    return Drawing(HEIGHT, tuple(areas), tuple(lines), tuple(labels))


def _row_names(people: str) -> tuple[Label, ...]:
    rows = (("groups", 184), ("value", 209), (shortened(people, LEFT - 1), 235))
    return tuple(Label(text, 0, y, "label", "start") for text, y in rows)


def _bar_labels(one: Bin, middle: float, top: float) -> list[Label]:
    classes, label, records = _texts(one)
    return [
        Label(classes, middle, top, "value"),
        Label(label, middle, 209, "tick strong"),
        Label(records, middle, 235),
    ]


def _limit_label(text: str, place: float) -> Label:
    fits = place + 1.2 + text_width(f"{text} →", SMALL_LETTER) <= 100
    if fits:
        return Label(f"{text} →", round(place + 1.2, 2), 16, "limit-label", "start")
    return Label(text, round(place - 1.2, 2), 16, "limit-label", "end")
