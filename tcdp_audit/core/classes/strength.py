"""Strengths of sets of columns: how well they distinguish records, exactly or from a sample that says so.

Source: Motwani, Xu, Efficient algorithms for masking and finding quasi-identifiers, VLDB 2007: distinction, separation,
minimal keys. Shapley, A value for n-person games, 1953.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.classes.column_risk import MeasuredSubsets, Sizes, exact_shapley
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.keys import Codes, boundaries, fold, numbered, occurrences, run_lengths
from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, Role

ORDER = 3  # columns of a set at most, unless more are asked for
VISITS = 60_000_000  # distinct rows times sets up to which everything is exact
SPAN = 2**16  # of the hashes that draw combinations: they are added in the cache, and wrap around
EXACT_SHAPLEY = 10  # columns at most for exact Shapley values, which need every subset
DRAWN = 8_192  # combinations that a sample holds, if all records differ
PAIRED = 4_096  # records among which pairs are compared
ORDERS = 32  # random orders of the columns, where Shapley values are estimated
Subset = tuple[int, ...]
Hashes = NDArray[np.uint16]


@dataclass(frozen=True, kw_only=True)
class SetStrength:
    """The strength of a set of columns: how well it distinguishes records.

    Args:
        attributes: the columns, in the order that they were given in.
        distinction: different combinations for each record.
        separation: the part of all pairs of records that it distinguishes.
        unique: the share of records that are unique by it.
    """

    attributes: tuple[str, ...]
    distinction: Fraction | float
    separation: Fraction | float
    unique: Fraction | float


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """The contribution of a column to the share of unique records."""

    attribute: str  # its name
    leave_one_out: Fraction | float  # by how much the share drops without it, all other columns being known
    shapley: float  # the mean of what it adds over all orders in which the columns may be learned
    error: float = 0.0  # standard error of `shapley`; 0 where it is exact


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


@dataclass(frozen=True, kw_only=True)
class Strengths:
    """The strengths of sets of columns.

    Args:
        records: how many there are.
        whole: all columns together, exactly.
        sets: every set up to the order that was asked for, the smallest first.
        contributions: what each column adds to the share of records that are unique by all columns.
        minimal_keys: the sets among `sets` by which all records differ, and none of whose parts does that. In a
            sample: those that no combination in it contradicts.
        sample: what `sets` and `contributions` were estimated from; None where they are exact.
    """

    records: int
    whole: SetStrength
    sets: tuple[SetStrength, ...]
    contributions: tuple[Contribution, ...]
    minimal_keys: tuple[tuple[str, ...], ...]
    sample: StrengthSample | None

    def of(self, *attributes: str) -> SetStrength:
        """The strength of one of the sets, its columns in any order."""
        for one in (*self.sets, self.whole):
            if {*one.attributes} == {*attributes}:
                return one
        raise KeyError(attributes)


def strengths(
    codes: Mapping[str, Codes], times: Sizes | None = None, *, order: int = ORDER, seed: int = 0, exact: bool = False
) -> Strengths:
    """The strengths of columns: how they distinguish records alone, together, and in every set up to some size.

    Where distinct rows times sets are too many, combinations are drawn by a seeded hash: unbiased, and the same
    whatever the order of records. Distinction and unique share then have the error of `StrengthSample.error`.

    Args:
        codes: of each column, one for every row; a missing value has a code of its own. Shape (rows,) each.
        times: how many records each row represents; None where rows are records. Shape (rows,).
        order: columns of a set at most.
        seed: of the samples.
        exact: whether to look at all combinations, however long it takes; of more than ten columns the Shapley values
            are estimated still.

    Cost: numbering the distinct rows once for each set; in a sample one addition and one comparison a row.

    Example:
        >>> known = strengths({"age": np.array([0, 1, 2, 0, 2]), "sex": np.array([0, 0, 1, 0, 1])})
        >>> str(known.of("age").distinction), str(known.of("sex").separation), known.minimal_keys
        ('3/5', '3/5', ())
    """
    names = [*codes]
    rows, each = _distinct_rows([codes[name] for name in names], times)
    exactly = MeasuredSubsets(rows, each)
    everything = tuple(range(len(names)))
    subsets = [one for size in range(min(order, len(names))) for one in combinations(everything, size + 1)]
    sampled = not exact and len(each) * (len(subsets) + len(names)) > VISITS
    measure: _Measure = _Sampled(rows, each, seed) if sampled else _Exact(exactly)
    of_sets = [_strength(measure, one, names) for one in subsets]
    whole = _strength(_Exact(exactly), everything, names)
    are_few = len(names) <= EXACT_SHAPLEY and (exact or len(each) << len(names) <= VISITS)
    if are_few:
        values = [(one, 0.0) for one in exact_shapley(measure.unique, len(names))]
    else:
        values = _drawn_shapley(measure, len(names), seed)
    drops = [measure.drop(everything[:place] + everything[place + 1 :]) for place in everything]
    contributions = [
        Contribution(attribute=name, leave_one_out=drop, shapley=value, error=error)
        for name, drop, (value, error) in zip(names, drops, values, strict=True)
    ]
    return Strengths(
        records=exactly.records,
        whole=whole,
        sets=tuple(of_sets),
        contributions=tuple(contributions),
        minimal_keys=tuple(tuple(names[i] for i in one) for one in _minimal_keys(measure, subsets)),
        sample=measure.sample(0 if are_few else ORDERS, seed),
    )


def strengths_of(
    engine: Engine,
    columns: Sequence[str],
    missing: Collection[str] = (),
    *,
    order: int = ORDER,
    seed: int = 0,
    exact: bool = False,
) -> Strengths:
    """The same of columns of a table, whose values are compared as text.

    Args:
        engine: the table.
        columns: the columns, at least one.
        missing: texts that mark a missing value, in addition to empty ones; a missing value is a value here.
        order: columns of a set at most.
        seed: of the samples.
        exact: whether to do without samples.

    Raises:
        DataError: a column has no distinct values to speak of.
    """
    engine.group_by(columns)
    nominal = AttributeDeclaration(role=Role.QUASI_IDENTIFIER)
    conventions = Conventions(missing_tokens=["", *missing])
    domains = [domain_of(name, engine.domain(name), nominal, conventions)[0] for name in columns]
    rows = CountedCodes.joined([*engine.counted(domains)])
    return strengths({name: rows[name] for name in columns}, rows.times, order=order, seed=seed, exact=exact)


class _Measure(Protocol):
    """Figures of a subset of columns."""

    def distinction(self, subset: Subset) -> Fraction | float: ...

    def separation(self, subset: Subset) -> Fraction | float: ...

    def unique(self, subset: Subset) -> Fraction | float: ...

    def drop(self, subset: Subset) -> Fraction | float: ...

    def is_key(self, subset: Subset) -> bool: ...

    def sample(self, orders: int, seed: int) -> StrengthSample | None: ...


@dataclass(frozen=True)
class _Exact:
    """Figures of all records."""

    measured: MeasuredSubsets

    def distinction(self, subset: Subset) -> Fraction:
        return Fraction(self.measured.groups(subset), self.measured.records)

    def separation(self, subset: Subset) -> Fraction:
        return Fraction(self.measured.apart(subset), max(comb(self.measured.records, 2), 1))

    def unique(self, subset: Subset) -> Fraction:
        return Fraction(self.measured.alone(subset), self.measured.records)

    def drop(self, subset: Subset) -> Fraction:
        return self.unique(tuple(range(len(self.measured.columns)))) - self.unique(subset)

    def is_key(self, subset: Subset) -> bool:
        return self.measured.groups(subset) == self.measured.records

    def sample(self, orders: int, seed: int) -> StrengthSample | None:
        return StrengthSample(share=1.0, records=self.measured.records, orders=orders, seed=seed) if orders else None


class _Sampled:
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
        self.hash = np.empty(len(times), np.uint16)

    def distinction(self, subset: Subset) -> float:
        return min(1.0, self._counts(subset)[0] / self.share / self.records)

    def separation(self, subset: Subset) -> float:
        return self.pairs.apart(subset) / max(comb(self.pairs.records, 2), 1)

    def unique(self, subset: Subset) -> float:
        return min(1.0, self._counts(subset)[1] / self.share / self.records)

    def drop(self, subset: Subset) -> float:
        """From all columns together, which are exact; nothing where every combination that is kept has one record."""
        alone = int((self.times == 1).sum()) / self.records
        return 0.0 if self.is_key(subset) else max(0.0, alone - self.unique(subset))

    def is_key(self, subset: Subset) -> bool:
        combinations_drawn, alone = self._counts(subset)
        return combinations_drawn == alone > 0

    def sample(self, orders: int, seed: int) -> StrengthSample:
        return StrengthSample(share=self.share, records=self.pairs.records, orders=orders, seed=seed)

    def _counts(self, subset: Subset) -> tuple[int, int]:
        """The number of combinations that the sample keeps, and how many of them one record has."""
        if subset not in self.known:
            sizes = self._sizes(subset)
            self.known[subset] = len(sizes), int((sizes == 1).sum())
        return self.known[subset]

    def _sizes(self, subset: Subset) -> Sizes:
        """The number of records that each combination has that the sample keeps."""
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


def _distinct_rows(columns: Sequence[Codes], times: Sizes | None) -> tuple[list[Codes], Sizes]:
    """Each combination of all columns once, in the order of their codes, and the number of its records."""
    keys = fold(columns, [int(one.max(initial=0)) + 1 for one in columns])
    distinct, numbers = numbered(keys.values, keys.span)
    first = np.empty(len(distinct), np.intp)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    return [codes[first] for codes in columns], occurrences(numbers, len(distinct), times)


def _strength(measure: _Measure, subset: Subset, names: Sequence[str]) -> SetStrength:
    return SetStrength(
        attributes=tuple(names[place] for place in subset),
        distinction=measure.distinction(subset),
        separation=measure.separation(subset),
        unique=measure.unique(subset),
    )


def _minimal_keys(measure: _Measure, subsets: Sequence[Subset]) -> list[Subset]:
    keys: list[Subset] = []
    for one in subsets:
        if not any({*key} <= {*one} for key in keys) and measure.is_key(one):
            keys.append(one)
    return keys


def _drawn_shapley(measure: _Measure, columns: int, seed: int) -> list[tuple[float, float]]:
    """What each column adds over some random orders, each taken backwards too: the mean, and its standard error."""
    generator = np.random.default_rng(seed)
    added = np.zeros((ORDERS // 2, columns))
    for pair in added:
        order = generator.permutation(columns)
        for one in (order, order[::-1]):
            shares = [float(measure.unique(tuple(one[: size + 1].tolist()))) for size in range(columns)]
            pair[one] += np.diff(shares, prepend=0.0)
    added /= 2
    errors = added.std(axis=0, ddof=1) / sqrt(len(added))
    return list(zip(added.mean(axis=0).tolist(), errors.tolist(), strict=True))
