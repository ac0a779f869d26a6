"""The values of an original that the cells of a possibly generalised release match.

A released cell matches a value if the value may have become the cell: it is the same, or lies in the cell's range, in
its set, or below its node of the hierarchy. A suppressed or missing cell matches every value and a missing one; no
other cell matches a missing value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError, DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.generalised import Ranges, members
from tcdp_audit.core.encoding.hierarchy import Hierarchy
from tcdp_audit.core.encoding.keys import Codes, freeze_arrays
from tcdp_audit.core.encoding.reading import require_exact

Places = NDArray[np.int64]
SIDE_BY_SIDE = -1
NO_SETS = np.zeros((0, 0), dtype=np.uint8)


@dataclass(frozen=True)
class GeneralizedMatch:
    """The values of the original that the released cells of an attribute may represent.

    Every value has a position on one axis, or on two where the original itself holds ranges: those of its lower and its
    upper end. A cell matches the values whose position on every axis is from its `first` to its `last`. If the values
    of its set are not adjacent, it matches only those of them that are among its `members`.

    Args:
        place: the position of each code of the original, the missing one last; 0 if it is missing or suppressed. Shape
            (axes, values + 1).
        first: for each code of the release, the missing one last. Shape (axes, cells + 1).
        last: the same; less than `first` if a cell matches nothing.
        scattered: the row in `members` of each code of the release; -1 for adjacent values. Shape (cells + 1,).
        members: a bit for each code of the original, as `numpy.packbits` packs them. Shape (rows, bytes).
    """

    place: Places
    first: Places
    last: Places
    scattered: Places
    members: NDArray[np.uint8]

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        freeze_arrays(self, "place", "first", "last", "scattered", "members")

    @property
    def covers_several(self) -> bool:
        """Whether some cell matches more than one value."""
        return bool((self.last > self.first).any() or len(self.members))

    def matches(self, cells: Codes, values: Codes) -> NDArray[np.bool_]:
        """Whether each cell matches the value at the same position."""
        place = self.place[:, values]
        inside = (place >= self.first[:, cells]) & (place <= self.last[:, cells])
        return np.asarray(inside.all(axis=0) & self.has_members(self.scattered[cells], values), dtype=np.bool_)

    def has_members(self, rows: Places, values: Codes) -> NDArray[np.bool_]:
        """Whether each value is in the row of `members` at the same position; true for the row -1."""
        if not len(self.members):
            return np.ones(len(rows), dtype=np.bool_)
        bits = self.members[rows, np.asarray(values) >> 3] >> (7 - (np.asarray(values) & 7)).astype(np.uint8)
        return np.asarray((rows == SIDE_BY_SIDE) | (bits & 1 == 1), dtype=np.bool_)


def generalized_match(
    released: Domain, original: Domain, hierarchy: Hierarchy | None, *, ordered: bool
) -> GeneralizedMatch:
    """Match the released cells of one attribute with the original's values.

    Args:
        released: the attribute's values in the release.
        original: its values in the original.
        hierarchy: its hierarchy, if one is declared.
        ordered: whether its values are numbers, or ranks of a declared order.

    Raises:
        CheckError: numbers cannot be compared exactly.

    Cost: O(values log values); with sets O(sets x values of the original).
    """
    if not ordered:
        return _of_labels(released, original, hierarchy)
    try:
        require_exact([released, original])
    except DataError as error:
        raise CheckError(str(error)) from None
    return _of_ranges(released, original)


def _of_ranges(released: Domain, original: Domain) -> GeneralizedMatch:
    """Match ranges of numbers or ranks: an axis for single values, two for ranges, whose ends must both be inside."""
    telling = np.flatnonzero(~original.is_uninformative[:-1])
    if original.covers is None:
        support = _numbers(original)[telling]
        starts, ends = _inside(released, support)
        return _cover(original, released, [np.arange(len(support))], [(starts, ends - 1)], telling)
    own, theirs = (Ranges.of(one.covers) if one.covers is not None else _single(one) for one in (original, released))
    low, high = _ends(own.low[telling], own.low_open[telling]), _ends(own.high[telling], ~own.high_open[telling])
    lows, low_place = np.unique(low, return_inverse=True)
    highs, high_place = np.unique(high, return_inverse=True)
    first = np.searchsorted(lows, _ends(theirs.low, theirs.low_open))
    last = np.searchsorted(highs, _ends(theirs.high, ~theirs.high_open), side="right") - 1
    spans = [(first, np.full(released.size, len(lows) - 1)), (np.zeros(released.size, np.int64), last)]
    return _cover(original, released, [low_place, high_place], spans, telling)


def _numbers(domain: Domain) -> NDArray[Any]:
    """Single values as sorted numbers; values of a declared order as their ranks."""
    return np.arange(domain.size) if domain.values.dtype == object else domain.values


def _single(domain: Domain) -> Ranges:
    return Ranges.of_numbers(_numbers(domain))


def _inside(released: Domain, support: NDArray[Any]) -> tuple[Places, Places]:
    """The first and last position in `support` of the values that each cell covers; integers are not rounded."""
    if released.covers is not None:
        return Ranges.of(released.covers).inside(support)
    own = _numbers(released)
    return np.searchsorted(support, own), np.searchsorted(support, own, side="right")


def _ends(numbers: NDArray[np.float64], beyond: NDArray[np.bool_]) -> NDArray[np.complex128]:
    """Sortable ends of ranges: of two at the same number, the one beyond it sorts later."""
    ends = np.empty(len(numbers), dtype=np.complex128)
    ends.real, ends.imag = numbers, beyond
    return ends


def _of_labels(released: Domain, original: Domain, hierarchy: Hierarchy | None) -> GeneralizedMatch:
    """Match values, sets of values, and nodes of a hierarchy, whose leaves are adjacent."""
    telling = np.flatnonzero(~original.is_uninformative[:-1])
    labels = _Labels([original.labels[code] for code in telling.tolist()], hierarchy)
    spans, rows = np.empty((2, released.size), dtype=np.int64), np.full(released.size + 1, SIDE_BY_SIDE)
    sets: list[NDArray[np.uint8]] = []
    for code, label in enumerate(released.labels):
        first, last, places = labels.places(label)
        spans[:, code] = first, last
        if places is not None:
            rows[code] = len(sets)
            member = np.zeros(original.size + 1, dtype=np.bool_)
            member[telling[labels.at(places)]] = True
            sets.append(np.packbits(member))
    packed = np.array(sets) if sets else NO_SETS
    return _cover(original, released, [labels.place], [(spans[0], spans[1])], telling, rows, packed)


class _Labels:
    """The values of an original, ordered so that all values below a node are adjacent."""

    def __init__(self, labels: Sequence[str], hierarchy: Hierarchy | None) -> None:
        self.place = np.arange(len(labels))
        self._nodes: dict[tuple[int, str], list[int]] = {}  # first and last position below each node of each level
        self._hierarchy = hierarchy
        if hierarchy is not None:
            known = [code for code, label in enumerate(labels) if label in hierarchy.lineage]
            ancestors = hierarchy.over([labels[code] for code in known]).ancestors
            strange = np.setdiff1d(self.place, known)
            order = np.concatenate([np.array(known, dtype=np.intp)[np.lexsort(ancestors)], strange])
            self.place = np.empty(len(labels), dtype=np.intp)
            self.place[order] = np.arange(len(labels))
            self._find_nodes([labels[int(code)] for code in order[: len(known)]], hierarchy)
        self._code = dict(zip(labels, self.place.tolist(), strict=True))
        self._known = {*labels, *(() if hierarchy is None else hierarchy.lineage)}
        self._order = np.argsort(self.place)

    def _find_nodes(self, labels: Sequence[str], hierarchy: Hierarchy) -> None:
        for place, label in enumerate(labels):
            level, upward = hierarchy.lineage[label]
            for height, node in enumerate(upward, level):
                self._nodes.setdefault((height, node), [place, place])[1] = place

    def at(self, places: Places) -> NDArray[np.intp]:
        """The values at some positions."""
        return self._order[places]

    def places(self, label: str) -> tuple[int, int, Places | None]:
        """The first and last position that a released label matches, and all of them if they are not adjacent.

        The first is greater than the last if it matches none.
        """
        parts = members(label, self._known, unknown=True) or [label]
        spans = [span for part in {*parts, label} for span in self._below(part)]
        if not spans:
            return 0, -1, None
        every = np.unique(np.concatenate([np.arange(first, last + 1) for first, last in spans]))
        first, last = int(every[0]), int(every[-1])
        return first, last, None if len(every) == last - first + 1 else every

    def _below(self, label: str) -> list[list[int]]:
        """The position ranges of a label as a value and as a node."""
        spans = [[self._code[label]] * 2] if label in self._code else []
        if self._hierarchy is not None and label in self._hierarchy.lineage:
            node = self._nodes.get((self._hierarchy.lineage[label][0], label))
            spans += [] if node is None else [node]
        return spans


def _cover(
    original: Domain,
    released: Domain,
    places: Sequence[NDArray[Any]],
    spans: Sequence[tuple[Places, Places]],
    telling: NDArray[np.intp],
    scattered: Places | None = None,
    sets: NDArray[np.uint8] = NO_SETS,
) -> GeneralizedMatch:
    """Number the informative values from 1 and the others 0; suppressed and missing cells match from 0 on."""
    place = np.zeros((len(places), original.size + 1), dtype=np.int64)
    first, last = (np.zeros((len(places), released.size + 1), dtype=np.int64) for _ in range(2))
    everything = released.is_uninformative
    for axis, (own, (start, end)) in enumerate(zip(places, spans, strict=True)):
        place[axis, telling] = own + 1
        first[axis, :-1], last[axis, :-1] = start + 1, end + 1
        first[axis, everything], last[axis, everything] = 0, len(telling)
    rows = np.full(released.size + 1, SIDE_BY_SIDE) if scattered is None else scattered
    rows[everything] = SIDE_BY_SIDE
    return GeneralizedMatch(place, first, last, rows, sets)
