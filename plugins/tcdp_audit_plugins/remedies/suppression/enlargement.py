"""Passing classes that help: their records are suppressed too, so that others can join them, and shown again after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcdp_audit.plugin._internal import Counts, Floats, first_of_each, rank_within
from tcdp_audit.plugin.remedy import RemedyError
from tcdp_audit_plugins.remedies._shared.refusal import failed_as_one_class, refused_as_one_class
from tcdp_audit_plugins.remedies._shared.search import smallest
from tcdp_audit_plugins.remedies.suppression.local_suppression import LocalSuppression
from tcdp_audit_plugins.remedies.suppression.quasi_identifier_cells import Indices, Integers, Mask

PATIENT = 8  # rounds in which a deserted class calls one record back; afterwards twice as many each time


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
    groups, neighbours = first_of_each(of_class, ranked)
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

    classes = smallest(passes, 0, len(order))
    if classes is None:
        raise RemedyError(
            f"{int(search.pending.sum()):,} of {len(search.counted):,} records cannot be grouped so that they keep the "
            f"policy: {refused_as_one_class(failed_as_one_class(search.demands), search.demands)}"
        )
    search.move(everything, np.flatnonzero(turn < classes))


def refine(search: LocalSuppression, attributes: Sequence[int], turn: Integers) -> None:
    """Show suppressed cells again, attribute by attribute, until nothing more can be shown.

    Args:
        search: no record is pending.
        attributes: those to be shown again first.
        turn: a different number for each record, from 0; where a class can spare some records, the last ones leave.

    Cost: some ten sorts of the records for each attribute and round.
    """
    while any([_show(search, attribute, turn) for attribute in attributes]):  # noqa: C419 - each takes its turn
        pass


def _show(search: LocalSuppression, attribute: int, turn: Integers) -> bool:
    """Show an attribute in as many records as the demands allow; whether it was shown in any."""
    counted = search.counted
    suppressed = search.suppressed[:, counted]
    shows = search.cells.changed(search.suppressed)[attribute, counted]
    before, _ = search.cells.classes(suppressed, counted)
    patience = 0
    while shows.any():
        trial = suppressed.copy()
        trial[attribute] &= ~shows
        numbers, kept = search.judged(trial, counted)
        if kept.all():
            break
        failing = ~kept[numbers]
        back = max(1, 2 ** (patience - PATIENT))
        shows &= ~failing & ~_called_back(failing & ~shows, shows & ~failing, before, turn[counted], back)
        patience += 1
    search.suppressed[attribute, counted[shows]] = False
    return bool(shows.any())


def _called_back(deserted: Mask, leaving: Mask, before: Integers, turn: Integers, most: int) -> Mask:
    """The first records that left a class which fails without them, at most so many of each class.

    Args:
        deserted: the records that stayed in such classes.
        leaving: the records that left theirs and could.
        before: the class of each record before any left.
        turn: the order in which records are called.
        most: how many a class calls.
    """
    called = np.zeros(len(before), dtype=bool)
    leavers = np.flatnonzero(leaving & np.isin(before, before[deserted]))
    called[leavers[rank_within(before[leavers], turn[leavers]) < most]] = True
    return called
