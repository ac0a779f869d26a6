"""Compositions of classes: so many records of each bucket, one bucket emphasised, all bounds kept exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import rank_within
from tcdp_audit.plugin.remedy import RemedyError
from tcdp_audit_plugins.remedies.bucketization.goal import ClassDesign

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Composition:
    """Classes before records are chosen for them.

    Args:
        counts: records of each bucket in each class, shape (classes, buckets).
        emphasised: the bucket that each class emphasises, shape (classes,).
    """

    counts: Integers
    emphasised: Integers


def compose(design: ClassDesign, classes_per_bucket: int) -> Composition:
    """Give every class the least it may have of each bucket; the emphasised one takes what the others leave.

    Classes of one size that emphasise one bucket are alike up to a record, so only such kinds are solved for: a
    transport problem of 2b kinds and b buckets, which starts from as much emphasis as there is room for and gives
    some of it up only where the masses of the buckets demand it.

    Args:
        design: the masses of the buckets, and t.
        classes_per_bucket: how many classes emphasise each bucket; one of `design.classes_per_bucket(k)`.

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
    """The totals of each kind, dealt to its classes in turn: counts of one bucket differ by at most one."""
    turn = rank_within(kind)
    ends = np.cumsum(totals, axis=1)[kind]
    dealt = (ends - turn[:, None] + members[kind][:, None] - 1) // members[kind][:, None]
    return np.diff(dealt, axis=1, prepend=0)
