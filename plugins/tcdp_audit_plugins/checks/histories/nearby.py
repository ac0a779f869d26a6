"""Units that fit some known events, where the intruder may err about the time of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from tcdp_audit.plugin._internal import (
    LIMIT,
    Counts,
    boundaries,
    checkpoint,
    fold,
    numbered,
    order_of,
    positions_of,
    run_lengths,
)
from tcdp_audit_plugins.checks.histories.combinations import BLOCK
from tcdp_audit_plugins.checks.histories.events import Events, Flags, Positions


@dataclass(frozen=True)
class Fits:
    """Units that fit some combinations: pairs of a combination and a unit, ascending by combination.

    Args:
        combination: of each pair, counted from the first one asked for. Shape (pairs,).
        unit: same shape.
        supports: how many units fit each combination. Shape (combinations,).
    """

    combination: Positions
    unit: Positions
    supports: Counts


@dataclass(frozen=True)
class NearbyEvents:
    """Events by label and time, in which those near a known one are looked up.

    A known event is a *point*: a label with a time. An event fits it if their labels are equal and their times differ
    by at most the tolerance. An event without a time fits only points without a time. Points are numbered by label,
    those of a label by time.

    Args:
        unit: the unit of each event. Shape (events,).
        label: its label, by whether it has a time. Same shape.
        rank: the rank of its time. Same shape.
        point: the number of the point where it is. Same shape.
        low: of each point, the rank of the earliest time that is near. Shape (points,).
        high: and the rank after the latest one. Same shape.
        label_of_point: same shape.
        ranks: a number above all ranks.
    """

    unit: Positions
    label: Positions
    rank: Positions
    point: Positions
    low: Positions
    high: Positions
    label_of_point: Positions
    ranks: int

    @classmethod
    def of(cls, events: Events, tolerance: int) -> NearbyEvents:
        """The events, and what is near to each.

        Args:
            events: with times, or without where labels alone decide.
            tolerance: in steps of the time; what differs by exactly so much is near.
        """
        label, time = events.label, np.zeros(len(events.unit), np.int64)
        if events.time is not None:
            without = events.without_time
            missing = np.zeros(len(time), bool) if without is None else without
            label, time = label * 2 + missing, np.where(missing, time, events.time)
        times = np.unique(time)
        rank, ranks = np.searchsorted(times, time), len(times) + 1
        keys = fold([label, rank], [int(label.max(initial=-1)) + 1, ranks])
        point_keys, point = numbered(keys.values, max(keys.span, 1))
        label_of_point, rank_of_point = keys.decode(point_keys.astype(np.int64))
        at = times[rank_of_point]
        tolerance = min(tolerance, np.iinfo(np.int64).max)
        first, last = (times[0], times[-1]) if len(times) else (0, 0)  # no nearer end is needed, and sums may overflow
        low = np.searchsorted(times, at - np.minimum(tolerance, at - first), side="left")
        high = np.searchsorted(times, at + np.minimum(tolerance, last - at), side="right")
        return cls(events.unit, label, rank, point.astype(np.int64), low, high, label_of_point, ranks)

    def once_each(self) -> NearbyEvents:
        """The same with each of a unit's equal events once."""
        keys = fold([self.unit, self.point], [int(self.unit.max(initial=0)) + 1, len(self.low)])
        order = order_of(keys.values, keys.span)
        first = np.sort(order[boundaries(keys.values[order])])
        unit, label, rank, point = (one[first] for one in (self.unit, self.label, self.rank, self.point))
        return replace(self, unit=unit, label=label, rank=rank, point=point)

    def fits(self, points: Positions, block: int = BLOCK) -> Iterator[tuple[slice, Fits]]:
        """The units that fit some combinations of points: that have a different event near each of its points.

        Args:
            points: of each combination, ascending. Shape (combinations, size).
            block: how many units are looked at together.

        Yields:
            Some combinations, and the units that fit them.

        Cost: for each combination the events near the point that has fewest, and a binary search for every other one.
        """
        # Events near two points of a label may be the same ones, and a unit needs a different event for each point
        # (Hall). The points of a label are in the order of their times, and the tolerance is the same for all, so the
        # events near them begin and end in this order too: to take for each point the earliest event that is near and
        # not taken yet then finds a way whenever there is one.
        if not len(points):
            return
        amounts = self.amounts[points]
        place = np.argmin(amounts, axis=1)[:, None]
        least = np.take_along_axis(amounts, place, axis=1)[:, 0]
        until = np.cumsum(least)
        edges = [0, *(np.flatnonzero(np.diff(until // block)) + 1).tolist(), len(points)]
        for start, end in pairwise(edges):
            checkpoint()
            some = slice(start, end)
            yield some, self._fits(points[some], place[some], least[some])

    def supports(self, points: Positions, block: int = BLOCK) -> Counts:
        """The number of units that fit each combination of points, as for `fits`. Shape (combinations,)."""
        supports = np.zeros(len(points), np.int64)
        for some, fits in self.fits(points, block):
            supports[some] = fits.supports
        return supports

    def _fits(self, points: Positions, place: Positions, amounts: Counts) -> Fits:
        """The units that fit, out of those with an event near the point that has fewest; each by the first of these."""
        rarest = np.take_along_axis(points, place, axis=1)[:, 0]
        near = positions_of(self._first_near[rarest], amounts)
        combination = np.repeat(np.arange(len(points)), amounts)
        by_time = self._by_time
        first = by_time.before[near] < self.low[rarest][combination]
        combination, unit = combination[first], by_time.unit[near[first]]
        labels = self.label_of_point[points]
        repeated = (labels[:, 1:] == labels[:, :-1]).any(axis=1)  # else an event near one point is near no other
        taken = np.full(len(unit), -1)
        for number in range(points.shape[1]):
            asked = (repeated | (place[:, 0] != number))[combination]
            fits = np.ones(len(unit), bool)
            fits[asked], taken[asked] = self._earliest(unit[asked], points[:, number][combination[asked]], taken[asked])
            combination, unit, taken = combination[fits], unit[fits], taken[fits]
        return Fits(combination, unit, np.bincount(combination, minlength=len(points)))

    def _earliest(self, unit: Positions, point: Positions, taken: Positions) -> tuple[Flags, Positions]:
        """Whether each unit has an event near a point after the one taken before, and the earliest such event."""
        history = self._by_unit
        wanted = unit * self._labels + self.label_of_point[point]
        run, has = history.number_of(wanted)
        begin = np.maximum(np.searchsorted(history.keys, run * self.ranks + self.low[point]), taken + 1)
        last = np.minimum(begin, len(history.keys) - 1)
        return has & (begin == last) & (history.keys[last] < run * self.ranks + self.high[point]), begin

    @cached_property
    def _labels(self) -> int:
        return int(self.label.max(initial=-1)) + 1

    @cached_property
    def _by_time(self) -> _ByTime:
        """Events by label and time, each with the rank of its unit's one before of that label, or -1."""
        history = self._by_unit
        before = np.full(len(self.unit), -1)
        rank = self.rank[history.order]
        same = np.flatnonzero(history.run_of[1:] == history.run_of[:-1]) + 1
        before[history.order[same]] = rank[same - 1]
        keys = fold([self.label, self.rank], [max(self._labels, 1), self.ranks])
        order = order_of(keys.values, keys.span)
        return _ByTime(self.unit[order], before[order])

    @cached_property
    def _by_unit(self) -> _ByUnit:
        keys = fold([self.unit, self.label, self.rank], [int(self.unit.max(initial=0)) + 1, self._labels, self.ranks])
        order = order_of(keys.values, keys.span)
        pairs = (self.unit * self._labels + self.label)[order]
        starts = boundaries(pairs)
        run_of = np.repeat(np.arange(len(starts)), run_lengths(starts, len(order)))
        if (int(pairs.max(initial=0)) + 1) * self.ranks < LIMIT:
            return _ByUnit(order, None, run_of, pairs * self.ranks + self.rank[order])
        return _ByUnit(order, pairs[starts], run_of, run_of * self.ranks + self.rank[order])

    @cached_property
    def _first_near(self) -> Positions:
        """The position, by label and time, of the first event near each point."""
        return np.searchsorted(self._keys_by_time, self.label_of_point * self.ranks + self.low)

    @cached_property
    def amounts(self) -> Counts:
        """The number of events near each point."""
        last = np.searchsorted(self._keys_by_time, self.label_of_point * self.ranks + self.high)
        return last - self._first_near

    @cached_property
    def _keys_by_time(self) -> Positions:
        return np.sort(self.label * self.ranks + self.rank)


@dataclass(frozen=True)
class _ByTime:
    """Events in the order of label and time."""

    unit: Positions
    before: Positions  # the rank of the time of the unit's event before, of the same label; -1 if there is none


@dataclass(frozen=True)
class _ByUnit:
    """Events in the order of unit, label and time."""

    order: Positions
    runs: Positions | None  # the pairs of unit and label that occur, ascending, where keys have their numbers
    run_of: Positions  # the number of the pair of each event
    keys: Positions  # pair, or its number, and rank as one number, ascending

    def number_of(self, pairs: Positions) -> tuple[Positions, Flags]:
        """The numbers that keys have for pairs of unit and label, and which of them occur."""
        if self.runs is None:
            return pairs, np.ones(len(pairs), bool)
        number = np.minimum(np.searchsorted(self.runs, pairs), len(self.runs) - 1)
        return number, self.runs[number] == pairs
