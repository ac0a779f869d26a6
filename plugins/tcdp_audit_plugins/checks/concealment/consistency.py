"""The released records that each person may be: those whose cells cover the values of the person's original record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import gibibytes
from tcdp_audit.plugin.check import Pairs, TableView
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.remedy import GeneralizedMatch
from tcdp_audit.plugin.sentences import agree, count, listing
from tcdp_audit_plugins.checks._shared.boxes import Geometry, Numbers, PointTree, among_members, geometry
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets

Positions = NDArray[np.intp]


EDGE = 80  # bytes that a pair of points takes while strong components are looked for


def consistent(view: TableView, attributes: Sequence[str]) -> tuple[CandidateSets, Pairs]:
    """The released records that each record of the original is consistent with, and the pairs.

    Raises:
        CheckError: release and original cannot be paired, the release is no generalisation of the original, or there
            are more consistent pairs than the memory can hold.

    Cost: O(records x attributes), and what `PointTree.pairs` costs on points and boxes that differ.
    """
    pairs, covers = view.generalised_pairs(attributes)
    _require_generalisation(pairs, covers)
    shape = geometry(pairs.released, pairs.original, covers)
    offsets, candidates = _joined(shape, _edges(shape, pairs, covers, view.memory))
    known, released = shape.known.number, shape.released.number
    withheld = np.ones(pairs.original.records, dtype=np.bool_)
    withheld[pairs.partner[pairs.matched]] = False
    sets = CandidateSets(
        offsets,
        candidates,
        known[pairs.partner[pairs.matched]],
        released[pairs.matched],
        np.bincount(known[withheld], minlength=shape.known.size),
        np.bincount(released[pairs.partner < 0], minlength=shape.released.size),
    )
    return sets, pairs


def _require_generalisation(pairs: Pairs, covers: Mapping[str, GeneralizedMatch]) -> None:
    """Insist that the cells of each released record cover the person's original values."""
    own = np.ones(len(pairs.matched), dtype=np.bool_)
    strange = []
    for name, cover in covers.items():
        cells = pairs.released.codes[name][pairs.matched]
        covers_own = cover.matches(cells, pairs.original.codes[name][pairs.partner[pairs.matched]])
        own &= covers_own
        strange += [] if covers_own.all() else [name]
    if not own.all():
        number, columns = int((~own).sum()), listing([repr(name) for name in strange])
        raise CheckError(
            f"the release is no generalisation of the original: in {count(number, 'record')} of {len(own):,} the "
            f"released {agree(len(strange), 'cell', 'cells')} of {columns} {agree(len(strange), 'does', 'do')} not "
            "cover the person's own; declare the hierarchy or the scale that explains them, leave such columns "
            "out with `attributes`, or measure changed values with `distance_record_linkage`"
        )


def _edges(
    shape: Geometry, pairs: Pairs, covers: Mapping[str, GeneralizedMatch], memory: int | None
) -> Iterator[tuple[Numbers, Numbers]]:
    """Box and point of every consistent pair of points."""
    most, number = None if memory is None else memory // EDGE, 0
    for box, point in PointTree(shape.places, shape.boxes).pairs():
        cells, values = shape.released.record[box], shape.known.record[point]
        fits = among_members(cells, values, (pairs.released, pairs.original), covers)
        number += int(fits.sum())
        if most is not None and number > most:
            raise CheckError(
                f"more than {most:,} pairs of different records are consistent, which is all that "
                f"{gibibytes(memory or 0)} can hold; give more with --memory, or name fewer attributes"
            )
        yield box[fits], point[fits]


def _joined(shape: Geometry, edges: Iterator[tuple[Numbers, Numbers]]) -> tuple[Positions, Positions]:
    """The boxes of each point, ascending, as compressed rows."""
    parts = list(edges)
    box, point = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
    del parts
    from scipy.sparse import coo_array  # noqa: PLC0415 - only where tables are measured

    table = coo_array((np.ones(len(box), dtype=np.int8), (box, point)), shape=(shape.released.size, shape.known.size))
    by_point = table.tocsr().tocsc()  # rows ascend in every column where the columns are made from rows
    return by_point.indptr.astype(np.intp), by_point.indices.astype(np.intp)
