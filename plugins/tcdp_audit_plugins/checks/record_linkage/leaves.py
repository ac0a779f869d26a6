"""Points in leaves of neighbours, and boxes around them: no point is nearer to a leaf's points than to its box.

Only attributes that no record lacks have axes, turned to the principal ones of the known points: the first few of them
then tell most of a distance. Missing cells and nominal attributes only ever add to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit_plugins.checks.record_linkage.standardised import Space

Singles = NDArray[np.float32]


@dataclass(frozen=True)
class Leaves:
    """Points in leaves.

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
