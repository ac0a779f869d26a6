"""The released points that each known point may have become: an intersection over attributes of ranges of values.

A cell that is missing on either side says nothing. A known one leaves the whole range; released points are looked for
by the attributes that they have, those that lack the same ones together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.check import CheckError
from tcdp_audit_plugins.checks._shared.boxes import Boxes, Numbers, PointTree
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets, Positions
from tcdp_audit_plugins.checks.masking_attacks.ranks import Ranges, Ranks
from tcdp_audit_plugins.checks.masking_attacks.tables import AttackedTables

EDGE = 96  # bytes that a candidate takes in what is computed from the sets
PATTERNS = 1024  # combinations of missing cells, each a search of its own
TOO_MANY = (
    "the intruder's candidate sets hold more than {edges:,} pairs of records, which is what the memory allows; give "
    "more with --memory, or compare more attributes, which leave fewer candidates"
)
TOO_MANY_PATTERNS = (
    "missing cells stand in {patterns:,} different combinations of the compared columns of the release, too many to "
    "search one by one; leave columns with missing cells out of `attributes`"
)


def sets_of_ranges(
    tables: AttackedTables, ranks: Mapping[str, Ranks], ranges: Mapping[str, Ranges], memory: int | None
) -> CandidateSets:
    """The released points in the ranges of each known point.

    Args:
        tables: the points.
        ranks: those of each attribute's values.
        ranges: of each attribute, around each value of its domain.
        memory: budget in bytes for what is found; None for no limit.

    Raises:
        CheckError: there are more than the memory holds, or too many combinations of missing cells.

    Cost: a search in a tree for each known point and pattern of missing cells, and a comparison for each candidate.
    """
    most, width = None if memory is None else memory // EDGE, len(tables.released.first)
    found, total = [np.zeros(0, dtype=np.int64)], 0
    for known, released in _edges(tables, ranks, ranges):
        total += len(known)
        if most is not None and total > most:
            raise CheckError(TOO_MANY.format(edges=most))
        found.append(known.astype(np.int64) * width + released)
    known, released = np.divmod(np.sort(np.concatenate(found)), width)
    sizes = np.bincount(known, minlength=len(tables.known.first))
    return tables.sets(np.concatenate([[0], np.cumsum(sizes)]), released)


def _edges(
    tables: AttackedTables, ranks: Mapping[str, Ranks], ranges: Mapping[str, Ranges]
) -> Iterator[tuple[Numbers, Positions]]:
    """Known and released points that are consistent, some at a time."""
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
