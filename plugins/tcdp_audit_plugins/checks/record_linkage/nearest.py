"""The nearest known point of every released point, and all that tie with it, without a distance for every pair kept.

Candidates come from a KD-tree for few dimensions, else from the leaves of a tree of our own, compared by
matrix products in float32 with a bound on what they can be wrong by. Every candidate is compared again in float64,
attribute by attribute in one order, so the answer does not depend on the way it was found nor on the order of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, ThreadPool
from tcdp_audit_plugins.checks.record_linkage.distances import Distances, Factors, Leaves, Positions, Singles, on_axes
from tcdp_audit_plugins.checks.record_linkage.standardised import Space

TREE_DIMENSIONS = 5  # where leaves are as fast, unless tails are so long that float32 merges the other points
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

BLOCK, LEAF, SOME, DEPTH = 4096, 512, 256, 16  # measured among 1024..16384, 128..1024 and 256..1024
NEAR = 16  # leaves among which a point's own is looked for
WAITING = 2**21  # candidates of a block that may wait to be compared in float64: 40 MB


@dataclass(frozen=True)
class Nearest:
    """The nearest records of each released point."""

    squared: Floats  # d^2 of the nearest known record. float64, shape (released points,).
    ties: NDArray[np.int64]  # how many known records are that near. int64.
    # d^2 of the second nearest known record; equal to `squared` where several tie. Infinite where there is only
    # one, and where it was not asked for.
    second: Floats


def nearest(space: Space, hint: NDArray[np.intp] | None = None, *, neighbours: int = 1) -> Nearest:
    """The nearest known records of every released point.

    Args:
        space: released and known points.
        hint: for each released point a known one that may be near, such as its true match; only speed depends on it.
        neighbours: 2 to find the second nearest, too.

    Returns:
        Distances and ties, exact up to the rounding of float64: distances within `space.rounding` are ties.

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

    # Two neighbours of each point are asked for: where they are clearly apart, the first is nearest alone. Where they
    # are equal up to rounding, there may be any number of ties, and a ball query around the point lists them all.
    tree = KDTree(space.known.numbers)
    count = min(2, len(space.known))
    asked = tree.query(space.released.numbers, k=list(range(1, count + 1)), workers=-1)
    distances, known = np.asarray(asked[0]), np.asarray(asked[1])
    released = np.repeat(np.arange(len(space.released)), count)
    close = np.flatnonzero(distances[:, -1] <= distances[:, 0] + 4 * space.rounding)
    balls = tree.query_ball_point(space.released.numbers[close], distances[close, 0] + 4 * space.rounding, workers=-1)
    sizes = np.array([len(ball) for ball in balls], dtype=np.intp)
    further = np.concatenate([np.zeros(0, dtype=np.intp), *(np.array(ball, dtype=np.intp) for ball in balls)])
    pairs = np.stack([np.concatenate([released, np.repeat(close, sizes)]), np.concatenate([known.ravel(), further])])
    pairs = np.unique(pairs, axis=1)
    return pairs[0], pairs[1]


def nearest_by_leaves(space: Space, hint: Positions, neighbours: int) -> Iterator[Distances]:
    """For blocks of released points the distances of all nearest neighbours and their ties.

    The bound starts with `hint`, a known point for each released one; `neighbours` is 1, or 2 for the second nearest
    too.

    Cost: O(n x N x d) at the worst; memory O((n + N) x d) and a block for each processor.
    """
    # A block of released points that lie close together asks the leaves of known points within its reach, the nearest
    # first, and of each leaf only its points that reach the leaf's box. The points' own leaves come first: they say how
    # far each point has to look at all. With so many attributes that no leaf can be left out, these are all pairs.
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only where there is a product

    with threadpool_limits(1, "blas"), ThreadPool() as pool:  # blocks side by side, not within
        search = _Search.of(space, hint, neighbours)
        yield from pool.map(search.block, search.blocks)


@dataclass(frozen=True)
class _Search:
    """Two tables laid out for a search."""

    space: Space
    neighbours: int  # how many nearest ones are looked for
    blocks: list[Positions]  # released points that lie close together
    coordinates: Singles  # of the released points, float32, shape (points, axes)
    leaves: Leaves  # of the known points
    factors: Factors  # of all points
    # the known points' factor leaf by leaf, each filled up with points at infinite distance. float32, shape
    # (leaves, height, terms).
    terms: Singles
    labels: NDArray[np.int32]  # of the known points in the same places. int32, shape (leaves, height, attributes).
    own_labels: NDArray[np.int32]  # of the released points. int32.
    bound: Floats  # d^2 of the hint

    @classmethod
    def of(cls, space: Space, hint: Positions, neighbours: int) -> _Search:
        with np.errstate(over="ignore", invalid="ignore"):  # what float32 cannot hold is compared in float64
            released, known = on_axes(space)
            factors, leaves, blocks = Factors.of(space), Leaves.of(known, LEAF), Leaves.of(released, BLOCK)
        return cls(
            space,
            neighbours,
            blocks.points,
            released,
            leaves,
            factors,
            _in_leaves(leaves, factors.right, fill=np.inf),
            _in_leaves(leaves, space.known.labels.astype(np.int32), fill=0),
            space.released.labels.astype(np.int32),
            _of_hints(space, hint, neighbours),
        )

    def block(self, points: Positions) -> Distances:
        """The nearest of some released points."""
        with np.errstate(over="ignore", invalid="ignore"):
            return _Block(self, points).nearest()


