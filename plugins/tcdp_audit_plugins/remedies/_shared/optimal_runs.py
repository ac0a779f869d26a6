"""Consecutive runs of a sequence at the least cost, for every number of runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import positions_of, starts_of

Integers = NDArray[np.int64]
Cost = Callable[[Integers, Integers], NDArray[Any]]  # of runs from each start to before each end


@dataclass(frozen=True)
class OptimalRuns:
    """The least costly divisions of a sequence into 1, 2, 3 ... runs.

    Args:
        values: length of the sequence.
        cuts: for two runs and more, where the last of them begins if they end before each place. Each of shape
            (values + 1,).
    """

    values: int
    cuts: tuple[Integers, ...]

    def into(self, runs: int) -> Integers:
        """The run of each value, ascending from 0 to runs - 1. O(values)."""
        starts = [self.values]
        for cut in reversed(self.cuts[: runs - 1]):
            starts.append(int(cut[starts[-1]]))
        return np.searchsorted(np.array(starts[:0:-1]), np.arange(self.values), side="right")


def least_runs(values: int, most: int, cost: Cost) -> OptimalRuns:
    """Divide a sequence at the least total cost, into every number of runs up to a limit.

    Args:
        values: length of the sequence, at least 1.
        most: the largest number of runs, from 1 to values.
        cost: of runs. A run that contains another must cost more than both overlapping ones together save (the
            quadrangle inequality), as squares of masses do and products of mass and width.

    Cost: O(most x values x log values): the best place of a cut never moves back as a run's end moves on.

    Source: Yao, Efficient dynamic programming using quadrangle inequalities, STOC 1980.

    Example:
        >>> ends = np.cumsum([0, 1, 1, 1, 6, 2, 1])
        >>> least_runs(6, 3, lambda start, end: (ends[end] - ends[start]) ** 2).into(3).tolist()
        [0, 0, 0, 1, 2, 2]
    """
    places = np.arange(1, values + 1)
    whole = cost(np.zeros_like(places), places)
    best = np.concatenate([whole[:1] * 0, whole])
    cuts = []
    for runs in range(2, most + 1):
        best, cut = _one_more(best, cost, runs)
        cuts.append(cut)
    return OptimalRuns(values, tuple(cuts))


def _one_more(before: NDArray[Any], cost: Cost, runs: int) -> tuple[NDArray[Any], Integers]:
    """The least cost with one run more up to every place, and where that run begins.

    Places are worked through as a tree of halves, all halves of one depth at once: the best cut of a middle bounds
    those of both its halves.
    """
    best, cut = np.zeros_like(before), np.zeros(len(before), dtype=np.int64)
    left, right = np.array([runs]), np.array([len(before) - 1])
    low, high = np.array([runs - 1]), np.array([len(before) - 2])
    while len(left):
        middle = (left + right) // 2
        lengths = np.minimum(high, middle - 1) - low + 1
        offsets = starts_of(lengths)
        tried = positions_of(low, lengths)
        costs = before[tried] + cost(tried, np.repeat(middle, lengths))
        best[middle] = np.minimum.reduceat(costs, offsets)
        hits = np.flatnonzero(costs == np.repeat(best[middle], lengths))
        cut[middle] = tried[hits[np.searchsorted(hits, offsets)]]
        left, right = np.concatenate([left, middle + 1]), np.concatenate([middle - 1, right])
        low, high = np.concatenate([low, cut[middle]]), np.concatenate([cut[middle], high])
        still = left <= right
        left, right, low, high = left[still], right[still], low[still], high[still]
    return best, cut
