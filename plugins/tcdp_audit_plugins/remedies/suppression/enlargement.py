"""The last resort of local suppression: records of passing classes are suppressed too, so that others can join them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tcdp_audit.exact import Floats
from tcdp_audit.histogram import Counts
from tcdp_audit.remedy import RemedyError
from tcdp_audit_plugins.remedies.suppression.local_suppression import LocalSuppression
from tcdp_audit_plugins.remedies.suppression.quasi_identifier_cells import Indices, Integers, Mask


def enlarge(
    search: LocalSuppression, levels: Sequence[Sequence[Mask]], importance: Floats, *, largest_first: bool
) -> None:
    """Settle every pending record with the help of passing classes. Their records may be shown again afterwards.

    Args:
        search: its pending records are too few, or too unlike the table, to be grouped with each other.
        levels: the patterns in order.
        importance: of each attribute, float64.
        largest_first: whether large classes help, which can spare some records, or small ones, which go as a whole.

    Raises:
        RemedyError: not even one class of all records keeps the demands.

    Cost: a sort of the records for each pattern, where any record is pending.
    """
    for pattern in (pattern for level in levels for pattern in level):
        if not search.pending.any():
            return
        search.move(pattern, _with_a_neighbour(search, pattern, importance, largest_first=largest_first))
    if search.pending.any():
        _hide_altogether(search, largest_first=largest_first)


@dataclass(frozen=True)
class _Settled:
    """The classes as they stand, with the number of settled records in each."""

    numbers: Integers
    sizes: Counts

    @classmethod
    def of(cls, search: LocalSuppression) -> _Settled:
        numbers, count = search.cells.classes(search.suppressed)
        return cls(numbers, np.bincount(numbers[search.settled], minlength=count))

    def ranked(self, *, largest_first: bool) -> Indices:
        """The classes with settled records by size, equal ones in the order of their values."""
        order = np.argsort(-self.sizes if largest_first else self.sizes, kind="stable")
        return order[self.sizes[order] > 0]


def _with_a_neighbour(search: LocalSuppression, pattern: Mask, importance: Floats, *, largest_first: bool) -> Indices:
    """The pending records, and for each group of them the first class that agrees outside a pattern.

    Where small classes help, groups are left out if hiding them altogether with the smallest would be cheaper.
    """
    settled = _Settled.of(search)
    joint, count = search.cells.classes(search.suppressed | pattern[:, None])
    of_class = np.zeros(len(settled.sizes), dtype=np.int64)
    of_class[settled.numbers] = joint
    waiting = np.bincount(joint[search.pending], minlength=count)
    ranked = settled.ranked(largest_first=largest_first)
    groups, first = np.unique(of_class[ranked], return_index=True)
    neighbours = ranked[first]
    shared = importance[pattern].sum() * (waiting[groups] + settled.sizes[neighbours])
    hiding = importance.sum() * (waiting[groups] + settled.sizes[ranked[:1]])
    useful = (waiting[groups] > 0) & (largest_first | (shared <= hiding))
    helped = np.isin(joint, groups[useful]) & search.pending
    helping = np.isin(settled.numbers, neighbours[useful]) & search.settled
    return np.flatnonzero(helped | helping)


def _hide_altogether(search: LocalSuppression, *, largest_first: bool) -> None:
    """Suppress all cells of the pending records, and of as few classes as make one that passes."""
    settled = _Settled.of(search)
    order = settled.ranked(largest_first=largest_first)
    place = np.full(len(settled.sizes), len(order))
    place[order] = np.arange(len(order))
    turn = np.where(search.settled, place[settled.numbers], np.where(search.pending, -1, len(order)))
    everything = np.ones(len(search.suppressed), dtype=bool)

    def passes(classes: int) -> bool:
        return bool(search.served(everything, np.flatnonzero(turn < classes)).all())

    classes = _least(passes, len(order))
    if classes is None:
        raise RemedyError(
            f"{int(search.pending.sum()):,} records cannot be grouped so that they keep the policy, and one class of "
            f"all {len(search.counted):,} records does not keep it either"
        )
    search.move(everything, np.flatnonzero(turn < classes))


def _least(passes: Callable[[int], bool], most: int) -> int | None:
    """The least number that passes, as far as doubling and halving finds it; None if `most` does not."""
    low, high = -1, 0
    while not passes(high):
        if high == most:
            return None
        low, high = high, min(max(2 * high, 1), most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high
