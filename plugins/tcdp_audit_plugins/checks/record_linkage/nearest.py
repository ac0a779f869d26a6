"""The nearest known point of every released point, and all that tie with it, without a distance for every pair kept.

Candidates come from a KD-tree where there are few dimensions, else from the leaves of a tree of our own, compared by
matrix products in float32 with a bound on what they can be wrong by. Every candidate is compared again in float64,
attribute by attribute in one order, so the answer does not depend on the way it was found nor on the order of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.record_linkage.candidates import nearest_by_leaves
from tcdp_audit_plugins.checks.record_linkage.distances import Distances
from tcdp_audit_plugins.checks.record_linkage.standardised import Space

TREE_DIMENSIONS = 5  # where leaves are as fast, but for tails so long that float32 cannot tell the other points apart
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class Nearest:
    """What is nearest to each released point.

    Args:
        squared: d^2 of the nearest known record. float64, shape (released points,).
        ties: how many known records are that near. int64.
        second: d^2 of the second nearest known record; equal to `squared` where several tie. Infinite where there is
            only one, and where it was not asked for.
    """

    squared: Floats
    ties: NDArray[np.int64]
    second: Floats


def nearest(space: Space, hint: NDArray[np.intp] | None = None, *, neighbours: int = 1) -> Nearest:
    """The nearest known records of every released point.

    Args:
        space: released and known points.
        hint: for each released point a known one that may be near, such as its true match; only speed depends on it.
        neighbours: 2 to find the second nearest, too.

    Returns:
        Distances and ties, exact but for the rounding of float64: distances within `space.rounding` are ties.

    Cost: O(n log n) with a tree for few dimensions; else at the worst O(n x N x d) in products, less where the boxes of
        leaves rule some out (a tenth at 100,000 x 13), and memory O(n + N) and blocks.

    Source: DEFINITIONS, record linkage; Torra, Guide to Data Privacy, 2022, section 5.4.
    """
    suits_tree = not len(space.label_weights) and space.released.numbers.shape[1] <= TREE_DIMENSIONS
    if suits_tree and not any(np.isnan(one.numbers).any() for one in (space.released, space.known)):
        return _in_order([Distances.between(space, *_candidates_by_tree(space))], len(space.released))
    hints = np.zeros(len(space.released), dtype=np.intp) if hint is None else hint
    blocks = nearest_by_leaves(space, hints, min(neighbours, len(space.known)))
    return _in_order(list(blocks), len(space.released))


def _in_order(blocks: Sequence[Distances], points: int) -> Nearest:
    """What is nearest to each released point, of which every one is in some block."""
    squared, second, ties = np.empty(points), np.empty(points), np.empty(points, dtype=np.int64)
    for one in blocks:
        starts, tied = one.starts, one.tied
        own = one.point[starts]
        squared[own] = one.squared[starts]
        ties[own] = np.add.reduceat(np.where(tied, one.records, 0), starts)
        next_one = np.minimum.reduceat(np.where(tied, np.inf, one.squared), starts)
        second[own] = np.where(ties[own] > 1, squared[own], next_one)
    return Nearest(squared, ties, second)


def _candidates_by_tree(space: Space) -> Pairs:
    """The two nearest points of each, and where these tie all that are as near."""
    from scipy.spatial import KDTree  # noqa: PLC0415 - takes a third of a second to import

    tree = KDTree(space.known.numbers)
    count = min(2, len(space.known))
    asked = tree.query(space.released.numbers, k=list(range(1, count + 1)), workers=-1)
    distances, known = np.asarray(asked[0]), np.asarray(asked[1])
    released = np.repeat(np.arange(len(space.released)), count)
    close = np.flatnonzero(distances[:, -1] <= distances[:, 0] + 4 * space.rounding)
    balls = tree.query_ball_point(space.released.numbers[close], distances[close, 0] + 4 * space.rounding, workers=-1)
    sizes = np.array([len(ball) for ball in balls], dtype=np.intp)
    further = np.concatenate([np.zeros(0, dtype=np.intp), *(np.array(ball, dtype=np.intp) for ball in balls)])
    pairs = np.stack(
        [
            np.concatenate([released, np.repeat(close, sizes)]),
            np.concatenate([known.ravel(), further]),
        ]
    )
    pairs = np.unique(pairs, axis=1)
    return pairs[0], pairs[1]
