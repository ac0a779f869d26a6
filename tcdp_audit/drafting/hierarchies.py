"""Generalization hierarchies of forms: calendar days, digits of a postal code, bins of whole numbers, ICD-10 codes.

A hierarchy has every value of its form between two round ends, not the values of a column. It reveals nothing about the
records of the table, and fits the next release as well. A column with a single value of another form has no hierarchy,
except that ages may come with top codes, words for an unknown age and codes such as 999, each in a separate branch.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import partial

from tcdp_audit.drafting.column import ColumnFacts
from tcdp_audit.drafting.vocabulary import Topic, words_of
from tcdp_audit.plugin.sentences import listing

LeafPath = tuple[str, ...]
DAYS = {"%Y-%m-%d": "YYYY-MM-DD", "%Y%m%d": "YYYYMMDD", "%d.%m.%Y": "DD.MM.YYYY", "%m/%d/%Y": "MM/DD/YYYY"}
DAYS |= {"%d/%m/%Y": "DD/MM/YYYY", "%Y/%m/%d": "YYYY/MM/DD", "%d-%m-%Y": "DD-MM-YYYY"}
EARLIEST, LATEST = 1850, 2100
ICD = re.compile(r"[A-Z][0-9]{2}(\.[0-9])?")
PREFIXES = (3, 4, 5)  # digits of postal codes whose hierarchies are short enough
OLDEST, MOST_AGES = 120, 1_000  # years; distinct values of a column of ages
AGE = re.compile(r"[0-9]{1,3}")
FEW_NO_AGES = 0.1  # of the records, that may have no age in whole years
CLASSIFICATIONS = frozenset({"isco", "nace", "naics", "soc", "sic", "noga", "kldb", "wz"})  # digits from coarse to fine
NO_AGE = "no age"
NO_AGES = (
    *("unknown", "Unknown", "UNKNOWN", "unk", "Unk", "not known", "Not known", "not stated", "Not stated", "refused"),
    *("Refused", "no answer", "No answer", "don't know", "Don't know", "DK", "missing", "Missing", "not available"),
    *("Not available", "not reported", "Not reported", "unbekannt", "keine Angabe", "inconnu", "desconocido"),
    *("-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9", "-88", "-99", "888", "995", "996", "997", "998", "999"),
)
ROOT = "*"


@dataclass(frozen=True)
class DraftHierarchy:
    """A hierarchy: what its leaves are, for the reason, and for each leaf the labels up to the root."""

    kind: str
    paths: Sequence[LeafPath] = field(repr=False)

    @property
    def csv(self) -> str:
        """The hierarchy as ARX writes it: a line for each leaf, with semicolons, and quotes where needed."""
        return csv_text(self.paths, delimiter=";")


def csv_text(rows: Iterable[Sequence[str | None]], *, delimiter: str = ",") -> str:
    r"""Rows as CSV with line ends of one character, and quotes where needed. Cost: linear in the cells.

    Python's writer quotes a carriage return only where its own line ends have one, so a line is written with `\r\n`.
    """
    lines = []
    for row in rows:
        written = io.StringIO()
        csv.writer(written, delimiter=delimiter, lineterminator="\r\n").writerow(row)
        lines.append(f"{written.getvalue()[:-2]}\n")
    return "".join(lines)


def hierarchy_of(column: ColumnFacts, topic: Topic | None) -> DraftHierarchy | None:
    """The hierarchy that a column's form makes evident; None where there is none, or where two are possible."""
    key = None if topic is None else topic.key
    if not column.distinct:
        return None
    if key == "age":
        return _ages(column)
    if key == "place":
        return _prefixes(column)
    if key == "work" and CLASSIFICATIONS.intersection(words_of(column.name)):
        return _prefixes(column)
    if key == "date":
        return _days(column) or _years(column)
    return _icd(column) if key == "health" else _days(column)


def form_of_days(texts: Sequence[str]) -> str | None:
    """The one form of calendar days that all texts have; None where none fits, or where several do."""
    forms = [form for form in DAYS if texts and all(_day(form, one) is not None for one in texts)]
    return forms[0] if len(forms) == 1 else None


def _day(form: str, text: str) -> date | None:
    try:
        day = datetime.strptime(text, form).date()  # noqa: DTZ007 - a calendar day has no time zone
    except ValueError:
        return None
    return day if day.strftime(form) == text and EARLIEST <= day.year < LATEST else None


def _days(column: ColumnFacts) -> DraftHierarchy | None:
    form = form_of_days(column.sample[:1000])
    days = [] if form is None else [_day(form, one) for one in column.texts]
    years = [one.year for one in days if one is not None]
    if form is None or len(years) < len(days):
        return None
    return DraftHierarchy(f"day ({DAYS[form]}), month, year, decade", list(_calendar(form, min(years), max(years))))


