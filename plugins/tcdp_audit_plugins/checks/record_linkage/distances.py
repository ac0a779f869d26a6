"""Distances to known points that may be nearest, and boxes around leaves of points, which leave the others out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.record_linkage.standardised import Space

Positions = NDArray[np.intp]

Singles = NDArray[np.float32]


@dataclass(frozen=True)
class Distances:
    """Sorted by point and distance; records that are equally far are together.

    Args:
        space: the points.
        point: released points. Shape (distances,).
        squared: float64, shape (distances,).
        records: how many known records are that far. int64, shape (distances,).
    """

    space: Space
    point: Positions
    squared: Floats
    records: NDArray[np.int64]

    @classmethod
    def between(cls, space: Space, released: Positions, known: Positions) -> Distances:
        """The distances of pairs of points, but for those that are farther than the next one after the nearest."""
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
        """Those that tie for nearest to each point, and the next distance after them; others change no answer."""
        chosen = self.tied
        chosen[1:] |= chosen[:-1]
        return Distances(self.space, self.point[chosen], self.squared[chosen], self.records[chosen])

    @property
    def starts(self) -> Positions:
        """Where each point's distances start."""
        return np.flatnonzero(np.diff(self.point, prepend=-1))

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Which count as equal to the least one of their point."""
        limit = self.space.nearly(self.squared[self.starts])
        return np.asarray(self.squared <= np.repeat(limit, np.diff(self.starts, append=len(self.point))))


@dataclass(frozen=True)
class Leaves:
    """Points in leaves of neighbours, and a box around each: no point is nearer to a leaf's points than to its box.

    Args:
        points: the points of each leaf; every point is in one.
        low: the least coordinate in each leaf along each axis. float32, shape (leaves, axes).
        high: the largest. float32, shape (leaves, axes).
    """

    points: list[NDArray[np.intp]]
    low: Singles
    high: Singles

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
        """d^2 from points to the box of a leaf.

        Args:
            leaf: its number.
            columns: the points' coordinates, shape (axes, points).
        """
        beside = np.clip(columns, self.low[leaf][:, None], self.high[leaf][:, None])
        np.subtract(columns, beside, out=beside)
        return np.asarray(np.einsum("ij,ij->j", beside, beside))


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
