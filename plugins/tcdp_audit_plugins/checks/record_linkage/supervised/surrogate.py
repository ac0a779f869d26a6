"""The distance with which most records find their match: by the soft count of links, then by the count itself.

Goldberger, Roweis, Hinton, Salakhutdinov, Neighbourhood components analysis, NIPS 17 (2005), for pairs of records.
"""

from __future__ import annotations

from math import inf
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.record_linkage.supervised.families import Family
from tcdp_audit_plugins.checks.record_linkage.supervised.paired_points import (
    FeatureBlocks,
    Learned,
    Links,
    PairedPoints,
    Singles,
    links,
)

SCALES = (1.0, 4.0, 16.0, 64.0)  # of equal weights, from which the search starts: from soft links to hard ones
ITERATIONS = 60

SWEEPS = 3


def learned(points: PairedPoints, family: Family, memory: int, deadline: Deadline | None = None) -> Learned:
    """The distance with the most expected links that is found; never fewer than with equal weights.

    Deterministic where the deadline is not missed; then it is the best distance so far. Cost: for each of four starts
    up to 60 steps of two products over all pairs of points, then some sweeps over the directions.
    """
    deadline = Deadline() if deadline is None else deadline
    blocks, equal = FeatureBlocks(points, family, memory), family.coefficients(family.equal)
    before = links(points, family, equal)
    if family.attributes == 1 or before.expected > points.most_possible().sum() - 1e-6:
        return Learned(equal, before)
    states, counted = [family.equal], [before]
    for scale in SCALES:
        if deadline.is_over():
            break
        states.append(_ascended(blocks, scale, deadline))
        counted.append(links(points, family, family.coefficients(states[-1])))
    best = max(range(len(states)), key=lambda one: counted[one].expected)
    return searched(blocks, states[best], counted[best], deadline)


class _TimeIsOverError(Exception):
    """Ends an ascent."""


def _ascended(blocks: FeatureBlocks, scale: float, deadline: Deadline) -> Floats:
    """The state after an ascent, or the best so far where time ends it."""
    from scipy.optimize import minimize  # noqa: PLC0415 - a slow import that only this needs

    family = blocks.family
    start = family.start(scale)
    best = [(inf, start)]

    def cost(free: Floats) -> tuple[float, Floats]:
        if deadline.is_over():
            raise _TimeIsOverError
        total, gradient = blocks.soft_links(family.coefficients(family.state(free)))
        best[0] = min(best[0], (-total, free.copy()), key=lambda one: one[0])
        return -total, -family.pulled_back(free, gradient)

    bounds = [family.widest] * len(start)
    try:
        end = minimize(
            cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": ITERATIONS, "ftol": 1e-6}
        )
        return family.state(end.x)
    except _TimeIsOverError:
        return family.state(best[0][1])


class Deadline:
    """Seconds from now on, and whether they ended before anyone who asked had finished.

    Example:
        >>> never, past = Deadline(), Deadline(0)
        >>> never.is_over(), past.is_over(), never.was_missed, past.was_missed
        (False, True, False, True)
    """

    def __init__(self, seconds: float = inf) -> None:
        self.end, self.was_missed = monotonic() + seconds, False

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.end - monotonic()

    def is_over(self) -> bool:
        """Whether nothing more may be tried; then something was left out, so that the deadline was missed."""
        self.was_missed |= self.left <= 0
        return self.was_missed

    def miss(self) -> None:
        """Say that a search was ended by time."""
        self.was_missed = True


def searched(blocks: FeatureBlocks, state: Floats, linked: Links, deadline: Deadline) -> Learned:
    """The best distance after sweeps over all directions; a step is taken where it adds expected links.

    Where time ends, that of the sweeps so far.

    Cost: for each direction of a sweep some passes over all pairs of points.
    """
    family, points = blocks.family, blocks.points
    if deadline.is_over():
        return Learned(family.coefficients(state), linked)
    heights = blocks.distances(family.coefficients(state))
    for _ in range(SWEEPS):
        before = linked
        for direction in range(family.steps.shape[1]):
            if deadline.is_over():
                return Learned(family.coefficients(state), linked)
            least = family.least_step(state, direction)
            step, strict = _best_step(blocks, heights, family.steps[:, direction], least)
            if strict > linked.strict:
                moved = family.walked(state, direction, step)
                candidate = links(points, family, family.coefficients(moved))
                if candidate.expected > linked.expected:
                    state, linked = moved, candidate
                    heights = blocks.distances(family.coefficients(state))
        if linked is before:
            break
    return Learned(family.coefficients(state), linked)


def _best_step(blocks: FeatureBlocks, heights: list[Singles], direction: Floats, least: float) -> tuple[float, int]:
    """The step along a direction, of at least some length, that links most records strictly, and how many these are."""
    # Along a direction every distance is a line in the step. A record is linked strictly where the line of its match is
    # below all others, which is on one interval of steps. Sorting the ends of all intervals finds the step that most of
    # them share: the best step of all along the direction, without trying any.
    used = np.flatnonzero(direction)
    slopes = (np.tensordot(direction[used].astype(np.float32), features[used], 1) for _, features in blocks)
    rows = blocks.points.blocks(blocks.cells)
    parts = [_intervals(blocks.points, *one) for one in zip(rows, heights, slopes, strict=True)]
    low, high = (np.concatenate([one[end] for one in parts]).astype(np.float64) for end in (0, 1))
    return _shared_by_most(np.maximum(low, least), high, blocks.points.times)


def _intervals(points: PairedPoints, rows: slice, height: Singles, slope: Singles) -> tuple[Singles, Singles]:
    """Ends of the interval of steps on which each pair of a block is linked; those of none are inf and -inf."""
    pairs = points.pairs_in(rows)
    seeker, match = points.seeker[pairs] - rows.start, points.match[pairs]
    own = np.arange(len(seeker)), match
    above, faster = height[seeker], slope[seeker]
    above -= above[own][:, None]
    faster -= faster[own][:, None]
    above[own] = np.inf
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        crossing = -above / faster
    low = np.where(faster > 0, crossing, -np.inf).max(axis=1)
    high = np.where(faster < 0, crossing, np.inf).min(axis=1)
    never = ((faster == 0) & (above <= 0)).any(axis=1) | (points.space.known.records[match] > 1)
    return np.where(never, np.inf, low).astype(np.float32), np.where(never, -np.inf, high).astype(np.float32)


def _shared_by_most(low: Floats, high: Floats, times: NDArray[np.int64]) -> tuple[float, int]:
    """A step inside as many intervals as possible, in the middle of the widest such stretch.

    Example:
        >>> _shared_by_most(np.array([0.0, 1.0, 5.0]), np.array([3.0, 2.0, 6.0]), np.array([1, 1, 1]))
        (1.5, 2)
    """
    some = low < high
    if not some.any():
        return 0.0, 0
    edges, position = np.unique(np.concatenate([low[some], high[some]]), return_inverse=True)
    change = np.concatenate([times[some], -times[some]])
    shared = np.cumsum(np.bincount(position, change, len(edges)))[:-1]
    finite = np.clip(edges, -np.finfo(np.float32).max, 2 * np.abs(edges[np.isfinite(edges)]).max(initial=1.0))
    best = int(np.lexsort((np.diff(finite), shared))[-1])
    return float(finite[best : best + 2].mean()), round(shared[best])
