"""Line charts side by side as one SVG file that follows the reader's light or dark scheme, and prints as light.

No other file is needed: colours are in a style sheet inside the file, and every line ends in a mark of a shape that no
other line of its panel has, so that the lines can be distinguished in print without colours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import NamedTuple
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 440, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 40, 46
LINE = 20  # the height of a line of the legend
COLOURS = ("#0b62a4", "#b3420a", "#2a7a3b", "#7a3fa0", "#8a6d00")
COLOURS_IN_THE_DARK = ("#6cb4ee", "#f4a26b", "#7fd08f", "#c79be6", "#e3c55a")
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2")
MARKS = ("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0", "M-4-4h8v8h-8z", "M0-5l5 9h-10z", "M0-5l5 5l-5 5l-5-5z", "M0 5l5-9h-10z")
LIGHT = "#fff", "#222", "#ddd"
DARK = "#1e2129", "#e6e6e6", "#444"


class Panel(NamedTuple):
    """One chart: lines of points (x, y), both axes with what they measure."""

    title: str
    across: str
    up: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    logarithmic: bool = False


def drawing(panels: Sequence[Panel], title: str, description: str, columns: int = 2) -> str:
    """The file: panels in rows, and one legend of all lines below."""
    names = list(dict.fromkeys(name for one in panels for name in one.lines))
    styles = {name: place for place, name in enumerate(names)}
    rows = ceil(len(panels) / columns)
    width, height = columns * WIDTH, rows * HEIGHT + LINE * len(names) + 16
    placed = [
        f'<g transform="translate({WIDTH * (place % columns)} {HEIGHT * (place // columns)})">{_panel(one, styles)}</g>'
        for place, one in enumerate(panels)
    ]
    legend = [
        f'<g transform="translate({LEFT} {rows * HEIGHT + LINE * (place + 0.5):g})" class="s{place}">'
        f'<path class="line" d="M0 0h36"/><path class="mark" transform="translate(18 0)" d="{MARKS[place]}"/>'
        f'<text x="46" y="4">{escape(name)}</text></g>'
        for name, place in styles.items()
    ]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="t d">',
        f'<title id="t">{escape(title)}</title>',
        f'<desc id="d">{escape(description)}</desc>',
        f"<style>{_style(len(names))}</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
        *placed,
        *legend,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _style(lines: int) -> str:
    light = _scheme(*LIGHT, COLOURS[:lines])
    dark = _scheme(*DARK, COLOURS_IN_THE_DARK[:lines])
    dashes = "".join(f".s{place} .line{{stroke-dasharray:{one or 'none'}}}" for place, one in enumerate(DASHES[:lines]))
    return (
        "text{font:12px system-ui,sans-serif}.title{font-weight:600;font-size:13px}"
        ".line{fill:none;stroke-width:2}.grid{fill:none}"
        f"{dashes}{light}@media screen and (prefers-color-scheme:dark){{{dark}}}"
    )


def _scheme(page: str, ink: str, grid: str, colours: Sequence[str]) -> str:
    lines = (f".s{place} .line{{stroke:{one}}}.s{place} .mark{{fill:{one}}}" for place, one in enumerate(colours))
    return f".page{{fill:{page}}}text{{fill:{ink}}}.grid{{stroke:{grid}}}{''.join(lines)}"


def _panel(panel: Panel, styles: Mapping[str, int]) -> str:
    points = [point for line in panel.lines.values() for point in line]
    xs, ys = sorted({x for x, _ in points}), [y for _, y in points]
    are_counts = len(xs) <= 8 and all(float(x).is_integer() for x in xs)
    marks_x = xs if are_counts else ticks(xs[0], xs[-1])
    marks_y = decades(min(ys), max(ys)) if panel.logarithmic else ticks(0, max(ys))

    def across(x: float) -> float:
        low, high = min(marks_x[0], xs[0]), max(marks_x[-1], xs[-1])
        return LEFT + 8 + (WIDTH - LEFT - RIGHT - 16) * (x - low) / (high - low or 1)

    def up(y: float) -> float:
        low, high = marks_y[0], marks_y[-1]
        share = log10(y / low) / log10(high / low) if panel.logarithmic else (y - low) / (high - low or 1)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    parts = [f'<text class="title" x="{LEFT}" y="14">{escape(panel.title)}</text>']
    parts += [f'<text x="{LEFT}" y="30">{escape(panel.up)}</text>']
    for y in marks_y:
        parts.append(f'<path class="grid" d="M{LEFT} {up(y):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{up(y) + 4:.1f}" text-anchor="end">{y:,.6g}</text>')
    for x in marks_x:
        parts.append(f'<text x="{across(x):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x:g}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:g}" y="{HEIGHT - 8}" text-anchor="middle">{escape(panel.across)}</text>')
    for name, line in panel.lines.items():
        place = styles[name]
        places = [(across(x), up(y)) for x, y in line]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        marks = "".join(
            f'<path class="mark" transform="translate({x:.1f} {y:.1f})" d="{MARKS[place]}"/>' for x, y in places
        )
        parts.append(f'<g class="s{place}"><path class="line" d="M{path}"/>{marks}</g>')
    return "".join(parts)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from at most `low` to at least `high`."""
    rough = (high - low or 1) / most
    unit = 10 ** floor(log10(rough))
    step = next(unit * one for one in (1, 2, 2.5, 5, 10) if unit * one >= rough)
    return [step * place for place in range(floor(low / step), ceil(high / step) + 1)]


def decades(low: float, high: float) -> list[float]:
    """Powers of ten from at most `low` to at least `high`; of a single decade 2 and 5 parts of ten, too."""
    first, last = floor(log10(low)), ceil(log10(high))
    if last <= first + 1:
        return [10.0**first * part for part in (1, 2, 5, 10)]
    return [10.0**place for place in range(first, last + 1)]
