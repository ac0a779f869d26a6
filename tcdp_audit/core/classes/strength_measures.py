"""Measures of sets of columns: of all records, or of combinations that are drawn by a hash."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.classes.column_risk import MeasuredSubsets, Sizes
from tcdp_audit.core.encoding.keys import Codes, boundaries, run_lengths

SPAN = 2**16  # of the hashes that draw combinations: they are added in the cache, and wrap around
DRAWN = 8_192  # combinations that a sample holds, if all records differ
LONG = 16  # columns of a set from which it is measured as all columns less the others
PAIRED = 4_096  # records among which pairs are compared
Subset = tuple[int, ...]
Hashes = NDArray[np.uint16]
Numbers = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class StrengthSample:
    """The sample that the figures of sets were estimated from; those of all columns together are exact."""

    share: float  # of all combinations of a set, drawn by their hash
    records: int  # among which pairs were compared
    orders: int  # random orders for Shapley values; 0 where they are exact or not asked for
    seed: int  # of all of these

    def error(self, figure: float, records: int) -> float:
        """Standard error of a distinction or a unique share: sqrt(figure (1 - share) / (share records))."""
        return sqrt(figure * (1 - self.share) / (self.share * records))


class Measure(Protocol):
    """Figures of a subset of columns."""

    def distinction(self, subset: Subset) -> Fraction | float:
        """Different combinations for each record."""
        ...

    def separation(self, subset: Subset) -> Fraction | float:
        """The part of all pairs of records that are distinguished."""
        ...

    def unique(self, subset: Subset) -> Fraction | float:
        """The share of records that are alone."""
        ...

    def drop(self, subset: Subset) -> Fraction | float:
        """The drop of that share when all columns but these are forgotten."""
        ...

    def is_key(self, subset: Subset) -> bool:
        """Whether all records differ, as far as they are looked at."""
        ...

    def sample(self, orders: int, seed: int) -> StrengthSample | None:
        """The sample that the figures are estimated from; None where they are exact."""
        ...


@dataclass(frozen=True)
class ExactMeasure:
    """Figures of all records."""

    measured: MeasuredSubsets

    def distinction(self, subset: Subset) -> Fraction:
        """Different combinations for each record."""
        return Fraction(self.measured.groups(subset), self.measured.records)

    def separation(self, subset: Subset) -> Fraction:
        """The part of all pairs of records that are distinguished."""
        return Fraction(self.measured.apart(subset), max(comb(self.measured.records, 2), 1))

    def unique(self, subset: Subset) -> Fraction:
        """The share of records that are alone."""
        return Fraction(self.measured.alone(subset), self.measured.records)

    def drop(self, subset: Subset) -> Fraction:
        """The drop of that share when all columns but these are forgotten."""
        return self.unique(tuple(range(len(self.measured.columns)))) - self.unique(subset)

    def is_key(self, subset: Subset) -> bool:
        """Whether all records differ, as far as they are looked at."""
        return self.measured.groups(subset) == self.measured.records

    def sample(self, orders: int, seed: int) -> StrengthSample | None:
        """The sample that the figures are estimated from; None where they are exact."""
        return StrengthSample(share=1.0, records=self.measured.records, orders=orders, seed=seed) if orders else None


class SampledMeasure:
    """Figures from combinations that are drawn by a hash, and from pairs among some records.

    Each code of a column has two random numbers. The sum of the short ones of a combination, modulo 2^16, decides
    whether it is drawn; the sum of the long ones identifies it among those that are. Two are the same once in 10^11
    samples.
    """

    def __init__(self, rows: Sequence[Codes], times: Sizes, seed: int) -> None:
        generator = np.random.default_rng(seed)
        self.rows, self.times, self.records = rows, times, int(times.sum())
        self.weighted = bool((times > 1).any())
        self.bound = min(-(-DRAWN * SPAN // len(times)), SPAN - 1)
        self.share = self.bound / SPAN
        spans = [int(codes.max(initial=0)) + 1 for codes in rows]
        self.hashes = [
            generator.integers(0, SPAN, span, np.uint16)[codes] for codes, span in zip(rows, spans, strict=True)
        ]
        self.numbers = [generator.integers(0, 2**64, span, np.uint64) for span in spans]
        drawn = np.sort(generator.choice(self.records, min(PAIRED, self.records), replace=False))
        chosen = np.searchsorted(np.cumsum(times), drawn, side="right")
        self.pairs = MeasuredSubsets([codes[chosen] for codes in rows], np.ones(len(chosen), np.int64))
        self.known: dict[Subset, tuple[int, int]] = {}
        self.sums: tuple[Subset, Hashes] = ((), np.zeros(len(times), np.uint16))
        self.totals: tuple[Hashes, Numbers] | None = None  # of all columns, once they are asked for
        self.hash = np.empty(len(times), np.uint16)

    def distinction(self, subset: Subset) -> float:
        """Different combinations for each record."""
        return min(1.0, self._counts(subset)[0] / self.share / self.records)

    def separation(self, subset: Subset) -> float:
        """The part of all pairs of records that are distinguished."""
        return self.pairs.apart(subset) / max(comb(self.pairs.records, 2), 1)

    def unique(self, subset: Subset) -> float:
        """The share of records that are alone."""
        return min(1.0, self._counts(subset)[1] / self.share / self.records)

    def drop(self, subset: Subset) -> float:
        """From all columns together, which are exact; nothing where every combination that is kept has one record."""
        alone = int((self.times == 1).sum()) / self.records
        return 0.0 if self.is_key(subset) else max(0.0, alone - self.unique(subset))

    def is_key(self, subset: Subset) -> bool:
        """Whether all records differ, as far as they are looked at."""
        combinations_drawn, alone = self._counts(subset)
        return combinations_drawn == alone > 0

    def sample(self, orders: int, seed: int) -> StrengthSample:
        """The sample that the figures are estimated from; None where they are exact."""
        return StrengthSample(share=self.share, records=self.pairs.records, orders=orders, seed=seed)

    def _counts(self, subset: Subset) -> tuple[int, int]:
        """The number of combinations that the sample keeps, and how many of them one record has."""
        if subset not in self.known:
            sizes = self._sizes(subset)
            self.known[subset] = len(sizes), int((sizes == 1).sum())
        return self.known[subset]

    def _sizes(self, subset: Subset) -> Sizes:
        """The number of records that each combination has that the sample keeps."""
        absent = [place for place in range(len(self.rows)) if place not in subset] if len(subset) > LONG else None
        if absent is not None and len(absent) <= len(subset) // 2:
            rows, keys = self._without(absent)
        else:
            np.add(self._sum(subset[:-1]), self.hashes[subset[-1]], out=self.hash)
            rows = np.flatnonzero(self.hash < self.bound)
            keys = np.zeros(len(rows), np.uint64)
            for place in subset:
                keys += self.numbers[place][self.rows[place][rows]]
        if not self.weighted:
            keys.sort()
            return run_lengths(boundaries(keys), len(keys))
        order = np.argsort(keys)
        return run_lengths(boundaries(keys[order]), len(keys), self.times[rows[order]])

    def _without(self, absent: Sequence[int]) -> tuple[NDArray[np.intp], Numbers]:
        """The drawn rows and their keys by all columns but a few.

        Sums wrap around, so that those of all columns less those of the few are exactly those of the others.
        """
        if self.totals is None:
            hashes, keys = np.zeros(len(self.times), np.uint16), np.zeros(len(self.times), np.uint64)
            for place, codes in enumerate(self.rows):
                hashes += self.hashes[place]
                keys += self.numbers[place][codes]
            self.totals = hashes, keys
        hash_of_all, key_of_all = self.totals
        self.hash[:] = hash_of_all
        for place in absent:
            self.hash -= self.hashes[place]
        rows = np.flatnonzero(self.hash < self.bound)
        keys = key_of_all[rows]
        for place in absent:
            keys -= self.numbers[place][self.rows[place][rows]]
        return rows, keys

    def _sum(self, subset: Subset) -> Hashes:
        """The sum of some columns' hashes. The last one is kept, since sets come in order."""
        known, total = self.sums
        if known != subset:
            if not subset or known != subset[:-1]:
                total, known = np.zeros(len(self.times), np.uint16), ()
            for place in subset[len(known) :]:
                total = total + self.hashes[place]
            self.sums = subset, total
        return self.sums[1]
