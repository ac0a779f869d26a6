"""The earth mover's distance between values on a line: by rank, or by any positions.

Work on a line is the area between two cumulative distributions: twice the part where the class's is above the
reference's, plus the mean of the class, less that of the reference. A class's is constant from one value that it has
to the next, and the reference's only grows, so that it is above from such a value to a single turn, up to which prefix
sums of the reference's cumulative weights give the area at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import LIMIT, Floats, Integers, cached_on_histogram, cached_on_reference
from tcdp_audit.plugin.check import ApproximateFigure, Histogram, Measured, Ratios, ReferenceDistribution, Signs

Positions = NDArray[Any]

PAIRS = 2**16  # pairs of class and value that are worked on at a time: their arrays stay in the processor's cache
LARGEST = 2**9  # records of the largest class for whose shares a table has the values, 131,000 of them
ENTRIES = 16  # records of the reference for each entry of that table, which then costs little next to its use
EXACT_FLOAT = 2**53  # products below this are exact as floats, too


def ordered_distance(histogram: Histogram, marginal: ReferenceDistribution) -> Measured:
    """Earth mover's distance by rank, 1/(m-1) sum_i |sum_{j<=i} (p_j - q_j)| over a domain of m values in order.

    Only the order of the values counts: any relabelling that keeps it, or reverses it, keeps the distance.

    Returns:
        Fractions from 0 to 1, shape (classes,); 0 where the domain has a single value.

    Cost: O(pairs of class and value x log m), never classes x m.

    Source: Li et al. (2007), section 4.1, ordered distance.

    Example:
        >>> classes = Histogram(np.array([0, 1]), np.array([0]), np.array([2]))
        >>> ordered_distance(classes, ReferenceDistribution(np.array([1, 1, 0, 0, 0]))).values.tolist()
        [0.125]
    """
    return line_distance(histogram, marginal, _ranks(marginal))


@dataclass(frozen=True)
class Move:
    """A share of a distribution that moves from one value to another."""

    start: int  # the code of the value that it leaves
    end: int  # the code of the value that it reaches
    share: Fraction  # of the whole distribution, above 0
    cost: Fraction  # of moving a whole distribution so far, from 0 to 1


def ordered_flow(histogram: Histogram, marginal: ReferenceDistribution) -> list[Move]:
    """An optimal flow by rank from the distribution of a single class to the reference.

    Both are read from the lowest value up, so that no two moves cross; on a line no flow costs less. What stays where
    it is is no move. The shares times their costs add up to `ordered_distance`.

    Returns:
        Moves in ascending order, at most 2 m - 1.

    Cost: O(m).

    Source: Li et al. (2007), section 4.1, the flow of the example.

    Example:
        >>> classes = Histogram(np.array([0, 1]), np.array([0]), np.array([2]))
        >>> ordered_flow(classes, ReferenceDistribution(np.array([1, 0, 1])))
        [Move(start=0, end=2, share=Fraction(1, 2), cost=Fraction(1, 1))]
    """
    left, wanted, whole = common_shares(histogram, marginal)
    moves, start, end = [], 0, 0
    while start < len(left) and end < len(wanted):
        moved = min(left[start], wanted[end])
        if moved and start != end:
            moves.append(Move(start, end, Fraction(moved, whole), Fraction(abs(end - start), len(left) - 1)))
        left[start] -= moved
        wanted[end] -= moved
        if left[start]:
            end += 1
        else:
            start += 1
    return moves


def common_shares(histogram: Histogram, marginal: ReferenceDistribution) -> tuple[list[int], list[int], int]:
    """The distribution of a single class and the reference, as integers over one whole, which comes last."""
    own = [0] * marginal.size
    for code, number in zip(histogram.values.tolist(), histogram.counts.tolist(), strict=True):
        own[code] = number * marginal.total
    size = sum(histogram.counts.tolist())
    return own, [weight * size for weight in marginal.weights.tolist()], size * marginal.total


def line_distance(histogram: Histogram, marginal: ReferenceDistribution, positions: NDArray[np.int64]) -> Measured:
    """Earth mover's distance where value i is at an integer position, divided by the span of the positions.

    Args:
        histogram: counts of values in every class.
        marginal: the reference distribution, shape (m,).
        positions: where each value is, strictly ascending from 0 and below 2^62, shape (m,).

    Returns:
        Fractions from 0 to 1, shape (classes,); where products would leave 62 bits for some class, floats of which
        the borderline ones are decided in exact arithmetic.

    Cost: O(pairs of class and value x log m).
    """
    if marginal.size == 1:
        return Ratios.whole(np.zeros(len(histogram), dtype=np.int64))
    span = int(positions[-1])
    wide = histogram.total * float(2 * marginal.total * span) >= LIMIT
    if not wide.any():
        return _ratios(histogram, marginal, positions)
    narrow = np.flatnonzero(~wide)
    estimate = _estimated(histogram, marginal, _scaled(marginal, positions))
    if len(narrow):
        estimate[narrow] = _ratios(histogram.take(narrow), marginal, positions).values
    return ApproximateFigure(estimate, _exactly(histogram, marginal, lambda: positions.astype(object)))


def estimated_distance(
    histogram: Histogram, marginal: ReferenceDistribution, positions: Floats, exact: Callable[[], Integers]
) -> ApproximateFigure:
    """The same distance for positions that are no small integers: floats, of which borderline ones are decided exactly.

    Args:
        histogram: counts of values in every class.
        marginal: the reference distribution, shape (m,), of at least two values.
        positions: where each value is, from 0 to 1.
        exact: gives the positions as Python integers ascending from 0, in any unit; called only when it is close.

    Cost: O(pairs of class and value x log m), and O(m) in Python integers when it is close.
    """
    return ApproximateFigure(_estimated(histogram, marginal, positions), _exactly(histogram, marginal, exact))


def _ratios(histogram: Histogram, marginal: ReferenceDistribution, positions: NDArray[np.int64]) -> Ratios:
    return Ratios(*_work(histogram, _line(marginal, positions), _turns(histogram, _quantiles(marginal))))


def _estimated(histogram: Histogram, marginal: ReferenceDistribution, positions: Floats) -> Floats:
    counted = replace(histogram, counts=histogram.counts.astype(np.float64))
    line = _line_in_floats(marginal, positions)
    narrow = int(histogram.total.max(initial=0)) * marginal.total < EXACT_FLOAT
    turn = _turns(histogram, _quantiles(marginal)) if narrow else _turns(counted, _Quantiles(line.weights))
    moved, whole = _work(counted, line, turn)
    return np.asarray(np.clip(moved / whole, 0, 1), dtype=np.float64)


def _exactly(
    histogram: Histogram, marginal: ReferenceDistribution, positions: Callable[[], Integers]
) -> Callable[[NDArray[np.intp], Fraction], Signs]:
    """Decides classes in Python integers."""

    def decide(classes: NDArray[np.intp], threshold: Fraction) -> Signs:
        taken, weights = as_python_integers(histogram.take(classes)), marginal.weights.astype(object)
        moved, whole = _work(taken, _Line(weights, positions()), _turns(taken, _Quantiles(weights)))
        difference = moved * threshold.denominator - whole * threshold.numerator
        return np.asarray((difference > 0).astype(np.int8) - (difference < 0).astype(np.int8))

    return decide


def _work(histogram: Histogram, line: _Line, turns: Sequence[NDArray[np.intp]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Numerator and denominator of the distance, in the arithmetic of its arguments' types."""
    moved = [line.moved(block, turn) for block, turn in zip(blocks(histogram), turns, strict=True)]
    return np.concatenate([histogram.counts[:0], *moved]), histogram.total * line.total * line.positions[-1]


