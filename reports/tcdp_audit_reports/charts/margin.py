"""Distance of an observed figure from its demand, in doublings: one axis for every check."""

from __future__ import annotations

from math import inf, log2

from tcdp_audit.plugin._internal import demanded, observed, state_of
from tcdp_audit.plugin.report import Chart
from tcdp_audit.plugin.sentences import Comparison, Outcome, Status, allowance, decimal, percent
from tcdp_audit_reports.charts.drawing import (
    Axis,
    Drawing,
    Label,
    Line,
    Rectangle,
    axis_for,
    figure_table,
    text_width,
    thinned,
    tick_label,
)

SHOWN = 3  # doublings to each side of the centre line
STEP = 50 / SHOWN  # percent of the width that a doubling takes
WITHOUT = {"measured": "no demand set", "error": "could not be run", "skipped": "skipped"}


def doublings(outcome: Outcome) -> float | None:
    """log2 of the ratio between observed figure and threshold; positive is on the safe side.

    Infinite where no ratio is: nothing of what is demanded, or something where nothing is allowed.
    None where there is no demand, no figure, or no ratio because one of them is negative.
    """
    if outcome.threshold is None or outcome.observed is None or outcome.comparison is None:
        return None
    observed, threshold = outcome.observed, float(outcome.threshold)
    if observed < 0 or threshold < 0:
        return None
    safe = 1 if outcome.comparison.higher_is_safer else -1
    if observed == threshold:
        return 0.0
    if observed == 0 or threshold == 0 or observed == inf:
        return safe * (inf if observed > threshold else -inf)
    return safe * (log2(observed) - log2(threshold))


def margin_words(outcome: Outcome) -> str:
    """The margin as a person says it, such as `5× short` or `4% to spare`."""
    margin = doublings(outcome)
    if outcome.status not in (Status.PASSED, Status.FAILED):
        return _without_judgement(outcome)
    if margin is None:
        return "met" if outcome.status is Status.PASSED else "not met"
    if margin >= 0 and outcome.status is Status.FAILED:
        return (
            "at the limit"
            if outcome.comparison in (Comparison.BELOW, Comparison.ABOVE) and not margin
            else "fails otherwise"
        )
    if margin == 0:
        return "exactly met"
    higher = outcome.comparison is not None and outcome.comparison.higher_is_safer
    return f"{_factor(margin)} {'to spare' if margin > 0 else 'short' if higher else 'over'}"


def _without_judgement(outcome: Outcome) -> str:
    if outcome.unfailable:
        return "cannot fail"
    if outcome.status is Status.ERROR and outcome.is_estimated:
        return "not decided"
    return WITHOUT[outcome.status.value]


def _factor(margin: float) -> str:
    """A ratio as percent where it is small, as a factor where it is not."""
    if abs(margin) > 1000:
        return "infinitely"
    factor = 2 ** abs(margin)
    if factor < 1.095:
        percent = round(100 * (factor - 1))
        return f"{percent}%" if percent else "under 1%"
    if factor >= 1e6:
        return "over 1,000,000×"
    return f"{factor:.1f}".removesuffix(".0") + "×" if factor < 2.95 else f"{factor:,.0f}×"


def margin_bar(outcome: Outcome) -> Drawing | None:
    """The margin on its axis: the centre line is the demand, each tick a doubling."""
    margin = doublings(outcome)
    if margin is None or outcome.status not in (Status.PASSED, Status.FAILED):
        return None
    length = round(STEP * min(abs(margin), SHOWN), 2)
    right = margin > 0 or (margin == 0 and outcome.status is Status.PASSED)
    ticks = [round(50 + STEP * step * (1 if right else -1), 2) for step in range(1, SHOWN + 1) if STEP * step > length]
    track = (50 + length, 100) if right else (0, 50 - length)
    return Drawing(
        height=20,
        areas=(Rectangle(f"m-{state_of(outcome)}", 50 if margin > 0 else round(50 - length, 2), length, 5, 10),),
        lines=(
            Line("track", round(track[0], 2), round(track[1], 2), 10, 10),
            *(Line("track", tick, tick, 7, 13) for tick in ticks),
            Line("zero", 50, 50, 0, 20),
        ),
        labels=(Label(margin_words(outcome), 47 if right else 53, 14, "margin-label", "end" if right else "start"),),
    )


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
            "The observed share", ("name", "value"), [["observed", observed(outcome)], ["limit", demanded(outcome)]]
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
