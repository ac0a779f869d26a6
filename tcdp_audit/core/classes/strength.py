"""Strengths of sets of columns: how well they distinguish records, exactly or from a sample that says so.

Source: Motwani, Xu, Efficient algorithms for masking and finding quasi-identifiers, VLDB 2007: distinction, separation,
minimal keys. Shapley, A value for n-person games, 1953.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, sqrt
from typing import TypeVar

import numpy as np

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.classes.column_risk import MeasuredSubsets, Sizes, exact_shapley
from tcdp_audit.core.classes.strength_measures import ExactMeasure, Measure, SampledMeasure, StrengthSample, Subset
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.keys import Codes, fold, numbered, occurrences
from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, Role

ORDER = 3  # columns of a set at most, unless more are asked for
VISITS = 60_000_000  # distinct rows times sets up to which everything is exact
PER_SET = 1000  # rows that are numbered in the time that a set costs in addition to its rows
EXACT_SHAPLEY = 10  # columns at most for exact Shapley values, which need every subset
ORDERS = 32  # random orders of the columns, where Shapley values are estimated
Progress = Callable[[int, int], None]
One = TypeVar("One")


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
        searched: whether `sets` are those that a search looked at, and not every set.
    """

    records: int
    whole: SetStrength
    sets: tuple[SetStrength, ...]
    contributions: tuple[Contribution, ...]
    minimal_keys: tuple[tuple[str, ...], ...]
    sample: StrengthSample | None
    searched: bool = False

    def of(self, *attributes: str) -> SetStrength:
        """The strength of one of the sets, its columns in any order."""
        for one in (*self.sets, self.whole):
            if {*one.attributes} == {*attributes}:
                return one
        raise KeyError(attributes)


