"""Names of marks in a plot, each beside its mark where nothing else stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tcdp_audit_reports.drawing import NARROW, Label

ASCENT, DESCENT = 10, 4  # pixels that text reaches above and below its baseline
GAP = 1.0  # percent between a mark and its name
NEAR, FAR = (4, -6, 14), (-20, 24)  # baselines to try beside a mark, in pixels from its middle
OVER, UNDER = 6, 14  # pixels from the edge of a mark to a baseline above and below it

Box = tuple[float, float, float, float]  # left and right in percent of the width, top and bottom in pixels


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
        """Where it stands."""
        return self.x - self.reach, self.x + self.reach, self.y - self.radius, self.y + self.radius


def placed(marks: Sequence[Mark], top: float, bottom: float, taken: Sequence[Box] = ()) -> tuple[Label, ...]:
    """The names of marks that have room, the first marks first; no two things touch at any width of the plot.

    A place is percent and a width is pixels, so that what is apart on a phone is farther apart everywhere else.

    Args:
        marks: those that want a name, the most important first.
        top: the highest pixel that text may use.
        bottom: the lowest.
        taken: boxes that must stay free, such as those of the names of an axis.

    Cost: quadratic in the marks, which are few.
    """
    boxes, labels = [*taken, *(mark.box for mark in marks)], []
    for mark in marks:
        for label in _places(mark):
            box = box_of(label)
            if is_free(box, top, bottom, boxes):
                labels.append(label)
                boxes.append(box)
                break
    return tuple(labels)


def box_of(label: Label) -> Box:
    """Where a text stands on a phone."""
    left, right = label.extent()
    return left, right, label.y - ASCENT, label.y + DESCENT


def _places(mark: Mark) -> Iterator[Label]:
    """Right and left of a mark, above and below it, then farther up and down on both sides."""
    yield from _beside(mark, NEAR)
    yield _label(mark, 0, -mark.radius - OVER, "middle")
    yield _label(mark, 0, mark.radius + UNDER, "middle")
    yield from _beside(mark, FAR)


def _beside(mark: Mark, rows: Sequence[int]) -> Iterator[Label]:
    side = mark.reach + GAP
    for down in rows:
        yield _label(mark, side, down, "start")
        yield _label(mark, -side, down, "end")


def _label(mark: Mark, across: float, down: float, anchor: str) -> Label:
    return Label(mark.text, round(mark.x + across, 2), round(mark.y + down, 1), mark.style, anchor)


def is_free(box: Box, top: float, bottom: float, taken: Sequence[Box]) -> bool:
    """Whether a box lies in the plot and touches nothing."""
    left, right, high, low = box
    inside = left >= 0 and right <= 100 and high >= top and low <= bottom
    return inside and not any(_touch(box, other) for other in taken)


def _touch(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]
