"""The lattice of all combinations of levels, and what is known of its nodes so far.

A node is a place in an array with one axis for each quasi-identifier, so that the nodes that are coarser in no
attribute, or finer in none, are a slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, prod

import numpy as np

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.remedy import RemedyError

MOST_NODES = 2_000_000
Place = tuple[int, ...]


@dataclass(frozen=True)
class Lattice:
    """Combinations of levels.

    Args:
        levels: for each quasi-identifier the levels that it may have, ascending.
        bounds: a lower bound of each node's loss; infinite once nothing is left to find out there.
    """

    levels: Sequence[Sequence[int]]
    bounds: Floats

    @classmethod
    def of(cls, levels: Sequence[Sequence[int]], costs: Sequence[Sequence[float]] | None) -> Lattice:
        """A lattice of which nothing is known but the costs.

        Args:
            levels: for each quasi-identifier the levels that it may have.
            costs: of each level of each attribute, where a node's loss is at least their sum; None for no bound.

        Raises:
            RemedyError: it has too many nodes to be searched.
        """
        shape = [len(one) for one in levels]
        if prod(shape) > MOST_NODES:
            raise RemedyError(
                f"the hierarchies allow {prod(shape):,} combinations of levels, and at most {MOST_NODES:,} are "
                "searched; fix some of them with `levels`, or give some attributes fewer levels"
            )
        bounds = np.zeros(shape)
        for axis, (chosen, cost) in enumerate(zip(levels, costs or [], strict=False)):
            across = [-1 if one == axis else 1 for one in range(len(shape))]
            bounds += np.array([cost[level] for level in chosen]).reshape(across)
        return cls(levels, bounds)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self.bounds.size

    def at(self, place: Place) -> list[int]:
        """The level of each quasi-identifier at a node."""
        return [levels[position] for levels, position in zip(self.levels, place, strict=True)]

    @property
    def bottom(self) -> Place:
        """The finest node."""
        return (0,) * len(self.levels)

    @property
    def top(self) -> Place:
        """The coarsest node."""
        return tuple(len(one) - 1 for one in self.levels)

    def next(self, below: float) -> Place | None:
        """The open node with the least bound, the finest of equals; None where no bound is below a loss."""
        place = tuple(int(one) for one in np.unravel_index(np.argmin(self.bounds), self.bounds.shape))
        return place if self.bounds[place] < below else None

    def path(self, place: Place, below: float) -> list[Place]:
        """A way up through open nodes with bounds below a loss: each time to the neighbour with the least bound."""
        way = [place]
        while steps := [step for step in self._above(way[-1]) if self.bounds[step] < below]:
            way.append(min(steps, key=lambda step: float(self.bounds[step])))
        return way

    def _above(self, place: Place) -> list[Place]:
        raised = ((*place[:axis], place[axis] + 1, *place[axis + 1 :]) for axis in range(len(place)))
        return [step for step in raised if all(a < b for a, b in zip(step, self.bounds.shape, strict=True))]

    def close(self, place: Place) -> None:
        """All is known of a node."""
        self.bounds[place] = inf

    def close_finer(self, place: Place) -> None:
        """No finer node can be kept."""
        self.bounds[tuple(slice(0, one + 1) for one in place)] = inf

    def raise_coarser(self, place: Place, loss: float) -> None:
        """No coarser node loses less than this one."""
        coarser = tuple(slice(one, None) for one in place)
        np.maximum(self.bounds[coarser], loss, out=self.bounds[coarser])
