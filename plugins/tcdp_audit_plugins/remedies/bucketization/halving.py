"""Halving: the table and the classes to fill are divided together, until every part is one class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import first_of_each, rank_within, starts_of
from tcdp_audit_plugins.remedies.bucketization.composition import Composition

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Parts:
    """Parts of a table, numbered from 0, each with the classes that its records will fill.

    Args:
        records: positions of records, those of a part together.
        of_record: the part of each, ascending.
        classes: numbers of classes, those of a part together.
        of_class: the part of each, ascending.
    """

    records: Integers
    of_record: Integers
    classes: Integers
    of_class: Integers

    @classmethod
    def whole(cls, records: int, classes: int) -> Parts:
        """The table as one part."""
        zeros = np.zeros(max(records, classes), dtype=np.int64)
        return cls(np.arange(records), zeros[:records], np.arange(classes), zeros[:classes])

    @cached_property
    def members(self) -> Integers:
        """The number of classes of each part."""
        return np.bincount(self.of_class)

    @cached_property
    def lengths(self) -> Integers:
        """The number of records of each part."""
        return np.bincount(self.of_record)

    @cached_property
    def starts(self) -> Integers:
        """Where the records of each part begin."""
        return starts_of(self.lengths)

    def without_settled(self, chosen: Integers) -> Parts:
        """The parts that still have several classes; the class of the others' records is written to `chosen`."""
        done = self.members == 1
        record, of_class = done[self.of_record], done[self.of_class]
        chosen[self.records[record]] = np.repeat(self.classes[of_class], self.lengths[done])
        number = np.cumsum(~done) - 1
        return Parts(
            self.records[~record],
            number[self.of_record[~record]],
            self.classes[~of_class],
            number[self.of_class[~of_class]],
        )

    def halve(self, places: Floats, bucket: Integers, composition: Composition) -> Parts:
        """Every part in two, along the quasi-identifier that varies most in it.

        The cut is the change of value nearest to the middle, or the middle itself where there is none. Each half
        takes the lower or the upper records of every bucket, as many as its classes need; which classes go to the
        lower half depends on which buckets' records are there.

        Args:
            places: the place of every record of the table on each quasi-identifier. Shape (attributes, records).
            bucket: the bucket of every record of the table.
            composition: the classes.

        Cost: three sorts of the records.
        """
        place, own = self._widest(places), bucket[self.records]
        counts, emphasised = composition.counts[self.classes], composition.emphasised[self.classes]
        buckets = counts.shape[1]
        cell = self.of_record * buckets + own
        ranked = np.lexsort((place, self.of_record))
        lower_classes = self._cut(place[ranked])
        inside = (
            np.arange(len(ranked)) - self.starts[self.of_record]
            < (lower_classes * self.lengths // self.members)[self.of_record]
        )
        near = np.bincount(cell[ranked[inside]], minlength=len(self.members) * buckets).reshape(-1, buckets)
        lower = self._lower(near, lower_classes, counts, emphasised)
        quota = np.zeros_like(near)
        np.add.at(quota, self.of_class[lower], counts[lower])
        below = rank_within(cell, place) < quota.ravel()[cell]
        return self._divide(below, lower)

    def _widest(self, places: Floats) -> Floats:
        """The place of each record on the quasi-identifier with the largest variance in its part."""
        inside = places[:, self.records]
        means = np.add.reduceat(inside, self.starts, axis=1) / self.lengths
        variances = np.add.reduceat((inside - means[:, self.of_record]) ** 2, self.starts, axis=1) / self.lengths
        return np.asarray(inside[variances.argmax(axis=0)[self.of_record], np.arange(len(self.records))])

    def _cut(self, place: Floats) -> Integers:
        """The number of classes of each part that go to its lower half, from 1 to all but one.

        Args:
            place: places in ascending order within each part.
        """
        changes = np.flatnonzero((np.diff(place) > 0) & (np.diff(self.of_record) == 0)) + 1
        part = self.of_record[changes]
        members, lengths = self.members[part], self.lengths[part]
        lower = (2 * (changes - self.starts[part]) * members + lengths) // (2 * lengths)
        lower = lower.clip(1, members - 1)
        order = np.argsort(np.abs(2 * lower - members), kind="stable")
        cut = self.members // 2
        divided, nearest = first_of_each(part, order)
        cut[divided] = lower[nearest]
        return cut

    def _lower(
        self, near: Integers, lower_classes: Integers, counts: Integers, emphasised: Integers
    ) -> NDArray[np.bool_]:
        """The classes that go to the lower half: so many of each emphasis that they need what is there.

        Of `near` records of a bucket, classes that emphasise another take c each, those that emphasise it a; so
        (near - c x classes) / (a - c) classes should emphasise it. The numbers nearest to that, shifted alike so
        that they add up, are found by a sort: the i-th class of a bucket is due at i - 1/2.
        """
        buckets = near.shape[1]
        cell = self.of_class * buckets + emphasised
        members = np.bincount(cell, minlength=near.size).reshape(near.shape)
        total = np.zeros_like(near)
        np.add.at(total, self.of_class, counts)
        most = np.bincount(cell, weights=counts[np.arange(len(counts)), emphasised], minlength=near.size)
        most = most.reshape(near.shape)
        least = (total - most) / np.maximum(self.members[:, None] - members, 1)
        gain = most / np.maximum(members, 1) - least
        share = members * (lower_classes / self.members)[:, None]
        wanted = np.where(gain > 0, (near - lower_classes[:, None] * least) / np.where(gain > 0, gain, 1), share)
        due: Floats = np.asarray(rank_within(cell) + 0.5 - wanted.ravel()[cell], dtype=np.float64)
        return rank_within(self.of_class, due) < lower_classes[self.of_class]

    def _divide(self, below: NDArray[np.bool_], lower: NDArray[np.bool_]) -> Parts:
        of_record, of_class = 2 * self.of_record + ~below, 2 * self.of_class + ~lower
        records, classes = np.argsort(of_record, kind="stable"), np.argsort(of_class, kind="stable")
        return Parts(self.records[records], of_record[records], self.classes[classes], of_class[classes])
