"""Distance of an observed figure from its demand, in doublings: one axis for every check."""

from __future__ import annotations

from tcdp_audit.plugin._internal import doublings, state_of
from tcdp_audit.plugin.sentences import Comparison, Outcome, Status
from tcdp_audit_reports.charts.drawing import (
    Drawing,
    Label,
    Line,
    Rectangle,
)

SHOWN = 3  # doublings to each side of the centre line
STEP = 50 / SHOWN  # percent of the width that a doubling takes
BROKEN = (
    (0.0, 40.0),
    (43.0, 7.0),
)  # where the parts of a longer bar begin, in percent from the centre line, and their width
FURTHEST = 1000  # doublings, above which a margin is no factor
WITHOUT = {"measured": "no demand set", "error": "could not be run", "skipped": "skipped"}


def margin_words(outcome: Outcome) -> str:
    """The margin as a person says it, such as `5× short` or `4% to spare`."""
    margin = doublings(outcome)
    if outcome.status not in (Status.PASSED, Status.FAILED):
        return _without_judgement(outcome)
    if margin is None or outcome.bound_met:  # a factor would give the figure away
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
    if abs(margin) > FURTHEST:
        return _without_ratio(outcome, is_safe=margin > 0, higher_is_safer=higher)
    if margin > 0:
        return f"{_factor(margin)} to spare"
    return f"{_factor(margin)} short" if higher else f"{_factor(margin)} over"


def _without_ratio(outcome: Outcome, *, is_safe: bool, higher_is_safer: bool) -> str:
    """The margin where no factor says it: one of the two figures is 0, or nothing bounds what was found."""
    if is_safe:
        return "none was found" if not outcome.observed else "nothing bounds it"
    if outcome.details.get("classes_without_value"):
        return "some groups lack values"
    if higher_is_safer:
        return "none was found"
    if outcome.cells is not None:
        return "not met"
    return "none is allowed" if not outcome.threshold else "nothing bounds it"


SHORT = {"some groups lack values": "no value"}


def _without_judgement(outcome: Outcome) -> str:
    if outcome.unfailable:
        return "cannot fail"
    if outcome.status is Status.ERROR and outcome.is_estimated:
        return "not decided"
    return WITHOUT[outcome.status.value]


def _factor(margin: float) -> str:
    """A ratio as percent where it is small, as a factor where it is not."""
    factor = 2 ** abs(margin)
    if factor < 1.095:
        percent = round(100 * (factor - 1))
        return f"{percent}%" if percent else "under 1%"
    if factor >= 1e6:
        return "over 1,000,000×"
    return f"{factor:.1f}".removesuffix(".0") + "×" if factor < 9.95 else f"{factor:,.0f}×"


def margin_bar(outcome: Outcome) -> Drawing | None:
    """The margin on its axis: the centre line is the demand, each tick a doubling. One beyond the axis has a gap."""
    margin = doublings(outcome)
    if margin is None or outcome.bound_met or outcome.status not in (Status.PASSED, Status.FAILED):
        return None
    length, is_cut = round(STEP * min(abs(margin), SHOWN), 2), abs(margin) > SHOWN
    right = margin > 0 or (margin == 0 and outcome.status is Status.PASSED)
    ticks = [round(50 + STEP * step * (1 if right else -1), 2) for step in range(1, SHOWN + 1) if STEP * step > length]
    track = (50 + length, 100) if right else (0, 50 - length)
    return Drawing(
        height=20,
        areas=tuple(_part(outcome, *part, right=margin > 0) for part in (BROKEN if is_cut else ((0.0, length),))),
        lines=(
            Line("track", round(track[0], 2), round(track[1], 2), 10, 10),
            *(Line("track", tick, tick, 7, 13) for tick in ticks),
            Line("zero", 50, 50, 0, 20),
        ),
        labels=(Label(_short_words(outcome), 47 if right else 53, 14, "margin-label", "end" if right else "start"),),
    )


def _short_words(outcome: Outcome) -> str:
    """The margin in as few letters as there is room for."""
    return SHORT.get(words := margin_words(outcome), words)


def _part(outcome: Outcome, start: float, width: float, *, right: bool) -> Rectangle:
    """A part of the bar, from its distance from the centre line."""
    return Rectangle(f"m-{state_of(outcome)}", round(50 + start if right else 50 - start - width, 2), width, 5, 10)


def is_share(outcome: Outcome) -> bool:
    """Whether the observed figure is a share of all records of which less is safer, and not one of a group."""
    value, below = outcome.observed, outcome.comparison in (Comparison.AT_MOST, Comparison.BELOW)
    of_groups = "distribution" in outcome.details and "victims" not in outcome.details
    return value is not None and 0 <= value <= 1 and below and not of_groups
