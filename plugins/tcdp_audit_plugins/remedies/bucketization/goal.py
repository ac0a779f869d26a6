"""The goal: buckets of an attribute in classes of k records or more, all within t; and whether it can be attained."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.remedy import Attribute
from tcdp_audit_plugins.remedies._shared.buckets import Buckets, bucketise

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class ClassDesign:
    """Sizes and contents of classes over buckets, as many of them emphasising each bucket as any other.

    Args:
        masses: records of each bucket, at least 1. Shape (buckets,).
        t: the largest ratio of a bucket's share in a class and in the table, or the other way round; at least 1.
    """

    masses: Integers
    t: Fraction

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

        Returns:
            ceil(n q / t) and floor(min(n q t, n)), int64, both of shape (sizes, buckets); exact.
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
    """Bucketise an attribute so that classes of k records or more are t-close.

    Args:
        attribute: the attribute.
        t: the largest ratio, at least 1.
        k: the least class size.
        asked: how many buckets; None for floor(t) + 1.
        missing_counts: whether a missing value is a value of its own.
    """

    attribute: Attribute
    t: Fraction
    k: int
    asked: int | None = None
    missing_counts: bool = False
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
