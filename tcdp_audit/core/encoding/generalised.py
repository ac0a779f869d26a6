"""Generalised cells: the labels of several values, how they are written and what they cover.

An interval of numbers is `[20, 35)`, `[20, 35[`, `(20, 35]`, `20-34`, `<20`, `>=65`, `65+` or, with digits masked,
`476**`; one of a declared order is `[mild, severe]`; several nominal values are `{red, blue}`; one of the policy's
suppressed tokens covers everything. A remedy writes them, the audit reads them as values of their attribute, and
information loss is measured by what they cover.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from functools import cached_property
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import dataclass

PLAIN = 15  # a decimal number of so many characters without an exponent has a float64 of its own

Rounded = Mapping[float, Decimal]


def number_of(text: str) -> int | float | None:
    """A finite decimal number in ASCII digits, or None. Underscores, infinity and other scripts' digits are text.

    Example:
        >>> number_of("+07"), number_of(" 1e1 "), number_of("1_000"), number_of("inf"), number_of("１２")
        (7, 10.0, None, None, None)
    """
    if "_" in text or not text.isascii():
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def rounded_numbers(attribute: str, texts: Sequence[str], numbers: Sequence[float]) -> Rounded:
    """The decimals of cells whose number is no float64's shortest decimal, by that float64.

    Args:
        attribute: the column, for the message.
        texts: distinct numbers as typed.
        numbers: the same as float64; an integer up to 2^53 may be an int.

    Raises:
        DataError: two different numbers have the same float64.

    Example:
        >>> rounded_numbers("x", ["0.30", "0.1000000000000000055"], [0.3, 0.1])
        {0.1: Decimal('0.1000000000000000055')}

    Cost: nothing for numbers of up to 15 digits, a comparison of texts for what a program wrote of a float64.
    """
    rounded: dict[float, Decimal] = {}
    own: set[str] = set()  # the texts that are rounded
    for text, number in zip(texts, numbers, strict=True):
        if (len(text) > PLAIN or "e" in text or "E" in text) and repr(number) != text:
            cell = _decimal(attribute, text)
            if cell != Decimal(repr(number)):
                own.add(text)
                if rounded.setdefault(number, cell) != cell:
                    raise _merged(attribute)
    if rounded and any(number in rounded and text not in own for text, number in zip(texts, numbers, strict=True)):
        raise _merged(attribute)
    return rounded


def _decimal(attribute: str, text: str) -> Decimal:
    number = None
    with suppress(InvalidOperation):
        number = Decimal(text.strip())
    if number is None:  # an exponent of more than 18 digits
        raise _merged(attribute)
    return number


def _merged(attribute: str) -> DataError:
    return DataError(
        f"column {attribute!r} holds numbers that are different and too close, or too many digits long, to be "
        "distinguished as 64-bit floating point; round them, or declare `{scale: nominal}`"
    )


RANGES = "[20, 35), [20, 35[, 20-34, <20, >=65, 65+ or 476**"  # the forms, as messages name them
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_BRACKETED = re.compile(rf"([\[(\]])\s*({NUMBER}|-inf|-∞)\s*[,;]\s*({NUMBER}|[+]?(?:inf|∞))\s*([\])\[])")
_DASHED = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*[-–]\s*([0-9]+(?:\.[0-9]+)?)")
_AND_MORE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*\+")
_MASKED = re.compile(r"([0-9]{1,15})([*]{1,15})")
_BOUNDED = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({NUMBER})")
_LOWER = (">", ">=", "≥")
PARTS = 16  # of a label, that are tried as one value which holds the separator itself, where others are no values


@dataclass(frozen=True, order=True)
class Interval:
    """A set of neighbouring numbers; a single number is the interval from itself to itself."""

    low: float  # its lower end, possibly -infinity
    high: float  # its upper end, possibly infinity
    low_open: bool = False  # whether the lower end is left out
    high_open: bool = False  # whether the upper end is left out

    def contains(self, number: float) -> bool:
        """Whether a number lies in it: 20 is in [20, 35) and not in [15, 20)."""
        above = number > self.low if self.low_open else number >= self.low
        return above and (number < self.high if self.high_open else number <= self.high)


EVERYTHING = Interval(-inf, inf)


@dataclass(frozen=True)
class Ranges:
    """The ranges that some values cover: many intervals at once. All shapes (values,)."""

    low: NDArray[np.float64]  # lower ends, possibly -infinity
    high: NDArray[np.float64]  # upper ends, possibly infinity
    low_open: NDArray[np.bool_]  # whether the lower end is left out
    high_open: NDArray[np.bool_]  # whether the upper end is left out

    @classmethod
    def of(cls, intervals: Sequence[Interval]) -> Ranges:
        """The ranges of some intervals."""
        ends = np.array([(one.low, one.high) for one in intervals], dtype=np.float64).reshape(-1, 2)
        opened = np.array([(one.low_open, one.high_open) for one in intervals], dtype=bool).reshape(-1, 2)
        return cls(ends[:, 0], ends[:, 1], opened[:, 0], opened[:, 1])

    @classmethod
    def of_numbers(cls, numbers: NDArray[Any]) -> Ranges:
        """Single numbers, each a range of width 0."""
        own, closed = numbers.astype(np.float64), np.zeros(len(numbers), dtype=bool)
        return cls(own, own, closed, closed)

    @property
    def width(self) -> NDArray[np.float64]:
        """Upper end minus lower end."""
        return self.high - self.low

    @cached_property
    def limits(self) -> tuple[float, float]:
        """The least and the largest finite end of all ranges; (0, 0) where there is none."""
        ends = np.concatenate([self.low, self.high])
        ends = ends[np.isfinite(ends)]
        return (float(ends.min()), float(ends.max())) if len(ends) else (0.0, 0.0)

    def within(self, least: float, largest: float) -> Ranges:
        """The same ranges cut to an interval; single numbers stay."""
        single = self.low == self.high
        low, high = (np.where(single, end, np.clip(end, least, largest)) for end in (self.low, self.high))
        return Ranges(low, high, self.low_open, self.high_open)

    def middles(self, least: float, largest: float) -> NDArray[np.float64]:
        """The number that represents each range: half way between its ends, within the limits of the attribute.

        An open end lies where the attribute's own values end, so that `>=65` is 65 where no value is larger, and 77.5
        where 90 is the largest. Remedies place records by it and information loss measures them by it.

        Args:
            least: the least finite end of the attribute's values; see `limits`.
            largest: the largest.

        Example:
            >>> ages = Ranges.of([Interval(20, 30), Interval(30, 40), Interval(65, inf), Interval(80, 80)])
            >>> ages.middles(*ages.limits).tolist()
            [25.0, 35.0, 72.5, 80.0]
        """
        cut = self.within(least, largest)
        return cut.low + cut.width / 2

    def inside(self, support: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The positions in a sorted support where the numbers that each range covers start, and where they end."""
        left, right = (np.searchsorted(support, self.low, side) for side in ("left", "right"))
        start = np.where(self.low_open, right, left)
        left, right = (np.searchsorted(support, self.high, side) for side in ("left", "right"))
        return start, np.maximum(np.where(self.high_open, left, right), start)


