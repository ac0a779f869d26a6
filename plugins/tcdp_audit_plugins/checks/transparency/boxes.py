"""The released points in a box around each known point: an intersection over attributes of ranges of released values.

Places of values are scaled by the widest range of their attribute, so that every box is within a unit ball in the
L-infinity norm around its middle; a tree of the released points gives what is in the ball, and whole numbers decide
what is in the box. A cell that is missing on either side says nothing: points are looked for by the attributes that
both sides have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin import CheckError, Floats, processors
from tcdp_audit_plugins.checks._shared.candidate_sets import Positions
from tcdp_audit_plugins.checks.transparency.ranks import Ranges, Ranks
from tcdp_audit_plugins.checks.transparency.tables import AttackedTables, Codes

AT_ONCE = 2**21  # candidates that a block of known points may have at most, where a point has no more by itself
EDGE = 96  # bytes that a candidate takes in what is computed from the sets
LEAF = 64  # points; measured among 8..64
PATTERNS = 4096  # pairs of patterns of missing cells, each a search of its own
SLACK = 1e-6  # more than what rounding takes from places of a billion records; whole numbers decide
TOO_MANY = (
    "the intruder's candidate sets hold more than {edges:,} pairs of records, which is what the memory allows; give "
    "more with --memory, or compare more attributes, which leave fewer candidates"
)
TOO_MANY_PATTERNS = (
    "missing cells stand in {known:,} different combinations of the compared columns of the original and in "
    "{released:,} of the release, too many to search one by one; leave columns with missing cells out of `attributes`"
)


@dataclass(frozen=True)
class Boxes:
    """Ranges of places around known points, and the places of released points.

    Args:
        low: the first place of each known point's range in each attribute. Shape (known points, attributes).
        high: the last place; before the first where the range is empty.
        is_known: whether the known point has a value there at all.
        places: of the released points. Shape (released points, attributes).
        is_released: whether the released point has a value there.
    """

    low: Codes
    high: Codes
    is_known: NDArray[np.bool_]
    places: Codes
    is_released: NDArray[np.bool_]

    def candidates(self, memory: int | None) -> tuple[Positions, Positions]:
        """The released points in each box, as compressed rows: offsets, and released points in ascending order.

        Args:
            memory: budget in bytes for what is found; None for no limit.

        Raises:
            CheckError: there are more than the memory holds, or too many patterns of missing cells.

        Cost: a search in a tree for each known point and a comparison for each candidate.
        """
        limit = None if memory is None else memory // EDGE
        width, found, total = len(self.places), [np.zeros(0, dtype=np.int64)], 0
        for known, released in self._edges():
            total += len(known)
            if limit is not None and total > limit:
                raise CheckError(TOO_MANY.format(edges=limit))
            found.append(known * width + released)
        edges = np.sort(np.concatenate(found))
        known, released = np.divmod(edges, width)
        sizes = np.bincount(known, minlength=len(self.low))
        return np.concatenate([[0], np.cumsum(sizes)]), released

    def _edges(self) -> Iterator[tuple[Positions, Positions]]:
        """Known and released points that are consistent, by the attributes that both have."""
        of_known, known_patterns = _patterns(self.is_known)
        of_released, released_patterns = _patterns(self.is_released)
        if len(of_known) * len(of_released) > PATTERNS:
            raise CheckError(TOO_MANY_PATTERNS.format(known=len(of_known), released=len(of_released)))
        for one, known_has in zip(of_known, known_patterns, strict=True):
            for other, released_has in zip(of_released, released_patterns, strict=True):
                yield from self._of_patterns(one, other, np.flatnonzero(known_has & released_has))

    def _of_patterns(
        self, known: Positions, released: Positions, attributes: Positions
    ) -> Iterator[tuple[Positions, Positions]]:
        """The same of some points, all of which have some attributes."""
        low, high = (bound[np.ix_(known, attributes)] for bound in (self.low, self.high))
        places = self.places[np.ix_(released, attributes)]
        filled = (low <= high).all(axis=1)
        if not filled.any():
            return
        for i, j in _in_boxes(low[filled], high[filled], places):
            yield known[filled][i], released[j]


def boxes_of(tables: AttackedTables, ranks: Mapping[str, Ranks], ranges: Mapping[str, Ranges]) -> Boxes:
    """The boxes that ranges of released values are around known points."""
    known, released = tables.known.codes, tables.released.codes
    sizes = np.array([len(ranks[name].counts) for name in tables.names])
    bounds = [
        np.column_stack([np.append(ranges[name][end], 0)[known[:, j]] for j, name in enumerate(tables.names)])
        for end in (0, 1)
    ]
    places = [np.append(ranks[name].place, 0)[released[:, j]] for j, name in enumerate(tables.names)]
    return Boxes(bounds[0], bounds[1], known < sizes, np.column_stack(places), released < sizes)


def _patterns(has: NDArray[np.bool_]) -> tuple[list[Positions], NDArray[np.bool_]]:
    """The points with each pattern of missing cells, and the patterns."""
    patterns, number = np.unique(has, axis=0, return_inverse=True)
    number = number.reshape(-1)
    order = np.argsort(number, kind="stable")
    return np.split(order, np.cumsum(np.bincount(number))[:-1]), patterns


def _in_boxes(low: Codes, high: Codes, places: Codes) -> Iterator[tuple[Positions, Positions]]:
    """Box and point of each point in a box, block by block of boxes."""
    from scipy.spatial import cKDTree  # noqa: PLC0415 - a slow import that only this needs

    if not low.shape[1]:  # nothing is known of them in common
        yield from _all_pairs(len(low), len(places))
        return
    scale = np.maximum((high - low).max(axis=0), 1) / 2
    middles, points = (low + high) / 2 / scale, places / scale
    tree = cKDTree(points, leafsize=LEAF)
    for block in _blocks(_most_in_balls(middles, points)):
        found = tree.query_ball_point(middles[block], 1 + SLACK, p=np.inf, return_sorted=False, workers=processors())
        boxes = np.repeat(block, np.fromiter(map(len, found), np.intp, len(found)))
        inside = np.fromiter(chain.from_iterable(found), np.intp, len(boxes))
        kept = ((low[boxes] <= places[inside]) & (places[inside] <= high[boxes])).all(axis=1)
        yield boxes[kept], inside[kept]


def _all_pairs(known: int, released: int) -> Iterator[tuple[Positions, Positions]]:
    for block in _blocks(np.full(known, released)):
        yield np.repeat(block, released), np.tile(np.arange(released), len(block))


def _most_in_balls(middles: Floats, points: Floats) -> Codes:
    """How many points each ball holds at the most: those in the range of the attribute that leaves the fewest."""
    most = np.full(len(middles), len(points))
    for middle, column in zip(middles.T, np.sort(points, axis=0).T, strict=True):
        within = np.searchsorted(column, middle + 1 + SLACK, "right") - np.searchsorted(column, middle - 1 - SLACK)
        most = np.minimum(most, within)
    return most


def _blocks(sizes: Codes) -> Iterator[Positions]:
    """Consecutive points whose sizes add up to what a block may have, or one by one."""
    number = np.cumsum(sizes) // AT_ONCE
    return iter(np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(number)) + 1))
