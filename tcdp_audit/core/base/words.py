"""Text made visible; numbers and nouns in words: plurals, counts, shares, lists; unequal figures never look equal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from math import floor, isfinite, isinf, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

_ACTING = (
    "\x00-\x1f\x7f-\x9f"  # C0 with line feed and ESC, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # bidirectional controls, and deprecated format characters
    "\u2028\u2029"  # line and paragraph separator
    "\ufeff\ufff9-\ufffb"  # byte order mark, interlinear annotation
    "\ud800-\udfff"  # lone surrogates
    "\U000e0000-\U000e007f"  # tags
)
ACTING = re.compile(f"[{_ACTING}]")
ACTING_IN_LINES = re.compile(f"(?!\n)[{_ACTING}]")


def visible(text: str) -> str:
    """A name as it is, except characters that would act on the reader's screen: those are written out."""
    return ACTING.sub(_written_out, text)


def visible_lines(text: str) -> str:
    """The same for a text of several lines, which stay lines."""
    return ACTING_IN_LINES.sub(_written_out, text)


def one_line(text: str) -> str:
    """The same for a text of several lines, which become one."""
    return visible(" ".join(text.split()))


def _written_out(character: re.Match[str]) -> str:
    return character[0].encode("unicode_escape").decode()


def visible_json(text: str) -> str:
    """JSON that means the same with such characters as JSON's own escapes; line feeds between its tokens stay."""
    return ACTING_IN_LINES.sub(_escaped, text)


def _escaped(character: re.Match[str]) -> str:
    units = character[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[start : start + 2].hex()}" for start in range(0, len(units), 2))


CARDINALS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
IRREGULAR = {"person": "people", "child": "children", "man": "men", "woman": "women"}
HISSING = ("s", "x", "z", "ch", "sh")  # nouns on these take -es
IDENTIFYING = re.compile(r"([ _-](id|ids|key|no|nr|num|number|code|uuid|guid|ref)|(?<=[a-z])I[Dd])$", re.IGNORECASE)
NOUN = re.compile(r"[^\W\d_]{3,}( [^\W\d_]{3,})*")  # `ori h` of `ori_hid` is no noun
ROUND = 10**9  # denominators of thresholds that people type; a figure between two others is at none of them
BORDERLINE = 1e-9  # closer than this, a figure is shown as a whole number: the core decides it exactly
SMALL = 1e-4  # below it as well
SIGNIFICANT = 3  # digits of a small figure, also as a percentage
WIDE = Context(prec=60)  # as many digits as a figure is ever written with
HUGE = 1e15  # above it, figures are written with an exponent
EPSILON = 2**-51  # of a figure, by which a float may miss it after some arithmetic


def agree(number: float, one: str, many: str) -> str:
    """The form of a word that a number asks for: `agree(2, "is", "are")` is `are`."""
    return one if number == 1 else many


def plural(noun: str) -> str:
    """The plural of a noun, of which the last word changes: `equivalence classes`, `people`, `records of visits`."""
    noun, of, whose = noun.partition(" of ")
    return f"{_plural(noun)}{of}{whose}"


def _plural(noun: str) -> str:
    before, space, last = noun.rpartition(" ")
    if last in IRREGULAR:
        return before + space + IRREGULAR[last]
    if last.endswith("y") and last[-2:-1] not in set("aeiou"):
        return noun[:-1] + "ies"
    return noun + ("es" if last.endswith(HISSING) else "s")


def noun_form(noun: str, number: float) -> str:
    """The noun in the form that a number asks for."""
    return agree(number, noun, plural(noun))


def with_article(noun: str) -> str:
    """A noun with its indefinite article, by its first letter: `a person`, `an entity`."""
    return f"{'an' if noun[:1].lower() in set('aeio') else 'a'} {noun}"


def noun_of_column(column: str) -> str:
    """The noun of what a column identifies: `patient` for `patient_id`; `entity` where its name is no word."""
    name = column.strip().rpartition(".")[2]  # of a table's column, without the table
    noun = IDENTIFYING.sub("", name).replace("_", " ").replace("-", " ").lower()
    if not NOUN.fullmatch(noun):
        return "entity"
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is", "ies")) else noun