def strengths(
    codes: Mapping[str, Codes],
    times: Sizes | None = None,
    *,
    order: int = ORDER,
    seed: int = 0,
    exact: bool = False,
    beam: int | None = None,
    progress: Progress | None = None,
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
        beam: where every set costs too much, sets of one more column are made of the best so many only, by each of
            three figures: unique records, separation, distinction. The search ends with a set that leaves as many
            records alone as all columns do. None where every set is looked at.
        progress: called with (steps done, steps at most).

    Cost: numbering the distinct rows once for each set; in a sample one addition and one comparison a row. There are
    O(columns^order) sets, and O(columns order beam) of a search.

    Example:
        >>> known = strengths({"age": np.array([0, 1, 2, 0, 2]), "sex": np.array([0, 0, 1, 0, 1])})
        >>> str(known.of("age").distinction), str(known.of("sex").separation), known.minimal_keys
        ('3/5', '3/5', ())
    """
    names = [*codes]
    rows, each = _distinct_rows([codes[name] for name in names], times)
    exactly = MeasuredSubsets(rows, each)
    everything = tuple(range(len(names)))
    sizes = range(1, min(order, len(names)) + 1)
    number = sum(comb(len(names), size) for size in sizes)
    searched = beam is not None and not exact and max(len(each), PER_SET) * (number + len(names)) > VISITS
    number = len(names) * (1 + 3 * (beam or 0) * (len(sizes) - 1)) if searched else number
    sampled = not exact and len(each) * (number + len(names)) > VISITS
    measure: Measure = SampledMeasure(rows, each, seed) if sampled else ExactMeasure(exactly)
    of_all = _strength(ExactMeasure(exactly), everything, names)
    steps = _Steps(progress, number, (ORDERS + 1) * len(names))
    if searched and beam is not None:
        subsets = [*_search(measure, len(names), len(sizes), beam, float(of_all.unique), steps)]
    else:
        subsets = [one for size in sizes for one in combinations(everything, size)]
    of_sets = [_strength(measure, one, names) for one in (subsets if searched else steps.each(subsets))]
    steps.reach(number)
    are_few = len(names) <= EXACT_SHAPLEY and (exact or len(each) << len(names) <= VISITS)
    if are_few:
        values = [(one, 0.0) for one in exact_shapley(measure.unique, len(names))]
    else:
        values = _drawn_shapley(measure, len(names), seed, float(of_all.unique) if searched else None, steps)
    drops = [measure.drop(everything[:place] + everything[place + 1 :]) for place in steps.each(everything)]
    contributions = [
        Contribution(attribute=name, leave_one_out=drop, shapley=value, error=error)
        for name, drop, (value, error) in zip(names, drops, values, strict=True)
    ]
    return Strengths(
        records=exactly.records,
        whole=of_all,
        sets=tuple(of_sets),
        contributions=tuple(contributions),
        minimal_keys=tuple(tuple(names[i] for i in one) for one in _minimal_keys(measure, subsets)),
        sample=measure.sample(0 if are_few else ORDERS, seed),
        searched=searched,
    )


def strengths_of(
    engine: Engine,
    columns: Sequence[str],
    missing: Collection[str] = (),
    *,
    order: int = ORDER,
    seed: int = 0,
    exact: bool = False,
    beam: int | None = None,
    progress: Progress | None = None,
) -> Strengths:
    """The same of columns of a table, whose values are compared as text.

    Args:
        engine: the table.
        columns: the columns, at least one.
        missing: texts that mark a missing value, in addition to empty ones; a missing value is a value here.
        order: columns of a set at most.
        seed: of the samples.
        exact: whether to do without samples.
        beam: of a search for the best sets, where every set costs too much; None where every set is looked at.
        progress: called with (steps done, steps at most).

    Raises:
        DataError: a column has no distinct values to speak of.
    """
    engine.group_by(columns)
    nominal = AttributeDeclaration(role=Role.QUASI_IDENTIFIER)
    conventions = Conventions(missing_tokens=["", *missing])
    domains = [domain_of(name, engine.domain(name), nominal, conventions)[0] for name in columns]
    rows = CountedCodes.joined([*engine.counted(domains)])
    return strengths(
        {name: rows[name] for name in columns},
        rows.times,
        order=order,
        seed=seed,
        exact=exact,
        beam=beam,
        progress=progress,
    )


def _distinct_rows(columns: Sequence[Codes], times: Sizes | None) -> tuple[list[Codes], Sizes]:
    """Each combination of all columns once, in the order of their codes, and the number of its records."""
    keys = fold(columns, [int(one.max(initial=0)) + 1 for one in columns])
    distinct, numbers = numbered(keys.values, keys.span)
    first = np.empty(len(distinct), np.intp)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    return [codes[first] for codes in columns], occurrences(numbers, len(distinct), times)


def _strength(measure: Measure, subset: Subset, names: Sequence[str]) -> SetStrength:
    return SetStrength(
        attributes=tuple(names[place] for place in sorted(subset)),
        distinction=measure.distinction(subset),
        separation=measure.separation(subset),
        unique=measure.unique(subset),
    )


def _minimal_keys(measure: Measure, subsets: Iterable[Subset]) -> Iterator[Subset]:
    """The sets that leave every record alone and have no part that does. The parts of each come before it."""
    keys = set[frozenset[int]]()
    for one in subsets:
        parts = (frozenset(part) for size in range(1, len(one)) for part in combinations(one, size))
        if keys.isdisjoint(parts) and measure.is_key(one):
            keys.add(frozenset(one))
            yield one


def _search(measure: Measure, columns: int, order: int, beam: int, whole: float, steps: _Steps) -> Iterator[Subset]:
    """The sets that a search looks at, the smallest first.

    Each set of more columns begins with its parent, which is measured already, so that one column is added to it. By
    one figure alone a search misses sets: what leaves most records alone in pairs need not do so in threes.
    """
    level: list[Subset] = [(place,) for place in range(columns)]
    figures = (measure.unique, measure.separation, measure.distinction)
    for size in range(1, order + 1):
        for subset in steps.each(level):
            for figure in figures:
                figure(subset)
            yield subset
        if any(measure.is_key(one) or float(measure.unique(one)) >= whole for one in level):
            return
        ranked = [sorted(level, key=figure, reverse=True)[:beam] for figure in figures] if size < order else []
        parents = dict.fromkeys(one for best in ranked for one in best)
        larger: dict[Subset, Subset] = {}
        for parent in parents:
            for place in range(columns):
                if place not in parent:
                    larger.setdefault(tuple(sorted((*parent, place))), (*parent, place))
        level = [*larger.values()]


class _Steps:
    """Steps that are done, of those that are planned."""

    def __init__(self, progress: Progress | None, *planned: int) -> None:
        self.progress, self.done, self.total = progress, 0, sum(planned)

    def each(self, items: Iterable[One]) -> Iterator[One]:
        """The items, each of which is a step."""
        for one in items:
            yield one
            self.reach(self.done + 1)

    def reach(self, done: int) -> None:
        """Report that so many steps are done, at least."""
        self.done = max(self.done, done)
        if self.progress is not None:
            self.progress(min(self.done, self.total), self.total)


def _drawn_shapley(
    measure: Measure, columns: int, seed: int, whole: float | None, steps: _Steps
) -> list[tuple[float, float]]:
    """What each column adds over some random orders, each taken backwards too: the mean, and its standard error.

    Args:
        measure: the figures.
        columns: how many there are.
        seed: of the orders.
        whole: the share at which an order ends, as the columns that follow add nothing; None where all are taken.
        steps: reports a column of an order.
    """
    generator = np.random.default_rng(seed)
    added = np.zeros((ORDERS // 2, columns))
    start = steps.done
    for number, pair in enumerate(added):
        order = generator.permutation(columns)
        for back, one in enumerate((order, order[::-1])):
            shares = [0.0]
            for size in range(columns):
                subset = tuple(one[: size + 1].tolist())
                shares.append(float(measure.unique(subset)))
                steps.reach(start + (2 * number + back) * columns + size + 1)
                if whole is not None and (shares[-1] >= whole or measure.is_key(subset)):
                    break
            pair[one[: len(shares) - 1]] += np.diff(shares)
    added /= 2
    errors = added.std(axis=0, ddof=1) / sqrt(len(added))
    return list(zip(added.mean(axis=0).tolist(), errors.tolist(), strict=True))
