"""What it gains when two clusters exchange a record each, or one gives a record to the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.exact import Floats
from tcdp_audit_plugins.remedies.microaggregation.members import Members
from tcdp_audit_plugins.remedies.microaggregation.points import Positions

ROUNDING = 1e-12  # of the longest squared length: smaller gains are no gains


class Pricing:
    """The best move of each pair of clusters: two places of the table of members change their records.

    Where one of the two places is empty, the move gives a record away.

    Args:
        members: the clusters.
        pairs: of which clusters moves are looked for. Shape (pairs, 2).
        k: the least number of records in a cluster.
        kinds: only records of one kind are exchanged, and none is given away; None for no such restriction.
    """

    def __init__(self, members: Members, pairs: Positions, k: int, kinds: NDArray[np.int64] | None) -> None:
        self._members, self._pairs, self._k, self._kinds = members, pairs, k, kinds
        self._least = ROUNDING * float(members.points.norms.max(initial=1.0))
        self._places = np.zeros((2, len(pairs)), dtype=np.int64)
        self.gain = np.zeros(len(pairs))

    def look(self, stale: Positions) -> None:
        """Find the best move of some pairs, with a gain of 0 where there is none."""
        step = self._members.rows_at_once
        for start in range(0, len(stale), step):
            part = stale[start : start + step]
            gains = self._gains(*self._pairs[part].T)
            flat = gains.reshape(len(part), -1)
            best = flat.argmax(axis=1)
            self._places[:, part] = np.divmod(best, gains.shape[2])
            self.gain[part] = flat[np.arange(len(part)), best]
        self.gain[self.gain <= self._least] = 0.0

    def make(self, made: Positions) -> None:
        """Make the best moves of some pairs that share no cluster."""
        table, pairs, places = self._members.table, self._pairs[made], self._places[:, made]
        here, there = (pairs[:, 0], places[0]), (pairs[:, 1], places[1])
        table[here], table[there] = table[there], table[here]
        self._members.refresh(pairs.ravel())

    def _gains(self, one: Positions, other: Positions) -> Floats:
        """Of every two places of two clusters; -infinity where that is no move. Shape (pairs, a, b)."""
        table = self._members.table
        between = self._members.distances(one, other)
        first, second = (table[one] >= 0)[:, :, None], (table[other] >= 0)[:, None, :]
        gains = np.where(first & second, self._exchanging(one, other, between), -np.inf)
        if self._kinds is not None:
            same = self._kinds[table[one]][:, :, None] == self._kinds[table[other]][:, None, :]
            return np.where(same, gains, -np.inf)
        able = first & ~second & (first.sum(axis=1, keepdims=True) > self._k)
        gains = np.where(able, self._giving(one, other, between.sum(axis=2))[:, :, None], gains)
        able = ~first & second & (second.sum(axis=2, keepdims=True) > self._k)
        return np.where(able, self._giving(other, one, between.sum(axis=1))[:, None, :], gains)

    def _exchanging(self, one: Positions, other: Positions, between: Floats) -> Floats:
        """For x of A and y of B: (s_A(x) - s_A(y) + d_xy) / a + (s_B(y) - s_B(x) + d_xy) / b, s_A sums of d to A."""
        own, a, b = self._members.own, self._sizes(one), self._sizes(other)
        leaving = own[one] / a - between.sum(axis=2) / b
        joining = own[other] / b - between.sum(axis=1) / a
        return np.asarray(leaving[:, :, None] + joining[:, None, :] + between * (1 / a + 1 / b)[:, :, None])

    def _giving(self, one: Positions, other: Positions, between: Floats) -> Floats:
        """For x of A: W_A + W_B - (a W_A - s_A(x)) / (a - 1) - (b W_B + s_B(x)) / (b + 1), W sums of squares."""
        own, a, b = self._members.own, self._sizes(one), self._sizes(other)
        pairs_of_one, pairs_of_other = (own[rows].sum(axis=1, keepdims=True) / 2 for rows in (one, other))
        without = (pairs_of_one - own[one]) / np.maximum(a - 1, 1)
        joined = (pairs_of_other + between) / (b + 1)
        return np.asarray(pairs_of_one / a + pairs_of_other / b - without - joined)

    def _sizes(self, rows: Positions) -> NDArray[np.int64]:
        """How many records some clusters have. Shape (rows, 1)."""
        return np.asarray((self._members.table[rows] >= 0).sum(axis=1, keepdims=True), dtype=np.int64)
