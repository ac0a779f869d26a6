"""Squared distances from released points to known records that may be nearest, in float64."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.record_linkage.standardised import Space

Positions = NDArray[np.intp]


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
