"""Counts of sensitive values in every equivalence class, in compressed rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from fractions import Fraction
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.keys import (
    SPAN_LIMIT,
    Codes,
    Keys,
    boundaries,
    divided,
    fold,
    freeze_arrays,
    frozen_array,
    frozen_arrays,
    narrow,
    numbered,
    occurrences,
    tally,
)

Counts = NDArray[np.int64]
EXACT_SHARES = 2**26  # members of a class below which shares of them are equal where their floats are
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Histogram:
    """Row c holds the values of class c in ascending order of code, from `offsets[c]` to `offsets[c + 1]`.

    Args:
        offsets: int64, shape (classes + 1,).
        values: int64 codes, shape (pairs,).
        counts: int64, at least 1, shape (pairs,).
        entities: int64, how many entities of each class have a value, shape (classes,). None where each counts for a
            single value, so that their number is the sum of the counts.
        counts_entities: whether the whole of a class is its entities, so that a share is the share of those who have a
            value; otherwise it is the sum of the counts.
        wholes: the classes that these are parts of, where what is certain in the whole is certain in each part; None
            where nothing but the counts decides.
        whole_of: the number of the class among these that each is a part of, shape (classes,).

    What several checks ask of the same classes is computed once: see `cached_on_histogram`. The arrays are read-only.
    """

    offsets: Counts
    values: Counts
    counts: Counts
    entities: Counts | None = None
    counts_entities: bool = False
    wholes: Histogram | None = None
    whole_of: Counts | None = None
    _cached: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Lock its arrays."""
        freeze_arrays(self, "offsets", "values", "counts", "entities", "whole_of")

    def __len__(self) -> int:
        """The number of classes that it has."""
        return len(self.offsets) - 1

    @cached_property
    def distinct(self) -> Counts:
        """The number of different values that each class has. Shape (classes,)."""
        return frozen_array(np.diff(self.offsets))

    @cached_property
    def total(self) -> Counts:
        """The sum of counts of each class, or its entities: the whole of which counts are shares. Shape (classes,)."""
        if self.counts_entities and self.entities is not None:
            return self.entities
        return frozen_array(self.sum(self.counts))

    @property
    def members(self) -> Counts:
        """The records of each class that have a value, or the entities where these count once. Shape (classes,)."""
        return self.total if self.entities is None else self.entities

    @cached_property
    def certain(self) -> NDArray[np.bool_]:
        """The classes with a value that every member has, alone or with others, as a mask. Shape (classes,)."""
        certain = self.distinct == 1 if self.entities is None else self.filled() & (self._most == self.entities)
        if self.wholes is not None:
            certain = certain | self.wholes.certain[self.whole_of]
        return frozen_array(certain)

    def certain_among(self, matters: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which classes have a certain value among the codes that matter, shape (domain,). Shape (classes,)."""
        certain = np.asarray(self.max((self.counts == self.spread(self.members)) & matters[self.values]))
        return certain if self.wholes is None else certain | self.wholes.certain_among(matters)[self.whole_of]

    @cached_property
    def rows(self) -> Counts:
        """The class that each pair belongs to. Shape (pairs,)."""
        return frozen_array(np.repeat(np.arange(len(self)), self.distinct))

    def spread(self, per_class: NDArray[Any]) -> NDArray[Any]:
        """One figure per class, repeated for each of its pairs. Shape (pairs,)."""
        return self._spread_total if per_class is self.total else np.repeat(per_class, self.distinct)

    @cached_property
    def _spread_total(self) -> Counts:
        """What nearly every distance asks for."""
        return frozen_array(np.repeat(self.total, self.distinct))

    def sum(self, per_pair: NDArray[Any]) -> NDArray[Any]:
        """Sum over each class; 0 for a class without values. Shape (classes,)."""
        if per_pair.dtype != np.int64:
            return self._reduce(np.add, per_pair)
        upto = np.empty(len(per_pair) + 1, dtype=np.int64)
        upto[0] = 0
        np.cumsum(per_pair, out=upto[1:])  # may wrap around; differences of it are right all the same
        return np.diff(upto[self.offsets])

    def max(self, per_pair: NDArray[Any]) -> NDArray[Any]:
        """Largest of each class; 0 for a class without values. Shape (classes,)."""
        return self._most if per_pair is self.counts else self._reduce(np.maximum, per_pair)

    @cached_property
    def _most(self) -> Counts:
        """The count of the commonest value of each class, which many checks ask for."""
        return frozen_array(self._reduce(np.maximum, self.counts))

    def min(self, per_pair: NDArray[Any]) -> NDArray[Any]:
        """Smallest of each class; 0 for a class without values. Shape (classes,)."""
        return self._reduce(np.minimum, per_pair)

    def _reduce(self, function: np.ufunc, per_pair: NDArray[Any]) -> NDArray[Any]:
        filled = self.distinct > 0
        if filled.all():
            return function.reduceat(per_pair, self.offsets[:-1]) if len(self) else per_pair[:0]
        # reduceat answers an empty row with its neighbour's first element, so empty rows are left out.
        result = np.zeros(len(self), dtype=per_pair.dtype)
        if filled.any():
            result[filled] = function.reduceat(per_pair, self.offsets[:-1][filled])
        return result

    def take(self, classes: NDArray[np.intp]) -> Histogram:
        """The rows of some classes, in the order given. O(pairs taken)."""
        lengths = self.distinct[classes]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        pairs = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][classes] - offsets[:-1], lengths)
        entities = None if self.entities is None else self.entities[classes]
        whole_of = None if self.whole_of is None else self.whole_of[classes]
        counted = self.values[pairs], self.counts[pairs], entities, self.counts_entities
        return Histogram(offsets, *counted, self.wholes, whole_of)

    def filled(self) -> NDArray[np.bool_]:
        """The classes that have any value, as a mask. Shape (classes,)."""
        return self.distinct > 0

    def without(self, value: int) -> Histogram:
        """The same histogram without one value; rows may become empty.

        Raises:
            ValueError: an entity may have it with other values, so that entities must be counted anew.
        """
        if self.entities is not None:
            raise ValueError("leave the value out where entities are counted")
        keep = self.values != value
        if keep.all():
            return self
        positions = np.concatenate([[0], np.cumsum(keep)])
        return Histogram(positions[self.offsets], self.values[keep], self.counts[keep])

    def ranked(self) -> Histogram:
        """Each row with its counts in descending order; the values lose their meaning. O(pairs log pairs)."""
        order = np.lexsort((-self.counts, self.rows))
        return Histogram(
            self.offsets,
            self.values[order],
            self.counts[order],
            self.entities,
            self.counts_entities,
            self.wholes,
            self.whole_of,
        )

    def profiles(self, classes: NDArray[np.intp]) -> Iterator[tuple[tuple[int, ...], NDArray[np.intp]]]:
        """The different multisets of counts among some classes, each with the positions in `classes` that have it.

        Lets a figure that depends on the counts alone be computed once per multiset in exact arithmetic.
        """
        rows = self.take(classes).ranked()
        for length in np.flatnonzero(np.bincount(rows.distinct)).tolist():
            here = np.flatnonzero(rows.distinct == length)
            table = rows.counts[rows.offsets[here][:, None] + np.arange(length)]
            profiles, which = np.unique(table, axis=0, return_inverse=True)
            which = which.reshape(-1)
            order = np.argsort(which, kind="stable")
            ends = np.cumsum(np.bincount(which, minlength=len(profiles)))[:-1]
            for profile, positions in zip(profiles.tolist(), np.split(here[order], ends), strict=True):
                yield tuple(profile), positions


@dataclass(frozen=True, eq=False)
class AlikeClasses:
    """Classes as checks measure them: one for all that are alike, whose figures are the same.

    Args:
        size: what k counts in each, int64, shape (different,).
        records: the number of records in each, int64, same shape.
        histogram: the sensitive attribute in each; None if none is measured.
        times: how many classes are like each, int64, same shape; None where each is one class.
        of_class: which of them each class is like, shape (classes,); None likewise.
    """

    size: Counts
    records: Counts
    histogram: Histogram | None = None
    times: Counts | None = None
    of_class: Codes | None = None

    @cached_property
    def held(self) -> Counts:
        """The records in all classes that are like each. Shape (different,)."""
        return self.records if self.times is None else self.records * self.times

    @cached_property
    def sizes(self) -> dict[int, int]:
        """The number of classes of each size, in records."""
        if not len(self.records):
            return {}
        sizes, classes = tally(self.records, int(self.records.max()) + 1, self.times)
        return dict(zip(sizes.tolist(), classes.tolist(), strict=True))

    def spread(self, of_each: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """What is true of each of them, for all classes. Shape (classes,)."""
        return of_each if self.of_class is None else of_each.take(self.of_class)


@dataclass(frozen=True)
class LargestShares:
    """How many members of some classes have each value, and the class in which the largest share of them has it.

    Args:
        members: the number of members of all classes that have any value.
        having: the number of those that have each value, int64, shape (values,).
        own: the number of those in the class where their share is largest, 0 if no member has the value. Same shape.
        of: the number of members of that class, 1 if no member has the value. Same shape.
    """

    members: int
    having: Counts
    own: Counts
    of: Counts

    @classmethod
    def within(cls, histogram: Histogram, values: int) -> LargestShares:
        """The shares in the classes of a histogram, whose codes are below `values`. Cost: O(pairs)."""
        # Quotients of integers below 2^26 are equal as floats only where they are equal as fractions: two different
        # fractions differ by at least 2^-52, and rounding moves each by at most 2^-54.
        members = np.repeat(histogram.members, histogram.distinct)
        codes, counts, own = histogram.values, histogram.counts, np.zeros(values, dtype=np.int64)
        of, shares = np.ones(values, dtype=np.int64), np.zeros(values)
        np.maximum.at(shares, codes, counts / members)
        largest = np.flatnonzero(counts / members >= shares[codes])
        if int(members.max(initial=0)) >= EXACT_SHARES:
            triples = {*zip(*(one[largest].tolist() for one in (codes, counts, members)), strict=True)}
            for code, having, among in sorted(triples, key=lambda one: Fraction(one[1], one[2])):
                own[code], of[code] = having, among
        else:
            own[codes[largest]], of[codes[largest]] = counts[largest], members[largest]
        having = np.bincount(codes, counts, values).astype(np.int64)
        return cls(int(histogram.members.sum()), having, own, of)

    def merge(self, other: LargestShares) -> LargestShares:
        """The shares over the classes of both, which have no class in common."""
        is_larger = other.own * self.of > self.own * other.of  # fewer than 2^31 members
        own, of = np.where(is_larger, other.own, self.own), np.where(is_larger, other.of, self.of)
        return LargestShares(self.members + other.members, self.having + other.having, own, of)


class Keeps(Protocol):
    """A value that keeps answers about itself."""

    @property
    def _cached(self) -> dict[Any, Any]: ...


K = TypeVar("K", bound=Keeps)


def cached_on_histogram(function: Callable[Concatenate[K, P], R]) -> Callable[Concatenate[K, P], R]:
    """Compute a function once for a histogram; the answer lives as long as the histogram.

    For arrays that several checks start from, such as the reference's weights next to a class's counts. The other
    arguments count as the same if they are the same object. The arrays of the answer are read-only.
    """

    @wraps(function)
    def answer(keeper: K, /, *others: P.args, **named: P.kwargs) -> R:
        key = (function, *map(id, others), *((name, id(one)) for name, one in named.items()))
        cached = keeper._cached  # noqa: SLF001 - that is what it is for
        if key not in cached:  # an identity is only an object's own while the object is held
            cached[key] = frozen_arrays(function(keeper, *others, **named)), others, named
        return cached[key][0]

    return answer


def count_pairs(keys: Keys, codes: Codes, radix: int, times: Counts | None = None) -> Histogram:
    """Count the codes within every key; rows are in ascending order of key. See `count_in_classes`."""
    distinct, class_of_row = numbered(keys.values, keys.span)
    return count_in_classes(class_of_row, len(distinct), codes, radix, times)


def count_in_classes(
    class_of_row: Codes, classes: int, codes: Codes, radix: int, times: Counts | None = None
) -> Histogram:
    """Count the codes within classes, each of which has a row.

    Args:
        class_of_row: the class of each row.
        classes: how many there are.
        codes: the code of each row.
        radix: a number above all codes.
        times: how many records each row represents; None where it is one.

    Cost: O(rows) where classes x codes are few compared with them or every class is one row, otherwise O(rows) for each
    16 bits of classes x codes.
    """
    if classes == len(class_of_row):
        return _of_rows(class_of_row, codes, times)
    span = max(classes, 1) * int(radix)
    if span > SPAN_LIMIT:
        before, codes = numbered(codes, radix)
        compacted = count_in_classes(class_of_row, classes, codes, len(before), times)
        return Histogram(compacted.offsets, before[compacted.values].astype(np.int64), compacted.counts)
    pairs = class_of_row.astype(narrow(span + 1))
    pairs *= radix
    np.add(pairs, codes, out=pairs, casting="unsafe")  # the sum is below the span
    distinct, counts = tally(pairs, span, times)
    rows, values = divided(distinct, radix)
    return Histogram(np.append(boundaries(rows), len(rows)), values, counts)


def _of_rows(class_of_row: Codes, codes: Codes, times: Counts | None) -> Histogram:
    """The codes of classes that are one row each: what each has need not be counted."""
    values, counts = np.zeros(len(codes), dtype=np.int64), np.ones(len(codes), dtype=np.int64)
    values[class_of_row] = codes
    if times is not None:
        counts[class_of_row] = times
    return Histogram(np.arange(len(codes) + 1), values, counts)


def add_up(rows: Counts, values: Counts, counts: Counts, classes: int, radix: int) -> Histogram:
    """Unsorted (class number, value, count) triples as a histogram, equal pairs added. Cost: see `count_in_classes`."""
    pairs = fold([rows, values], [classes, radix])
    distinct, sums = tally(pairs.values, pairs.span, counts)
    present, values = pairs.decode(distinct)
    offsets = np.concatenate([[0], np.cumsum(occurrences(present, classes))])
    return Histogram(offsets, values, sums)
