"""The axis of figures under a curve: linear, or logarithmic where figures differ by orders of magnitude."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

WIDE = 50  # a largest figure this many times the smallest asks for a logarithmic axis
STEPS = (1, 2, 5, 10)
TINY = 1e-300  # below, a figure is as good as zero and its logarithm no help


@dataclass(frozen=True)
class Axis:
    """From a figure to percent of the plot's width.

    Args:
        low: the figure at the left end.
        high: the figure at the right end.
        ticks: figures to name.
        logarithmic: equal distances are equal ratios.
        span: percent of the width that it takes.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    logarithmic: bool
    span: float

    def place(self, value: float) -> float:
        """Where a figure stands; what lies outside is put at the nearer end."""
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

    Shares and distances, from 0 to 1, stay on a linear axis unless the threshold would be lost at its end.
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
