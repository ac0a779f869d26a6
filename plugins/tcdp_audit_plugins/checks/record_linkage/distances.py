"""Distances to known points that may be nearest, and boxes around leaves of points, which leave the others out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.record_linkage.standardised import RANDOM_PAIR, Space

Positions = NDArray[np.intp]

Singles = NDArray[np.float32]


@dataclass(frozen=True)
class Distances:
    """Sorted by point and distance; records that are equally far are together."""

    space: Space
    point: Positions  # released points. Shape (distances,).
    squared: Floats  # float64, shape (distances,)
    records: NDArray[np.int64]  # how many known records are that far. int64, shape (distances,).

    @classmethod
    def between(cls, space: Space, released: Positions, known: Positions) -> Distances:
        """The distances of pairs of points, without those that are farther than the second nearest."""
        order = np.argsort(released.astype(np.min_scalar_type(len(space.released))), kind="stable")  # by radix
        released, known = released[order], known[order]
        squared = space.squared_distances(released, known)
        starts = np.flatnonzero(np.diff(released, prepend=-1))
        sizes = np.diff(starts, append=len(released))
        beyond = squared > np.repeat(space.nearly(np.minimum.reduceat(squared, starts)), sizes)
        next_one = np.minimum.reduceat(np.where(beyond, squared, np.inf), starts)
        chosen = ~beyond | (squared <= np.repeat(next_one, sizes))
        return cls._of(space, released[chosen], squared[chosen], space.known.records[known[chosen]])

    @classmethod
    def _of(cls, space: Space, point: Positions, squared: Floats, records: NDArray[np.int64]) -> Distances:
        order = np.lexsort((squared, point))
        point, squared = point[order], squared[order]
        new = np.ones(len(point), dtype=bool)
        new[1:] = (point[1:] != point[:-1]) | (squared[1:] != squared[:-1])
        first = np.flatnonzero(new)
        return cls(space, point[first], squared[first], np.add.reduceat(records[order], first))

    def and_those(self, other: Distances) -> Distances:
        """These and others."""
        return self._of(
            self.space,
            np.append(self.point, other.point),
            np.append(self.squared, other.squared),
            np.append(self.records, other.records),
        )

    def nearest(self) -> Distances:
        """The distances that tie for each point's least, and the next one after them; others change no answer."""
        chosen = self.tied
        chosen[1:] |= chosen[:-1]
        return Distances(self.space, self.point[chosen], self.squared[chosen], self.records[chosen])

    @property
    def starts(self) -> Positions:
        """The position where each point's distances start."""
        return np.flatnonzero(np.diff(self.point, prepend=-1))

    @property
    def tied(self) -> NDArray[np.bool_]:
        """The distances that count as equal to the least one of their point."""
        limit = self.space.nearly(self.squared[self.starts])
        return np.asarray(self.squared <= np.repeat(limit, np.diff(self.starts, append=len(self.point))))


@dataclass(frozen=True)
class Leaves:
    """Points in leaves of neighbours, and a box around each: no point is nearer to a leaf's points than to its box."""

    points: list[NDArray[np.intp]]  # the points of each leaf; every point is in one
    low: Singles  # the least coordinate in each leaf along each axis. float32, shape (leaves, axes).
    high: Singles  # the largest. float32, shape (leaves, axes).

    @classmethod
    def of(cls, coordinates: Singles, most: int) -> Leaves:
        """Leaves of at most so many points, halved again and again along the axis in which they vary the most.

        Args:
            coordinates: float32, shape (points, axes).
            most: points in a leaf.

        Cost: O(points x axes x log leaves).
        """
        points = list(_halved(coordinates, np.arange(len(coordinates)), most))
        low, high = ([extreme(coordinates[leaf], axis=0) for leaf in points] for extreme in (np.min, np.max))
        return cls(points, np.array(low), np.array(high))

    def squared_gaps(self, low: Singles, high: Singles) -> Singles:
        """d^2 from a box to the box of each leaf, at the least. Shape (leaves,)."""
        gaps = np.maximum(np.maximum(self.low - high, low - self.high), np.float32(0))
        return np.nan_to_num((gaps * gaps).sum(axis=1), nan=0, posinf=np.inf)

    def squared_distances(self, leaf: int, columns: Singles) -> Singles:
        """d^2 from points to the box of a leaf."""
        nearest = np.clip(columns, self.low[leaf][:, None], self.high[leaf][:, None])
        np.subtract(columns, nearest, out=nearest)
        return np.asarray(np.einsum("ij,ij->j", nearest, nearest))


def on_axes(space: Space) -> tuple[Singles, Singles]:
    """Coordinates of the released and of the known points; float32, shape (points, axes), of at least one axis."""
    # Only attributes that no record lacks become axes: missing cells and nominal attributes only ever add to a
    # distance, so that a distance on these axes is never too large. They are turned to the principal axes of the known
    # points, since the first few of these make up most of a distance, and leaves are cut along them. A rotation keeps
    # distances; what float32 loses is in the error bound of `Factors.error`.
    released, known = space.released.numbers, space.known.numbers
    whole = ~(np.isnan(released).any(axis=0) | np.isnan(known).any(axis=0))
    if not whole.any():
        return np.zeros((len(released), 1), np.float32), np.zeros((len(known), 1), np.float32)
    centred = known[:, whole] - known[:, whole].mean(axis=0)
    centred /= np.abs(centred).max(initial=1)
    axes = np.linalg.eigh(centred.T @ centred)[1]
    return (released[:, whole] @ axes).astype(np.float32), (known[:, whole] @ axes).astype(np.float32)


