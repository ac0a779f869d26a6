"""The share of records whose class has at most a figure: a curve, its failing side hatched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isinf

from tcdp_audit.plugin.report import Chart, Rows
from tcdp_audit.plugin.sentences import Comparison, agree, count, decimal, figure, share
from tcdp_audit_reports.charts.drawing import (
    Axis,
    Distribution,
    Drawing,
    Label,
    Line,
    Measured,
    Rectangle,
    Say,
    axis_for,
    figure_table,
    shortened,
    text_width,
    thinned,
    tick_label,
    tick_text,
)
from tcdp_audit_reports.languages import localised

LEFT = 11  # percent of the width for the names of the shares
HEIGHT, TOP, BASE = 264, 44, 224  # pixels: the drawing, where 100% is, where 0% is; above it the demand is named
NAMED = (12, 26)  # baselines of the demand, and of what fails it
INFINITE = (86, 12)  # left end and width, in percent, of the bar for infinite figures
FINITE_SPAN = 82 - LEFT  # percent of the width that is left for the others then
STEP = 2  # thousandths of the width: a pixel or so


@dataclass(frozen=True)
class _Curve:
    """The cumulative share: places on the axis, and the share of records up to each."""

    steps: Sequence[tuple[float, float]]
    infinite: float
    span: float

    def path(self) -> str:
        """Steps in a box of 1000 by 1000, thinned to those that a reader could see."""
        corners: dict[int, int] = {}
        for place, share_below in self.steps:
            corners[STEP * round(1000 * place / self.span / STEP)] = round(1000 * (1 - share_below))
        steps, left, height = "", 0, 1000
        for x, y in corners.items():
            if y != height:
                steps += f"h{x - left}v{y - height}"
                left, height = x, y
        return f"M0 1000{steps}H1000" if corners else ""


def chart(measured: Measured, once: Say = str) -> Chart:
    """The cumulative curve of a distribution."""
    finite = [one for one in measured.distribution if not isinf(one[0])]
    infinite = sum(records for value, _, records in measured.distribution if value == inf) / measured.records
    threshold = None if measured.threshold is None else float(measured.threshold)
    axis = axis_for([value for value, _, _ in finite], threshold, FINITE_SPAN if infinite else 100 - LEFT)
    curve = _Curve(_steps(measured, axis), infinite, axis.span)
    return Chart(
        kind="cumulative",
        title=_title(measured),
        subtitle=_subtitle(measured, axis, once),
        description=_description(measured),
        drawing=_drawing(measured, axis, curve),
        data=_table(measured, axis, once),
    )


def _steps(measured: Measured, axis: Axis) -> list[tuple[float, float]]:
    total, below, steps = measured.records, 0, []
    for value, _, records in measured.distribution:
        below += records
        if value != inf:
            steps.append((axis.place(value), below / total))
    return steps


def _title(measured: Measured) -> str:
    if measured.threshold is None or measured.failing is None:
        return f"Half of the {measured.people} are in groups at {figure(_median(measured.distribution))} or below"
    limit, (_, records) = decimal(measured.threshold), measured.failing
    if not records:
        return f"Every {measured.noun} is in a group that meets the demand of {limit}"
    part = share(records, measured.records)
    if measured.others:
        return f"{part} of {measured.people} are in groups that do not meet every demand"
    if measured.comparison.higher_is_safer:
        return f"{part} of {measured.people} are in groups that fall short of {limit}"
    return f"{part} of {measured.people} are in groups that go beyond {limit}"


def _subtitle(measured: Measured, axis: Axis, once: Say) -> str:
    curve = once(f"The curve is the share of {measured.people} whose group is at a value or below.")
    return " ".join(filter(None, (curve, "The axis is logarithmic." if axis.logarithmic else "")))


def _median(distribution: Distribution) -> float:
    half, below = sum(records for _, _, records in distribution) / 2, 0
    for value, _, records in distribution:
        below += records
        if below >= half:
            return value
    return inf


def _description(measured: Measured) -> str:
    values, half = [value for value, _, _ in measured.distribution], figure(_median(measured.distribution))
    return (
        f"Cumulative curve over {measured.records:,} {measured.people}, from {figure(values[0])} to "
        f"{figure(values[-1])}, with half of the {measured.people} at or below {half}."
    )


def _table(measured: Measured, axis: Axis, once: Say) -> Rows:
    """The cumulative share at the axis's ticks and at the threshold, where it is counted exactly."""
    limit = None if measured.threshold is None else float(measured.threshold)
    exact = None if limit is None else _at_limit(measured)
    rows = []
    values: set[float] = {*axis.ticks[1:]}  # the axis begins at or below the least
    if limit is not None:
        values.add(limit)
    for value in sorted(values):
        below = sum(records for one, _, records in measured.distribution if one <= value)
        sign = "≤"
        if exact is not None and value == limit:
            sign, below = exact
        elif exact is not None and limit is not None:  # figures are rounded, and must not cross the exact count
            below = min(below, exact[1]) if value < limit else max(below, exact[1])
        rows.append([f"{sign} {tick_text(value)}", count(below), share(below, measured.records)])
    infinite = sum(records for value, _, records in measured.distribution if value == inf)
    if infinite:
        rows.append(
            ["no value" if measured.no_value else "infinite", count(infinite), share(infinite, measured.records)]
        )
    rounded = any(not isinf(value) and not float(value).is_integer() for value, _, _ in measured.distribution)
    note = once("Values are counted to three significant digits.") if rounded else ""
    return figure_table("", ("value", measured.people, "share"), rows, note)