def interval_label(low: float | str, high: float | str, *, open_end: bool = False) -> str:
    """An interval of numbers or values of an order as it is released: closed, or half-open at its upper end.

    Example:
        >>> interval_label(20.0, 35, open_end=True), interval_label(39, 39), interval_label("mild", "severe")
        ('[20, 35)', '39', '[mild, severe]')
    """
    start, end = number_text(low), number_text(high)
    if start == end and not open_end:
        return start
    return f"[{start}, {end}{')' if open_end else ']'}"


def set_label(values: Sequence[str]) -> str:
    """Several nominal values as one label; a single value as it is.

    Example:
        >>> set_label(["blue", "red"]), set_label(["red"])
        ('{blue, red}', 'red')
    """
    return values[0] if len(values) == 1 else "{" + ", ".join(values) + "}"


def number_text(number: float | str) -> str:
    """A number as the audit compares it: without a fraction where it has none. Text stays as it is."""
    if isinstance(number, str):
        return number
    whole = isinstance(number, int) or (float(number).is_integer() and abs(number) < 2**53)
    return str(int(number)) if whole else repr(float(number))


def parse_interval(text: str) -> Interval | None:
    """The interval that a label denotes, or None if it is not one.

    A square bracket that points outwards leaves its end out, as a round one does. Masked digits cover the whole
    numbers that have these digits: `476**` is 47600 to 47699.

    Example:
        >>> parse_interval("[20, 35)"), parse_interval("20-34"), parse_interval(">=65"), parse_interval("n/a")
        (Interval(low=20.0, high=35.0, low_open=False, high_open=True), Interval(low=20.0, high=34.0, low_open=False, \
high_open=False), Interval(low=65.0, high=inf, low_open=False, high_open=False), None)
    """
    text = text.strip()
    if bracketed := _BRACKETED.fullmatch(text):
        left, low, high, right = bracketed.groups()
        return _proper(Interval(_end(low), _end(high), left != "[", right != "]"))
    if dashed := _DASHED.fullmatch(text):
        return _proper(Interval(float(dashed[1]), float(dashed[2])))
    if bounded := _BOUNDED.fullmatch(text):
        return _bounded(bounded[1], float(bounded[2]))
    if more := _AND_MORE.fullmatch(text):
        return Interval(float(more[1]), inf)
    if masked := _MASKED.fullmatch(text):
        digits, hidden = masked[1], len(masked[2])
        return Interval(float(digits + "0" * hidden), float(digits + "9" * hidden))
    return None


