"""The share of records whose class has at most a figure: a curve, its failing side hatched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isinf

from tcdp_audit.plugin.report import Chart, Rows
from tcdp_audit.plugin.sentences import agree, count, decimal, figure, sentence_case, share
from tcdp_audit_reports.charts.drawing import (
    LINE,
    Axis,
    Distribution,
    Drawing,
    Label,
    Line,
    Measured,
    Rectangle,
    axis_for,
    figure_table,
    shortened,
    text_width,
    thinned,
    tick_label,
    tick_text,
)

HEIGHT, TOP, BASE = 240, 20, 200  # pixels: the drawing, where 100% is, where 0% is
INFINITE = (86, 12)  # left end and width, in percent, of the bar for infinite figures
FINITE_SPAN = 82  # percent of the width that is left for the others then
STEP = 2  # thousandths of the width: a pixel or so
BANDS = (46, 128, 165)  # baselines at which two lines of text are clear of the names of the shares


@dataclass(frozen=True)
class _Curve:
    """The cumulative share: places on the axis, and the share of records up to each."""

    steps: Sequence[tuple[float, float]]
    infinite: float

    def height(self, place: float) -> float:
        shares = [share for x, share in self.steps if x <= place]
        return BASE - (BASE - TOP) * (shares[-1] if shares else 0)

    def path(self) -> str:
        """Steps in a box of 1000 by 1000, thinned to those that a reader could see."""
        corners: dict[int, int] = {}
        for place, share_below in self.steps:
            corners[STEP * round(10 * place / STEP)] = round(1000 * (1 - share_below))
        steps, left, height = "", 0, 1000
        for x, y in corners.items():
            if y != height:
                steps += f"h{x - left}v{y - height}"
                left, height = x, y
        return f"M0 1000{steps}H1000" if corners else ""


def chart(measured: Measured) -> Chart:
    """The cumulative curve of a distribution."""
    finite = [one for one in measured.distribution if not isinf(one[0])]
    infinite = sum(records for value, _, records in measured.distribution if value == inf) / measured.records
    threshold = None if measured.threshold is None else float(measured.threshold)
    axis = axis_for([value for value, _, _ in finite], threshold, FINITE_SPAN if infinite else 100)
    curve = _Curve(_steps(measured, axis), infinite)
    return Chart(
        kind="cumulative",
        title=_title(measured),
        subtitle=_subtitle(measured, axis),
        description=_description(measured),
        drawing=_drawing(measured, axis, curve),
        data=_table(measured, axis),
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
    where = f"{share(records, measured.records)} of {measured.people} are in groups that"
    if measured.others:
        return f"{where} do not meet every demand"
    return f"{where} {'fall short of' if measured.comparison.higher_is_safer else 'go beyond'} {limit}"


def _subtitle(measured: Measured, axis: Axis) -> str:
    scale = ", on a logarithmic axis" if axis.logarithmic else ""
    return f"Share of {measured.people} whose group is at this value or below: {measured.label}{scale}"


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


def _table(measured: Measured, axis: Axis) -> Rows:
    """The cumulative share at the axis's ticks and at the threshold."""
    limit = [] if measured.threshold is None else [float(measured.threshold)]
    rows = []
    for value in sorted({*axis.ticks[1:], *limit}):  # the axis begins at or below the least figure
        below = sum(records for one, _, records in measured.distribution if one <= value)
        rows.append([f"≤ {tick_text(value)}", count(below), share(below, measured.records)])
    infinite = sum(records for value, _, records in measured.distribution if value == inf)
    if infinite:
        rows.append(["infinite", count(infinite), share(infinite, measured.records)])
    rounded = any(not isinf(value) and not float(value).is_integer() for value, _, _ in measured.distribution)
    note = "Values are counted to three significant digits." if rounded else ""
    return figure_table(
        f"{sentence_case(measured.people)} at or below a value", ("value", measured.people, "share"), rows, note
    )