def _at_limit(measured: Measured) -> tuple[str, int] | None:
    """The records on the lower side of the demand, by the outcome's own count; None if another demand fails some, too.

    The distribution has figures to three significant digits, so a figure next to the demand may have crossed it.
    """
    if measured.failing is None or measured.others:
        return None
    failing, comparison = measured.failing[1], measured.comparison
    below = failing if comparison.higher_is_safer else measured.records - failing
    return ("<" if comparison in (Comparison.AT_LEAST, Comparison.BELOW) else "≤"), below


def _drawing(measured: Measured, axis: Axis, curve: _Curve) -> Drawing:
    areas = list(_infinite_bar(measured, curve))
    labels = [Label(text, LEFT - 2, y + 4, anchor="end") for text, y in (("100%", TOP), ("50%", (TOP + BASE) // 2))]
    lines = [Line("grid", LEFT, 100, y, y) for y in (TOP, (TOP + BASE) // 2)] + [Line("axis", LEFT, 100, BASE, BASE)]
    places = [(round(LEFT + place, 2), text) for place, text in axis.named_ticks()]
    labels += thinned(tick_label(text, place, BASE + 18) for place, text in places)
    lines += [Line("axis", place, place, BASE, BASE + 5) for place, _ in places]
    labels.append(Label(shortened(f"{localised(measured.label)} →"), 100, BASE + 36, "label", "end"))
    if curve.infinite:
        labels += _infinite_labels(curve, "no value" if measured.no_value else "∞")
    if measured.threshold is not None:
        place = round(LEFT + axis.place(float(measured.threshold)), 2)
        areas.insert(0, _failing_side(measured, place, LEFT + axis.span))
        lines.append(Line("limit", place, place, 2, BASE))
        labels += _limit_labels(measured, place, LEFT + axis.span)
    shapes = (tuple(areas), tuple(lines), tuple(labels), curve.path())
    return Drawing(HEIGHT, *shapes, axis.span, left=LEFT, top=TOP, tall=BASE - TOP)


def _infinite_bar(measured: Measured, curve: _Curve) -> list[Rectangle]:
    """What is missing to 100% at the finite end is above infinity."""
    if not curve.infinite:
        return []
    left, width = INFINITE
    height = round(max((BASE - TOP) * curve.infinite, 1.5), 1)
    fails = measured.threshold is not None and not measured.comparison.higher_is_safer
    bar = (left, width, TOP, height)
    return [Rectangle("bad", *bar), Rectangle("hatched", *bar)] if fails else [Rectangle("bar", *bar)]


def _infinite_labels(curve: _Curve, name: str) -> list[Label]:
    left, width = INFINITE
    text = share(curve.infinite, 1)
    return [
        Label(localised(name), left + width / 2, BASE + 18, "tick strong"),
        Label(text, 100, TOP - 5, "value", "end"),
    ]


def _failing_side(measured: Measured, place: float, end: float) -> Rectangle:
    left, right = (float(LEFT), place) if measured.comparison.higher_is_safer else (place, end)
    return Rectangle("hatched-soft", left, round(right - left, 2), TOP, BASE - TOP)


def _limit_labels(measured: Measured, place: float, end: float) -> list[Label]:
    """The demand, and what fails it, above the curve on the side of the line where there is room."""
    texts = [(_limit_text(measured), "limit-label")]
    if measured.failing is not None and measured.failing[1] and not measured.others:
        texts.append((_failing_text(measured), "bad-label"))
    x, anchor = _beside(place, max(text_width(text) for text, _ in texts), end)
    return [Label(text, x, y, style, anchor) for y, (text, style) in zip(NAMED, texts, strict=False)]


def _limit_text(measured: Measured) -> str:
    assert measured.threshold is not None  # noqa: S101 - called for a demand only
    strict = {"<": "below ", ">": "above "}.get(measured.comparison.value, "")
    limit = f"{strict}{decimal(measured.threshold)}"
    return f"demanded: {limit}" if measured.comparison.higher_is_safer else f"allowed: {limit}"


def _failing_text(measured: Measured) -> str:
    records = 0 if measured.failing is None else measured.failing[1]
    higher = measured.comparison.higher_is_safer
    people = f"{records:,} {measured.noun if records == 1 else measured.people}"
    if higher:
        return f"{people} {agree(records, 'falls', 'fall')} short"
    return f"{people} {agree(records, 'goes', 'go')} beyond"


def _beside(place: float, width: float, end: float) -> tuple[float, str]:
    """Right of a line if there is room, else left of it, else along the farther edge."""
    if place + 1.2 + width <= end:
        return round(place + 1.2, 2), "start"
    if place - 1.2 - width >= 0:
        return round(place - 1.2, 2), "end"
    return (end, "end") if place < end / 2 else (0, "start")
