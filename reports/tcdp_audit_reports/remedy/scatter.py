"""The frame of a scatter plot: information loss to the right, how far from the policy upwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcdp_audit_reports.axis import Axis
from tcdp_audit_reports.drawing import Drawing, Label, Line, Point, shortened, thinned, tick_label
from tcdp_audit_reports.remedy.placement import Box, Mark, box_of, is_free, placed

HEIGHT, TOP, BASE = 280, 24, 240  # pixels: the drawing, where the largest figure is, where none is
EDGE = 2.0  # percent of the width that stays free for marks at the ends

Tick = tuple[float, str]  # share of the height, text


def across(axis: Axis, value: float) -> float:
    """Where a loss stands, in percent of the width."""
    return round(EDGE + axis.place(value), 2)


def up(share: float) -> float:
    """Where a share of the height stands, in pixels."""
    return round(BASE - (BASE - TOP) * share, 1)


def scatter(
    axis: Axis,
    name: str,
    rows: Sequence[Tick],
    marks: Sequence[tuple[Mark, str]],
    cloud: Sequence[Point] = (),
    limit: Tick | None = None,
) -> Drawing:
    """A plot of marks with names, on a cloud of points without.

    Args:
        axis: of the losses; spans 100 - 2 EDGE percent.
        name: what is lost, in words.
        rows: grid lines with their text.
        marks: points with a name, and the style of each; the most important first.
        cloud: points that have no name.
        limit: a line across with its text.
    """
    heights = [_height(share, text) for share, text in rows if text]
    taken = [box_of(label) for label in heights]
    line = [] if limit is None else [(0.0, 100.0, up(limit[0]) - 1, up(limit[0]) + 1)]
    named = placed([mark for mark, _ in marks], 4, BASE + 4, [*taken, *line])
    names = [label for label, _ in named]
    limits = _limit_label(limit, [*taken, *map(box_of, names), *(mark.box for mark, _ in marks)], cloud)
    ticks = thinned(tick_label(text, EDGE + place, BASE + 18) for place, text in axis.named_ticks())
    title = Label(shortened(f"{name} →"), 100, BASE + 36, "label", "end")
    leads = [line for _, line in named if line is not None]
    across = [] if limit is None else [_across("limit", limit[0])]
    return Drawing(
        height=HEIGHT,
        lines=(*_grid(rows), *_feet(axis), *leads, *across),
        points=(*cloud, *(Point(style, mark.x, mark.y, mark.radius) for mark, style in reversed(marks))),
        labels=(*heights, *limits, *ticks, title, *names),
    )


def _height(share: float, text: str) -> Label:
    """What a line across stands for: at the right end, but at the left for the lowest, where no mark is."""
    x, anchor = (100.0, "end") if share else (0.0, "start")
    return Label(text, x, round(up(share) - 7, 1), "tick halo", anchor)


def _limit_label(limit: Tick | None, taken: Sequence[Box], cloud: Sequence[Point]) -> tuple[Label, ...]:
    """The text of the line across: above or below it at an end that is free, where it hides the fewest points."""
    if limit is None:
        return ()
    places = [(100, -6, "end"), (0, -6, "start"), (100, 15, "end"), (0, 15, "start")]
    labels = [Label(limit[1], x, round(up(limit[0]) + down, 1), "limit-label halo", side) for x, down, side in places]
    free = [one for one in labels if is_free(box_of(one), 4, BASE, taken)]
    return tuple(sorted(free, key=lambda one: _hidden(box_of(one), cloud))[:1])


def _hidden(box: Box, cloud: Sequence[Point]) -> int:
    left, right, top, bottom = box
    return sum(left <= one.x <= right and top <= one.y <= bottom for one in cloud)


def _grid(rows: Sequence[Tick]) -> Iterator[Line]:
    yield _across("axis", 0)
    for share, _ in rows:
        if share:
            yield _across("grid", share)


def _across(style: str, share: float) -> Line:
    return Line(style, 0, 100, up(share), up(share))


def _feet(axis: Axis) -> Iterator[Line]:
    for place, _ in axis.named_ticks():
        yield Line("axis", round(EDGE + place, 2), round(EDGE + place, 2), BASE, BASE + 5)