def _calendar(form: str, first: int, last: int) -> Iterator[LeafPath]:
    """Every day from the beginning of the first decade to the end of the last."""
    day, end = date(first // 10 * 10, 1, 1), date(last // 10 * 10 + 9, 12, 31)
    while day <= end:
        yield day.strftime(form), f"{day.year}-{day.month:02d}", str(day.year), _bin(day.year, 10), ROOT
        day += timedelta(days=1)


def _years(column: ColumnFacts) -> DraftHierarchy | None:
    if (ends := _whole_ends(column)) is None or not EARLIEST <= ends[0] <= ends[1] < LATEST:
        return None
    return DraftHierarchy("year, 10 years, 50 years", _bins(*ends, (10, 50)))


def _ages(column: ColumnFacts) -> DraftHierarchy | None:
    """Ages in years, with the forms of what is no whole age, where a few records have one of them."""
    if column.distinct > MOST_AGES:
        return None
    texts = column.texts if column.numbers is None else [f"{one:.15g}" for one in column.numbers.tolist()]
    whole = {int(one) for one in texts if AGE.fullmatch(one) and int(one) < OLDEST}
    others = {one for one in texts if not (AGE.fullmatch(one) and int(one) < OLDEST)}
    if not whole:
        return None
    levels = _bins(0, max(whole), (5, 10, 20))
    if not others:
        return DraftHierarchy("1, 5, 10 and 20 years", levels)
    branches = {"ages in parts of a year": _parts_of_years(max(whole)), "top codes": _top_codes()}
    branches["words and codes for no age"] = [(one, NO_AGE, NO_AGE, NO_AGE, ROOT) for one in NO_AGES]
    used = {name: paths for name, paths in branches.items() if others & {path[0] for path in paths}}
    known = {path[0] for paths in used.values() for path in paths}
    without = sum(number for one, number in zip(texts, column.counts.tolist(), strict=True) if one in others)
    if not others <= known or without > FEW_NO_AGES * column.filled:
        return None
    more = [path for paths in used.values() for path in paths]
    return DraftHierarchy(f"1, 5, 10 and 20 years, with {listing([*used])}", [*levels, *more])


def _parts_of_years(oldest: int) -> Sequence[LeafPath]:
    """Half years up to an age, and months of the first three years as they are rounded."""
    parts = {f"{one}.5" for one in range(oldest // 20 * 20 + 20)}
    parts |= {f"{round(month / 12, digits):g}" for month in range(1, 36) if month % 12 for digits in (1, 2, 3, 4)}
    return [(one, *(_bin(int(float(one)), width) for width in (5, 10, 20)), ROOT) for one in sorted(parts, key=float)]


def _top_codes() -> Sequence[LeafPath]:
    """Top codes at each age from sixty, in the forms that people write. Each is a bin of its own at all levels."""
    forms = ("{}+", "{} +", ">={}", ">{}", "{} or more", "{} or over", "{} or older", "{} and over", "{} and older")
    codes = [form.format(age) for age in range(60, OLDEST) for form in forms]
    return [(code, code, code, code, ROOT) for code in codes]


def _whole_ends(column: ColumnFacts) -> tuple[int, int] | None:
    numbers = column.numbers
    return None if numbers is None or not column.is_whole else (int(numbers.min()), int(numbers.max()))


def _bins(low: int, high: int, widths: Sequence[int]) -> Sequence[LeafPath]:
    """Every whole number of the widest bins that hold both ends, in bins of each width."""
    widest = widths[-1]
    leaves = range(low // widest * widest, high // widest * widest + widest)
    return [(str(one), *map(partial(_bin, one), widths), ROOT) for one in leaves]


def _bin(number: int, width: int) -> str:
    start = number // width * width
    return f"{start}-{start + width - 1}"


def _prefixes(column: ColumnFacts) -> DraftHierarchy | None:
    """Digits that are cut off from the end, where all codes are equally many digits."""
    texts = column.sample
    digits = len(texts[0])
    if digits not in PREFIXES or not all(
        one.isascii() and one.isdigit() and len(one) == digits for one in column.texts
    ):
        return None
    codes = (f"{number:0{digits}d}" for number in range(10**digits))
    levels = [(code, *(code[: digits - cut] + ROOT * cut for cut in range(1, digits)), ROOT) for code in codes]
    return DraftHierarchy(f"{digits} digits, then one less at a time", levels)


def _icd(column: ColumnFacts) -> DraftHierarchy | None:
    if not all(ICD.fullmatch(one) for one in column.texts):
        return None
    return DraftHierarchy("ICD-10 code, category, letter", list(_icd_codes()))


def _icd_codes() -> Iterator[LeafPath]:
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
        for number in range(100):
            category = f"{letter}{number:02d}"
            for code in (category, *(f"{category}.{digit}" for digit in range(10))):
                yield code, f"{category}.*", f"{letter}**", ROOT
