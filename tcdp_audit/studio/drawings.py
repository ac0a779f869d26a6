"""Positions and lengths of the two pictures: people by the size of their group, and releases by risk and loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

BANDS = (2, 5, 10, 20, 50)  # the least sizes of groups of a bar, after those who are alone
WIDTH, LEFT, RIGHT, ROW, BAR = 500, 98, 72, 27, 16


@dataclass(frozen=True)
class Bar:
    """The people whose group has a size in a band.

    Args:
        label: the band in words.
        people: how many they are.
        width: the length of the bar.
        y: its upper edge.
        is_small: whether groups of the band are smaller than the policy demands.
    """

    label: str
    people: int
    width: float
    y: int
    is_small: bool


def bars(sizes: Sequence[tuple[int, int]], k: int) -> list[Bar]:
    """People by the size of their group.

    Args:
        sizes: pairs of a size and the number of people in groups of this size.
        k: the size that is demanded.
    """
    starts = (1, *BANDS)
    ends = (*(one - 1 for one in BANDS), None)
    counted = [
        sum(people for size, people in sizes if start <= size and (end is None or size <= end))
        for start, end in zip(starts, ends, strict=True)
    ]
    most = max(counted, default=0) or 1
    return [
        Bar(_band(start, end), people, round((WIDTH - LEFT - RIGHT) * people / most, 1), 2 + ROW * row, start < k)
        for row, (start, end, people) in enumerate(zip(starts, ends, counted, strict=True))
    ]


def _band(start: int, end: int | None) -> str:
    if end == start:
        return "alone" if start == 1 else f"{start}"
    return f"{start} or more" if end is None else f"{start} to {end}"


MAP_WIDTH, MAP_HEIGHT = 570, 450
INSIDE = (60, 20, 555, 400)  # left, top, right, bottom of the field of points
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)  # people found of 100


def chart(points: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Releases by loss, from left to right, and by risk, from the bottom up on a logarithmic scale.

    Args:
        points: the share lost and the share of people found of each release, both from 0 to 1.

    Returns:
        `points` with x and y of each, and the marks of both axes: `x_marks` and `y_marks` with places and texts.
    """
    left, top, right, bottom = INSIDE
    most = max((loss for loss, _ in points), default=0.1) * 100 * 1.08 or 1.0
    step = next((one for one in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if most / one <= 6), 25)
    shares = [max(risk * 100, STEPS[0]) for _, risk in points] or [1.0]
    low = max((one for one in STEPS if one <= min(shares)), default=STEPS[0])
    high = min((one for one in STEPS if one >= max(shares)), default=STEPS[-1])
    high = high if high > low else STEPS[min(STEPS.index(low) + 1, len(STEPS) - 1)]
    low = low if high > low else STEPS[STEPS.index(low) - 1]

    def x(percent: float) -> float:
        return round(left + (right - left) * percent / most, 1)

    def y(percent: float) -> float:
        return round(bottom - (bottom - top) * (log10(percent) - log10(low)) / (log10(high) - log10(low)), 1)

    marks = [step * number for number in range(int(most / step) + 1)]
    return {
        "width": MAP_WIDTH,
        "height": MAP_HEIGHT,
        "points": [(x(loss * 100), y(max(risk * 100, low))) for loss, risk in points],
        "x_marks": [(x(one), f"{one:g}%") for one in marks],
        "y_marks": [(y(one), f"{one:g}") for one in STEPS if low <= one <= high],
    }
