"""National telephone numbers by value: nearly all are assigned in one country, as the library phonenumbers knows it."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

import numpy as np

from tcdp_audit.plugin.detector import ColumnDetector, Detector, DetectorColumn, Evidence, binomial_evidence
from tcdp_audit_plugins.detectors._shared import phrases
from tcdp_audit_plugins.detectors.contact import LIBRARY, TELEPHONE
from tcdp_audit_plugins.detectors.name_lists import spread

COUNTRIES = phrases(
    "US, GB, IE, AU, NZ, ZA, IN, DE, AT, CH, FR, BE, LU, NL, ES, PT, IT, MX, AR, CL, CO, PE, BR, SE, DK, NO, FI, IS, "
    "PL, CZ, SK, HU, RO, BG, GR, HR, SI, EE, LT, LV, UA, RU, TR, IL, JP, KR, CN"
)
NEARLY_ALL = Fraction(9, 10)
FIRST = 20  # values, of which a country that assigns fewer than nine tenths is left out
NATIONAL = re.compile(r"\(?[0-9][0-9 ().\-/]{5,20}[0-9]")
OTHER = re.compile(
    r"\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ](\d{2}|\d{4})"  # dates
    r"|(19|20)\d{2}(0[1-9]|1[0-2])[0-3]\d"  # dates without separators
    r"|\d{3}-\d{2}-\d{4}|\d+[.,]\d+|\d{1,3}(\.\d{1,3}){3}"  # other numbers
)
FIXED = 2  # leading digits of the random numbers that a column is compared with
LEADING = 4  # digits that distinguish numbers: those of one block of codes are one observation
LEADING_OF_TELEPHONES = 5  # where the numbers are written as telephone numbers are: in groups, or with a leading zero
DRAWS = 400
SEVERAL = 0.05  # of the numbers are written in a form, for it to be one of several
GROUP = re.compile("[0-9]+")
GROUPED = 0.2  # of random numbers, at most, have their digits in the groups in which a country writes its numbers


def _has_form(text: str) -> bool:
    return 7 <= sum(map(str.isdigit, text)) <= 12 and bool(NATIONAL.fullmatch(text)) and not OTHER.fullmatch(text)


def may_be_national(column: DetectorColumn) -> bool:
    """Whether nearly all values are groups of digits as telephone numbers are written, or begin with a zero."""
    texts = spread(column.texts)
    written = sum(_has_form(text) and (not text.isdigit() or text[0] == "0") for text in texts)
    return len(texts) >= FIRST and written >= NEARLY_ALL * len(texts)


def national_numbers(column: DetectorColumn) -> Evidence | None:
    """Evidence that nearly all numbers of a column are assigned in one of 47 countries.

    Random numbers with the same first two digits, of the same form, are compared with them: in some countries most
    are assigned. There the groups of digits decide, if the country writes its numbers in them: four groups or more,
    three of 3, 2 and 3 digits, any with a leading zero, or groups of several forms in one column. Numbers with the
    same first four digits count as one, or with the same five if they are written in groups or with a leading zero:
    codes that begin with a year are no telephone numbers.

    Cost: O(1,000) look-ups in the plan of each country that assigns nearly all of the first twenty.
    """
    texts = [text for text in spread(column.texts) if _has_form(text)]
    if len(texts) < FIRST or len(texts) < NEARLY_ALL * len(spread(column.texts)) or _fills_a_range(column):
        return None
    every = [_evidence(texts, country) for country in COUNTRIES]
    best = min((one for one in every if one is not None), key=lambda one: one.p_value, default=None)
    if best is None:
        return None
    return Evidence(best.hits, best.values, best.base_rate, min(1.0, best.p_value * len(COUNTRIES)))


def _fills_a_range(column: DetectorColumn) -> bool:
    """Whether integers number something: half of their range is taken."""
    numbers = column.integers
    return numbers is not None and len(numbers) > 1 and 2 * len(numbers) >= int(numbers[-1]) - int(numbers[0])


def _evidence(texts: list[str], country: str) -> Evidence | None:
    """The evidence for one country; None where it does not assign nearly all of the numbers."""
    some = texts[:: max(1, len(texts) // FIRST)][:FIRST]
    if sum(_is_assigned(text, country) for text in some) < NEARLY_ALL * FIRST:
        return None
    assigned = {text: _is_assigned(text, country) for text in texts}
    hits = sum(assigned.values())
    if hits < NEARLY_ALL * len(assigned):
        return None
    blocks: dict[str, bool] = {}
    for text, is_hit in assigned.items():
        block = _block(text)
        blocks[block] = blocks.get(block, True) and is_hit
    generator = np.random.default_rng(0)
    drawn = [_random_alike(texts[int(place)], generator) for place in generator.integers(0, len(texts), DRAWS)]
    chance = (sum(_is_assigned(text, country) for text in drawn) + 1) / (DRAWS + 1)
    forms = Counter(form for text, is_hit in assigned.items() if is_hit and (form := _groups_of(text, country)))
    several = sum(times >= SEVERAL * len(texts) for times in forms.values()) > 1
    if sum(times for form, times in forms.items() if several or _is_rare(form)) >= NEARLY_ALL * len(texts):
        chance *= GROUPED
    tested = binomial_evidence(sum(blocks.values()), len(blocks), min(chance, 0.999))
    return Evidence(hits, len(assigned), chance, tested.p_value)


def _is_assigned(text: str, country: str) -> bool:
    """Whether a country's plan has assigned the range of a number."""
    from phonenumbers import NumberParseException, is_valid_number, parse  # noqa: PLC0415 - of the extra

    try:
        return bool(is_valid_number(parse(text, country)))
    except NumberParseException:
        return False


def _groups_of(text: str, country: str) -> tuple[int, ...]:
    """The lengths of the groups of digits, if a country writes this number in them; a leading zero is negative."""
    from phonenumbers import PhoneNumberFormat, format_number, parse  # noqa: PLC0415 - of the extra

    groups = GROUP.findall(text)
    if len(groups) == 1 or groups != GROUP.findall(format_number(parse(text, country), PhoneNumberFormat.NATIONAL)):
        return ()
    first, *rest = map(len, groups)
    return (-first if groups[0][0] == "0" else first, *rest)


def _is_rare(form: tuple[int, ...]) -> bool:
    """Whether few numbers but those of telephones are written in such groups."""
    return len(form) >= 4 or form == (3, 2, 3) or any(one < 0 for one in form[:1])


def _block(text: str) -> str:
    """The leading digits of a number, without zeros before it."""
    digits = "".join(filter(str.isdigit, text))
    is_written = digits != text or digits[0] == "0"
    return digits.lstrip("0")[: LEADING_OF_TELEPHONES if is_written else LEADING]


def _random_alike(text: str, generator: np.random.Generator) -> str:
    """A text of the same form and first two digits, not counting leading zeros."""
    zeros = len(text) - len(text.lstrip("(0"))
    digits, drawn = 0, []
    for place, one in enumerate(text):
        if one.isdigit() and place >= zeros:
            digits += 1
            drawn.append(one if digits <= FIXED else str(generator.integers(0, 10)))
        else:
            drawn.append(one)
    return "".join(drawn)


NATIONALS: tuple[Detector, ...] = (
    ColumnDetector(
        name="national_telephone_number",
        noun="telephone number of a country",
        nouns="telephone numbers of a country",
        words=TELEPHONE,
        examine=national_numbers,
        may_be=may_be_national,
        library=LIBRARY,
        safe_harbor="D",
        source="the numbering plans of 47 countries, by the library phonenumbers",
    ),
)
