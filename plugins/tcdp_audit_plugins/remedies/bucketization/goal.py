"""The goal: buckets of an attribute in classes of k records or more, all within t; and whether it can be attained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.remedy import Attribute, RemedyError
from tcdp_audit_plugins.remedies._shared.buckets import Buckets, bucketise
from tcdp_audit_plugins.remedies._shared.search import largest, last_before

Integers = NDArray[np.int64]
TRIES = 12  # numbers of buckets that a search goes through
STEPS = 100  # t is searched in hundredths


@dataclass(frozen=True)
class ClassDesign:
    """Sizes and contents of classes over buckets, as many of them emphasising each bucket as any other."""

    masses: Integers  # records of each bucket, at least 1, shape (buckets,)
    t: Fraction  # the largest ratio of a bucket's share in a class and in the table, or the other way round; at least 1

    @property
    def buckets(self) -> int:
        """The number of buckets."""
        return len(self.masses)

    @cached_property
    def records(self) -> int:
        """All records of the buckets."""
        return int(self.masses.sum())

    def allowed(self, sizes: Integers) -> tuple[Integers, Integers]:
        """The least and the largest number of records of each bucket that classes of some sizes may have.

        Return ceil(n q / t) and floor(min(n q t, n)), int64, both of shape (sizes, buckets); exact.
        """
        expected = sizes.astype(object)[:, None] * self.masses.astype(object)  # n N_j, in Python integers
        t, records = self.t, self.records
        low = -(-expected * t.denominator // (records * t.numerator))
        high = np.minimum(expected * t.numerator // (records * t.denominator), sizes.astype(object)[:, None])
        return low.astype(np.int64), high.astype(np.int64)

    def classes_per_bucket(self, k: int) -> Integers:
        """The numbers of classes that can emphasise each bucket, every class having k records or more; ascending.

        Cost: O(records / k).

        The classes of a table have two sizes, n and n + 1. Such classes exist just if the records of each bucket
        can be shared out between both sizes within what they may have, and the shares of a size add up: a
        transport problem with two sources, whose solutions can be taken whole.
        """
        numbers = np.arange(1, self.records // (self.buckets * k) + 1)
        return numbers[self._feasible(numbers)]

    def _feasible(self, classes_per_bucket: Integers) -> NDArray[np.bool_]:
        classes = self.buckets * classes_per_bucket
        sizes, larger = np.divmod(self.records, classes)
        lower, upper = self._shares(sizes, classes - larger, larger)
        smaller = sizes * (classes - larger)
        fits = (lower <= upper).all(axis=1)
        return np.asarray(fits & (lower.sum(axis=1) <= smaller) & (smaller <= upper.sum(axis=1)))

    def _shares(self, sizes: Integers, smaller: Integers, larger: Integers) -> tuple[Integers, Integers]:
        """The least and the largest number of each bucket's records in all classes of the smaller size."""
        distinct, which = np.unique(sizes, return_inverse=True)
        low, high = (bound[which] for bound in self.allowed(distinct))
        low_of_larger, high_of_larger = (bound[which] for bound in self.allowed(distinct + 1))
        smaller, larger = smaller[:, None], larger[:, None]
        lower = np.maximum(smaller * low, self.masses - larger * high_of_larger)
        return lower, np.minimum(smaller * high, self.masses - larger * low_of_larger)

    def largest_k(self) -> int:
        """The largest k that can be attained, 0 if none can."""
        if self.records < self.buckets**2:
            return 0
        numbers = self.classes_per_bucket(self.buckets)
        return self.records // (self.buckets * int(numbers[0])) if len(numbers) else 0

    def sizes(self, classes_per_bucket: int) -> Integers:
        """Class sizes round(i N / (b l)) - round((i - 1) N / (b l)), halves rounded up. Shape (b l,)."""
        classes = self.buckets * classes_per_bucket
        ends = (2 * np.arange(classes + 1) * self.records + classes) // (2 * classes)
        return np.diff(ends)


@dataclass(frozen=True, eq=False)
class BucketGoal:
    """Bucketise an attribute so that classes of k records or more are t-close."""

    attribute: Attribute
    t: Fraction  # the largest ratio, at least 1
    k: int  # the least class size
    asked: int | None = None  # how many buckets; None for floor(t) + 1
    missing_counts: bool = False  # whether a missing value is a value of its own
    _made: dict[int, Buckets] = field(default_factory=dict, repr=False)

    @cached_property
    def values(self) -> int:
        """The number of different values."""
        present = np.bincount(self.attribute.codes, minlength=self.attribute.domain.size + 1)[:-1]
        return int(np.count_nonzero(present))

    @cached_property
    def number(self) -> int:
        """The number of buckets: as many as asked for; by default as t allows and there are values."""
        return min(int(self.t) + 1, self.values) if self.asked is None else self.asked

    @property
    def buckets(self) -> Buckets:
        """The buckets. They are made once for each number of them."""
        if self.number not in self._made:
            self._made[self.number] = bucketise(self.attribute, self.number, missing_counts=self.missing_counts)
        return self._made[self.number]

    @cached_property
    def design(self) -> ClassDesign:
        """Classes over the buckets."""
        return ClassDesign(self.buckets.masses, self.t)

    @cached_property
    def classes_per_bucket(self) -> int:
        """The largest number of classes that can emphasise each bucket; 0 where t and k cannot be attained."""
        if self.k < self.design.buckets:
            return 0
        return int(self.design.classes_per_bucket(self.k).max(initial=0))

    def at(self, t: Fraction) -> BucketGoal:
        """The same goal with another t."""
        return replace(self, t=t)

    def with_buckets(self, number: int) -> BucketGoal:
        """The same goal with another number of buckets."""
        return replace(self, asked=number)


