"""Charts on paper: a drawing as shapes of a fixed width, in points, with their colours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from xml.etree import ElementTree as ET

from tcdp_audit_reports.charts.drawing import NARROW

COLOURS = {
    "failed": "a62a0c",
    "warning": "7c5300",
    "error": "692a8b",
    "measured": "454d57",
    "skipped": "454d57",
    "passed": "0b6257",
}
LIKE = {  # the state whose mark and colour a change or a step of a verification has
    "better": "passed",
    "confirmed": "passed",
    "worse": "failed",
    "differs": "failed",
    "different": "warning",
    "demand": "warning",
    "gone": "warning",
    "unverified": "error",
}
INK, SOFT, RULE, FAINT, ACCENT, BAR, PAPER = "000000", "454a50", "c9c9c9", "f0f0f0", "1e4f80", "54789c", "ffffff"
BAD = COLOURS["failed"]
POINTS = 0.66  # a pixel in points
LETTERS = 12 * POINTS  # the size of the text of a chart
WIDTH = NARROW * POINTS  # a chart has half the width of a page: what fits on a phone fits there


@dataclass(frozen=True)
class Look:
    """The fill, the line and the letters of a shape: colours are six hexadecimal digits, or empty for none."""

    fill: str = ""
    line: str = ""
    width: float = 1.0  # of the line, in pixels
    opacity: float = 1.0  # of the fill
    is_dashed: bool = False
    is_bold: bool = False
    has_arrow: bool = False


LOOKS: Mapping[str, Mapping[str, object]] = {
    "grid": {"line": RULE},
    "axis": {"line": SOFT},
    "track": {"line": RULE},
    "zero": {"line": INK, "width": 1.5},
    "limit": {"line": INK, "width": 1.5, "is_dashed": True},
    "lead": {"line": SOFT, "width": 0.75},
    "move": {"line": SOFT, "width": 1.5},
    "between": {"line": BAR, "width": 3.0},
    "frontier-step": {"line": BAR, "width": 1.75},
    "curve": {"line": ACCENT, "width": 2.25},
    "bar": {"fill": BAR},
    "bad": {"fill": BAD},
    "hatched-soft": {"fill": BAD, "opacity": 0.12},
    "box": {"fill": FAINT, "line": RULE},
    "arrow": {"has_arrow": True},
    "of-group": {"fill": ACCENT},
    "of-front": {"fill": ACCENT},
    "of-own": {"fill": BAD},
    "of-reference": {"fill": PAPER, "line": SOFT, "width": 2.0},
    "ring": {"fill": PAPER, "line": SOFT, "width": 1.75},
    "mark-open": {"fill": PAPER, "line": SOFT, "width": 1.75},
    "mark-plain": {"fill": BAR},
    "cloud": {"fill": PAPER, "line": SOFT},
    "cloud-good": {"fill": BAR},
    **{f"heat-{tone}": {"fill": BAR, "opacity": round(0.06 + 0.094 * tone, 3)} for tone in range(10)},
    **{f"{prefix}-{state}": {"fill": colour} for prefix in ("m", "fill") for state, colour in COLOURS.items()},
}
OF_TEXT: Mapping[str, Mapping[str, object]] = {
    "value": {"fill": INK, "is_bold": True},
    "strong": {"fill": INK, "is_bold": True},
    "limit-label": {"fill": INK, "is_bold": True},
    "bad-label": {"fill": BAD, "is_bold": True},
    "label": {"fill": INK},
}
NOT_DRAWN = frozenset({"hatched", "halo", "tick", "middle", "end", "start", "stretch"})  # what paper does without
Place = tuple[float, float]


@dataclass(frozen=True)
class Shape:
    """A shape in points from the left upper corner.

    Args:
        kind: `rectangle`, `line`, `circle`, `curve` or `text`.
        places: the left upper and right lower corner, the ends, the corners of the curve, or the point of the text.
        look: its colours and its line.
        text: the text.
        anchor: the end of the text that is at its point.
    """

    kind: str
    places: tuple[Place, ...]
    look: Look
    text: str = ""
    anchor: str = "start"


def shapes_of(svg: str, width: float = WIDTH) -> Iterator[Shape]:
    """The shapes of a drawing whose x are percentages and whose y are pixels, at a width in points. Cost: linear."""
    yield from _shapes(ET.fromstring(f"<g>{svg}</g>"), width, ())  # noqa: S314 - a drawing has shapes and nothing else


def _shapes(parent: ET.Element, width: float, inherited: tuple[str, ...]) -> Iterator[Shape]:
    for element in parent:
        tag, classes = element.tag.rpartition("}")[2], (*inherited, *element.get("class", "").split())
        if tag == "g":
            yield from _shapes(element, width, classes)
        elif tag == "svg":
            yield from _stretched(element, width)
        elif tag == "text":
            yield _text(element, classes, width)
        elif tag in SHAPES and "hatched" not in classes:
            kind, names = SHAPES[tag]
            values = [_length(element.get(name, "0"), width) for name in names]
            yield Shape(kind, _places(kind, values), _look(classes, LOOKS))


SHAPES = {
    "rect": ("rectangle", ("x", "y", "width", "height")),
    "line": ("line", ("x1", "y1", "x2", "y2")),
    "circle": ("circle", ("cx", "cy", "r")),
}


def _places(kind: str, values: list[float]) -> tuple[Place, Place]:
    if kind == "rectangle":
        left, top, wide, high = values
        return (left, top), (left + wide, top + high)
    if kind == "circle":
        x, y, radius = values
        return (x - radius, y - radius), (x + radius, y + radius)
    x1, y1, x2, y2 = values
    return (x1, y1), (x2, y2)


def _length(text: str, width: float) -> float:
    """A percentage of the width, or pixels, in points."""
    return float(text[:-1]) * width / 100 if text.endswith("%") else float(text.removesuffix("px")) * POINTS


def _look(classes: tuple[str, ...], looks: Mapping[str, Mapping[str, object]], base: Look = Look()) -> Look:
    for name in classes:
        base = replace(base, **looks.get(name, {}))  # type: ignore[arg-type] # fields of a look by name
    is_seen = base.fill or base.line
    return base if is_seen else replace(base, line=SOFT)


def _text(element: ET.Element, classes: tuple[str, ...], width: float) -> Shape:
    anchor = next((one for one in ("middle", "end") if one in classes), "start")
    place = (_length(element.get("x", "0"), width), _length(element.get("y", "0"), width))
    return Shape("text", (place,), _look(classes, OF_TEXT, Look(fill=SOFT)), "".join(element.itertext()), anchor)


STEP = re.compile(r"([MLHVmlhv])\s*(-?[\d.]+)(?:[\s,]+(-?[\d.]+))?")


def _stretched(box: ET.Element, width: float) -> Iterator[Shape]:
    """The curves in a box of its own units, which fills a part of the drawing."""
    left, top, wide, high = (_length(box.get(name, "0"), width) for name in ("x", "y", "width", "height"))
    _, _, units_across, units_down = map(float, box.get("viewBox", "0 0 1000 1000").split())
    for path in box:
        corners: list[Place] = []
        x = y = 0.0
        for command, first, second in STEP.findall(path.get("d", "")):
            across, down = _step(command, float(first), float(second or 0))
            relative = command.islower()
            x = x if across is None else across + (x if relative else 0)
            y = y if down is None else down + (y if relative else 0)
            corners.append((left + x * wide / units_across, top + y * high / units_down))
        yield Shape("curve", tuple(corners), _look(tuple(path.get("class", "").split()), LOOKS))


def _step(command: str, first: float, second: float) -> tuple[float | None, float | None]:
    """How far a command of a path goes across and down; None where it does not."""
    kind = command.upper()
    if kind == "H":
        return first, None
    return (None, first) if kind == "V" else (first, second)
