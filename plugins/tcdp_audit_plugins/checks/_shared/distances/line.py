"""The earth mover's distance between values on a line: by rank, or by any positions.

Work on a line is the area between two cumulative distributions. A class's is constant between two of its own
values, and the reference's only grows, so each such stretch is split at the one point where the difference changes
its sign. Prefix sums of the reference's cumulative weights give the area of both parts at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin import (
    LIMIT,
    Floats,
    Histogram,
    Integers,
    Marginal,
    Measured,
    Ratios,
    Signs,
    Transcendental,
    cached_on_histogram,
)
from tcdp_audit_plugins.checks._shared.distances.room import widened

Positions = NDArray[Any]


def ordered_distance(histogram: Histogram, marginal: Marginal) -> Measured:
    """Earth mover's distance by rank, 1/(m-1) sum_i |sum_{j<=i} (p_j - q_j)| over a domain of m values in order.

    Only the order of the values counts: any relabelling that keeps it, or reverses it, keeps the distance.

    Args:
        histogram: counts of values in every class.
        marginal: the reference distribution; its length is the domain's size.

    Returns:
        Fractions from 0 to 1, shape (classes,); 0 where the domain has a single value.

    Cost: O(pairs of class and value x log m), never classes x m.

    Source: Li et al. (2007), section 4.1, ordered distance.

    Example:
        >>> classes = Histogram(np.array([0, 1]), np.array([0]), np.array([2]))
        >>> ordered_distance(classes, Marginal(np.array([1, 1, 0, 0, 0]))).values.tolist()
        [0.125]
    """
    return line_distance(histogram, marginal, np.arange(marginal.size))


def line_distance(histogram: Histogram, marginal: Marginal, positions: NDArray[np.int64]) -> Measured:
    """Earth mover's distance where value i stands at an integer position, divided by the span of the positions.

    Args:
        histogram: counts of values in every class.
        marginal: the reference distribution, shape (m,).
        positions: where each value stands, ascending from 0 and below 2^62, shape (m,).

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
        return Ratios(*_work(histogram, marginal.weights, positions))
    narrow = np.flatnonzero(~wide)
    estimate = _estimated(histogram, marginal, positions / span)
    if len(narrow):
        estimate[narrow] = Ratios(*_work(histogram.take(narrow), marginal.weights, positions)).values
    return Transcendental(estimate, _exactly(histogram, marginal, lambda: positions.astype(object)))


def estimated_distance(
    histogram: Histogram, marginal: Marginal, positions: Floats, exact: Callable[[], Integers]
) -> Transcendental:
    """The same distance for positions that are no small integers: floats, of which borderline ones are decided exactly.

    Args:
        histogram: counts of values in every class.
        marginal: the reference distribution, shape (m,), of at least two values.
        positions: where each value stands, from 0 to 1.
        exact: gives the positions as Python integers ascending from 0, in any unit; called only when it is close.

    Cost: O(pairs of class and value x log m), and O(m) in Python integers when it is close.
    """
    return Transcendental(_estimated(histogram, marginal, positions), _exactly(histogram, marginal, exact))


def _estimated(histogram: Histogram, marginal: Marginal, positions: Floats) -> Floats:
    counted = replace(histogram, counts=histogram.counts.astype(np.float64))
    moved, whole = _work(counted, marginal.weights.astype(np.float64), positions)
    return np.asarray(np.clip(moved / whole, 0, 1), dtype=np.float64)


def _exactly(
    histogram: Histogram, marginal: Marginal, positions: Callable[[], Integers]
) -> Callable[[NDArray[np.intp], Fraction], Signs]:
    """Decides classes in Python integers."""

    def decide(classes: NDArray[np.intp], threshold: Fraction) -> Signs:
        moved, whole = _work(widened(histogram.take(classes)), marginal.weights.astype(object), positions())
        difference = moved * threshold.denominator - whole * threshold.numerator
        return np.asarray((difference > 0).astype(np.int8) - (difference < 0).astype(np.int8))

    return decide


def _work(histogram: Histogram, weights: NDArray[Any], positions: Positions) -> tuple[NDArray[Any], NDArray[Any]]:
    """Numerator and denominator of the distance, in the arithmetic of its arguments' types."""
    total, size = weights.sum(), histogram.total
    cumulative = np.cumsum(weights)
    area = np.concatenate([[0], np.cumsum(cumulative[:-1] * np.diff(positions))])  # below `cumulative`, up to a value
    first, last = histogram.offsets[:-1], histogram.offsets[1:] - 1
    start, end = histogram.values, np.empty_like(histogram.values)
    end[:-1] = histogram.values[1:]
    end[last] = len(weights) - 1
    level, spread = _running(histogram) * total, histogram.spread(size)
    turn = _turns(histogram, weights).clip(start, end)
    moved = _bend(positions, start, turn, end) * level - _bend(area, start, turn, end) * spread
    return histogram.sum(moved) + area[start[first]] * size, size * total * positions[-1]


@cached_on_histogram
def _turns(histogram: Histogram, weights: NDArray[Any]) -> NDArray[np.intp]:
    """After each pair of class and value the value from which on the reference is ahead. Shape (pairs,)."""
    level = _running(histogram) * weights.sum()
    return np.asarray(np.searchsorted(np.cumsum(weights), -(-level // histogram.spread(histogram.total))))


def _bend(figures: NDArray[Any], start: NDArray[Any], turn: NDArray[Any], end: NDArray[Any]) -> NDArray[Any]:
    """How much more a figure grows up to the turn than after it."""
    return np.asarray(2 * figures.take(turn) - figures.take(start) - figures.take(end))


def _running(histogram: Histogram) -> NDArray[Any]:
    """Cumulative counts within every class."""
    running = np.cumsum(histogram.counts)
    before = np.concatenate([[0], running])[histogram.offsets[:-1]]
    running -= histogram.spread(before)
    return np.asarray(running)
