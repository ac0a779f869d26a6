"""The released records that each person may be: those whose cells cover the values of the person's original record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import fold, gibibytes, numbered
from tcdp_audit.plugin.check import Pairs, TableView
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.remedy import GeneralizedMatch
from tcdp_audit.plugin.sentences import agree, count, listing
from tcdp_audit_plugins.checks._shared.boxes import Boxes, Numbers, Places, PointTree
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets

Positions = NDArray[np.intp]


@dataclass(frozen=True)
class Numbered:
    """Records that are one point, or one box."""

    number: Positions  # the point of each record. Shape (records,).
    record: Positions  # a record of each point. Shape (points,).

    @classmethod
    def of(cls, columns: Sequence[NDArray[np.int64]]) -> Numbered:
        """Records that agree in all columns."""
        keys = fold(columns, [int(column.max(initial=0)) + 1 for column in columns])
        distinct, number = numbered(keys.values, keys.span)
        record = np.empty(len(distinct), dtype=np.intp)
        record[number] = np.arange(len(number))
        return cls(number.astype(np.intp), record)

    @property
    def size(self) -> int:
        """The number of points."""
        return len(self.record)


@dataclass(frozen=True)
class Geometry:
    """Both tables."""

    known: Numbered  # the records of the original, as points
    released: Numbered  # those of the release, as boxes
    places: Places  # of the points. Shape (axes, points).
    boxes: Boxes  # as many as `released` has


def geometry(pairs: Pairs, covers: Mapping[str, GeneralizedMatch]) -> Geometry:
    """Both tables on the axes of all attributes. O(records x axes)."""
    places, firsts, lasts, sets = [], [], [], []
    for name, cover in covers.items():
        cells, values = pairs.released.codes[name], pairs.original.codes[name]
        used = np.bincount(cells, minlength=cover.first.shape[1]) > 0
        sets.append(cover.scattered[cells] + 1)
        for place, first, last in zip(cover.place, cover.first, cover.last, strict=True):
            cuts = _cuts(first[used], last[used]) if (cover.scattered[used] < 0).all() else np.unique(place)
            places.append(np.searchsorted(cuts, place, side="right")[values])
            firsts.append(np.searchsorted(cuts, first, side="right")[cells])
            lasts.append(np.searchsorted(cuts, last, side="right")[cells])
    known, released = Numbered.of(places), Numbered.of([*firsts, *lasts, *sets])
    own = _at(places, known.record)
    return Geometry(known, released, own, Boxes(_at(firsts, released.record), _at(lasts, released.record)))


def _cuts(first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ends of the ranges that cells cover: between them no cell distinguishes values."""
    return np.unique(np.concatenate([first, last + 1]))


def _at(columns: Sequence[NDArray[np.int64]], records: Positions) -> Places:
    return np.array([column[records] for column in columns], dtype=np.int32)


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
    shape = geometry(pairs, covers)
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
        fits = _among_members(shape.released.record[box], shape.known.record[point], pairs, covers)
        number += int(fits.sum())
        if most is not None and number > most:
            raise CheckError(
                f"more than {most:,} pairs of different records are consistent, which is all that "
                f"{gibibytes(memory or 0)} can hold; give more with --memory, or name fewer attributes"
            )
        yield box[fits], point[fits]


def _among_members(
    released: Positions, known: Positions, pairs: Pairs, covers: Mapping[str, GeneralizedMatch]
) -> NDArray[np.bool_]:
    """Whether the values of records are among those of sets that do not are adjacent."""
    fits = np.ones(len(released), dtype=np.bool_)
    for name, cover in covers.items():
        if len(cover.members):
            rows = cover.scattered[pairs.released.codes[name][released]]
            fits &= cover.has_members(rows, pairs.original.codes[name][known])
    return fits


def _joined(shape: Geometry, edges: Iterator[tuple[Numbers, Numbers]]) -> tuple[Positions, Positions]:
    """The boxes of each point, ascending, as compressed rows."""
    parts = list(edges)
    box, point = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
    del parts
    from scipy.sparse import coo_array  # noqa: PLC0415 - only where tables are measured

    table = coo_array((np.ones(len(box), dtype=np.int8), (box, point)), shape=(shape.released.size, shape.known.size))
    by_point = table.tocsr().tocsc()  # rows ascend in every column where the columns are made from rows
    return by_point.indptr.astype(np.intp), by_point.indices.astype(np.intp)
