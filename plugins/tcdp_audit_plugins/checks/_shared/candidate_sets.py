"""Candidate sets: which released records a person may be, and which of them a matching of everyone leaves.

A known record and a released one are consistent where the first may have become the second. Everyone was released as
one record and no record is two people's, so a person can only be a record with which some matching of everyone agrees:
an edge of the consistency graph lies in one of its perfect matchings if and only if, once each edge of one perfect
matching is turned around, both its ends lie in one strongly connected component (Berge 1957; Tassa 2012, Finding all
maximally-matchable edges in a bipartite graph).

Equal records are together as one point, so that a table of large classes costs no more than its classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.intp]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class CandidateSets:
    """The released points that each known point is consistent with, as compressed rows."""

    offsets: Positions  # where the candidates of each known point begin. Shape (known points + 1,).
    candidates: Positions  # released points, ascending for each known point. Shape (edges,).
    known: Positions  # the known point of each pair of records that are one person. Shape (pairs,).
    released: Positions  # the released point of the same. Shape (pairs,).
    lone_known: Counts  # for each known point, its records that were not released. Shape (known points,).
    lone_released: Counts  # for each released point, its records without a known one. Shape (released points,).

    @cached_property
    def records(self) -> Counts:
        """Records that are at each released point. Shape (released points,)."""
        return np.bincount(self.released, minlength=len(self.lone_released)) + self.lone_released

    @cached_property
    def rows(self) -> Positions:
        """The known point of each edge. Shape (edges,)."""
        return np.repeat(np.arange(len(self.lone_known)), np.diff(self.offsets))

    @cached_property
    def size_of_point(self) -> Counts:
        """Released records that each known point may be. Shape (known points,)."""
        upto = np.concatenate([[0], np.cumsum(self.records[self.candidates])])
        return np.diff(upto[self.offsets])

    @property
    def size(self) -> Counts:
        """Released records that each person may be. Shape (pairs,)."""
        return self.size_of_point[self.known]

    @cached_property
    def holds_truth(self) -> NDArray[np.bool_]:
        """Whether each person's own released record is among their candidates. Shape (pairs,)."""
        width = len(self.lone_released)
        edges = self.rows * width + self.candidates  # ascending, as both are
        asked = self.known * width + self.released
        place = np.minimum(np.searchsorted(edges, asked), max(len(edges) - 1, 0))
        return edges[place] == asked if len(edges) else np.zeros(len(asked), dtype=np.bool_)

    def turned(self) -> CandidateSets:
        """The known points that each released point may be: the same edges from their other end. O(points + edges)."""
        order = np.argsort(self.candidates, kind="stable")
        sizes = np.bincount(self.candidates, minlength=len(self.lone_released))
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        return CandidateSets(offsets, self.rows[order], self.released, self.known, self.lone_released, self.lone_known)

    def closed(self) -> CandidateSets:
        """Only the candidates with which some matching of everyone agrees.

        Records that are in one table only match no one: they leave their places free.

        Raises:
            ValueError: a person's own record is not among their candidates, so that no matching is known.

        Cost: O(points + edges).
        """
        if not self.holds_truth.all():
            raise ValueError("a person's own record is not among their candidates")
        component = self._components()
        same_component = component[self.rows] == component[len(self.lone_known) + self.candidates]
        upto = np.concatenate([[0], np.cumsum(same_component)])
        return replace(self, offsets=upto[self.offsets], candidates=self.candidates[same_component])

    def _components(self) -> NDArray[np.int32]:
        """The strong component of each known point, then of each released one.

        An edge leads from a known point to each candidate, and back from a released point to its owner. People
        in one table only are matched with one extra point, which is consistent with all of the other side.
        """
        from scipy.sparse import coo_array  # noqa: PLC0415 - only where tables are measured
        from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

        width = len(self.lone_known)
        known, released = np.arange(width), width + np.arange(len(self.lone_released))
        no_known, no_released = width + len(released), width + len(released) + 1
        lone_known, lone_released = known[self.lone_known > 0], released[self.lone_released > 0]
        edges = [(self.rows, width + self.candidates), (width + self.released, self.known)]
        if len(lone_released):  # of unknown people, who might hold any other record
            edges += [_star(no_known, released), _star(no_known, lone_released)[::-1]]
        if len(lone_known):  # anyone might have been withheld in their place
            edges += [_star(no_released, known)[::-1], _star(no_released, lone_known)]
        tails, heads = (np.concatenate([edge[end] for edge in edges]) for end in (0, 1))
        nodes = no_released + 1
        graph = coo_array((np.ones(len(tails), dtype=np.int8), (tails, heads)), shape=(nodes, nodes))
        return connected_components(graph.tocsr(), directed=True, connection="strong")[1]


def _star(centre: int, ends: Positions) -> tuple[Positions, Positions]:
    return np.full(len(ends), centre), ends