class _Block:
    """Released points that look for their nearest ones side by side; what they have found so far.

    `reach` is how large a product may be, for each point, to belong to one of its nearest; it only ever shrinks.
    """

    def __init__(self, search: _Search, points: Positions) -> None:
        self.search, self.points = search, points
        self.axes = np.ascontiguousarray(search.coordinates[points].T)
        self.left, self.labels = search.factors.left[points], search.own_labels[points]
        bound, own = search.bound[points], search.factors.own[points]
        error = search.factors.error(bound, points)
        self.own = own.astype(np.float32)
        self.reach = (bound - own + error).astype(np.float32)
        self.slack = (2 * error).astype(np.float32)
        self.best = np.full((search.neighbours, len(points)), np.inf, dtype=np.float32)
        nothing = np.zeros(0, dtype=np.intp)
        self.waiting: list[tuple[Positions, Positions, Singles]] = [(nothing, nothing, np.zeros(0, np.float32))]
        self.candidates = 0
        self.distances = Distances.between(search.space, nothing, nothing)

    def nearest(self) -> Distances:
        leaves = self.search.leaves
        gaps = leaves.squared_gaps(self.axes.min(axis=1), self.axes.max(axis=1))
        order = np.argsort(gaps, kind="stable")
        home = self._home(order[:NEAR])
        for leaf in np.unique(home):
            self._compare(np.flatnonzero(home == leaf), leaf)
        for leaf in order:
            limit = self.reach + self.own
            if gaps[leaf] > limit.max():
                break
            beyond = leaves.squared_distances(leaf, self.axes) > limit
            self._compare(np.flatnonzero(~beyond & (home != leaf)), leaf)
        self._settle()
        return self.distances

    def _home(self, near: Positions) -> Positions:
        """For each point the nearest of some leaves."""
        gaps = [self.search.leaves.squared_distances(leaf, self.axes) for leaf in near]
        return np.asarray(near[np.argmin(gaps, axis=0)])

    def _compare(self, some: Positions, leaf: int) -> None:
        """Compare some points, by their place in the block, with all points of a leaf."""
        for start in range(0, len(some), SOME):
            self._compare_few(some[start : start + SOME], leaf)

    def _compare_few(self, some: Positions, leaf: int) -> None:
        # Products in float32 give all distances of a leaf up to a known error, and are reduced to the least of every
        # `DEPTH` rows while they are in the cache. Only groups of rows with a value within reach are looked at again;
        # `reach` has the error on top, so no neighbour is lost, and `_settle` compares what is left in float64.
        search = self.search
        product = search.terms[leaf] @ self.left[some].T
        search.factors.add_labels(product, search.labels[leaf], self.labels[some])
        groups = product.reshape(DEPTH, -1, len(some))
        least = groups.min(axis=0)
        self.best[:, some] = best = _smallest(least, self.best[:, some])
        self.reach[some] = reach = np.minimum(self.reach[some], best[-1] + self.slack[some])
        place, point, value = _reached(groups, least, reach)
        known = search.leaves.points[leaf]
        real = place < len(known)
        self._wait(some[point[real]], known[place[real]], value[real])

    def _wait(self, row: Positions, known: Positions, value: Singles) -> None:
        """Keep candidates until there are many, or until the end, when most of them are out of reach."""
        self.waiting.append((row, known, value))
        self.candidates += len(value)
        if self.candidates > WAITING:
            self._settle()

    def _settle(self) -> None:
        """Compare the candidates in float64, and keep the distances that still count."""
        row, known, value = (np.concatenate(part) for part in zip(*self.waiting, strict=True))
        reachable = ~(value > self.reach[row])
        new = Distances.between(self.search.space, self.points[row[reachable]], known[reachable])
        self.distances = self.distances.and_those(new).nearest()
        self.waiting, self.candidates = self.waiting[:1], 0  # the first is empty


def _in_leaves(leaves: Leaves, rows: NDArray[Any], *, fill: float) -> NDArray[Any]:
    """Rows of the known points leaf by leaf, each filled up to a common height. Shape (leaves, height, columns)."""
    height = -(-max(map(len, leaves.points)) // DEPTH) * DEPTH
    filled = np.zeros((len(leaves.points), height, rows.shape[1]), dtype=rows.dtype)
    for leaf, points in enumerate(leaves.points):
        filled[leaf, : len(points)] = rows[points]
        filled[leaf, len(points) :, -1:] = fill
    return filled


def _of_hints(space: Space, hint: Positions, neighbours: int) -> Floats:
    """d^2 of the hint, or of the farther of it and another point."""
    released = np.arange(len(space.released))
    bound = space.squared_distances(released, hint)
    if neighbours > 1:
        other = (hint + 1) % len(space.known)
        bound = np.maximum(bound, space.squared_distances(released, other))
    return bound


def _smallest(least: Singles, best: Singles) -> Singles:
    """The smallest values of each point so far: of different groups, so of different known points."""
    if len(best) == 1:
        return np.asarray(np.minimum(best, least.min(axis=0)))
    return np.asarray(np.partition(np.vstack([best, least]), 1, axis=0)[:2])


def _reached(groups: Singles, least: Singles, reach: Singles) -> tuple[Positions, Positions, Singles]:
    """(place in the leaf, point, value) of every entry within reach, from the groups that have one.

    NaN replaces what float32 cannot hold, and is within reach.
    """
    group, point = np.divmod(np.flatnonzero(~(least > reach)), len(reach))
    members = groups[:, group, point]
    depth, which = np.nonzero(~(members > reach[point]))
    return depth * len(least) + group[which], point[which], members[depth, which]
