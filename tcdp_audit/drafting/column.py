"""Facts of a column before its meaning is known: counts, shares and forms. Its cells stay inside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.api import number_or_interval, texts_of
from tcdp_audit.drafting.vocabulary import Topic
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.engine import RawDomain

SAMPLE = 10_000  # distinct values that forms are looked for in
SEED = 0
CONCENTRATED = 0.35  # the middle half of evenly spread numbers fills 0.5 of their range, that of measurements less
MOST_EXACT = 2**53
LONGEST_SCALE = 12  # answers
DENSE = 50  # numbers for each that was assigned, at most
LARGEST_AMOUNT = 10**10


@dataclass(frozen=True)
class ColumnFacts:
    """A column as an engine has it."""

    name: str  # of the column
    raw: RawDomain | None = field(repr=False)  # distinct values with their counts; None for nested data
    records: int  # of the table
    tokens: frozenset[str] = frozenset()  # texts that mean a missing value

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """A mask of the distinct values that are not missing."""
        if self.raw is None:
            return np.zeros(0, bool)
        if not self.raw.is_text:
            return ~np.isnan(self.raw.values)
        absent = np.isin(self.raw.values.astype(object), np.array(sorted(self.tokens), object)) if self.tokens else None
        return np.ones(len(self.raw.values), bool) if absent is None else ~absent

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Records with each value that is one. Shape (distinct,)."""
        return np.zeros(0, np.int64) if self.raw is None else self.raw.counts[self.present]

    @property
    def distinct(self) -> int:
        """The number of values that it has."""
        return len(self.counts)

    @property
    def filled(self) -> int:
        """The number of records that have a value."""
        return int(self.counts.sum())

    @property
    def missing_share(self) -> float:
        """The share of records without a value."""
        return 1 - self.filled / self.records if self.records else 0.0

    @property
    def distinct_share(self) -> float:
        """Values for each record that has one."""
        return self.distinct / self.filled if self.filled else 0.0

    @property
    def unique_share(self) -> float:
        """The share of records that are alone with their value, among those with one."""
        return float((self.counts == 1).sum()) / self.filled if self.filled else 0.0

    @cached_property
    def values(self) -> NDArray[Any]:
        """The values themselves. Never printed."""
        return np.zeros(0, object) if self.raw is None else self.raw.values[self.present]

    @property
    def texts(self) -> Sequence[str]:
        """All values as text. Never printed. O(distinct)."""
        texts: list[str] = texts_of(self.values).tolist()
        return texts

    @cached_property
    def sample(self) -> Sequence[str]:
        """Some values as text, the same every time, for forms. Never printed."""
        chosen = self.values
        if len(chosen) > SAMPLE:
            chosen = chosen[np.sort(np.random.default_rng(SEED).choice(len(chosen), SAMPLE, replace=False))]
        texts: list[str] = texts_of(chosen).tolist()
        return texts

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """Its values as numbers, in no order, where all of them are; None otherwise. Never printed."""
        if self.raw is None or not self.distinct:
            return None
        if not self.raw.is_text:
            values = self.values.astype(np.float64)
            return values if np.isfinite(values).all() else None
        return _parsed(self.values, self.sample)

    @property
    def is_numeric(self) -> bool:
        """Whether every value is a number or a range of numbers, so that `scale: numeric` reads all of them."""
        if self.numbers is not None:
            return not (self.is_whole and np.abs(self.numbers).max() >= MOST_EXACT)
        return self._has_ranges

    @cached_property
    def _has_ranges(self) -> bool:
        """Whether its values are numbers and ranges of numbers such as 20-29."""
        if self.raw is None or not self.raw.is_text or not 0 < self.distinct <= SAMPLE:
            return False
        covers = [number_or_interval(one) for one in self.sample]
        return all(cover is not None for cover in covers)

    @cached_property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.numbers is not None and bool((self.numbers == np.floor(self.numbers)).all())

    @cached_property
    def has_leading_zeros(self) -> bool:
        """Whether some values are digits after a zero, as codes are and numbers are not."""
        is_text = self.raw is not None and self.raw.is_text
        return is_text and any(len(one) > 1 and one.isdigit() and one[0] == "0" for one in self.sample)

    @cached_property
    def is_measurement(self) -> bool:
        """Whether its values are numbers with decimals, or whole ones of which most lie close together.

        Numbers that were assigned in turn or drawn evenly are spread over their range. Of measurements and earnings,
        half of the records lie in less than a third of it.
        """
        if self.numbers is None or self.has_leading_zeros or self.distinct < 2:
            return False
        if not self.is_whole:
            return True
        order = np.argsort(self.numbers)
        reached = np.cumsum(self.counts[order]) / self.filled
        low, high = self.numbers[order][np.searchsorted(reached, [0.25, 0.75])]
        span = self.numbers.max() - self.numbers.min()
        return self.distinct > 20 and bool((high - low) / span < CONCENTRATED)

    @cached_property
    def has_answers(self) -> bool:
        """Whether it has two values, or a few whole numbers in a row from 0 or 1 or around 0, as answers do."""
        if self.distinct <= 2:
            return True
        if self.numbers is None or not self.is_whole or self.distinct > LONGEST_SCALE:
            return False
        low, high = int(self.numbers.min()), int(self.numbers.max())
        return (low in (0, 1) or low == -high) and high - low + 1 == self.distinct

    @cached_property
    def may_be_amounts(self) -> bool:
        """Whether numbers that nearly all differ may be amounts of money as well as numbers that were assigned.

        Assigned numbers lie densely, or have equally many digits; amounts have neither. Cost: O(distinct).
        """
        if self.numbers is None or not self.is_whole or self.has_leading_zeros or self.distinct < 2:
            return False
        size = np.abs(self.numbers)
        digits = np.floor(np.log10(np.maximum(size, 1))).astype(int)
        is_dense = size.max() - self.numbers.min() < DENSE * self.distinct
        return not is_dense and size.max() < LARGEST_AMOUNT and len(np.unique(digits)) > 2


