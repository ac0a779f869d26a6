"""The composition of classes: how many records of each bucket each class has, exactly, and which ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import checkpoint
from tcdp_audit.plugin.remedy import Attribute, RemedyError
from tcdp_audit_plugins.remedies._shared.recoding import is_ranged
from tcdp_audit_plugins.remedies._shared.segments import first_of_each, rank_within, starts_of
from tcdp_audit_plugins.remedies.bucketization.goal import ClassDesign

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
FAR = 2.0  # the place of a missing value: as far from the others as they are from each other
MOST_SWEEPS = 100
WORK = 3_000_000  # records that all sweeps together may move: a second or so


@dataclass(frozen=True)
class Composition:
    """Classes before records are chosen for them."""

    counts: Integers  # records of each bucket in each class, shape (classes, buckets)
    emphasised: Integers  # the bucket that each class emphasises, shape (classes,)


def compose(design: ClassDesign, classes_per_bucket: int) -> Composition:
    """Give every class the least it may have of each bucket; the emphasised one takes what the others leave.

    Classes of one size that emphasise one bucket are alike up to a record, so only such kinds are solved for: a
    transport problem of 2b kinds and b buckets, which starts from as much emphasis as there is room for and gives some
    of it up only where the masses of the buckets demand it. `classes_per_bucket` is one of
    `design.classes_per_bucket(k)`.

    Cost: O(classes x buckets), and a maximum flow over 2b + b nodes.

    Source: Domingo-Ferrer, Soria-Comas (2015), section 6.
    """
    sizes, buckets = design.sizes(classes_per_bucket), design.buckets
    emphasised = np.arange(len(sizes)) % buckets
    kinds, kind, members = np.unique(emphasised + buckets * sizes, return_inverse=True, return_counts=True)
    low, high = design.allowed(kinds // buckets)
    totals = members[:, None] * low
    supply = members * (kinds // buckets) - totals.sum(axis=1)
    demand = design.masses - totals.sum(axis=0)
    totals = totals + _share_out(supply, demand, members[:, None] * (high - low), kinds % buckets)
    return Composition(_deal(totals, members, kind), emphasised)


def _share_out(supply: Integers, demand: Integers, room: Integers, emphasised: Integers) -> Integers:
    """Share out what is left: `supply` places of each kind for `demand` records of each bucket, within `room`."""
    flow = np.zeros_like(room)
    rows = np.arange(len(supply))
    wanted = np.minimum(supply, room[rows, emphasised])
    asked = np.bincount(emphasised, weights=wanted, minlength=len(demand)).astype(np.int64)[emphasised]
    flow[rows, emphasised] = wanted * np.minimum(asked, demand[emphasised]) // np.maximum(asked, 1)
    return flow + _completion(supply - flow.sum(axis=1), demand - flow.sum(axis=0), room - flow, flow)


def _completion(supply: Integers, demand: Integers, room: Integers, flow: Integers) -> Integers:
    """A maximum flow on top of `flow`, part of which it may take back."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - scipy takes a while to import
    from scipy.sparse.csgraph import maximum_flow  # noqa: PLC0415

    kinds, buckets = room.shape
    first, sink = 1 + kinds, 1 + kinds + buckets
    capacity = np.zeros((sink + 1, sink + 1), dtype=np.int32)
    capacity[0, 1:first] = supply
    capacity[1:first, first:sink] = room
    capacity[first:sink, 1:first] = flow.T
    capacity[first:sink, sink] = demand
    maximum = maximum_flow(csr_array(capacity), 0, sink)
    if maximum.flow_value != supply.sum():
        raise RemedyError("no whole numbers of records per class and bucket keep t; a larger t, or another k, may do")
    return maximum.flow.toarray()[1:first, first:sink].astype(np.int64)


def _deal(totals: Integers, members: Integers, kind: Integers) -> Integers:
    """The totals of each kind, distributed over its classes in turn: counts of one bucket differ by at most one."""
    turn = rank_within(kind)
    ends = np.cumsum(totals, axis=1)[kind]
    upto = (ends - turn[:, None] + members[kind][:, None] - 1) // members[kind][:, None]
    return np.diff(upto, axis=1, prepend=0)


