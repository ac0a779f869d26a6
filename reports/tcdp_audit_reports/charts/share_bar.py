"""A share of all records against its limit: one bar on one axis."""

from __future__ import annotations

from tcdp_audit.plugin._internal import demanded, observed
from tcdp_audit.plugin.report import Chart
from tcdp_audit.plugin.sentences import Comparison, Outcome, allowance, decimal, percent
from tcdp_audit_reports.charts.drawing import (
    Axis,
    Drawing,
    Label,
    Line,
    Rectangle,
    axis_for,
    text_width,
    thinned,
    tick_label,
)
from tcdp_audit_reports.charts.measured import figure_table

HEIGHT, TOP, THICK, BASE = 78, 24, 14, 44  # pixels


def chart(outcome: Outcome) -> Chart | None:
    """The bar of an observed share of which less is safer; None for any other figure."""
    value = outcome.observed
    if value is None or not is_share(outcome):
        return None
    threshold = None if outcome.threshold is None else float(outcome.threshold)
    axis = axis_for([0.0, value], threshold, 100)
    limit = "no limit is set" if threshold is None else allowance(outcome)
    return Chart(
        kind="share",
        title=f"{percent(value, outcome.threshold)}, where {limit}",
        subtitle="Share found, and the limit",
        description=f"One bar of {percent(value, outcome.threshold)}; {limit}.",
        drawing=_drawing(outcome, value, threshold, axis),
        data=figure_table(
            "The observed share",
            ("name", "value"),
            [["observed", observed(outcome)], ["limit", demanded(outcome)]],
        ),
    )


def is_share(outcome: Outcome) -> bool:
    """Whether the observed figure is a share of all records of which less is safer, and not one of a group."""
    value, below = outcome.observed, outcome.comparison in (Comparison.AT_MOST, Comparison.BELOW)
    of_groups = "distribution" in outcome.details and "victims" not in outcome.details
    return value is not None and 0 <= value <= 1 and below and not of_groups


def _drawing(outcome: Outcome, value: float, threshold: float | None, axis: Axis) -> Drawing:
    end, fails = round(axis.place(value), 2), _goes_beyond(outcome)
    bar = Rectangle("bad" if fails else "bar", 0, end, TOP, THICK)
    areas = [bar, Rectangle("hatched", 0, end, TOP, THICK)] if fails else [bar]
    lines = [Line("axis", 0, 100, BASE, BASE)]
    lines += [Line("axis", round(place, 2), round(place, 2), BASE, BASE + 5) for place, _ in axis.named_ticks()]
    labels = [*thinned(tick_label(text, place, BASE + 18) for place, text in axis.named_ticks())]
    if threshold is not None and outcome.threshold is not None:
        place = round(axis.place(threshold), 2)
        lines.append(Line("limit", place, place, 6, BASE))
        labels.append(_limit_label(f"allowed: {decimal(outcome.threshold)}", place))
    return Drawing(HEIGHT, tuple(areas), tuple(lines), tuple(labels))


def _goes_beyond(outcome: Outcome) -> bool:
    if outcome.threshold is None or outcome.observed is None:
        return False
    return outcome.observed > float(outcome.threshold)


def _limit_label(text: str, place: float) -> Label:
    if place + 1.2 + text_width(text) <= 100:
        return Label(text, place + 1.2, 16, "limit-label", "start")
    return Label(text, place - 1.2, 16, "limit-label", "end")