def count(number: int, noun: str = "") -> str:
    """A number with thousands separators, and its noun: `1 record`, `30,162 records`."""
    return f"{number:,} {noun_form(noun, number)}" if noun else f"{number:,}"


def in_words(number: int) -> str:
    """A number in words up to ten, in digits above."""
    return CARDINALS[number] if 0 <= number < len(CARDINALS) else f"{number:,}"


def sentence_case(text: str) -> str:
    """The text with a capital first letter and the rest as it is."""
    return text[:1].upper() + text[1:]


MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def date_and_time(moment: datetime) -> str:
    """A moment of UTC in words, to the minute: `23 November 2026, 08:33 UTC`."""
    return f"{written_date(moment)}, {moment:%H:%M} UTC"


def written_date(moment: date) -> str:
    """A date with its month in words: `23 November 2026`."""
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def listing(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def gibibytes(size: int) -> str:
    """An amount of memory, `1.5 GiB`; a small one in MiB.

    Example:
        >>> gibibytes(3 * 2**29), gibibytes(2**21)
        ('1.5 GiB', '2 MiB')
    """
    return f"{size / 2**30:.1f} GiB" if size >= 2**29 else f"{max(1, round(size / 2**20)):,} MiB"


def prose(message: str) -> str:
    """An outcome's sentence as a report shows it, its comparisons as signs that stay with their number."""
    signs = re.sub(r"([<>])= (?=\d)", lambda match: "≥\u00a0" if match[1] == ">" else "≤\u00a0", message)
    return visible(signs)


def share(part: float, whole: float) -> str:
    """A percentage that never rounds something to nothing, nor nearly all to all."""
    percent = 100 * part / whole if whole else 0.0
    if 0 < percent < 0.05:
        return "under 0.1%"
    if 99.95 <= percent < 100:
        return "over 99.9%"
    text = rounded(part / whole if whole else 0.0, 3, percent=True)
    return f"{text}%".replace("100.0%", "100%").replace("0.0%", "0%" if percent == 0 else "0.0%")


def rounded(value: float, places: int, *, percent: bool = False) -> str:
    """A figure to so many decimal places, half up, as `0.043`; as a percentage the same digits, as `4.3`.

    The decimal that the float prints as is rounded, so that a figure and its percentage never differ.

    Example:
        >>> rounded(0.0425, 3), rounded(0.0425, 3, percent=True), rounded(0.0075, 3), rounded(0.0075, 3, percent=True)
        ('0.043', '4.3', '0.008', '0.8')
    """
    decimal_value = Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, WIDE)
    return f"{decimal_value.scaleb(2) if percent else decimal_value:,f}"


def one_in(value: Fraction | float) -> str:
    """A chance as people say it: `1 in 4`, `1 in 22`; as a percentage above a half or where no such number is near.

    Example:
        >>> one_in(Fraction(1, 4)), one_in(0.0451), one_in(Fraction(2, 3)), one_in(1), one_in(0)
        ('1 in 4', '1 in 22', '66.7%', 'certainty', 'none')
    """
    if value in (0, 1):
        return "certainty" if value else "none"
    times = 1 / value
    is_near = round(times) >= 2 and abs(times - round(times)) <= times / 20
    return f"1 in {round(times):,}" if is_near else percent(float(value))


class Rounded(str):
    """A figure as text, with the number that it was rounded from: pages name it where they show the figure."""

    exact: str

    __slots__ = ("exact",)

    def __new__(cls, text: str, exact: str = "") -> Self:
        """The text, and the exact number as its shortest decimal."""
        one = super().__new__(cls, text)
        one.exact = exact
        return one


def percent(value: float | None, threshold: Fraction | None = None) -> str:
    """A share as a percentage, with as many digits as keep it from reading like none, all, or another threshold.

    The text is a `Rounded` where the percentage has more digits.
    """
    text = _percent(value, threshold)
    if value is None or not isfinite(value) or _reads_as(text.rstrip("%"), 100 * value):
        return text
    return Rounded(text, repr(float(value)))


