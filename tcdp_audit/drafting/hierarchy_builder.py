"""Hierarchies that a person asks for: bands of numbers, prefixes, calendar periods, and the groups of known codes.

Codes are grouped by their published structure and not by a list of them: national editions and revisions add codes, and
each keeps the structure. A value that has not the form asked for goes under `other`, up to the root.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from itertools import pairwise

import numpy as np

from tcdp_audit.drafting.column import ColumnFacts
from tcdp_audit.drafting.hierarchies import DAYS, ROOT, DraftHierarchy, LeafPath, form_of_days
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.sentences import count, listing

OTHER = "other"
MOST_OTHER = 0.5  # of the values; with more, the form is not that of the column
MOST_LEAVES = 10_000  # whole numbers that are listed although the column has not all of them
PERIODS = ("month", "quarter", "year", "decade")
MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?=[ T][0-9]{2}:)")
Path = Callable[
    [str], Sequence[str] | None
]  # the labels above a value, without the root; None where it has not the form


@dataclass(frozen=True)
class BuiltLevel:
    """A level of a hierarchy over a column.

    Args:
        name: what its labels are.
        groups: how many of them the column has.
        smallest: the records in the smallest of them.
    """

    name: str
    groups: int
    smallest: int


@dataclass(frozen=True)
class BuiltHierarchy:
    """A hierarchy over the values of a column.

    Args:
        hierarchy: its leaves with the labels above them.
        levels: from the values to the root.
        examples: leaves with their labels, of the most frequent values.
        values: how many different values the column has.
        others: how many of them have not the form.
        others_records: the records with such a value.
        is_numeric: whether all labels are numbers or ranges of numbers.
    """

    hierarchy: DraftHierarchy
    levels: Sequence[BuiltLevel]
    examples: Sequence[LeafPath] = field(repr=False)
    values: int
    others: int
    others_records: int
    is_numeric: bool


@dataclass(frozen=True)
class _Form:
    """The labels above the values of a form, and the names of the levels."""

    what: str  # the form, as the object of a sentence
    names: Sequence[str]
    above: Path
    further: Sequence[str] = ()  # leaves that the column has not
    is_numeric: bool = False


def build_bands(column: ColumnFacts, widths: Sequence[str]) -> BuiltHierarchy:
    """Bands of numbers.

    Args:
        column: whose values are numbers.
        widths: of the bands, ascending, each a multiple of the one before.

    Raises:
        UsageError: widths are none, or too few values are numbers.
    """
    sizes = [_width(one) for one in widths]
    if not sizes or any(wide <= narrow or wide % narrow for narrow, wide in pairwise(sizes)):
        raise UsageError("--bands: give widths such as 5,10,20, each a multiple of the one before")
    numbers = [number for one in column.texts if (number := _number(one)) is not None]
    whole = all(one == one.to_integral_value() for one in (*numbers, *sizes)) and min(numbers, default=Decimal(0)) >= 0
    further: list[str] = []
    if whole and numbers:
        start, stop = min(numbers) // sizes[-1] * sizes[-1], max(numbers) // sizes[-1] * sizes[-1] + sizes[-1]
        if stop - start <= MOST_LEAVES:
            further = [str(one) for one in range(int(start), int(stop))]

    def above(text: str) -> Sequence[str] | None:
        number = _number(text)
        return None if number is None else [_band(number, one, whole=whole) for one in sizes]

    names = [f"bands of {_plain(one)}" for one in sizes]
    return _built(column, _Form("numbers", names, above, further, is_numeric=True))


def _width(text: str) -> Decimal:
    number = _number(text.strip())
    if number is None or number <= 0:
        raise UsageError("--bands: give widths such as 5,10,20, each a number more than 0")
    return number


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text) if text.isascii() and "_" not in text else Decimal("NaN")
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 16 else None


def _band(number: Decimal, width: Decimal, *, whole: bool) -> str:
    start = (number / width).to_integral_value("ROUND_FLOOR") * width
    return f"{_plain(start)}-{_plain(start + width - 1)}" if whole else f"[{_plain(start)}, {_plain(start + width)})"


def _plain(number: Decimal) -> str:
    return f"{number.normalize() + 0:f}"


def build_prefixes(column: ColumnFacts, lengths: Sequence[str]) -> BuiltHierarchy:
    """Prefixes of codes.

    Args:
        column: of codes.
        lengths: of the prefixes, descending.

    Raises:
        UsageError: lengths are none.
    """
    sizes = [int(one) if one.strip().isascii() and one.strip().isdigit() else 0 for one in lengths]
    if not sizes or min(sizes) < 1 or any(shorter >= longer for longer, shorter in pairwise(sizes)):
        raise UsageError("--prefix: give lengths such as 3,2, each at least 1 and less than the one before")
    width = max(map(len, column.texts), default=0)
    alike = all(len(one) == width for one in column.texts)
    if sizes[0] >= width:
        raise UsageError(
            f"--prefix: the values have {width} characters at most, so that {sizes[0]} would keep them whole"
        )

    def above(text: str) -> Sequence[str]:
        return [_prefix(text, one, f"{'*' * (width - one)}" if alike else "*") for one in sizes]

    return _built(column, _Form("codes", [f"the first {one}" for one in sizes], above))


def _prefix(text: str, length: int, rest: str) -> str:
    return text if len(text) < length else text[:length] + rest


def build_periods(column: ColumnFacts, periods: Sequence[str]) -> BuiltHierarchy:
    """Calendar periods of days, or of moments such as 2026-03-05 10:30.

    Args:
        column: of days in one form.
        periods: some of month, quarter, year and decade, in this order.

    Raises:
        UsageError: periods are others, or too few values are days in one form.
    """
    asked = [one.strip() for one in periods]
    if not asked or asked != [one for one in PERIODS if one in asked]:
        raise UsageError(f"--dates: give some of {','.join(PERIODS)}, in this order")
    form = _form_of_days(column.sample[:1000])

    def above(text: str) -> Sequence[str] | None:
        moment = MOMENT.match(text)
        day = _day(text if moment is None else moment[0], form if moment is None else "%Y-%m-%d")
        return None if day is None else [_period(day, one) for one in asked]

    return _built(column, _Form(f"days in one of the forms {', '.join(DAYS.values())}", asked, above))


def _form_of_days(texts: Sequence[str]) -> str:
    """The form that most texts have; ISO's where several fit equally."""
    fits = {form: sum(_day(one, form) is not None for one in texts) for form in DAYS}
    best = max(fits.values())
    forms = [form for form, number in fits.items() if number == best]
    if best and len(forms) > 1 and form_of_days([one for one in texts if _day(one, forms[0])]) is None:
        both = listing([DAYS[one] for one in forms])
        raise UsageError(f"--dates: the days can be read as {both}; write them in a form with one meaning")
    return forms[0]


