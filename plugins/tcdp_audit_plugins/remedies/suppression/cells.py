"""Suppression of cells: passing classes help what is left over, then cells are shown again; and all patterns tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, groupby
from math import comb

import numpy as np

from tcdp_audit.plugin._internal import Counts, Floats, checkpoint, fold, numbered
from tcdp_audit.plugin.remedy import Demands, MergedDemands, RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.remedies._shared.search import failed_as_one_class, refused_as_one_class, smallest, step_of_size
from tcdp_audit_plugins.remedies._shared.segments import first_of_each, rank_within
from tcdp_audit_plugins.remedies.suppression.local_suppression import (
    Indices,
    Integers,
    LocalSuppression,
    Mask,
    QuasiIdentifierCells,
)

PATIENT = 8  # rounds in which a deserted class calls one record back; afterwards twice as many each time
MOST = 4096  # patterns that are tried: every subset of 12 attributes


def enlarge(
    search: LocalSuppression, levels: Sequence[Sequence[Mask]], importance: Floats, *, largest_first: bool
) -> None:
    """Settle every pending record with the help of passing classes. Their records may be shown again afterwards.

    Large classes can spare some records; small ones go as a whole. Pending records are too few, or too unlike the
    table, to be grouped with each other.

    Raises:
        RemedyError: not even one class of all records keeps the demands.

    Cost: a sort of the records for each pattern, where any record is pending.
    """
    for pattern in (pattern for level in levels for pattern in level):
        checkpoint()
        if not search.pending.any():
            return
        search.move(pattern, _with_a_neighbour(search, pattern, importance, largest_first=largest_first))
    if search.pending.any():
        _hide_altogether(search, largest_first=largest_first)


@dataclass(frozen=True)
class _Settled:
    """The present classes, with the number of settled records in each."""

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

    # `smallest` doubles, then halves, so that the trials are logarithmic in the classes. The number that it gives need
    # not be the least one, because one class more may also spoil the mix of values; the hidden class passes at it.
    classes = smallest(passes, 0, len(order))
    if classes is None:
        raise RemedyError(
            f"{int(search.pending.sum()):,} of {len(search.counted):,} records cannot be grouped so that they keep the "
            f"policy: {refused_as_one_class(failed_as_one_class(search.demands), search.demands)}"
        )
    search.move(everything, np.flatnonzero(turn < classes))


def refine(search: LocalSuppression, attributes: Sequence[int], turn: Integers) -> None:
    """Show suppressed cells again, attribute by attribute, until nothing more can be shown.

    No record is pending. `turn` orders the records: where a class can spare some records, the last ones leave.

    Cost: some ten sorts of the records for each attribute and round.
    """
    while any([_show(search, attribute, turn) for attribute in attributes]):  # noqa: C419 - each takes its turn
        pass


def _show(search: LocalSuppression, attribute: int, turn: Integers) -> bool:
    """Show an attribute in as many records as the demands allow; whether it was shown in any."""
    counted = search.counted
    shows = search.cells.changed(search.suppressed)[attribute, counted]
    if not shows.any():
        return False
    classes = OneAttribute.of(search, attribute)
    # Showing a cell moves its record to another class, and the class that it leaves may fail without it. So all cells
    # are shown at once on trial; then records in failing classes are hidden again, and a class that was deserted calls
    # back the first of those that left it. `shows` only shrinks, so this ends. At first one record a class is called
    # back each round, which hides few cells in vain; from round PATIENT on twice as many each time, which
    # bounds the rounds by PATIENT + log2(records) at the price of a few cells more.
    patience = 0
    while shows.any():
        checkpoint()
        failing = classes.failing(shows)
        if not failing.any():
            break
        back = max(1, 2 ** (patience - PATIENT))
        called_back = _called_back(failing & ~shows, shows & ~failing, classes.before, turn[counted], back)
        shows &= ~failing & ~called_back
        patience += 1
    search.suppressed[attribute, counted[shows]] = False
    return bool(shows.any())


@dataclass(frozen=True)
class OneAttribute:
    """The classes of a search in which no record is pending, while the cells of one attribute are shown on trial."""

    search: LocalSuppression
    rest: Integers  # the classes by the other attributes, which do not change, shape (counted records,)
    now: Integers  # the code of the attribute in each record, likewise
    shown: Integers  # its code where it is shown, likewise
    before: Integers  # the present class of each record, likewise

    @classmethod
    def of(cls, search: LocalSuppression, attribute: int) -> OneAttribute:
        """The classes of a search as they are, before any cell is shown."""
        cells, counted = search.cells, search.counted
        others = np.arange(len(cells.attributes)) != attribute
        rest, _ = cells.classes(search.suppressed[:, counted], counted, others)
        shown = cells.codes[attribute, counted]
        now = np.where(search.suppressed[attribute, counted], cells.hidden[attribute], shown)
        return cls(search, rest, now, shown, _pairs_numbered(rest, now)[0])

    def failing(self, shows: Mask) -> Mask:
        """The records that are in failing classes once the attribute is shown in some records.

        A class that no record leaves or joins is as before, and all classes kept the demands before.
        """
        after, count = _pairs_numbered(self.rest, np.where(shows, self.shown, self.now))
        joined, left = np.zeros((2, len(after)), dtype=bool)
        joined[after[shows]] = left[self.before[shows]] = True
        touched = np.flatnonzero(joined[after] | left[self.before])
        is_asked = np.zeros(count, dtype=bool)
        is_asked[after[touched]] = True
        number = np.cumsum(is_asked) - 1
        classes = number[after[touched]]
        satisfied = self.search.judge.satisfied_by(classes, int(number[-1]) + 1, chosen=self.search.counted[touched])
        failing = np.zeros(len(after), dtype=bool)
        failing[touched] = ~satisfied[classes]
        return failing


def _pairs_numbered(first: Integers, second: Integers) -> tuple[Integers, int]:
    """Pairs of numbers as one number each, in the order of the pairs; and how many differ."""
    keys = fold([first, second], [int(first.max()) + 1, int(second.max()) + 1])
    distinct, numbers = numbered(keys.values, keys.span)
    return numbers.astype(np.int64), len(distinct)


def _called_back(deserted: Mask, leaving: Mask, before: Integers, turn: Integers, most: int) -> Mask:
    """The first records that left a class which fails without them, at most so many of each class.

    The deserted stayed in such classes, the leaving left theirs and could; `before` is the class before any left.
    """
    called, is_deserted = np.zeros(len(before), dtype=bool), np.zeros(int(before.max()) + 1, dtype=bool)
    is_deserted[before[deserted]] = True
    leavers = np.flatnonzero(leaving & is_deserted[before])
    called[leavers[rank_within(before[leavers], turn[leavers]) < most]] = True
    return called


def suppress_cells(view: RemedyView, demands: Demands, importance: Mapping[str, Fraction]) -> Treatment:
    """Group the records of failing classes, then let passing ones help the rest, then show again what can be shown.

    Importance is at least 0, and 1 where it is not given.

    Raises:
        RemedyError: not even one class of all records keeps the demands, or none but that.
        DominatedError: another remedy, after which the release passes, loses less than what has to be hidden.

    Cost: two sorts of the pending records for each of at most 4,096 patterns, and a few of all records for each
    attribute.
    """
    cells = QuasiIdentifierCells.of(view)
    weights = [importance.get(one.name, Fraction(1)) for one in cells.attributes]
    weight = np.array(weights, dtype=np.float64)
    search = LocalSuppression.begun(cells, demands)
    view.require_least(_hidden_at_least(cells, search.demands))
    passing = search.settled
    if search.pending.any():
        levels = patterns(weights, [one.domain.size for one in cells.attributes])
        progress = partial(view.progress, step_of_size("suppressing cells", demands.k))
        search = _cheapest(search, levels, weight, _turns(view), progress)
        _require_something_shown(cells, search)
    return Treatment(columns=dict(cells.columns(search.suppressed)), notes=_notes(cells, search.suppressed, passing))


def _hidden_at_least(cells: QuasiIdentifierCells, demands: Demands) -> int:
    """Cells that have to be hidden: one in each complete record whose class is smaller than any that is allowed.

    Others can only join such a record where it hides a cell itself.
    """
    classes, count = cells.classes()
    least = MergedDemands(demands, classes, count).least_size
    complete = ~np.logical_or.reduce([one.domain.is_uninformative[one.codes] for one in cells.attributes])
    return int(np.count_nonzero(complete & (np.bincount(classes)[classes] < least)))


def _require_something_shown(cells: QuasiIdentifierCells, search: LocalSuppression) -> None:
    left = ~search.suppressed & (cells.codes != cells.hidden)
    if not left.any():
        raise RemedyError(
            "every quasi-identifier cell would be suppressed: the search finds no class but the whole table that keeps "
            "the policy, and such a release cannot be audited; generalise first, so that classes are larger"
        )


STAGES = 5  # of the progress of half of the ways: one grouping, then enlarging and showing, twice


def _cheapest(
    begun: LocalSuppression,
    levels: Sequence[Sequence[Mask]],
    importance: Floats,
    turn: Integers,
    progress: Callable[[int, int], None],
) -> LocalSuppression:
    """The cheapest way to a search with nothing pending and nothing hidden in vain."""
    ways: list[LocalSuppression] = []
    attributes = np.argsort(-importance, kind="stable").tolist()
    for half, most_first in enumerate((True, False)):
        progress(half * STAGES, 2 * STAGES)
        grouped = begun.copy()
        grouped.group(levels, most_first=most_first)
        for number, largest_first in enumerate((True, False) if grouped.pending.any() else (True,)):
            progress(half * STAGES + 2 * number + 1, 2 * STAGES)
            ways.append(grouped.copy())
            enlarge(ways[-1], levels, importance, largest_first=largest_first)
            progress(half * STAGES + 2 * number + 2, 2 * STAGES)
            refine(ways[-1], attributes, turn)
    return min(ways, key=lambda way: float(importance @ way.cells.changed(way.suppressed).sum(axis=1)))


def _turns(view: RemedyView) -> Integers:
    """A random order of the records that does not depend on the order of the table, except for equal records."""
    columns = view.attributes(sorted(name for name in view.policy.attributes if name in view.release.columns))
    turn = np.empty(view.records, dtype=np.int64)
    turn[np.argsort(view.classes(columns)[0], kind="stable")] = view.generator().permutation(view.records)
    return turn


def _notes(cells: QuasiIdentifierCells, suppressed: Mask, passing: Mask) -> dict[str, object]:
    changed = cells.changed(suppressed)
    touched = changed.any(axis=0)
    counts = zip(cells.attributes, changed.sum(axis=1).tolist(), strict=True)
    return {
        "cells": {one.name: count for one, count in counts if count},
        "share": float(changed.mean()),
        "records": int(touched.sum()),
        "enlarged": int((touched & passing).sum()),
        "patterns": len(np.unique(changed[:, touched], axis=1).T),
    }


def patterns(importance: Sequence[Fraction], sizes: Sequence[int]) -> list[list[Mask]]:
    """The subsets of attributes in the order of their total importance, equal ones together.

    Of more than 12 attributes the subsets of few are taken, as long as there are at most 4,096, and then a chain: the
    least important attributes first, of equal ones that with the most values, until all are in it. Return levels of
    equal importance, each with one or more masks of shape (attributes,). The last pattern has all.

    Example:
        >>> [[one.tolist() for one in level] for level in patterns([Fraction(1), Fraction(2)], [9, 9])]
        [[[True, False]], [[False, True]], [[True, True]]]
    """
    subsets = {*_small_subsets(len(importance)), *_chain(importance, sizes)}

    def total(subset: tuple[int, ...]) -> Fraction:
        return sum((importance[one] for one in subset), Fraction())

    ranked = sorted(subsets, key=lambda subset: (total(subset), len(subset), subset))
    return [[_mask(subset, len(importance)) for subset in level] for _, level in groupby(ranked, key=total)]


def _small_subsets(attributes: int) -> list[tuple[int, ...]]:
    subsets: list[tuple[int, ...]] = []
    for size in range(1, attributes + 1):
        if len(subsets) + comb(attributes, size) >= MOST:
            break
        subsets += combinations(range(attributes), size)
    return subsets


def _chain(importance: Sequence[Fraction], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    order = sorted(range(len(importance)), key=lambda one: (importance[one], -sizes[one]))
    return [tuple(sorted(order[:length])) for length in range(1, len(order) + 1)]


def _mask(subset: tuple[int, ...], attributes: int) -> Mask:
    mask = np.zeros(attributes, dtype=bool)
    mask[list(subset)] = True
    return mask
