"""Candidates for the nearest point by blocked matrix products in float32, with a bound on their error.

d^2 = |x|^2 - 2xy + |y|^2 is one product of x with two more columns. It loses digits, so everything within twice the
error bound of the least is a candidate. A block is reduced to one least value for every sixteen columns while it is
in the cache; only sixteens that reach the bound are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin import Floats, processors
from tcdp_audit_plugins.checks.record_linkage.standardised import RANDOM_PAIR, Space

ROWS, COLUMNS, DEPTH = 256, 4096, 16  # a block of 4 MiB; measured among 64..2048 x 2048..8192
Singles = NDArray[np.float32]
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]


def candidates_by_products(space: Space, hint: NDArray[np.intp], neighbours: int) -> Iterator[tuple[int, int, Pairs]]:
    """(start, stop, pairs) for blocks of released points: pairs that hold all nearest neighbours and their ties.

    Args:
        space: released and known points.
        hint: a known point for each released one, to start the bound with.
        neighbours: 1, or 2 for the second nearest, too.

    Cost: O(n x N x d); memory one block for each processor.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only where there is a product

    search = _Search.of(space, hint, neighbours)
    starts = range(0, len(space.released), ROWS)
    with (
        threadpool_limits(1, "blas"),
        ThreadPoolExecutor(processors()) as pool,
    ):  # blocks side by side, not within
        yield from pool.map(search.block, starts)


