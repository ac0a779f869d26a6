"""Ranks of released values, and the released points that a known one may have become within a displacement.

Equal values share their ranks: each has all positions from the first of them to the last in the sorted column. A
displacement is counted between the nearest ends, so that no answer depends on how ties are sorted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts, Floats
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit_plugins.checks._shared.boxes import Boxes, Numbers, PointTree
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets, Positions
from tcdp_audit_plugins.checks.masking_attacks.tables import AttackedTables

Ranges = tuple[NDArray[np.int64], NDArray[np.int64]]

EDGE = 96  # bytes that a candidate takes in what is computed from the sets
PATTERNS = 1024  # combinations of missing cells, each a search of its own
TOO_MANY = (
    "the intruder's candidate sets hold more than {edges:,} pairs of records, which is what the memory allows; give "
    "more with --memory, or compare more attributes, which leave fewer candidates"
)
TOO_MANY_PATTERNS = (
    "missing cells are in {patterns:,} different combinations of the compared columns of the release, too many to "
    "search one by one; leave columns with missing cells out of `attributes`"
)
AT_ONCE = 16  # known points that are compared with all released ones
CELLS = 2**28  # compared cells, beyond which it is given up


@dataclass(frozen=True)
class Ranks:
    """The positions of one attribute's values in its sorted released column.

    Example:
        >>> ranks = Ranks(np.array([1, 2, 0, 1]))  # the values have ranks 0, 1 to 2, between 2 and 3, on 3
        >>> ranks.displacement(np.array([0, 0, 2, 1]), np.array([1, 3, 3, 1])).tolist()
        [1, 3, 1, 0]
        >>> [bound.tolist() for bound in ranks.ranges(1)]
        [[0, 0, 1, 1], [1, 2, 2, 2]]
    """

    # released records with each value of the domain, ascending; 1 for each value that occurs where the distinct
    # values are ranked and not the records. Shape (domain,).
    counts: Counts

    @cached_property
    def low(self) -> Counts:
        """The first position of each value. Shape (domain,)."""
        return self.high + 1 - self.counts

    @cached_property
    def high(self) -> Counts:
        """The last position of each value; one before the first where no record has it. Shape (domain,)."""
        return np.cumsum(self.counts) - 1

    @cached_property
    def place(self) -> Counts:
        """The place of each value among those that occur. Shape (domain,)."""
        return np.cumsum(self.counts > 0) - 1

    def displacement(self, known: Counts, released: Counts) -> Counts:
        """max(lo_x - hi_y, lo_y - hi_x, 0) of known values x and released values y, as codes."""
        below, above = self.low[known] - self.high[released], self.low[released] - self.high[known]
        return np.maximum(np.maximum(below, above), 0)

    def ranges(self, displacement: int) -> Ranges:
        """The places of the first and the last released value that each value may have become, both inclusive.

        The last is before the first where there is none. Shape (domain,) each. O(domain log domain).
        """
        occurs = self.counts > 0
        first = np.searchsorted(self.high[occurs], self.low - displacement, side="left")
        last = np.searchsorted(self.low[occurs], self.high + displacement, side="right") - 1
        return first, last


def sets_of_ranges(
    tables: AttackedTables, ranks: Mapping[str, Ranks], ranges: Mapping[str, Ranges], memory: int | None
) -> CandidateSets:
    """The released points in the ranges of each known point.

    Raises:
        CheckError: there are more than the memory holds, or too many combinations of missing cells.

    Cost: a search in a tree for each known point and pattern of missing cells, and a comparison for each candidate.
    """
    most, width = None if memory is None else memory // EDGE, len(tables.released.first)
    parts, total = [np.zeros(0, dtype=np.int64)], 0
    for known, released in _edges(tables, ranks, ranges):
        total += len(known)
        if most is not None and total > most:
            raise CheckError(TOO_MANY.format(edges=most))
        parts.append(known.astype(np.int64) * width + released)
    known, released = np.divmod(np.sort(np.concatenate(parts)), width)
    sizes = np.bincount(known, minlength=len(tables.known.first))
    return tables.sets(np.concatenate([[0], np.cumsum(sizes)]), released)


def _edges(
    tables: AttackedTables, ranks: Mapping[str, Ranks], ranges: Mapping[str, Ranges]
) -> Iterator[tuple[Numbers, Positions]]:
    """Known and released points that are consistent, some at a time."""
    # Candidates of a point are an intersection of ranges, one for each attribute: a box, and the search is one for
    # points in boxes. A missing cell says nothing. Of a known point it leaves the whole range; released points are
    # searched by the attributes that they have, so that those which lack the same ones share a tree.
    boxes, places = _boxes(tables, ranges), _places(tables, ranks)
    lacking = tables.released.codes == np.array([len(ranks[name].counts) for name in tables.names])
    patterns, number = _patterns(lacking)
    if len(patterns) > PATTERNS:
        raise CheckError(TOO_MANY_PATTERNS.format(patterns=len(patterns)))
    for which, lacks in enumerate(patterns):
        points = np.flatnonzero(number == which)
        axes = np.append(np.flatnonzero(~lacks), len(lacks))  # the last one is the same everywhere
        tree = PointTree(places[axes][:, points], Boxes(boxes.first[axes], boxes.last[axes]))
        for known, released in tree.pairs():
            yield known, points[released]


def _patterns(lacking: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Positions]:
    """The different combinations of missing cells, and that of each point."""
    if not lacking.any():
        return lacking[:1], np.zeros(len(lacking), dtype=np.intp)
    patterns, number = np.unique(lacking, axis=0, return_inverse=True)
    return patterns, number.reshape(-1)


def _boxes(tables: AttackedTables, ranges: Mapping[str, Ranges]) -> Boxes:
    """The ranges around each known point, one axis for each attribute and one on which all are the same."""
    first, last = [], []
    for codes, name in zip(tables.known.codes.T, tables.names, strict=True):
        low, high = ranges[name]
        first.append(np.append(low, 0)[codes])
        last.append(np.append(high, len(low))[codes])
    same = np.zeros(len(tables.known.first), dtype=np.int64)
    return Boxes(np.array([*first, same], dtype=np.int32), np.array([*last, same], dtype=np.int32))


def _places(tables: AttackedTables, ranks: Mapping[str, Ranks]) -> NDArray[np.int32]:
    """The place of each released point's values among those that occur, on the same axes."""
    axes = zip(tables.released.codes.T, tables.names, strict=True)
    places = [np.append(ranks[name].place, 0)[codes] for codes, name in axes]
    return np.array([*places, np.zeros(len(tables.released.first), dtype=np.int64)], dtype=np.int32)


