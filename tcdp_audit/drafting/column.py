"""What is known of a column before anybody says what it means: counts, shares and forms. Its cells stay inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.api import number_or_interval, texts_of
from tcdp_audit.plugin.engine import RawDomain

SAMPLE = 10_000  # distinct values that forms are looked for in
SEED = 0
CONCENTRATED = 0.35  # the middle half of evenly spread numbers fills 0.5 of their range, that of measurements less
MOST_EXACT = 2**53


@dataclass(frozen=True)
class ColumnFacts:
    """A column as an engine has it.

    Args:
        name: of the column.
        raw: its distinct values with their counts; None for nested data, which has none to speak of.
        records: of the table.
        tokens: texts that stand for a missing value.
    """

    name: str
    raw: RawDomain | None = field(repr=False)
    records: int
    tokens: frozenset[str] = frozenset()

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Which of the distinct values stand for a value."""
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
        """How many values it has."""
        return len(self.counts)

    @property
    def filled(self) -> int:
        """How many records have a value."""
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

        Numbers that were given out in turn or drawn evenly are spread over their range; what was measured or earned is
        not: half of the records lie in less than a third of it.
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


def _parsed(texts: NDArray[Any], sample: Sequence[str]) -> NDArray[np.float64] | None:
    """Texts as numbers, where all are; what is none in the sample is none altogether."""
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
