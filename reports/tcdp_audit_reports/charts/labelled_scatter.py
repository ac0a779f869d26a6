"""A scatter plot of marks with names: loss to the right, distance from the policy upwards, names where room is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product

from tcdp_audit_reports.charts.drawing import NARROW, Axis, Drawing, Label, Line, Point, shortened, thinned, tick_label

ASCENT, DESCENT = 10, 4  # pixels that text reaches above and below its baseline
GAP = 1.0  # percent between a mark and its name
ROWS = (4, -6, 14)  # baselines to try next to a mark, in pixels from its middle
OVER, UNDER = 6, 14  # pixels from the edge of a mark to a baseline above and below it
SIDES = (("middle", "start", "end"), ("start", "end", "middle"), ("end", "start", "middle"))  # of a leading line
STEP, STEPS = 15, 8  # pixels from one raised name to the next, and how many
THIN = 0.4  # percent to each side of a leading line that names keep off

Box = tuple[float, float, float, float]  # left and right in percent of the width, top and bottom in pixels
Named = tuple[Label, Line | None]  # a name, and the line that leads to it


@dataclass(frozen=True)
class Mark:
    """A mark that wants a name: its middle (percent, pixel), its radius in pixels, and the style of its text."""

    text: str
    x: float
    y: float
    radius: float
    style: str = "tick halo"

    @property
    def reach(self) -> float:
        """Its radius on a phone, in percent of the width; nowhere is it more."""
        return 100 * self.radius / NARROW

    @property
    def box(self) -> Box:
        """The box that it covers."""
        return self.x - self.reach, self.x + self.reach, self.y - self.radius, self.y + self.radius


def placed(marks: Sequence[Mark], top: float, bottom: float, taken: Sequence[Box] = ()) -> tuple[Named, ...]:
    """The names of as many marks as have room, the first before all; no two things touch at any width of the plot.

    A place is percent and a width is pixels, so that what is apart on a phone is farther apart everywhere else. The
    most important marks come first. Text stays between the pixels `top` and `bottom`, and off the boxes that are taken.

    Cost: some times quadratic in the marks, which are few.
    """
    room = _Room(top, bottom, [*taken, *(mark.box for mark in marks)])
    ways = [_Way(anchors, raised) for raised in (False, True) for anchors in SIDES]
    tries = [_named(order, room, way) for way, order in product(ways, _orders(marks))]
    return tuple(max(tries, key=lambda named: (any(one in named for one in marks[:1]), len(named))).values())


@dataclass(frozen=True)
class _Way:
    """A way to go about it: to which side raised names turn, and whether names are raised before all else."""

    anchors: Sequence[str]
    raised: bool


@dataclass(frozen=True)
class _Room:
    top: float
    bottom: float
    taken: Sequence[Box]


def _orders(marks: Sequence[Mark]) -> list[list[Mark]]:
    """The marks as they were given, from left to right, and from right to left."""
    across = sorted(marks, key=lambda mark: mark.x)
    return [[*marks], across, across[::-1]]


def _named(marks: Sequence[Mark], room: _Room, way: _Way) -> dict[Mark, Named]:
    """A name for each mark in turn, at the first of its places that is free."""
    boxes, named = [*room.taken], dict[Mark, Named]()
    for mark in marks:
        for label, line in _places(mark, way):
            if _has_room(mark, label, line, room, boxes):
                named[mark] = (label, line)
                boxes += [box_of(label), *([] if line is None else [_box_of_line(line)])]
                break
    return named


def _has_room(mark: Mark, label: Label, line: Line | None, room: _Room, boxes: Sequence[Box]) -> bool:
    if not is_free(box_of(label), room.top, room.bottom, boxes):
        return False
    return line is None or not any(_touch(_box_of_line(line), box) for box in boxes if box != mark.box)


def box_of(label: Label) -> Box:
    """The box of a text on a phone."""
    left, right = label.extent()
    return left, right, label.y - ASCENT, label.y + DESCENT


def is_free(box: Box, top: float, bottom: float, taken: Sequence[Box]) -> bool:
    """Whether a box lies in the plot and touches nothing."""
    left, right, high, low = box
    inside = left >= 0 and right <= 100 and high >= top and low <= bottom
    return inside and not any(_touch(box, other) for other in taken)


def _places(mark: Mark, way: _Way) -> Iterator[Named]:
    return chain(_raised(mark, way), _next_to(mark)) if way.raised else chain(_next_to(mark), _raised(mark, way))


def _next_to(mark: Mark) -> Iterator[Named]:
    side = mark.reach + GAP
    for down in ROWS:
        yield _label(mark, side, down, "start"), None
        yield _label(mark, -side, down, "end"), None
    yield _label(mark, 0, -mark.radius - OVER, "middle"), None
    yield _label(mark, 0, mark.radius + UNDER, "middle"), None


def _raised(mark: Mark, way: _Way) -> Iterator[Named]:
    """Above a mark on a line, in the middle or to one side of it."""
    for anchor, step in product(way.anchors, range(1, STEPS + 1)):
        label = _label(mark, 0, -mark.radius - OVER - STEP * step, anchor)
        yield label, Line("lead", label.x, label.x, label.y + DESCENT, round(mark.y - mark.radius, 1))


def _label(mark: Mark, across: float, down: float, anchor: str) -> Label:
    return Label(mark.text, round(mark.x + across, 2), round(mark.y + down, 1), mark.style, anchor)


def _box_of_line(line: Line) -> Box:
    return line.x1 - THIN, line.x1 + THIN, line.y1, line.y2


def _touch(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


HEIGHT, TOP, BASE = 280, 24, 240  # pixels: the drawing, where the largest figure is, where none is
EDGE = 2.0  # percent of the width that stays free for marks at the ends

Tick = tuple[float, str]  # share of the height, text


def across(axis: Axis, value: float) -> float:
    """The place of a loss, in percent of the width."""
    return round(EDGE + axis.place(value), 2)


def up(share: float) -> float:
    """The place of a share of the height, in pixels."""
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

    The axis spans 100 - 2 EDGE percent. Rows are grid lines with their text; the most important marks come first.
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
    """The text of a line across: at the right end, but at the left for the lowest, where no mark is."""
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
