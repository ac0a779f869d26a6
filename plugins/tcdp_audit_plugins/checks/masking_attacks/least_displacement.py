"""The bound that an intruder finds out alone: the least displacement that leaves nobody without a candidate."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tcdp_audit.plugin._internal import Counts, Floats
from tcdp_audit_plugins.checks._shared.candidate_sets import Positions
from tcdp_audit_plugins.checks.masking_attacks.ranks import Ranks
from tcdp_audit_plugins.checks.masking_attacks.tables import AttackedTables

AT_ONCE = 16  # known points that are compared with all released ones
CELLS = 2**28  # compared cells, beyond which it is given up


def least_displacement(tables: AttackedTables, ranks: Mapping[str, Ranks]) -> int | None:
    """max_x min_y max_j of displacements: the least w, one for all attributes, without an empty set of candidates.

    The nearest point by middle ranks bounds each known point's least w from above. Those with the largest bounds are
    compared with all released points, until no other bound is above what was found.

    Returns:
        A number of ranks; None where so many ties stand in the way that this would take long.

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
