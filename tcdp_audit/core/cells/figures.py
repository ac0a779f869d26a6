"""The texts of figures as intervals: what a reader knows of a true value from what is printed in its place.

All arithmetic is in integers: a figure is a number of steps, and the number of steps in a unit is chosen so that every
end of every interval of the column is a whole number of them.

Source: Hundepool et al., Handbook on Statistical Disclosure Control, 2nd ed. 2024, chapters 4 and 5; the intervals of
midpoint rounding are those of OpenSAFELY's `midpoint 6`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, lcm

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.cells.table import UNBOUNDED, CellState
from tcdp_audit.core.policy.aggregates import AggregateDeclaration, Measure, Noise, Rounding, TokenMeaning

PLAIN = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?")
SEPARATED = re.compile(r"[+-]?[0-9]{1,3}(?:[,. '\u00a0\u202f][0-9]{3})+(?:[.,][0-9]+)?|[+-]?[0-9]+,[0-9]+")
LARGEST = 2**61  # steps that an end of an interval may have
Ends = tuple[int, int]


@dataclass(frozen=True)
class Problem:
    """The fault of a text that is no possible figure: the kind of finding, what is wrong, and what to do."""

    kind: str
    says: str
    advice: str


BLANK = Problem(
    "unknown_token",
    "is blank",
    'declare what a blank cell means, such as `suppressed: {"": unknown}`, or fill it in',
)
UNDECLARED = Problem(
    "unknown_token",
    "is no number in plain decimal digits, and no text that `suppressed` declares",
    "declare the text under `suppressed` with what it says of the figure, or correct it",
)
SEPARATORS = Problem(
    "unknown_token",
    "has a separator of thousands or a decimal comma",
    "write it in plain digits, with a point before the decimals",
)
PERCENT = Problem("unknown_token", "has a percent sign", "write the number alone; `as: percent` says what it is")
NEGATIVE = Problem("impossible_figure", "is below 0", "correct it; a count cannot be")
NOT_WHOLE = Problem(
    "impossible_figure", "is no whole number", "correct it, or declare what the column holds, such as a sum or a mean"
)
TOO_LARGE = Problem(
    "impossible_figure",
    "has more digits than can be computed with exactly",
    "round it, and declare `decimals`",
)
MORE_DECIMALS = Problem(
    "impossible_figure", "has more decimals than `decimals` declares", "round it, or correct `decimals`"
)
NO_MULTIPLE = Problem("impossible_figure", "is no figure that the declared rounding gives", "correct it, or `rounding`")
BELOW = Problem(
    "impossible_figure",
    "is below what it can be",
    "correct it, or declare `at_least`, the least value that a person can have; it is 0 unless declared",
)
ABOVE = Problem("impossible_figure", "is above what it can be", "correct it, or `at_most`, or what a share is `as`")


@dataclass(frozen=True)
class Meaning:
    """The meaning of a text for its figure: whether it is shown, the ends in steps, its token, and its fault."""

    state: CellState
    low: int
    high: int
    token: int = -1
    problem: Problem | None = None


@dataclass(frozen=True)
class FigureTexts:
    """Reads the texts of one column of figures.

    Args:
        measure: its declaration.
        declared: the declaration of its table.
        digits: the decimals to which figures are known.
        scale: the steps of one unit.
    """

    measure: Measure
    declared: AggregateDeclaration
    digits: int
    scale: int
    _tokens: dict[str, tuple[int, Ends]] = field(repr=False)

    @classmethod
    def of(cls, measure: Measure, declared: AggregateDeclaration, texts: Sequence[str]) -> FigureTexts:
        """The reader of a column with these distinct texts."""
        tokens = {text: _ends_of(meaning) for text, meaning in declared.suppressed.items() if meaning != "TODO"}
        digits = _digits(measure, [text for text in texts if text not in tokens])
        ends = [end for pair in tokens.values() for end in pair if end is not None]
        ends += [end for end in (measure.at_least, measure.at_most) if end is not None]
        rounding = rounding_of(measure, declared)
        if rounding is not None:
            ends += [rounding.base, rounding.base / 2]
        half = 1 if measure.decimals == "exact" else 2
        scale = 1 if measure.counts is not None else lcm(half * 10**digits, *(end.denominator for end in ends))
        made = cls(measure, declared, digits, scale, {})
        for text, (low, high) in tokens.items():
            place = list(declared.suppressed).index(text)
            made._tokens[text] = place, made._within(low, high)
        return made

    @cached_property
    def _rounding(self) -> Rounding | None:
        return rounding_of(self.measure, self.declared)

    @cached_property
    def _noise(self) -> Noise | None:
        return noise_of(self.measure, self.declared)

    @cached_property
    def limits(self) -> Ends:
        """The least and the largest value that any figure of the column can have, in steps; see `limits_of`."""
        low, high = limits_of(self.measure)
        least = -UNBOUNDED if low is None else ceil(low * self.scale)
        return least, UNBOUNDED if high is None else floor(high * self.scale)

    def _within(self, low: Fraction | None, high: Fraction | None) -> Ends:
        """The ends of a token within what is possible."""
        least, largest = self.limits
        start = least if low is None else max(ceil(low * self.scale), least)
        return start, largest if high is None else min(floor(high * self.scale), largest)

    def read(self, text: str) -> Meaning:
        """The meaning of a text. One that is declared as a token is that token, even if it is a number."""
        bare = text.strip()
        known = self._tokens.get(text, self._tokens.get(bare))
        if known is not None:
            return Meaning(CellState.HIDDEN, *known[1], known[0])
        number = plain_number(bare)
        if number is None:
            return self._wrong(_why_no_number(bare))
        sign, figure, decimals = number
        if self.measure.counts is not None:
            return self._count(sign * figure, decimals)
        if decimals > self.digits:
            return self._wrong(MORE_DECIMALS)
        return self._magnitude(sign * figure, decimals)

    def _wrong(self, problem: Problem) -> Meaning:
        return Meaning(CellState.HIDDEN, *self.limits, problem=problem)

    def _count(self, digits: int, decimals: int) -> Meaning:
        noise, rounding = self._noise, self._rounding
        if noise is not None and noise.kind != "bounded":  # noise without a bound leaves every count possible
            return Meaning(CellState.SHOWN, 0, UNBOUNDED)
        if decimals:
            return self._wrong(NOT_WHOLE)
        if digits < 0 and noise is None:
            return self._wrong(NEGATIVE)
        if abs(digits) >= LARGEST:
            return self._wrong(TOO_LARGE)
        ends = (digits, digits) if rounding is None else rounded_count(digits, rounding)
        if ends is None:
            return self._wrong(NO_MULTIPLE)
        return self._shown(ends, noise, above=None if rounding is None else rounding.above)

    def _shown(self, ends: Ends, noise: Noise | None, *, above: int | None) -> Meaning:
        deviation = 0 if noise is None or noise.deviation is None else noise.deviation
        low, high = max(ends[0] - deviation, 0), ends[1] + deviation
        if above is not None:  # what is shown is 0, or more than what is hidden
            low = low if low == 0 or low > above else above + 1
            high = high if high > above else 0
        if low > high:
            return self._wrong(NEGATIVE if high < 0 else NO_MULTIPLE)
        return Meaning(CellState.SHOWN, low, high)

    def _magnitude(self, digits: int, decimals: int) -> Meaning:
        rounding, (least, largest) = self._rounding, self.limits
        if self._noise is not None and self._noise.kind != "bounded":
            return Meaning(CellState.SHOWN, least, largest)
        value = digits * (self.scale // 10**decimals)
        if abs(value) >= LARGEST:
            return self._wrong(TOO_LARGE)
        if rounding is not None and value % int(rounding.base * self.scale):
            return self._wrong(NO_MULTIPLE)
        low, high = value - self._errors[0], value + self._errors[1]
        if high < least or low > largest:
            return self._wrong(BELOW if high < least else ABOVE)
        return Meaning(CellState.SHOWN, max(low, least), min(high, largest))

    @cached_property
    def _errors(self) -> Ends:
        """The largest errors of a printed magnitude, downwards and upwards, in steps."""
        below, over = _errors_of(self._rounding, self.measure, self.digits)
        deviation = 0 if self._noise is None or self._noise.deviation is None else self._noise.deviation
        return int((below + deviation) * self.scale), int((over + deviation) * self.scale)


def _errors_of(rounding: Rounding | None, measure: Measure, digits: int) -> tuple[Fraction, Fraction]:
    """The same in units. The ends of an interval of magnitudes belong to it."""
    zero = Fraction(0)
    if rounding is None:
        unit = zero if measure.decimals == "exact" else Fraction(1, 2 * 10**digits)
        return unit, unit
    if rounding.kind in ("down", "up"):
        return (zero, rounding.base) if rounding.kind == "down" else (rounding.base, zero)
    if rounding.kind in ("random", "controlled"):
        return (rounding.steps + 1) * rounding.base, (rounding.steps + 1) * rounding.base
    return rounding.base / 2, rounding.base / 2


def rounding_of(measure: Measure, declared: AggregateDeclaration) -> Rounding | None:
    """The rounding of a measure; that of its table is of counts."""
    return measure.rounding or (declared.rounding if measure.counts is not None else None)


def noise_of(measure: Measure, declared: AggregateDeclaration) -> Noise | None:
    """The noise of a measure; that of its table is of counts."""
    return measure.noise or (declared.noise if measure.counts is not None else None)


def limits_of(measure: Measure) -> tuple[Fraction | None, Fraction | None]:
    """The least and the largest value that a figure can have, from what it is: None for none.

    Values of people are at least 0 unless `at_least` says otherwise, and so are their sums.
    """
    zero, least = Fraction(0), Fraction(0) if measure.at_least is None else measure.at_least
    if measure.share is not None:
        return zero, Fraction(100 if measure.as_ == "percent" else 1)
    if measure.sum is not None:
        return (zero if least >= 0 else None), None
    if measure.kind in ("mean", "quantile", "minimum", "maximum"):
        return least, measure.at_most
    return zero, None


def rounded_count(shown: int, rounding: Rounding) -> Ends | None:
    """The whole numbers that are rounded to a figure, before they are cut at 0; None where none is.

    Args:
        shown: the printed figure.
        rounding: the method, with a whole base b.

    Example:
        >>> rounded_count(10, Rounding(base=5, half="up")), rounded_count(10, Rounding(base=5, kind="random"))
        ((8, 12), (6, 14))
    """
    base = int(rounding.base)
    offset = base // 2 if rounding.kind == "midpoint" and shown != 0 else 0
    if (shown + offset) % base:
        return None
    if rounding.kind == "midpoint":
        return (0, 0) if shown == 0 else (shown - (base + 1) // 2 + 1, shown + base // 2)
    if rounding.kind == "down":
        return shown, shown + base - 1
    if rounding.kind == "up":
        return shown - base + 1, shown
    if rounding.kind in ("random", "controlled"):
        reach = (rounding.steps + 1) * base - 1
        return shown - reach, shown + reach
    return _conventional(shown, base, rounding.half)


def _conventional(shown: int, base: int, half: str | None) -> Ends:
    """To the nearest multiple. Only an even base has halves; where they go may be unknown."""
    up = (shown - base // 2, shown + (base + 1) // 2 - 1)
    if half == "up" or base % 2:
        return up
    if shown // base % 2:  # a half is rounded to the even multiple, which this is not
        even = (shown - base // 2 + 1, shown + base // 2 - 1)
    else:
        even = (shown - base // 2, shown + base // 2)
    return even if half == "even" else (min(up[0], even[0]), max(up[1], even[1]))


def plain_number(text: str) -> tuple[int, int, int] | None:
    """Sign, digits as one whole number, and how many of them are decimals, without zeros at the end."""
    match = PLAIN.fullmatch(text)
    if match is None or not (match[2] or match[3]) or not text.isascii():
        return None
    decimals = match[3] or ""
    decimals = decimals.rstrip("0")  # 12.0 is 12: programs write whole numbers so where a column has blanks
    return -1 if match[1] == "-" else 1, int((match[2] or "0") + decimals), len(decimals)


def _digits(measure: Measure, texts: Sequence[str]) -> int:
    """The decimals to which a column's figures are known: as declared, or the most that are shown."""
    if measure.counts is not None:
        return 0
    if isinstance(measure.decimals, int):
        return measure.decimals
    shown = (match for text in texts if (match := PLAIN.fullmatch(text.strip())) is not None)
    return max((len(match[3] or "") for match in shown), default=0)


def _why_no_number(text: str) -> Problem:
    if not text:
        return BLANK
    if SEPARATED.fullmatch(text):
        return SEPARATORS
    return PERCENT if re.fullmatch(r"[+-]?[0-9.]+\s*%", text) else UNDECLARED


def _ends_of(meaning: object) -> tuple[Fraction | None, Fraction | None]:
    """The ends that a token declares; None for an end that it leaves open."""
    if isinstance(meaning, TokenMeaning):
        meaning = meaning.primary or meaning.secondary
    if isinstance(meaning, str):  # unknown, primary, secondary
        return None, None
    assert isinstance(meaning, list)  # noqa: S101 - the policy's model has no other
    low, high = meaning
    return low, high