@cached_on_histogram
def _turns(histogram: Histogram, quantiles: _Quantiles) -> tuple[NDArray[np.intp], ...]:
    """In each block, after each pair of class and value the value from which on the reference is ahead."""
    return tuple(quantiles.turns(block) for block in blocks(histogram))


@cached_on_histogram
def blocks(histogram: Histogram) -> tuple[Histogram, ...]:
    """Runs of classes whose pairs fit into the cache together; none where no class has a value."""
    offsets = histogram.offsets
    cuts = np.append(np.searchsorted(offsets, np.arange(0, offsets[-1], PAIRS)), len(histogram))
    cuts = cuts[np.flatnonzero(np.diff(cuts, prepend=-1))]  # they ascend; `unique` would import numpy's masked arrays
    pairs = [slice(*ends) for ends in pairwise(offsets[cuts].tolist())]
    return tuple(
        Histogram(offsets[first : last + 1] - here.start, histogram.values[here], histogram.counts[here])
        for here, (first, last) in zip(pairs, pairwise(cuts.tolist()), strict=True)
    )


@dataclass(frozen=True)
class _Quantiles:
    """The places where the cumulative weights of a reference reach a share of their total.

    Most classes are small and have few different shares, so that a table has the places of all of them.
    """

    weights: NDArray[Any]

    @cached_property
    def _cumulative(self) -> NDArray[Any]:
        return np.cumsum(self.weights)

    @cached_property
    def _largest(self) -> int:
        """The records of the largest class whose shares are in the table."""
        return min(1 + isqrt(2 * int(self._cumulative[-1]) // ENTRIES), LARGEST)

    @cached_property
    def _table(self) -> NDArray[np.intp]:
        """The place of each share r/n of a class of n records, in ascending order of n, then of r. Shape (shares,)."""
        records = np.arange(1, self._largest + 1)
        size = np.repeat(records, records)
        return self._search(np.arange(len(size)) - _triangle(size) + 1, size)

    def turns(self, histogram: Histogram) -> NDArray[np.intp]:
        """The first value from each of the class's own on, up to its next, at which the reference is not behind."""
        turn, ends = self._first(_running(histogram), histogram), histogram.offsets[1:] - 1
        last = np.minimum(turn[ends], len(self.weights) - 1)
        np.minimum(turn[:-1], histogram.values[1:], out=turn[:-1])
        turn[ends] = last
        return np.maximum(turn, histogram.values, out=turn)

    def _first(self, running: NDArray[Any], histogram: Histogram) -> NDArray[np.intp]:
        """The first value with (cumulative weight) / (total weight) >= running / size."""
        if running.dtype != np.int64:
            return self._search(running, histogram.spread(histogram.total))
        place = histogram.spread(_triangle(histogram.total) - 1)
        place += running
        turn = self._table.take(place, mode="clip")
        if int(histogram.total.max(initial=0)) > self._largest:
            size = histogram.spread(histogram.total)
            large = np.flatnonzero(size > self._largest)
            turn[large] = self._search(running[large], size[large])
        return turn

    def _search(self, running: NDArray[Any], size: NDArray[Any]) -> NDArray[np.intp]:
        return np.searchsorted(self._cumulative, -(-running * self._cumulative[-1] // size))


def _triangle(size: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of shares of all smaller classes."""
    return size * (size - 1) // 2


@dataclass(frozen=True)
class _Line:
    """A reference on a line, in integers."""

    weights: NDArray[Any]  # the weight of each value
    positions: Positions  # where each value is

    @cached_property
    def total(self) -> Any:
        """The sum of the weights."""
        return self.weights.sum()

    @cached_property
    def _area(self) -> NDArray[Any]:
        """The area below the cumulative weights, up to each value."""
        return np.concatenate([[0], np.cumsum(np.cumsum(self.weights)[:-1] * np.diff(self.positions))])

    def moved(self, histogram: Histogram, turn: NDArray[np.intp]) -> NDArray[Any]:
        """The area between each class's cumulative counts and the reference's, times the totals of both.

        It is twice the area where the class is above, plus the mean of the class, less that of the reference. Products
        may leave 64 bits on the way, which the area itself does not.
        """
        start, size = self._position(histogram.values), histogram.total
        above = self._position(turn)
        above -= start
        above *= _running(histogram)
        above *= self.total
        below = self._area.take(turn)
        below -= self._area.take(histogram.values)
        below *= histogram.spread(size)
        above -= below
        above *= 2
        start *= histogram.counts
        start *= self.total
        above += start
        return histogram.sum(above) + (self._area[-1] - self.total * self.positions[-1]) * size

    def _position(self, codes: NDArray[np.intp]) -> NDArray[Any]:
        """Where values are; codes themselves are ranks, which need no look-up in a table that a cache may not hold."""
        are_ranks = self.positions.dtype == np.int64 and self.positions[-1] == len(self.positions) - 1
        return codes.copy() if are_ranks else self.positions.take(codes)


@dataclass(frozen=True)
class _LineInFloats(_Line):
    """The same in floats: the parts of a stretch on both sides of its turn are added, so that no means cancel."""

    def moved(self, histogram: Histogram, turn: NDArray[np.intp]) -> NDArray[Any]:
        """The area between each class's cumulative counts and the reference's, times the totals of both."""
        size = histogram.total
        moved = self._bend(self.positions, histogram, turn)
        moved *= _running(histogram) * self.total
        moved -= self._bend(self._area, histogram, turn) * histogram.spread(size)
        return histogram.sum(moved) + self._area[histogram.values[histogram.offsets[:-1]]] * size

    def _bend(self, figures: NDArray[Any], histogram: Histogram, turn: NDArray[np.intp]) -> NDArray[Any]:
        """The growth of a figure up to the turn, less that after it."""
        start, bend = figures.take(histogram.values), figures.take(turn)
        bend *= 2
        bend -= start
        bend -= _next(histogram, start, figures[-1])
        return bend


@cached_on_reference
def _ranks(marginal: ReferenceDistribution) -> NDArray[np.int64]:
    return np.arange(marginal.size)


@cached_on_reference
def _scaled(_: ReferenceDistribution, positions: Positions) -> Floats:
    """The positions on a scale to 1, an array that is the same for all shards."""
    return np.asarray(positions / positions[-1])


@cached_on_reference
def _quantiles(marginal: ReferenceDistribution) -> _Quantiles:
    return _Quantiles(marginal.weights)


@cached_on_reference
def _line(marginal: ReferenceDistribution, positions: Positions) -> _Line:
    return _Line(marginal.weights, positions)


@cached_on_reference
def _line_in_floats(marginal: ReferenceDistribution, positions: Floats) -> _LineInFloats:
    return _LineInFloats(marginal.weights.astype(np.float64), positions)


def _next(histogram: Histogram, of_pair: NDArray[Any], after: Any) -> NDArray[Any]:
    """For each pair of class and value what the next pair of its class has; `after` for the last one."""
    following = np.empty_like(of_pair)
    following[:-1] = of_pair[1:]
    following[histogram.offsets[1:] - 1] = after
    return following


@cached_on_histogram
def _running(histogram: Histogram) -> NDArray[Any]:
    """Cumulative counts within every class."""
    running = np.cumsum(histogram.counts)
    before = np.concatenate([[0], running])[histogram.offsets[:-1]]
    running -= histogram.spread(before)
    return np.asarray(running)


def as_python_integers(histogram: Histogram) -> Histogram:
    """The same counts as Python integers (dtype object), which no product overflows."""
    return replace(histogram, counts=histogram.counts.astype(object))