def _day(text: str, form: str) -> datetime | None:
    try:
        day = datetime.strptime(text, form)  # noqa: DTZ007 - a calendar day has no time zone
    except ValueError:
        return None
    return day if day.strftime(form) == text else None


def _period(day: datetime, period: str) -> str:
    if period == "month":
        return f"{day.year:04d}-{day.month:02d}"
    if period == "quarter":
        return f"{day.year:04d}-Q{(day.month + 2) // 3}"
    return f"{day.year:04d}" if period == "year" else f"{day.year // 10 * 10:04d}-{day.year // 10 * 10 + 9:04d}"


ICD = re.compile(r"[A-Z][0-9]{2}(?:\.?[0-9A-Z]{1,4})?")
CHAPTERS = (  # the last category of each chapter of ICD-10, with the first; national editions fill gaps between them
    *("A00-B99", "C00-D49", "D50-D89", "E00-E90", "F00-F99", "G00-G99", "H00-H59", "H60-H95", "I00-I99", "J00-J99"),
    *("K00-K95", "L00-L99", "M00-M99", "N00-N99", "O00-O99", "P00-P96", "Q00-Q99", "R00-R99", "S00-T98", "U00-U99"),
    *("V00-Y99", "Z00-Z99"),
)
NUTS = re.compile(r"([A-Z]{2})[0-9A-Z]{0,3}")
COUNTRIES = frozenset(  # of NUTS and of statistical regions: Greece is EL, and the United Kingdom UK
    re.findall("..", "ATBEBGCYCZDEDKEEELESFIFRHRHUIEITLTLULVMTNLPLPTROSESISKUKCHISLINOALBAMEMKRSTRUAXK")
)
ISCO = re.compile(r"([0-9]{2})[0-9]{0,2}")
SUB_MAJOR = frozenset(  # the 43 of ISCO-08
    re.findall("..", "01020311121314212223242526313233343541424344515253546162637172737475818283919293949596")
)