def _percent(value: float | None, threshold: Fraction | None) -> str:
    if value is None or not isfinite(value):
        return figure(value)
    exact = 100 * value
    if abs(exact - round(exact)) < BORDERLINE:
        return f"{exact:,.0f}%"
    least = 3 if abs(value) >= SMALL else SIGNIFICANT - 1 - floor(log10(abs(value)))
    numbers = (rounded(value, places, percent=True) for places in range(least, least + 15))
    texts = [one for one in numbers if float(one.replace(",", "")) not in (0, 100)]
    if abs(value) < SMALL:
        texts = [one.rstrip("0") for one in texts]
    if threshold is not None and _is_at(value, threshold):
        return _at(threshold, percent_of(threshold), f"{texts[0]}%")
    if threshold is None:
        return f"{texts[0]}%"
    above = Fraction(value) > threshold
    return f"{next((one for one in texts if _keeps_side(one, 100 * threshold, above=above)), texts[-1])}%"


def percent_of(threshold: Fraction | None) -> str:
    """A share that was demanded, as a percentage where that is exact, and otherwise as it was typed."""
    if threshold is None:
        return "–"
    exact = 100 * threshold
    return f"{decimal(exact)}%" if Fraction(repr(float(exact))) == exact else decimal(threshold)


def decimal(threshold: Fraction | None) -> str:
    """A threshold as the decimal that was typed; a fraction where no decimal is exact."""
    if threshold is None:
        return "–"
    if threshold.denominator == 1:
        return f"{threshold.numerator:,}"
    text = repr(float(threshold))
    return text if Fraction(text) == threshold else str(threshold)


def figure(value: float | None, threshold: Fraction | None = None) -> str:
    """An observed figure to three digits; more where it would read like a threshold that it is not, and as that at it.

    The text is a `Rounded` where the figure has more digits.

    Example:
        >>> figure(0.86437), figure(0.86437).exact, figure(0.25)
        ('0.864', '0.86437', '0.250')
    """
    text = _figure(value, threshold)
    return text if value is None or isinf(value) or _reads_as(text, value) else Rounded(text, repr(float(value)))


def _reads_as(text: str, value: float) -> bool:
    """Whether a text is a number, except for what the arithmetic of floats cannot hold."""
    return abs(float(text.replace(",", "")) - value) <= abs(value) * EPSILON


def _figure(value: float | None, threshold: Fraction | None) -> str:
    if value is None:
        return "–"
    if isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) < HUGE and (float(value).is_integer() or 0 < abs(value - round(value)) < BORDERLINE < abs(value)):
        return f"{value:,.0f}"
    texts = (text for digits in range(3, 18) if not _is_whole(text := _digits(value, digits)) or abs(value) >= HUGE)
    if threshold is not None and _is_at(value, threshold):
        return _at(threshold, decimal(threshold), next(texts, repr(value)))
    if threshold is None:
        return next(texts, repr(value))
    side = Fraction(value) > threshold
    return next((text for text in texts if _keeps_side(text, threshold, above=side)), repr(value))


def finite(value: float | None) -> bool:
    """True for a number that an axis can hold."""
    return value is not None and isfinite(value)


def _is_at(value: float, threshold: Fraction) -> bool:
    """Whether a figure is the float nearest to a round threshold; that of 0.1 is a little above 1/10."""
    return value == float(threshold) and threshold.denominator <= ROUND


def _at(threshold: Fraction, typed: str, rounded: str) -> str:
    """A figure at its threshold: as the threshold was typed, or rounded where that is no decimal."""
    return typed if Fraction(repr(float(threshold))) == threshold else rounded


def _digits(value: float, digits: int) -> str:
    """A fractional figure to so many significant digits, without an exponent where it can be avoided."""
    if not SMALL <= abs(value) < HUGE:
        return f"{value:.{digits}g}"
    if abs(value) >= 1000:
        return rounded(value, max(digits - 4, 1))
    return rounded(value, digits - 1 if abs(value) >= 1 else digits)


def _is_whole(text: str) -> bool:
    """Whether a fractional figure would read like a whole one, as 0.9997 would as 1.000."""
    return float(text.replace(",", "")).is_integer()


def _keeps_side(text: str, threshold: Fraction, *, above: bool) -> bool:
    number = Fraction(text.replace(",", ""))
    return number != threshold and (number > threshold) == above
