"""Combinations of a few events of a unit: enumerated once each, those of all units side by side, in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb

import numpy as np

from tcdp_audit.plugin._internal import (
    LIMIT,
    Counts,
    Integers,
    boundaries,
    checkpoint,
    fold,
    order_of,
    positions_of,
    run_lengths,
)
from tcdp_audit_plugins.checks.histories.events import Events, Flags, Positions, numbered_values

BLOCK = 2**20  # combinations that are looked at together, where the memory allows it
EACH = 160  # bytes that one of them takes, with what is computed of it
MOST_WAYS = 1e200  # to go on from an event: sums of more would be infinite, and their differences no numbers


@dataclass(frozen=True)
class Ordered:
    """Events in the order in which combinations are formed: by unit, time, label.

    Equal events of a unit are copies of each other. A combination of few has few copies, so the others are left out,
    and it holds the first ones: that makes it one of a kind.

    Args:
        unit: of each event that is left. Shape (events,).
        label: same shape.
        copy: how many copies of it come before. Same shape.
        copies: how many copies there are, those left out included. Same shape.
        group_end: where the events of its unit and time end. Same shape.
        unit_end: where those of its unit end. Same shape.
        units: how many units there are.
        timed: whether it matters which event was earlier.
    """

    unit: Positions
    label: Positions
    copy: Positions
    copies: Counts
    group_end: Positions
    unit_end: Positions
    units: int
    timed: bool

    @classmethod
    def of(cls, events: Events, most: int) -> Ordered:
        """The events, for combinations of at most so many. O(events log events)."""
        rank = np.zeros(len(events.unit), np.int64) if events.time is None else numbered_values(events.time)
        columns = [events.unit, rank, events.label]
        keys = fold(columns, [events.units, int(rank.max(initial=0)) + 1, events.labels])
        order = order_of(keys.values, keys.span)
        starts = boundaries(keys.values[order])
        lengths = run_lengths(starts, len(order))
        copy = np.arange(len(order)) - np.repeat(starts, lengths)
        few = copy < most
        unit, rank, label = (one[order[few]] for one in columns)
        in_group = boundaries(fold([unit, rank], [events.units, int(rank.max(initial=0)) + 1]).values)
        group_end = np.repeat(np.append(in_group[1:], len(unit)), run_lengths(in_group, len(unit)))
        unit_end = np.searchsorted(unit, unit, side="right")
        copies = np.repeat(lengths, lengths)[few]
        return cls(unit, label, copy[few], copies, group_end, unit_end, events.units, events.time is not None)

    @cached_property
    def labels(self) -> int:
        """A number above all labels."""
        return int(self.label.max(initial=-1)) + 1

    @cached_property
    def heads(self) -> Positions:
        """The events that are no copy of an earlier one."""
        return np.flatnonzero(self.copy == 0)

    @cached_property
    def has_copy(self) -> Flags:
        """A mark for each event that a copy follows."""
        return np.append(self.copy[1:] > 0, False)[: len(self.copy)]

    @cached_property
    def next_head(self) -> Positions:
        """The number among `heads` of the first one after each event."""
        return np.cumsum(self.copy == 0)

    @cached_property
    def heads_in_group(self) -> Positions:
        """The number of heads after each event, of its unit and time."""
        return np.searchsorted(self.heads, self.group_end) - self.next_head

    @cached_property
    def heads_in_unit(self) -> Positions:
        """The number of heads after each event, of its unit."""
        return np.searchsorted(self.heads, self.unit_end) - self.next_head

    def amounts(self, most: int) -> list[float]:
        """The number of combinations of 1, 2, ... events, those of each unit counted for itself.

        With times it is an upper bound, because several choices may be in the same order. From 10^200 on it is a lower
        bound.

        Cost: O(events) for each size.
        """
        ways = np.ones(len(self.unit))  # to go on from an event, with so many more
        amounts = []
        for _ in range(most):
            amounts.append(float(ways[self.heads].sum()))
            before = np.concatenate([[0.0], np.cumsum(ways[self.heads])])
            later = before[self.next_head + self.heads_in_unit] - before[self.next_head]
            ways = later + np.where(self.has_copy, np.append(ways[1:], 0.0)[: len(ways)], 0.0)
            ways = np.minimum(ways, MOST_WAYS)
        return amounts


@dataclass(frozen=True)
class Block:
    """Some combinations of one size, with every unit that has them.

    Args:
        size: how many events each has.
        starts: where the holders of each combination begin. Shape (combinations,).
        holder: the unit of each holder; equal ones follow one another. Shape (holders,).
        position: the last event of the combination in that unit. Same shape.
        first: whether it is the first holder of that unit in this combination: with times a unit may have a
            combination that ends at several of them. Same shape.
        weight: in how many ways the unit's rows form the combination; None where no one asks. Same shape.
        labels: of the events of each combination. Shape (combinations, size); None where no one asks.
    """

    size: int
    starts: Positions
    holder: Positions
    position: Positions
    first: Flags
    weight: Integers | None
    labels: Positions | None

    @cached_property
    def lengths(self) -> Counts:
        """The number of holders of each combination. Shape (combinations,)."""
        return run_lengths(self.starts, len(self.holder))

    @cached_property
    def number(self) -> Positions:
        """The combination of each holder. Shape (holders,)."""
        return np.repeat(np.arange(len(self.starts)), self.lengths)

    @cached_property
    def supports(self) -> Counts:
        """The number of units that have each combination. Shape (combinations,)."""
        return np.add.reduceat(self.first.astype(np.int64), self.starts) if len(self.starts) else self.lengths


Visit = Callable[[Block], Flags]


def visit_combinations(
    ordered: Ordered, most: int, visit: Visit, *, block: int = BLOCK, weighted: bool = False, labelled: bool = False
) -> None:
    """Show all combinations of 1, 2, ... events that units have, in blocks, with every unit that has each of them.

    Args:
        ordered: the events.
        most: how many events the largest ones have.
        visit: is called with each block, and says which of its combinations are to be made larger: False for one leaves
            out all that begin with it. Shape (combinations,).
        block: how many combinations are made together; those that begin with the same smaller one always are.
        weighted: whether blocks have weights.
        labelled: whether blocks have labels.

    Cost: O(combinations of all units log block) in time; in memory O(most x (block + events)).
    """
    # A combination is its labels in ascending order, and with times the groups of labels of one time in the order of
    # these. It is made larger at its end: by a copy of its last event, by a label of the same group, or by one of a
    # later group. The first two continue a holder as it is; a later group is looked for from the earliest end that the
    # unit's holders have, because what is later than another end is later than that one. So each combination of a unit
    # is made once for each time at which it can end, and none is left out.
    heads = ordered.heads
    label = ordered.label[heads]
    order = order_of(label, max(ordered.labels, 1))
    weight = _exact_weights(ordered, most)[heads[order]] if weighted else None
    sources = _Sources(ordered, most, visit, block)
    sources.descend(_block(1, label[order], ordered, heads[order], weight, None, labelled=labelled))


def _exact_weights(ordered: Ordered, most: int) -> Integers:
    """The copies of each event, as Python integers where the rows of a unit could be chosen in too many ways."""
    longest = int(np.bincount(ordered.unit, ordered.copies * (ordered.copy == 0)).max(initial=0))
    return ordered.copies.astype(object) if comb(longest, min(most, longest // 2)) * most >= LIMIT else ordered.copies


def _block(
    size: int,
    keys: Positions,
    ordered: Ordered,
    position: Positions,
    weight: Integers | None,
    labels: Positions | None,
    *,
    labelled: bool,
) -> Block:
    """The block of holders that are in the order of their keys and, for each key, of their positions."""
    starts = boundaries(keys).astype(np.int64)
    holder = ordered.unit[position]
    first = np.ones(len(holder), bool)
    if ordered.timed:
        first[1:] = (holder[1:] != holder[:-1]) | (keys[1:] != keys[:-1])
    last = ordered.label[position[starts]][:, None]
    of_each = (last if labels is None else np.hstack([labels, last])) if labelled else None
    return Block(size, starts, holder, position, first, weight, of_each)


@dataclass(frozen=True)
class _Sources:
    """Combinations that are made larger, block by block, each with all its holders."""

    ordered: Ordered
    most: int
    visit: Visit
    block: int

    def descend(self, block: Block) -> None:
        """Show a block, and make larger what is to be."""
        checkpoint()
        if not len(block.starts):
            return
        larger = self.visit(block)
        if block.size == self.most or not larger.any():
            return
        extended = larger[block.number]
        ordered = self.ordered
        heads = np.where(
            block.first, ordered.heads_in_unit[block.position], ordered.heads_in_group[block.position]
        )  # where no time matters, the group is the unit
        heads[~extended] = 0
        copied = ordered.has_copy[block.position] & extended
        for part in self._parts(block, heads + copied):
            self.descend(self._made_larger(block, part, heads[part], copied[part]))

    def _parts(self, block: Block, amounts: Counts) -> Iterator[slice]:
        """Holders of some combinations that make about a block, never parted within a combination."""
        until = np.cumsum(np.add.reduceat(amounts, block.starts))
        ends = np.flatnonzero(np.diff(until // self.block)) + 1
        edges = [0, *block.starts[ends].tolist(), len(block.holder)]
        for start, end in pairwise(edges):
            if amounts[start:end].any():
                yield slice(start, end)

    def _made_larger(self, block: Block, part: slice, heads: Counts, copied: Flags) -> Block:
        """The combinations of one more event that begin with those of some holders."""
        ordered, position = self.ordered, block.position[part]
        number = block.number[part] - block.number[part.start]
        by_copy = np.flatnonzero(copied)
        source = np.concatenate([np.repeat(np.arange(len(position)), heads), by_copy])
        reached = np.concatenate(
            [ordered.heads[positions_of(ordered.next_head[position], heads)], position[by_copy] + 1]
        )
        keys = number[source]
        if ordered.timed:
            keys = keys * 2 + (reached >= ordered.group_end[position[source]])
        keys = keys * ordered.labels + ordered.label[reached]
        span = (int(number[-1]) + 1) * (1 + ordered.timed) * ordered.labels
        order = order_of(keys, span)
        keys, source, reached = keys[order], source[order], reached[order]
        weight = None if block.weight is None else _weights(ordered, block.weight[part][source], reached)
        labels = None
        if block.labels is not None:
            labels = block.labels[block.number[part.start] + number[source[boundaries(keys)]]]
        return _block(block.size + 1, keys, ordered, reached, weight, labels, labelled=labels is not None)


def _weights(ordered: Ordered, before: Integers, reached: Positions) -> Integers:
    """The number of ways in which rows form the combinations: of n copies C(n, r), one more (n - r) / (r + 1) times."""
    copy = ordered.copy[reached]
    return before * (ordered.copies[reached] - copy) // (copy + 1)
