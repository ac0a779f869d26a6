"""Walks along one direction at a time to where most records are linked; each time the best step of all is found.

Along a direction all distances are lines. A record is linked where its match's line is below all others: on an
interval of steps. The step that most intervals share is the best.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.record_linkage.supervised.deadline import Deadline
from tcdp_audit_plugins.checks.record_linkage.supervised.links import FeatureBlocks, Learned, Links, Singles, links
from tcdp_audit_plugins.checks.record_linkage.supervised.paired_points import PairedPoints

SWEEPS = 3


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
