"""Shapes of a chart and the axis below it. x is a percentage of the width and y a pixel, so text keeps its size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor, isfinite, log10

from markupsafe import Markup

from tcdp_audit.plugin.report import Rows
from tcdp_audit.plugin.sentences import Comparison, Outcome, say

WIDE = 50  # a largest figure this many times the smallest asks for a logarithmic axis
STEPS = (1, 2, 5, 10)
TINY = 1e-300  # below, a figure is as good as zero and its logarithm no help


@dataclass(frozen=True)
class Axis:
    """From a figure to percent of the plot's width."""

    low: float  # the figure at the left end
    high: float  # the figure at the right end
    ticks: tuple[float, ...]  # figures to name
    logarithmic: bool  # equal distances are equal ratios
    span: float  # percent of the width that it takes

    def place(self, value: float) -> float:
        """The place of a figure; what lies outside is put at the nearer end."""
        value = min(max(value, self.low), self.high)
        if self.logarithmic:
            return self.span * (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return self.span * (value - self.low) / (self.high - self.low)

    def named_ticks(self) -> list[tuple[float, str]]:
        """Place and text of each tick."""
        return [(self.place(tick), tick_text(tick)) for tick in self.ticks]


def tick_text(tick: float) -> str:
    """A round figure without needless digits."""
    return f"{tick:,.0f}" if float(tick).is_integer() else f"{tick:.6g}"


def axis_for(values: Sequence[float], threshold: float | None, span: float) -> Axis:
    """An axis that holds finite figures and the threshold.

    Shares and distances, from 0 to 1, are on a linear axis unless the threshold would be lost at its end.
    """
    values_on_axis = [*values, *([] if threshold is None else [threshold])] or [0.0, 1.0]
    low, high = min(values_on_axis), max(values_on_axis)
    lost = threshold is not None and threshold < high / WIDE
    if low > TINY and high / low > WIDE and (high > 1 or lost):
        return _logarithmic(low, high, span)
    return _linear(low, high, span)


def _linear(low: float, high: float, span: float) -> Axis:
    if low >= 0 and low < high / 2:
        low = 0.0
    if low == high:
        low, high = (0.0, 2 * high) if high > 0 else (low - 1, high + 1)
    if high - low < TINY:
        low, high = 0.0, 1.0
    step = _nice((high - low) / 5)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    ticks = tuple(float(f"{step * number:.10g}") for number in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks, logarithmic=False, span=span)


def _nice(step: float) -> float:
    """The least of 1, 2, 5 and 10 times a power of ten that is not below a step."""
    power = 10.0 ** floor(log10(step))
    return next(float(f"{power * factor:.10g}") for factor in STEPS if power * factor >= step * (1 - 1e-9))


def _logarithmic(low: float, high: float, span: float) -> Axis:
    first, last = floor(log10(low)), ceil(log10(high))
    factors = (1, 2, 5) if last - first <= 2 else (1,)
    every = max(1, (last - first) // 6)
    ticks = [float(f"{factor}e{power}") for power in range(first, last + 1, every) for factor in factors]
    left = max((tick for tick in ticks if tick <= low), default=10.0**first)
    right = min((tick for tick in ticks if tick >= high), default=10.0**last)
    return Axis(left, right, tuple(t for t in ticks if left <= t <= right), logarithmic=True, span=span)


NARROW = 350  # pixels that a chart has on a phone; what fits there fits everywhere
LETTER = 6.4  # pixels that a letter takes at most in a chart's text on a phone
SMALL_LETTER = 6.0  # the same in a histogram, whose text is smaller there
TICK = "tick"  # a label that looks as text in a chart does


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
    """Text at its baseline; `anchor` says which end of it is at x."""

    text: str
    x: float
    y: float
    style: str = TICK
    anchor: str = "middle"

    @property
    def classes(self) -> str:
        """The classes of the stylesheet: its look unless it is a tick, and where it is anchored unless at its start."""
        own = [one for one in self.style.split() if one != TICK]
        return " ".join([*own, *([] if self.anchor == "start" else [self.anchor])])

    def extent(self, letter: float = LETTER) -> tuple[float, float]:
        """From where to where it reaches on a phone, in percent of the width."""
        width = text_width(self.text, letter)
        start = {"start": self.x, "middle": self.x - width / 2, "end": self.x - width}[self.anchor]
        return start, start + width


@dataclass(frozen=True)
class Drawing:
    """A whole chart: areas, then lines, then a curve in a box of 1000 by 1000, then points, then text.

    The box of the curve is as wide as `span` from `left` on, in percent, and `tall` pixels high from `top` on.
    """

    height: int
    areas: tuple[Rectangle, ...] = ()
    lines: tuple[Line, ...] = ()
    labels: tuple[Label, ...] = ()
    curve: str = ""
    span: float = 100
    left: float = 0
    top: int = 0
    tall: int = 0
    points: tuple[Point, ...] = ()

    @property
    def svg(self) -> Markup:
        """The shapes as SVG, in the order in which they cover one another."""
        groups = (_group(style, points) for style, points in self.marks.items())
        box = (_number(self.left), self.top, _number(self.span), self.tall)
        curve = CURVE.format(*box, self.curve) if self.curve else ""
        return Markup("").join(
            [*map(_area, self.areas), *map(_line, self.lines), curve, *groups, *map(_label, self.labels)]
        )

    @property
    def marks(self) -> Mapping[str, Sequence[Point]]:
        """The points of each style: those of a later one are drawn above."""
        by_style: dict[str, list[Point]] = {}
        for point in self.points:
            by_style.setdefault(point.style, []).append(point)
        return by_style


CURVE = Markup(
    '<svg x="{}%" y="{}" width="{}%" height="{}" viewBox="0 0 1000 1000" preserveAspectRatio="none" class="stretch">'
    '<path class="curve" d="{}"/></svg>'
)
AREA = Markup('<rect class="{}" x="{}%" width="{}%" y="{}" height="{}"/>')
STRAIGHT = Markup('<line class="{}" x1="{}%" x2="{}%" y1="{}" y2="{}"/>')
CIRCLE = Markup('<circle cx="{}%" cy="{}" r="{}"/>')


def _area(one: Rectangle) -> Markup:
    return AREA.format(one.style, *map(_number, (one.x, one.width, one.y, one.height)))


def _line(one: Line) -> Markup:
    return STRAIGHT.format(one.style, *map(_number, (one.x1, one.x2, one.y1, one.y2)))


def _group(style: str, points: Sequence[Point]) -> Markup:
    circles = (CIRCLE.format(*map(_number, (one.x, one.y, one.radius))) for one in points)
    return Markup('<g class="{}">{}</g>').format(style, Markup("").join(circles))


def _label(one: Label) -> Markup:
    style = Markup(' class="{}"').format(one.classes) if one.classes else ""
    return Markup('<text{} x="{}%" y="{}">{}</text>').format(style, _number(one.x), _number(one.y), one.text)


def _number(value: float) -> str:
    return f"{value:g}"


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
    thinned_labels: list[Label] = []
    for label in labels:
        if not thinned_labels or label.extent()[0] > thinned_labels[-1].extent()[1] + 1:
            thinned_labels.append(label)
    return tuple(thinned_labels)


def shortened(text: str, room: float = 100, letter: float = LETTER) -> str:
    """A text cut to the width it has, in percent."""
    letters = int(room * NARROW / 100 / letter)
    return text if len(text) <= letters else text[: letters - 1] + "…"


Distribution = Sequence[tuple[float, int, int]]  # figure, classes, records; in ascending order of the figure


def figure_table(caption: str, head: tuple[str, ...], body: Sequence[Sequence[str]], note: str = "") -> Rows:
    """A table of figures: its first column names the rows, all others are figures."""
    return Rows(head, body, caption, note, numeric_from=1)


Say = Callable[[str], str]  # says a text, or nothing where it was said before; `str` says everything


@dataclass
class Once:
    """Says what several charts and tables of a report would say, the first time."""

    said: set[str] = field(default_factory=set)

    def __call__(self, text: str) -> str:
        """The text; nothing where it was said before."""
        if text in self.said:
            return ""
        self.said.add(text)
        return text


@dataclass(frozen=True)
class Measured:
    """The measurements that a chart is drawn from."""

    distribution: Distribution  # classes and records by figure
    threshold: Fraction | None  # the demanded figure, if any
    comparison: Comparison  # how figures must compare with it
    # classes and records that fail, by the outcome's own count; None where nothing is demanded
    failing: tuple[int, int] | None
    label: str  # what the figure is called
    others: bool = False  # whether classes may also fail another figure of the same check
    noun: str = "record"  # what a record is called, in the singular
    no_value: bool = False  # whether an infinite figure is that of a group in which no one has a value

    @property
    def people(self) -> str:
        """The plural noun for records."""
        return say("{noun:plural}", noun=self.noun)

    @property
    def classes(self) -> int:
        """All classes."""
        return sum(classes for _, classes, _ in self.distribution)

    @property
    def records(self) -> int:
        """All records."""
        return sum(records for _, _, records in self.distribution)

    @property
    def counts_whole_numbers(self) -> bool:
        """True where figure and threshold are whole numbers, and more is safer."""
        figures = [figure for figure, _, _ in self.distribution]
        whole = all(isfinite(figure) and figure >= 0 and float(figure).is_integer() for figure in figures)
        demand = self.threshold is None or self.threshold.denominator == 1
        return whole and demand and self.comparison is Comparison.AT_LEAST


def distribution_of(outcome: Outcome) -> Distribution:
    """The distribution in an outcome's details; empty where it has none, or something else by that name."""
    distribution = outcome.details.get("distribution")
    if not isinstance(distribution, list | tuple):
        return ()
    rows = [tuple(row) for row in distribution if isinstance(row, list | tuple) and len(row) == 3]
    sound = [row for row in rows if all(isinstance(cell, int | float) for cell in row)]
    return sorted(sound) if len(sound) == len(distribution) else ()