def _icd(_: Sequence[str]) -> _Form:
    """Category and chapter; the blocks between them differ between editions."""

    def above(text: str) -> Sequence[str] | None:
        if not ICD.fullmatch(text):
            return None
        category = text[:3]
        chapter = next((one for one in CHAPTERS if one[:3] <= category <= one[4:]), None)
        return None if chapter is None else [f"{category}.*", chapter]

    return _Form("codes of ICD-10, such as E11.9", ["category", "chapter"], above)


def _nuts(_: Sequence[str]) -> _Form:
    def above(text: str) -> Sequence[str] | None:
        match = NUTS.fullmatch(text)
        return [text[:length] for length in (4, 3, 2)] if match is not None and match[1] in COUNTRIES else None

    return _Form("codes of NUTS, such as DE212", ["NUTS 2", "NUTS 1", "country"], above)


def _isco(texts: Sequence[str]) -> _Form:
    """Minor, sub-major and major group; a code of fewer digits than most has lost a zero, or is none."""
    lengths = [len(one) for one in texts if _is_isco(one)]
    width = max(set(lengths), key=lengths.count, default=4)

    def above(text: str) -> Sequence[str] | None:
        if not _is_isco(text) or len(text) != width:
            return None
        return [text[:length] + "*" * (width - length) for length in range(width - 1, 0, -1)]

    names = ["minor group", "sub-major group", "major group"][4 - width :]
    return _Form("codes of ISCO-08, such as 2310", names, above)


def _is_isco(text: str) -> bool:
    match = ISCO.fullmatch(text)
    return match is not None and match[1] in SUB_MAJOR


CODES: dict[str, Callable[[Sequence[str]], _Form]] = {"icd": _icd, "isco": _isco, "nuts": _nuts}


def build_code_groups(column: ColumnFacts, codes: str) -> BuiltHierarchy:
    """The groups of known codes.

    Args:
        column: of codes.
        codes: `icd` (ICD-10), `isco` (ISCO-08) or `nuts`.

    Raises:
        UsageError: too few values are such codes.
    """
    return _built(column, CODES[codes](column.texts))


def _built(column: ColumnFacts, form: _Form) -> BuiltHierarchy:
    texts = column.texts
    paths = {text: form.above(text) for text in texts}
    others = [text for text, labels in paths.items() if labels is None]
    if not texts or len(others) > MOST_OTHER * len(texts):
        raise UsageError(
            f"{len(others):,} of {count(len(texts), 'value')} of the column are no {form.what}; a hierarchy is made "
            "where at most half of them are none"
        )
    height = len(form.names)
    whole = [_path(text, labels, height) for text, labels in paths.items()]
    known = set(texts)
    further = [_path(text, form.above(text), height) for text in form.further if text not in known]
    leaves = sorted([*whole, *further], key=_order)
    records = np.array(column.counts)
    return BuiltHierarchy(
        DraftHierarchy(", ".join(form.names), leaves),
        list(_levels(whole, records, ["values", *form.names, "all"])),
        _examples(whole, records),
        len(texts),
        len(others),
        int(sum(number for text, number in zip(texts, records.tolist(), strict=True) if paths[text] is None)),
        form.is_numeric and not others,
    )


def _path(text: str, labels: Sequence[str] | None, height: int) -> LeafPath:
    return (text, *([OTHER] * height if labels is None else labels), ROOT)


def _order(path: LeafPath) -> tuple[bool, Decimal, str]:
    number = _number(path[0])
    return (number is None, Decimal(0) if number is None else number, path[0])


def _levels(paths: Sequence[LeafPath], records: np.ndarray, names: Sequence[str]) -> Iterator[BuiltLevel]:
    for level, name in enumerate(names):
        _, numbers = np.unique(np.array([path[level] for path in paths], object).astype(str), return_inverse=True)
        sizes = np.bincount(numbers, records)
        yield BuiltLevel(name, len(sizes), int(sizes.min()))


def _examples(paths: Sequence[LeafPath], records: np.ndarray, most: int = 3) -> list[LeafPath]:
    """The most frequent value of each of the largest groups below the root, so that no rare value is shown."""
    chosen: dict[str, LeafPath] = {}
    for place in np.argsort(-records, kind="stable").tolist():
        path = paths[place]
        if len(chosen) < most and path[1] != OTHER:
            chosen.setdefault(path[-2], path)
    return list(chosen.values())