def refusal(goal: BucketGoal) -> RemedyError:
    """The error to raise for a goal that cannot be attained."""
    name = goal.attribute.name
    if goal.values < 2:
        number = "only one" if goal.values else "no"
        return RemedyError(f"{name!r} has {number} value, so there is nothing to join into buckets")
    if goal.number > goal.values:
        return RemedyError(
            f"{goal.number} buckets of {name!r} cannot be made: it has only {goal.values} different values; "
            f"the nearest that can: buckets = {goal.values}"
        )
    wish = f"t = {_rounded(goal.t)}, k = {goal.k:,}"
    nearest = "; ".join(_nearest(goal)) or "nothing, in a table like this"
    return RemedyError(
        f"classes of {name!r} with {wish} cannot be made: {_failing(goal)}. The nearest that can: {nearest}"
    )


def _failing(goal: BucketGoal) -> str:
    """The first inequality that fails."""
    one, k = goal.design, goal.k
    b = one.buckets
    if k < b:
        return f"k >= b fails, because a class of {k:,} records cannot hold a record of each of {b} buckets"
    if one.records < b * k:
        return (
            f"N >= b k fails, because {one.records:,} records are too few for a class of {k:,} for each of {b} "
            f"buckets, {b * k:,} records"
        )
    return _of_shares(goal)


def _of_shares(goal: BucketGoal) -> str:
    """The bounds on whole numbers of records that fail in the smallest classes that are large enough."""
    one = goal.design
    size = one.records // (one.buckets * (one.records // (one.buckets * goal.k)))
    low, high = (bound[0] for bound in one.allowed(np.array([size])))
    empty = np.flatnonzero(low > high)
    if len(empty):
        bucket = int(empty[0])
        expected = Fraction(size * int(one.masses[bucket]), one.records)
        return (
            f"n q / t <= n p <= n q t fails, because in a class of n = {size:,} records bucket {bucket + 1}, whose "
            f"share q of the table is {_rounded(expected / size)}, must have from {_rounded(expected / one.t)} to "
            f"{_rounded(expected * one.t)} records, and no whole number lies between; no larger class does better"
        )
    if low.sum() > size or high.sum() < size:
        least = low.sum() > size
        return (
            f"the {'least' if least else 'most'} that a class of {size:,} records may have of each bucket adds up to "
            f"{int((low if least else high).sum()):,}; no larger class does better"
        )
    return (
        f"classes of {size:,} records, or one more, cannot take up all records of every bucket while each keeps "
        "n q / t <= n p <= n q t; no larger classes do better"
    )


def _nearest(goal: BucketGoal) -> Iterator[str]:
    """The nearest goals that can be attained, with one of t, k and the number of buckets changed."""
    t, k = _rounded(goal.t), goal.k
    most = goal.design.largest_k()
    if most >= goal.design.buckets:
        yield f"k = {min(max(k, goal.design.buckets), most):,} with t = {t}"
    other_t = nearest_t(goal)
    if other_t is not None:
        yield f"t = {_rounded(other_t)} with k = {k:,}"
    number = largest(lambda buckets: goal.with_buckets(buckets).classes_per_bucket, 2, min(goal.number - 1, k))
    if number is not None:
        yield f"buckets = {number} with t = {t}, k = {k:,}"


def nearest_t(goal: BucketGoal) -> Fraction | None:
    """The t in hundredths nearest to the one asked for at which k can be attained, None if no search meets one."""
    candidates = [t for t in (_above(goal), _below(goal)) if t is not None]
    return min(candidates, key=lambda t: abs(t - goal.t), default=None)


def _above(goal: BucketGoal) -> Fraction | None:
    """As long as the number of buckets stays, a larger t allows all that a smaller one does."""
    start = int(goal.t * STEPS) + 1
    for number in range(int(goal.t) + 1, int(goal.t) + 1 + TRIES):
        fixed = goal.asked is not None or number >= goal.values
        top = STEPS * (goal.design.records if fixed else number) - 1
        if top >= start and goal.at(Fraction(top, STEPS)).classes_per_bucket:
            step = last_before(lambda step: goal.at(Fraction(step, STEPS)).classes_per_bucket, top, start - 1)
            return Fraction(step, STEPS)
        if fixed:
            return None
        start = max(start, STEPS * number)
    return None


def _below(goal: BucketGoal) -> Fraction | None:
    """Only a smaller number of buckets can help a smaller t."""

    def largest_t(number: int) -> Fraction:
        return Fraction(min(STEPS * number, ceil(goal.t * STEPS)) - 1, STEPS)

    if goal.asked is not None or goal.t == 1:
        return None
    number = largest(lambda number: goal.at(largest_t(number)).classes_per_bucket, 2, min(int(goal.t) + 1, goal.k))
    return None if number is None else largest_t(number)


def _rounded(number: Fraction) -> str:
    return f"{float(number):.6g}"