def _parsed(texts: NDArray[Any], sample: Sequence[str]) -> NDArray[np.float64] | None:
    """Texts as numbers, where all are; the sample decides early."""
    if any(not _is_number(one) for one in sample):
        return None
    try:
        values = pa.array(texts, pa.string()).cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        try:
            values = np.array([float(one) if _is_number(one) else np.nan for one in texts.tolist()])
        except ValueError:
            return None
    return values if np.isfinite(values).all() else None


def _is_number(text: str) -> bool:
    cover = number_or_interval(text)
    return cover is not None and cover.low == cover.high


ORDERS = (  # of words that have one, lowest first
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high"),
    ("none", "mild", "moderate", "severe", "critical"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("small", "medium", "large"),
    ("sehr niedrig", "niedrig", "mittel", "hoch", "sehr hoch"),
    ("leicht", "mittel", "schwer"),
    ("faible", "moyen", "fort"),
    ("bajo", "medio", "alto"),
    ("primary", "secondary", "tertiary"),
    (
        *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college"),
        *("Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"),
    ),
)


def scale_of(column: ColumnFacts, topic: Topic | None) -> tuple[Scale | None, str]:
    """The scale of a column's values, and why in a few words; None where nothing says it."""
    if _counts_years(column, topic) or (topic is not None and topic.scale is Scale.NUMERIC and _is_numeric(column)):
        return Scale.NUMERIC, "all values are numbers"
    measured = topic is None or topic.key in ("health", "money", "judgement")
    if measured and column.is_measurement and _is_numeric(column):
        return Scale.NUMERIC, "its numbers lie close together, as measurements do and codes do not"
    if order_of(column):
        return Scale.ORDINAL, "all values are words of a known order"
    if topic is not None:
        return Scale.NOMINAL, ""
    return None, ""


def order_of(column: ColumnFacts) -> Sequence[str]:
    """The whole known order that all values belong to, written as they are; nothing where there is none.

    It has words that the column lacks: it is the order's, not the column's.
    """
    if not 2 <= column.distinct <= max(map(len, ORDERS)) or column.raw is None or not column.raw.is_text:
        return ()
    for written in (str, str.capitalize, str.upper, str.title):
        for order in ORDERS:
            words = [written(one) for one in order]
            if set(column.sample) <= set(words):
                return words
    return ()


def _counts_years(column: ColumnFacts, topic: Topic | None) -> bool:
    """Whether a column of dates has years, which are numbers."""
    return topic is not None and topic.key == "date" and _is_numeric(column) and max(map(len, column.sample[:100])) == 4


def _is_numeric(column: ColumnFacts) -> bool:
    return column.is_numeric and not column.has_leading_zeros


CERTAIN = frozenset({"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "."})
BESIDE_NUMBERS = frozenset({"-", "--", "None", "none", "missing", "Missing"})  # among words these may be values
KNOWN = CERTAIN | BESIDE_NUMBERS
STARTS = frozenset({"", *" \t\r\n\u00a0", *(one[:1] for one in KNOWN)})  # most of a million values end here
CAPITALS = re.compile("[A-Z]{2}")  # the codes of countries and states, among which NA is Namibia


def missing_tokens(columns: Iterable[ColumnFacts]) -> list[str]:
    """The texts of a table that mean a missing value, the empty one first; blanks around them belong to them."""
    return sorted({""}.union(*(tokens_of(one) for one in columns)))


def tokens_of(column: ColumnFacts) -> set[str]:
    """The missing tokens of one column."""
    if column.raw is None or not column.raw.is_text:
        return set()
    tokens = {text for text in column.raw.values.tolist() if text[:1] in STARTS and text.strip() in KNOWN}
    others = [one for one in column.sample if one not in tokens]
    if not others:
        return tokens & {""}
    numbers = all(re.match(r"[+-]?[\d.<>=\[(]", one) for one in others)
    codes = sum(CAPITALS.fullmatch(one) is not None for one in others) * 2 >= len(others)
    return {one for one in tokens if _is_token(one.strip(), numbers=numbers, codes=codes)}


def _is_token(word: str, *, numbers: bool, codes: bool) -> bool:
    if word == "NA" and codes:
        return False
    return word in CERTAIN or numbers