def _drawing(measured: Measured, axis: Axis, curve: _Curve) -> Drawing:
    areas = list(_infinite_bar(measured, curve))
    labels = [Label("100%", 0, 15, anchor="start"), Label("50%", 0, 105, anchor="start")]
    lines = [Line("grid", 0, 100, TOP, TOP), Line("grid", 0, 100, 110, 110), Line("axis", 0, 100, BASE, BASE)]
    ticks = thinned(tick_label(text, place, 218) for place, text in axis.named_ticks())
    lines += [Line("axis", round(place, 2), round(place, 2), BASE, BASE + 5) for place, _ in axis.named_ticks()]
    labels += [*ticks, Label(shortened(f"{measured.label} →"), 100, 236, "label", "end")]
    if curve.infinite:
        labels += _infinite_labels(curve)
    if measured.threshold is not None:
        place = round(axis.place(float(measured.threshold)), 2)
        areas.insert(0, _failing_side(measured, place, axis.span))
        lines.append(Line("limit", place, place, 12, BASE))
        labels += _limit_labels(measured, place, axis.span, curve)
    return Drawing(HEIGHT, tuple(areas), tuple(lines), tuple(labels), curve.path(), axis.span)


def _infinite_bar(measured: Measured, curve: _Curve) -> list[Rectangle]:
    """What is missing to 100% at the finite end is above infinity."""
    if not curve.infinite:
        return []
    left, width = INFINITE
    height = round(max((BASE - TOP) * curve.infinite, 1.5), 1)
    fails = measured.threshold is not None and not measured.comparison.higher_is_safer
    bar = (left, width, TOP, height)
    return [Rectangle("bad", *bar), Rectangle("hatched", *bar)] if fails else [Rectangle("bar", *bar)]


def _infinite_labels(curve: _Curve) -> list[Label]:
    left, width = INFINITE
    return [Label("∞", left + width / 2, 218, "tick strong"), Label(share(curve.infinite, 1), 100, 15, "value", "end")]


def _failing_side(measured: Measured, place: float, span: float) -> Rectangle:
    left, right = (0.0, place) if measured.comparison.higher_is_safer else (place, span)
    return Rectangle("hatched-soft", left, round(right - left, 2), TOP, BASE - TOP)


def _limit_labels(measured: Measured, place: float, span: float, curve: _Curve) -> list[Label]:
    """The demand, and what fails it, next to the line on the side and at the height where there is room."""
    texts = [(_limit_text(measured), "limit-label halo")]
    if measured.failing is not None and measured.failing[1] and not measured.others:
        texts.append((_failing_text(measured), "bad-label halo"))
    width = max(text_width(text) for text, _ in texts)
    x, anchor = _beside(place, width, span)
    start, end = (x, x + width) if anchor == "start" else (x - width, x)
    first = min(BANDS, key=lambda band: _covered(curve, start, end, band))
    return [Label(text, x, first + LINE * line, style, anchor) for line, (text, style) in enumerate(texts)]


def _limit_text(measured: Measured) -> str:
    assert measured.threshold is not None  # noqa: S101 - called for a demand only
    kind = "demanded" if measured.comparison.higher_is_safer else "allowed"
    strict = {"<": "below ", ">": "above "}.get(measured.comparison.value, "")
    return f"{kind}: {strict}{decimal(measured.threshold)}"


def _failing_text(measured: Measured) -> str:
    records = 0 if measured.failing is None else measured.failing[1]
    higher = measured.comparison.higher_is_safer
    one, many = ("falls short", "fall short") if higher else ("goes beyond", "go beyond")
    noun = measured.noun if records == 1 else measured.people
    return f"{records:,} {noun} {agree(records, one, many)}"


def _beside(place: float, width: float, span: float) -> tuple[float, str]:
    """Right of a line if there is room, else left of it, else along the farther edge."""
    if place + 1.2 + width <= span:
        return round(place + 1.2, 2), "start"
    if place - 1.2 - width >= 0:
        return round(place - 1.2, 2), "end"
    return (span, "end") if place < span / 2 else (0, "start")


def _covered(curve: _Curve, start: float, end: float, band: float) -> float:
    """The number of pixels of the curve that run through two lines of text."""
    high, low = curve.height(end), curve.height(start)
    return max(0.0, min(low, band + LINE + 4) - max(high, band - 12))