def is_reversed(text: str) -> bool:
    """Whether a label would be an interval if its ends were swapped, such as `[87, 38.248[`."""
    if bracketed := _BRACKETED.fullmatch(text.strip()):
        return _end(bracketed[2]) > _end(bracketed[3])
    dashed = _DASHED.fullmatch(text.strip())
    return dashed is not None and float(dashed[1]) > float(dashed[2])


def _end(text: str) -> float:
    """An end of an interval, which may be infinite."""
    return float(text.replace("∞", "inf"))


def _bounded(sign: str, number: float) -> Interval:
    """The range that a sign and a number leave open at one end."""
    if sign in _LOWER:
        return Interval(number, inf, low_open=sign == ">")
    return Interval(-inf, number, high_open=sign == "<")


def by_cover(label: str, cover: Interval) -> tuple[bool, Interval, str]:
    """The order of generalised values: by what they cover, those that cover everything last."""
    return cover == EVERYTHING, cover, label


def _proper(interval: Interval) -> Interval | None:
    """The interval if it holds a number, or None."""
    open_ended = interval.low_open or interval.high_open
    return interval if interval.low < interval.high or (interval.low == interval.high and not open_ended) else None


def number_or_interval(text: str) -> Interval | None:
    """The numbers that a cell of a numeric attribute covers: one, those of an interval, or None."""
    number = number_of(text)
    return parse_interval(text) if number is None else Interval(number, number)


@dataclass(frozen=True)
class OrderedLabels:
    """Reads labels of an ordinal attribute: its values, and `[low, high]` between two of them."""

    order: Sequence[str]

    @cached_property
    def rank(self) -> Mapping[str, int]:
        """Place of each value, from 0."""
        return {value: place for place, value in enumerate(self.order)}

    def parse(self, text: str) -> Interval | None:
        """The ranks that a label covers, or None if it is no label of this order."""
        if text in self.rank:
            return Interval(self.rank[text], self.rank[text])
        if not (text.startswith("[") and text.endswith("]")):
            return None
        inner = text[1:-1]
        for position in (match.start() for match in re.finditer(", ", inner)):  # a value may hold a comma itself
            low, high = inner[:position], inner[position + 2 :]
            if low in self.rank and high in self.rank and self.rank[low] < self.rank[high]:
                return Interval(self.rank[low], self.rank[high])
        return None


def members(label: str, values: Collection[str], *, unknown: bool = False) -> list[str] | None:
    """The values of a nominal attribute that a set label covers, or None if it is no such label.

    Args:
        label: a released value.
        values: the attribute's values; one of them may hold the separator itself.
        unknown: whether a part that is none of them is a member, too: a value that occurs nowhere by itself.

    Example:
        >>> members("{a, b}", {"a", "b", "c"}), members("a", {"a"}), members("{a, y}", {"a"})
        (['a', 'b'], None, None)
        >>> members("{a, y}", {"a"}, unknown=True)
        ['a', 'y']
    """
    if not (label.startswith("{") and label.endswith("}")):
        return None
    parts = label[1:-1].split(", ")
    covered = _joined(parts, values) or (_with_unknown(parts, values) if unknown else [])
    return None if len(covered) < 2 else covered


def _joined(parts: Sequence[str], values: Collection[str]) -> list[str]:
    """Values from the parts of a label; one may hold the separator itself. No value where some part is none."""
    covered, read = list[str](), ""
    for part in parts:
        read = f"{read}, {part}" if read else part
        if read in values:
            covered.append(read)
            read = ""
    return [] if read else covered


def _with_unknown(parts: Sequence[str], values: Collection[str]) -> list[str]:
    """The same where parts that begin no value are members unchanged."""
    covered, place = list[str](), 0
    while place < len(parts):
        ends = range(place + 1, min(place + PARTS, len(parts)) + 1)
        end = next((one for one in ends if ", ".join(parts[place:one]) in values), place + 1)
        covered.append(", ".join(parts[place:end]))
        place = end
    return covered