def _halved(coordinates: Singles, points: NDArray[np.intp], most: int) -> Iterator[NDArray[np.intp]]:
    if len(points) <= most:
        yield points
        return
    own = coordinates[points]
    order = np.argpartition(own[:, own.var(axis=0).argmax()], len(points) // 2)
    for half in np.split(order, [len(points) // 2]):
        yield from _halved(coordinates, points[half], most)


CELLS = 2**20  # of a block: 4 MiB
MANY = 8  # where float32 cannot decide this part of a block, all of it is compared in float64, which needs no list


@dataclass(frozen=True)
class Factors:
    """Factors whose product is d^2 without `own` and without nominal attributes."""

    space: Space
    left: NDArray[np.float32]  # float32, shape (released points, terms)
    right: NDArray[np.float32]  # float32, shape (known points, terms)
    own: Floats  # the part of d^2 that only the released point decides
    norm: Floats  # the length of each released point

    @classmethod
    def of(cls, space: Space) -> Factors:
        """The factors of all points.

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
        return cls(space, _single(left), _single(right), own, np.sqrt((a**2).sum(axis=1)))

    def error(self, squared: Floats, released: NDArray[np.intp] | slice = slice(None)) -> Floats:
        """What a product can be wrong by, and what counts as equal, for points no farther than this from released ones.

        Eight times the bound of the sum, which pays for limits and coordinates in float32 too.
        """
        missing = RANDOM_PAIR * self.space.number_weights.sum() + self.space.label_weights.sum()
        scale = (2 * self.norm[released] + np.sqrt(squared)) ** 2 + missing
        rounding = 8 * (self.left.shape[1] + 4) * float(np.finfo(np.float32).eps) * scale
        return np.asarray(rounding + (self.space.nearly(squared) - squared))

    def add_labels(self, product: NDArray[np.float32], known: NDArray[np.int32], released: NDArray[np.int32]) -> None:
        """Add the weight of every nominal attribute in which a pair differs; equal weights are counted together.

        `product` has the shape (known points, released points), labels (points, attributes).
        """
        weights = self.space.label_weights
        for weight in set(weights.tolist()):
            differing = np.zeros(product.shape, dtype=np.uint8)
            for attribute in np.flatnonzero(weights == weight):
                differing += known[:, attribute, None] != released[:, attribute]
            product += differing if weight == 1 else differing * np.float32(weight)


def _single(columns: list[Floats] | list[NDArray[np.generic]]) -> NDArray[np.float32]:
    return np.hstack(columns, dtype=np.float32, casting="same_kind")


def closer(space: Space, released: NDArray[np.intp], known: NDArray[np.intp]) -> NDArray[np.int64]:
    """The number of known records that are strictly closer to a released point than a given known one is.

    Cost: O(pairs x N x d) in products, in blocks.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only where there is a product

    limit = np.maximum(np.sqrt(space.squared_distances(released, known)) - space.rounding, 0) ** 2
    step = max(1, CELLS // max(1, len(released)))
    with threadpool_limits(1, "blas"), np.errstate(over="ignore", invalid="ignore"):
        search = _Closer(Factors.of(replace(space, released=space.released.only(released))), limit)
        parts = (search.count(slice(start, start + step)) for start in range(0, len(space.known), step))
        return sum(parts, np.zeros(len(released), dtype=np.int64))


@dataclass(frozen=True)
class _Closer:
    """Released points, each with a limit that a squared distance is below or not."""

    factors: Factors  # of a released point for each limit
    limit: Floats  # float64, shape (released points,)

    def count(self, some: slice) -> NDArray[np.int64]:
        """The number of records of known points that are below; float64 decides what float32 cannot."""
        factors, known = self.factors, self.factors.space.known
        product = factors.right[some] @ factors.left.T
        labels = factors.space.released.labels
        factors.add_labels(product, known.labels[some].astype(np.int32), labels.astype(np.int32))
        middle, error = self.limit - factors.own, factors.error(self.limit)
        below = product < (middle - error).astype(np.float32)
        unsure = np.flatnonzero(below ^ ~(product > (middle + error).astype(np.float32)))
        if MANY * len(unsure) > below.size:
            every = np.arange(some.start, some.start + len(below))
            below = factors.space.squared_distances(np.arange(len(self.limit))[None], every[:, None]) < self.limit
        else:
            place, released = np.divmod(unsure, len(self.limit))
            squared = factors.space.squared_distances(released, place + some.start)
            below.ravel()[unsure] = squared < self.limit[released]
        return np.asarray(known.records[some].astype(np.float64) @ below).astype(np.int64)  # far below 2^53
