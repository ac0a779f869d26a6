"""Records of the original as points and those of the release as boxes: what stands for the same is one.

Values of the original that no released cell tells apart are one place, so that a release of large classes costs no more
than its classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import fold, numbered
from tcdp_audit.plugin.check import Pairs
from tcdp_audit.plugin.remedy import GeneralizedMatch
from tcdp_audit_plugins.checks._shared.boxes import Boxes, Places

Positions = NDArray[np.intp]


@dataclass(frozen=True)
class Numbered:
    """Records that are one point, or one box.

    Args:
        number: the point of each record. Shape (records,).
        record: a record of each point. Shape (points,).
    """

    number: Positions
    record: Positions

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
        """How many points there are."""
        return len(self.record)


@dataclass(frozen=True)
class Geometry:
    """Both tables.

    Args:
        known: the records of the original, as points.
        released: those of the release, as boxes.
        places: of the points. Shape (axes, points).
        boxes: as many as `released` has.
    """

    known: Numbered
    released: Numbered
    places: Places
    boxes: Boxes


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
    """Where some cell begins to stand for values, or ceases to: between them no cell distinguishes values."""
    return np.unique(np.concatenate([first, last + 1]))


def _at(columns: Sequence[NDArray[np.int64]], records: Positions) -> Places:
    return np.array([column[records] for column in columns], dtype=np.int32)
