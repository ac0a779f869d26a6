"""Which (t, k, N) can be attained: whole numbers of records between n q / (t) and n q t, for every class and bucket."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Construction:
    """Classes over buckets: `rounds` classes emphasise each bucket.

    Args:
        masses: records of each bucket, at least 1. Shape (buckets,).
        t: the largest ratio of a bucket's share in a class and in the table, or the other way round; at least 1.
    """

    masses: Integers
    t: Fraction

    @property
    def buckets(self) -> int:
        """How many buckets there are."""
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

    def rounds(self, k: int) -> Integers:
        """How many classes can emphasise each bucket so that every class has k records or more, ascending.

        Cost: O(records / k).

        The classes of a table have two sizes, n and n + 1. Such classes exist just if the records of each bucket
        can be shared out between both sizes within what they may have, and the shares of a size add up: a
        transport problem with two sources, whose solutions can be taken whole.
        """
        rounds = np.arange(1, self.records // (self.buckets * k) + 1)
        return rounds[self._feasible(rounds)]

    def _feasible(self, rounds: Integers) -> NDArray[np.bool_]:
        classes = self.buckets * rounds
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
        rounds = self.rounds(self.buckets) if self.records >= self.buckets**2 else np.zeros(0, dtype=np.int64)
        return self.records // (self.buckets * int(rounds[0])) if len(rounds) else 0

    def sizes(self, rounds: int) -> Integers:
        """Class sizes round(i N / (b l)) - round((i - 1) N / (b l)), halves rounded up. Shape (b l,)."""
        classes = self.buckets * rounds
        ends = (2 * np.arange(classes + 1) * self.records + classes) // (2 * classes)
        return np.diff(ends)