@dataclass(frozen=True)
class _Search:
    """Factors whose product is d^2 but for `own` and for nominal attributes, and where each row starts to look.

    Args:
        left: float32, shape (released points, terms).
        right: float32, shape (terms, known points filled up to whole blocks with points at infinite distance).
        own: the part of d^2 that only the released point decides.
        bound: d^2 of the hint.
        error: what a product can be wrong by, for points as near as the hint.
    """

    space: Space
    neighbours: int
    left: Singles
    right: Singles
    labels: NDArray[np.int32]
    own: Floats
    bound: Floats
    error: Floats

    @classmethod
    def of(cls, space: Space, hint: NDArray[np.intp], neighbours: int) -> _Search:
        left, right, own, norm = _factors(space)
        width = COLUMNS if len(space.known) > COLUMNS else -(-len(space.known) // DEPTH) * DEPTH
        filled = np.zeros((right.shape[0], -(-len(space.known) // width) * width), dtype=np.float32)
        filled[-1] = np.inf
        filled[:, : len(space.known)] = right
        labels = np.zeros((space.known.labels.shape[1], filled.shape[1]), dtype=np.int32)
        labels[:, : len(space.known)] = space.known.labels.T
        bound = _of_hints(space, hint, neighbours)
        missing = RANDOM_PAIR * space.number_weights.sum() + space.label_weights.sum()
        scale = (2 * norm + np.sqrt(bound)) ** 2 + missing
        error = 8 * (left.shape[1] + 4) * float(np.finfo(np.float32).eps) * scale
        return cls(space, neighbours, left.astype(np.float32), filled, labels, own, bound, error)

    def block(self, start: int) -> tuple[int, int, Pairs]:
        """The candidates of some rows, over all columns."""
        stop = min(start + ROWS, len(self.left))
        rows = slice(start, stop)
        width = min(COLUMNS, self.right.shape[1])
        reach = (self.bound - self.own + self.error)[rows].astype(np.float32)
        slack = (2 * self.error[rows]).astype(np.float32)
        product = np.empty((stop - start, width), dtype=np.float32)
        quarters, least = (np.empty((stop - start, width // n), dtype=np.float32) for n in (4, DEPTH))
        best = np.full((stop - start, self.neighbours), np.inf, dtype=np.float32)
        candidates: list[tuple[NDArray[np.intp], NDArray[np.intp], Singles]] = []
        for column in range(0, self.right.shape[1], width):
            np.matmul(self.left[rows], self.right[:, column : column + width], out=product)
            self._add_labels(product, rows, column)
            groups = _least_of_groups(product, quarters, least)
            best = _smallest(groups, best)
            np.minimum(reach, best[:, -1] + slack, out=reach)
            candidates.append(_reached(product, groups, reach, column))
        row, known, value = (np.concatenate(part) for part in zip(*candidates, strict=True))
        kept = value <= reach[row]
        return start, stop, (row[kept] + start, known[kept])

    def _add_labels(self, product: Singles, rows: slice, column: int) -> None:
        """Add the weight of every nominal attribute in which a pair differs; equal weights are counted together."""
        weights = self.space.label_weights
        own, theirs = self.space.released.labels[rows], self.labels[:, column : column + product.shape[1]]
        for weight in np.unique(weights):
            differing = np.zeros(product.shape, dtype=np.uint8)
            for attribute in np.flatnonzero(weights == weight):
                differing += own[:, attribute, None].astype(np.int32) != theirs[attribute]
            product += differing if weight == 1 else differing * np.float32(weight)


def _factors(space: Space) -> tuple[Floats, Floats, Floats, Floats]:
    """Left and right factor, the left point's own part of d^2, and its norm.

    With a missing cell, a^2 - 2ab + b^2 is to be 2w: a and b are 0 there, and two terms for each attribute put
    (a^2 - 2w) and b^2 in only where both cells are there.
    """
    released, known = space.released.numbers, space.known.numbers
    gaps = np.flatnonzero(np.isnan(released).any(axis=0) | np.isnan(known).any(axis=0))
    whole = np.setdiff1d(np.arange(released.shape[1]), gaps)
    a, b, weight = np.nan_to_num(released), np.nan_to_num(known), RANDOM_PAIR * space.number_weights[gaps]
    here, there = ~np.isnan(released[:, gaps]), ~np.isnan(known[:, gaps])
    left = [-2 * a, np.where(here, a[:, gaps] ** 2 - weight, 0), here, np.ones((len(a), 1))]
    right = [b, there, b[:, gaps] ** 2, (b[:, whole] ** 2).sum(axis=1, keepdims=True)]
    own = (a[:, whole] ** 2).sum(axis=1) + weight.sum()
    return np.hstack(left), np.hstack(right).T, own, np.sqrt((a**2).sum(axis=1))


def _of_hints(space: Space, hint: NDArray[np.intp], neighbours: int) -> Floats:
    """d^2 of the hint, or of the farther of it and another point."""
    released = np.arange(len(space.released))
    bound = space.squared_distances(released, hint)
    if neighbours > 1:
        other = (hint + 1) % len(space.known)
        bound = np.maximum(bound, space.squared_distances(released, other))
    return bound


def _least_of_groups(product: Singles, quarters: Singles, least: Singles) -> Singles:
    """The least of every DEPTH columns that lie a DEPTH-th of the block apart: in two steps for speed."""
    product.reshape(len(product), 4, -1).min(axis=1, out=quarters)
    return quarters.reshape(len(product), DEPTH // 4, -1).min(axis=1, out=least)


def _smallest(groups: Singles, best: Singles) -> Singles:
    """The smallest values of each row so far: of different groups, so of different points."""
    if best.shape[1] == 1:
        return np.asarray(np.minimum(best, groups.min(axis=1, keepdims=True)))
    return np.asarray(np.partition(np.hstack([best, groups]), 1, axis=1)[:, :2])


def _reached(
    product: Singles, groups: Singles, reach: Singles, column: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], Singles]:
    """(row, known point, value) of every entry within reach, from the groups that have one."""
    row, group = np.divmod(np.flatnonzero(groups <= reach[:, None]), groups.shape[1])
    members = product.reshape(len(product), DEPTH, -1)[row, :, group]
    which, depth = np.nonzero(members <= reach[row][:, None])
    return row[which], column + depth * groups.shape[1] + group[which], members[which, depth]


def closer(space: Space, released: NDArray[np.intp], known: NDArray[np.intp]) -> NDArray[np.int64]:
    """How many known records are strictly closer to a released point than a given known one is.

    Args:
        space: released and known points.
        released: released points, shape (pairs,).
        known: the known point of each. Shape (pairs,).

    Cost: O(pairs x N x d), in blocks.
    """
    limit = (np.maximum(np.sqrt(space.squared_distances(released, known)) - space.rounding, 0)) ** 2
    everyone = np.arange(len(space.known))
    step = max(1, 2**20 // len(everyone))
    counts = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(released), step):
        some = released[start : start + step]
        squared = space.squared_distances(np.repeat(some, len(everyone)), np.tile(everyone, len(some)))
        below = squared.reshape(len(some), -1) < limit[start : start + step, None]
        counts.append(below @ space.known.records)
    return np.concatenate(counts)