def least_displacement(tables: AttackedTables, ranks: Mapping[str, Ranks]) -> int | None:
    """max_x min_y max_j of displacements: the least w, one for all attributes, without an empty set of candidates.

    The nearest point by middle ranks bounds each known point's least w from above. Those with the largest bounds are
    compared with all released points, until no other bound is above what was found.

    Returns:
        A number of ranks; None where there are so many ties that this would take long.

    Cost: a nearest neighbour for each known point; a few comparisons with all of them where there are few ties.
    """
    from scipy.spatial import cKDTree  # noqa: PLC0415 - a slow import that only this needs

    known, released = _middles(tables.known.codes, tables, ranks), _middles(tables.released.codes, tables, ranks)
    _, nearest = cKDTree(released).query(known, p=np.inf)
    bound = _displacements(tables, ranks, np.arange(len(known)), np.asarray(nearest))
    order, least = np.argsort(-bound, kind="stable"), 0
    every = np.arange(len(released))
    for start in range(0, len(order), AT_ONCE):
        some = order[start : start + AT_ONCE]
        if bound[some[0]] <= least:
            return least
        if start * released.size > CELLS:
            return None
        least = max(least, int(_displacements(tables, ranks, some[:, None], every[None]).min(axis=1).max()))
    return least


def _middles(codes: Counts, tables: AttackedTables, ranks: Mapping[str, Ranks]) -> Floats:
    """The middle rank of each point in each attribute; of a missing cell, that of the table."""
    columns = [
        np.append((ranks[name].low + ranks[name].high) / 2, ranks[name].counts.sum() / 2)[column]
        for column, name in zip(codes.T, tables.names, strict=True)
    ]
    return np.column_stack(columns)


def _displacements(tables: AttackedTables, ranks: Mapping[str, Ranks], known: Positions, released: Positions) -> Counts:
    """The largest displacement over attributes of known and released points; none where a cell is missing."""
    largest = np.zeros(np.broadcast_shapes(known.shape, released.shape), dtype=np.int64)
    for j, name in enumerate(tables.names):
        x, y = tables.known.codes[known, j], tables.released.codes[released, j]
        nowhere, last = len(ranks[name].counts), len(ranks[name].counts) - 1
        moved = ranks[name].displacement(np.minimum(x, last), np.minimum(y, last))
        largest = np.maximum(largest, np.where((x == nowhere) | (y == nowhere), 0, moved))
    return largest