@dataclass(frozen=True)
class Parts:
    """Parts of a table, numbered from 0, each with the classes that its records will fill."""

    records: Integers  # positions of records, those of a part together
    of_record: Integers  # the part of each, ascending
    classes: Integers  # numbers of classes, those of a part together
    of_class: Integers  # the part of each, ascending

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
        """The places where the records of each part begin."""
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
        """Halve every part along the quasi-identifier that varies most in it.

        The cut is the change of value nearest to the middle, or the middle itself where there is none. Each half takes
        the lower or the upper records of every bucket, as many as its classes need; which classes go to the lower half
        depends on which buckets' records are there. `places` has the place of every record of the table on each
        quasi-identifier, shape (attributes, records).

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
        """The classes of each part for its lower half, from 1 to all but one. Places ascend within each part."""
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


def choose(
    quasi_identifiers: Sequence[Attribute], bucket: Integers, composition: Composition, generator: np.random.Generator
) -> Integers:
    """The class of each record.

    Return int64, shape (records,), from 0 to classes - 1; every class has exactly its composition.

    Cost: O(log classes) sorts of the records, and the sorts of `with_exchanges`.
    """
    places = np.array([place(one) for one in quasi_identifiers])
    chosen = np.zeros(len(bucket), dtype=np.int64)
    parts = Parts.whole(len(bucket), len(composition.counts)).without_settled(chosen)
    while len(parts.classes):
        checkpoint()
        parts = parts.halve(places, bucket, composition).without_settled(chosen)
    return with_exchanges(chosen, places, bucket, composition, generator)


def place(attribute: Attribute) -> Floats:
    """A quasi-identifier on a line from 0 to 1, near values near each other; a missing value is apart.

    Its numbers or ranks; else the order of its hierarchy's leaves; else its values by descending frequency. Return
    float64, shape (records,).
    """
    domain = attribute.domain
    places = np.full(domain.size + 1, FAR)
    if is_ranged(attribute):
        known = ~domain.is_uninformative[:-1]
        numbers = attribute.numbers[known]
        extent = np.ptp(numbers) if len(numbers) else 0.0
        places[:-1][known] = (numbers - numbers.min(initial=np.inf)) / (extent or 1.0)
    else:
        order = np.argsort(-domain.counts, kind="stable")
        if attribute.tree is not None:
            order = np.lexsort(attribute.tree.ancestors)
        places[order] = np.arange(domain.size) / max(domain.size - 1, 1)
    places[domain.is_uninformative] = FAR
    return places[attribute.codes]


def with_exchanges(
    chosen: Integers, places: Floats, bucket: Integers, composition: Composition, generator: np.random.Generator
) -> Integers:
    """Classes that are more homogeneous than `chosen`, of the same composition. Shape (records,), int64.

    A sweep lines up the means of the classes in a random direction and pairs neighbours. Of the records that a pair has
    from one bucket, each class keeps as many as before, those nearer to its mean than to the other's; no sweep can
    increase the sum of squared distances to the means. `places` has the place of every record on each quasi-identifier,
    shape (attributes, records).

    Cost: a sort of the records for each of 100 sweeps, fewer beyond 30,000 records.
    """
    for _ in range(min(MOST_SWEEPS, WORK // len(chosen)) if len(composition.counts) > 1 else 0):
        checkpoint()
        chosen = _swept(chosen, places, bucket, composition.counts, generator.normal(size=len(places)))
    return chosen


def _swept(chosen: Integers, places: Floats, bucket: Integers, counts: Integers, direction: Floats) -> Integers:
    classes, buckets = counts.shape
    sizes = counts.sum(axis=1)
    means = np.array([np.bincount(chosen, weights=one, minlength=classes) for one in places]) / sizes
    line = np.argsort(direction @ means, kind="stable")
    left, right = line[: classes // 2 * 2 : 2], line[1::2]
    pair = np.full(classes, -1)
    pair[left] = pair[right] = np.arange(len(left))
    moving = np.flatnonzero(pair[chosen] >= 0)
    of_pair = pair[chosen[moving]]
    towards_right = means[:, right] - means[:, left]
    leaning = np.einsum("ar,ar->r", places[:, moving], towards_right[:, of_pair])
    cell = of_pair * buckets + bucket[moving]
    stays_left = rank_within(cell, leaning) < counts[left].ravel()[cell]
    result = chosen.copy()
    result[moving] = np.where(stays_left, left[of_pair], right[of_pair])
    return result
