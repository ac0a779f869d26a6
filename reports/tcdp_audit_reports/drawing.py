"""Shapes of a chart. x is a percentage of the width and y a pixel, so that text keeps its size everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

NARROW = 350  # pixels that a chart has on a phone; what fits there fits everywhere
LETTER = 6.4  # pixels that a letter takes at most in a chart's text on a phone
SMALL_LETTER = 6.0  # the same in a histogram, whose text is smaller there
TICK = "tick"  # a label that looks as text in a chart does
LINE = 14  # pixels from one line of text to the next


@dataclass(frozen=True)
class Rectangle:
    """An area of a class of the stylesheet."""

    style: str
    x: float
    width: float
    y: float
    height: float


@dataclass(frozen=True)
class Line:
    """A straight line of a class of the stylesheet."""

    style: str
    x1: float
    x2: float
    y1: float
    y2: float


@dataclass(frozen=True)
class Point:
    """A round mark of a class of the stylesheet; its radius is in pixels."""

    style: str
    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Label:
    """Text at its baseline; `anchor` says which end of it stands at x."""

    text: str
    x: float
    y: float
    style: str = TICK
    anchor: str = "middle"

    @property
    def classes(self) -> str:
        """Those of the stylesheet: its look unless it is a tick, and where it is anchored unless at its start."""
        own = [one for one in self.style.split() if one != TICK]
        return " ".join([*own, *([] if self.anchor == "start" else [self.anchor])])

    def extent(self, letter: float = LETTER) -> tuple[float, float]:
        """From where to where it reaches on a phone, in percent of the width."""
        width = text_width(self.text, letter)
        start = {"start": self.x, "middle": self.x - width / 2, "end": self.x - width}[self.anchor]
        return start, start + width


@dataclass(frozen=True)
class Drawing:
    """A whole chart: areas, then lines, then a curve in a box of 1000 by 1000, then points, then text."""

    height: int
    areas: tuple[Rectangle, ...] = ()
    lines: tuple[Line, ...] = ()
    labels: tuple[Label, ...] = ()
    curve: str = ""
    span: float = 100
    points: tuple[Point, ...] = ()

    @property
    def marks(self) -> Mapping[str, Sequence[Point]]:
        """The points of each style: those of a later one are drawn above."""
        by_style: dict[str, list[Point]] = {}
        for point in self.points:
            by_style.setdefault(point.style, []).append(point)
        return by_style


def text_width(text: str, letter: float = LETTER) -> float:
    """The width that a text takes on a phone, in percent of the width."""
    return 100 * len(text) * letter / NARROW


def tick_label(text: str, x: float, y: float) -> Label:
    """A label under an axis, turned inwards where it would leave the plot."""
    half = text_width(text) / 2
    anchor = "start" if x < half else "end" if x > 100 - half else "middle"
    return Label(text, round(x, 2), y, anchor=anchor)


def thinned(labels: Iterable[Label]) -> tuple[Label, ...]:
    """The labels of an axis without those that would touch the one before."""
    kept: list[Label] = []
    for label in labels:
        if not kept or label.extent()[0] > kept[-1].extent()[1] + 1:
            kept.append(label)
    return tuple(kept)


def shortened(text: str, room: float = 100) -> str:
    """A text cut to the width it has, in percent."""
    letters = int(room * NARROW / 100 / LETTER)
    return text if len(text) <= letters else text[: letters - 1] + "…"
