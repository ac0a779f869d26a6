"""The chance that some events of a unit, drawn at random, are those of no other unit: exact, or from draws."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, log, sqrt

import numpy as np

from tcdp_audit.plugin._internal import LIMIT, Counts, Integers, checkpoint
from tcdp_audit_plugins.checks.histories.combinations import BLOCK, Block, Ordered, visit_combinations
from tcdp_audit_plugins.checks.histories.events import Events, Flags, Positions
from tcdp_audit_plugins.checks.histories.nearby import NearbyEvents

DRAWS = 100  # for each unit
ERROR = 0.05  # how often the margin of an estimate may be too small


@dataclass(frozen=True)
class Chance:
    """The mean over units of the chance to be alone by some events drawn at random.

    Args:
        points: how many events are drawn.
        mean: exact; of an estimate the mean of the draws.
        margin: how much larger the true mean may be; 0 where it is exact.
        units: how many units it is the mean of.
        alone: how many of them are alone by every choice of so many events; None for an estimate.
    """

    points: int
    mean: Fraction
    margin: float
    units: int
    alone: int | None

    @property
    def upper(self) -> Fraction | float:
        """The mean, or of an estimate the end of its interval."""
        return min(float(self.mean) + self.margin, 1.0) if self.margin else self.mean


def exact_chances(
    events: Events, points: list[int], *, leave_out: bool, nearby: NearbyEvents | None = None, block: int = BLOCK
) -> list[Chance]:
    """The chances by definition: the share of all choices of rows by which a unit is alone.

    Args:
        events: without times; with points for labels where the intruder may err about times.
        points: how many events are drawn, each at least 1.
        leave_out: whether units with fewer events are left out; otherwise all that they have are drawn.
        nearby: the events with what is near to each, where the intruder may err.
        block: how many combinations are looked at together.

    Cost: O(combinations of events that several units have).
    """
    longest = min(max(points), int(events.lengths.max(initial=0)))
    ordered = Ordered.of(events, longest)
    large = comb(int(events.lengths.max(initial=0)), min(longest, int(events.lengths.max(initial=0)) // 2)) >= LIMIT
    shared = [np.zeros(events.units, object if large else np.int64) for _ in range(longest)]

    def visit(some: Block) -> Flags:
        if nearby is None:
            supports = some.supports
        else:
            assert some.labels is not None  # noqa: S101 - they were asked for
            supports = nearby.supports(some.labels, block)
        several = supports > 1
        those = several[some.number]
        assert some.weight is not None  # noqa: S101 - it was asked for
        np.add.at(shared[some.size - 1], some.holder[those], some.weight[those])
        return several  # what one unit alone has stays so with more events: only what is shared is counted

    visit_combinations(ordered, longest, visit, block=block, weighted=True, labelled=nearby is not None)
    return [_chance(events, number, shared, leave_out=leave_out) for number in points]


def _chance(events: Events, points: int, shared: list[Integers], *, leave_out: bool) -> Chance:
    """The mean over units: those with as many events have the same number of choices."""
    total, units, alone = Fraction(0), 0, 0
    for length in np.unique(events.lengths).tolist():
        those = np.flatnonzero(events.lengths == length)
        if leave_out and length < points:
            continue
        drawn = min(points, length)
        of_others = shared[drawn - 1][those] if drawn else (events.alike[those] > 1).astype(np.int64)
        choices = comb(length, drawn)
        units += len(those)
        alone += int((of_others == 0).sum())
        total += len(those) - Fraction(sum(of_others.tolist()), choices)
    return Chance(points, total / units if units else Fraction(0), 0.0, units, alone)


def estimated_chance(
    events: Events,
    points: int,
    generator: np.random.Generator,
    *,
    leave_out: bool,
    nearby: NearbyEvents,
    block: int = BLOCK,
) -> Chance:
    """A chance from 100 draws of events for each unit, and how much larger it may be at most 1 time in 40.

    The draws are independent, so the mean of all of them is within sqrt(ln(2 / 0.05) / (2 draws)) of the chance 19
    times in 20.

    Args:
        events: as for `exact_chances`.
        points: how many events are drawn.
        generator: draws them.
        leave_out: whether units with fewer events are left out.
        nearby: the events by the same labels.
        block: how many units are looked at together.

    Source: Hoeffding, Probability inequalities for sums of bounded random variables, JASA 58 (1963), theorem 2.
    """
    asked = np.flatnonzero(events.lengths >= (points if leave_out else 0))
    order = np.argsort(events.unit, kind="stable")
    starts = np.concatenate([[0], np.cumsum(events.lengths)])
    alone = DRAWS * int(((events.lengths == 0) & (events.alike == 1))[asked].sum())
    drawn = np.minimum(events.lengths[asked], points)
    for size in range(1, points + 1):
        of_size = asked[drawn == size]
        for some in np.array_split(of_size, max(1, len(of_size) * DRAWS * size // block + 1)):
            checkpoint()
            places = draws(events.lengths[some], size, generator) + np.repeat(starts[some], DRAWS)[:, None]
            labels = np.sort(events.label[order[places]], axis=1)
            different, of = np.unique(labels, axis=0, return_inverse=True)
            alone += int((nearby.supports(different, block)[of.reshape(-1)] <= 1).sum())
    number = DRAWS * len(asked)
    margin = sqrt(log(2 / ERROR) / (2 * number)) if number else 0.0
    return Chance(points, Fraction(alone, max(number, 1)), margin, len(asked), None)


def draws(lengths: Counts, size: int, generator: np.random.Generator) -> Positions:
    """Different places below each length, drawn uniformly, 100 times. Shape (lengths x 100, size).

    Floyd's method: the j-th of the last places is drawn among those up to it, and is itself if that one is drawn.
    """
    most = np.repeat(lengths, DRAWS)
    drawn = np.empty((len(most), size), np.int64)
    for place in range(size):
        last = most - size + place
        one = generator.integers(0, last + 1)
        taken = (drawn[:, :place] == one[:, None]).any(axis=1)
        drawn[:, place] = np.where(taken, last, one)
    return drawn
