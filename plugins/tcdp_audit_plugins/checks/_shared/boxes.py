"""Points in boxes, where both are many: boxes descend together through a tree of the points.

Memory is for the pairs that are looked at together, and for what was found; never for points x boxes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import fold, numbered
from tcdp_audit.plugin.engine import CodedTable
from tcdp_audit.plugin.remedy import GeneralizedMatch

Positions = NDArray[np.intp]
Words = NDArray[np.uint64]

AXES, BITS = 8, 7  # of a word: axes, and bits for the place on each
GUARDS = np.uint64(0x8080808080808080)  # the highest bit of each byte

Places = NDArray[np.int32]
Numbers = NDArray[np.int32]
LEAF = 16  # points that are looked at one by one
TOGETHER = 2**17  # pairs of box and node, or of box and point, that are looked at together


def shifts_of(*corners: NDArray[np.int32]) -> NDArray[np.int64]:
    """For each axis how many bits its places have too many. Shape (axes,)."""
    largest = np.max([one.max(axis=1) for one in corners], axis=0)
    return np.array([max(int(one).bit_length() - BITS, 0) for one in largest.tolist()])


def pack_columns(places: NDArray[np.int32], shifts: NDArray[np.int64]) -> Words:
    """Pack places, none of them negative, into words. Shape (words, points), from (axes, points)."""
    # Eight axes share one 64-bit word, so that one operation of the processor compares a point with a side of a box on
    # all eight. Each axis has a byte: seven bits for the place, without the lowest bits of long axes, and a guard bit.
    # Left-out bits only make places equal that are not, so `may_reach` may accept too much and never too little; what
    # passes is compared exactly.
    words = np.zeros((-(-len(places) // AXES), places.shape[1]), dtype=np.uint64)
    for axis, shift in enumerate(shifts.tolist()):
        words[axis // AXES] |= (places[axis] >> shift).astype(np.uint64) << np.uint64(8 * (axis % AXES))
    return words


def may_reach(low: Words, high: Words) -> NDArray[np.bool_]:
    """Whether no place among `low` is clearly above that among `high`; both of the same shape (words,)."""
    # With its guard bit set, the byte of `high` is at least 128 and that of `low` at most 127: no byte borrows from the
    # next one, and the guard bit is still set exactly where the difference is not negative.
    return np.asarray(((high | GUARDS) - low) & GUARDS == GUARDS)


@dataclass(frozen=True)
class Boxes:
    """Boxes of whole places, closed at both ends. Shapes (axes, boxes)."""

    first: Places  # their lower corners
    last: Places  # their upper corners; a box whose upper corner is below its lower one holds nothing


@dataclass
class _Node:
    """A node's box, its points in the tree's order, and the first of its two halves; -1 for a leaf."""

    low: Places
    high: Places
    start: int
    end: int
    half: int = -1


class PointTree:
    """Points, halved again and again along the axis on which boxes separate most of them.

    Args:
        places: of the points, at least one. Shape (axes, points).
        boxes: what will be asked for, at least one.

    Cost: O(points x axes x log points).
    """

    def __init__(self, places: Places, boxes: Boxes) -> None:
        self._boxes = boxes
        rate = 1 / (boxes.last - boxes.first + 1.0).mean(axis=1).clip(min=1)
        order, nodes = _grown(places, rate)
        self._order, self._places = order.astype(np.int32), np.ascontiguousarray(places[:, order])
        self._low, self._high = np.array([one.low for one in nodes]).T, np.array([one.high for one in nodes]).T
        self._start, self._end, self._half = (
            np.array([getattr(one, name) for one in nodes], dtype=np.int32) for name in ("start", "end", "half")
        )
        shifts = shifts_of(places, boxes.first, boxes.last)
        corners = (self._places, boxes.first, boxes.last, self._low, self._high)
        self._packed, self._first, self._last, self._lows, self._highs = (pack_columns(one, shifts) for one in corners)

    def pairs(self) -> Iterator[tuple[Numbers, Numbers]]:
        """Every box with every point in it, some pairs at a time.

        Cost: O(pairs x axes), and the boxes times the nodes of the tree whose sides they cut.
        """
        number = self._boxes.first.shape[1]
        # All boxes descend through the tree together, as an explicit stack of (box, node) pairs, so that each step is a
        # few operations on arrays. A node that lies wholly in a box yields its points without a look at them, and a
        # leaf that does not is looked at point by point. A step is cut at `TOGETHER` pairs: the stack then never holds
        # more than that for each level of the tree.
        stack = [(np.arange(number, dtype=np.int32), np.zeros(number, dtype=np.int32))]
        while stack:
            box, node = stack.pop()
            if len(box) > TOGETHER:
                stack += [(box[:TOGETHER], node[:TOGETHER]), (box[TOGETHER:], node[TOGETHER:])]
                continue
            box, node, inside = self._meeting(box, node)
            leaf = self._half.take(node) < 0
            yield from self._below(box[inside], node[inside], whole=True)
            yield from self._below(box[leaf & ~inside], node[leaf & ~inside], whole=False)
            further = ~leaf & ~inside
            box, half = box[further], self._half.take(node[further])
            if len(box):
                stack.append((np.concatenate([box, box]), np.concatenate([half, half + 1])))

    def _meeting(self, box: Numbers, node: Numbers) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
        """The boxes and nodes that meet, or nearly do, and whether the node lies wholly in the box."""
        inside = np.ones(len(box), dtype=np.bool_)
        for lows, highs, firsts, lasts in zip(self._lows, self._highs, self._first, self._last, strict=True):
            low, high, first, last = lows.take(node), highs.take(node), firsts.take(box), lasts.take(box)
            inside &= may_reach(first, low) & may_reach(high, last)
            meet = np.flatnonzero(may_reach(first, high) & may_reach(low, last))
            box, node, inside = box.take(meet), node.take(meet), inside.take(meet)
        likely = np.flatnonzero(inside)
        inside[likely] = self._holds(box.take(likely), self._low, self._high, node.take(likely))
        return box, node, inside

    def _holds(self, box: Numbers, low: Places, high: Places, one: Numbers) -> NDArray[np.bool_]:
        """Whether what reaches from some places to others, each by its number, lies in the box next to it."""
        held = np.ones(len(box), dtype=np.bool_)
        for axis in range(len(low)):
            held &= self._boxes.first[axis].take(box) <= low[axis].take(one)
            held &= self._boxes.last[axis].take(box) >= high[axis].take(one)
        return held

    def _below(self, box: Numbers, node: Numbers, *, whole: bool) -> Iterator[tuple[Numbers, Numbers]]:
        """The points below nodes, all of them or those that lie in the boxes; some nodes at a time."""
        upto = np.cumsum(self._end.take(node) - self._start.take(node))
        begin = 0
        while begin < len(box):
            before = upto[begin - 1] if begin else 0
            until = max(int(np.searchsorted(upto, before + TOGETHER, side="right")), begin + 1)
            yield self._points(box[begin:until], node[begin:until], whole=whole)
            begin = until

    def _points(self, box: Numbers, node: Numbers, *, whole: bool) -> tuple[Numbers, Numbers]:
        start = self._start.take(node)
        lengths = self._end.take(node) - start
        before = np.cumsum(lengths, dtype=np.int32) - lengths
        near = np.repeat(np.arange(len(box), dtype=np.int32), lengths)
        point = np.arange(len(near), dtype=np.int32) + (start - before).take(near)
        if whole:
            return box.take(near), self._order.take(point)
        for own, firsts, lasts in zip(self._packed, self._first, self._last, strict=True):
            here = own.take(point)
            met = may_reach(firsts.take(box).take(near), here) & may_reach(here, lasts.take(box).take(near))
            selected = np.flatnonzero(met)
            near, point = near.take(selected), point.take(selected)
        box = box.take(near)
        selected = np.flatnonzero(self._holds(box, self._places, self._places, point))
        return box.take(selected), self._order.take(point.take(selected))


def _grown(places: Places, rate: NDArray[np.float64]) -> tuple[NDArray[np.intp], list[_Node]]:
    """The points in an order in which those of every node are adjacent, and the nodes, the root first."""
    order = np.arange(places.shape[1])
    nodes = [_node(places, order, 0, len(order))]
    for one in nodes:  # which grows meanwhile
        if one.end - one.start > LEAF:
            here = order[one.start : one.end]
            middle = len(here) // 2
            axis = int(np.argmax((one.high - one.low) * rate))
            order[one.start : one.end] = here[np.argpartition(places[axis, here], middle)]
            one.half, cut = len(nodes), one.start + middle
            nodes += [_node(places, order, one.start, cut), _node(places, order, cut, one.end)]
    return order, nodes


def _node(places: Places, order: NDArray[np.intp], start: int, end: int) -> _Node:
    here = places[:, order[start:end]]
    return _Node(here.min(axis=1), here.max(axis=1), start, end)


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
    """A release and a table of people whose values its cells may cover."""

    known: Numbered  # the records of the people, as points
    released: Numbered  # those of the release, as boxes
    places: Places  # of the points. Shape (axes, points).
    boxes: Boxes  # as many as `released` has


def geometry(released: CodedTable, known: CodedTable, covers: Mapping[str, GeneralizedMatch]) -> Geometry:
    """Both tables on the axes of all attributes, each coded over its own values. O(records x axes)."""
    places, firsts, lasts, sets = [], [], [], []
    for name, cover in covers.items():
        cells, values = released.codes[name], known.codes[name]
        used = np.bincount(cells, minlength=cover.first.shape[1]) > 0
        sets.append(cover.scattered[cells] + 1)
        for place, first, last in zip(cover.place, cover.first, cover.last, strict=True):
            cuts = _cuts(first[used], last[used]) if (cover.scattered[used] < 0).all() else np.unique(place)
            places.append(np.searchsorted(cuts, place, side="right")[values])
            firsts.append(np.searchsorted(cuts, first, side="right")[cells])
            lasts.append(np.searchsorted(cuts, last, side="right")[cells])
    points, boxes = Numbered.of(places), Numbered.of([*firsts, *lasts, *sets])
    own = _at(places, points.record)
    return Geometry(points, boxes, own, Boxes(_at(firsts, boxes.record), _at(lasts, boxes.record)))


def _cuts(first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ends of the ranges that cells cover: between them no cell distinguishes values."""
    return np.unique(np.concatenate([first, last + 1]))


def _at(columns: Sequence[NDArray[np.int64]], records: Positions) -> Places:
    return np.array([column[records] for column in columns], dtype=np.int32)


def among_members(
    cells: Positions,
    values: Positions,
    tables: tuple[CodedTable, CodedTable],
    covers: Mapping[str, GeneralizedMatch],
) -> NDArray[np.bool_]:
    """Whether the values of some records are among the members of cells' sets whose values are not adjacent.

    Args:
        cells: records of the release.
        values: as many of the people's table.
        tables: the release and the people's table, as in `geometry`.
        covers: of each attribute.
    """
    released, known = tables
    fits = np.ones(len(cells), dtype=np.bool_)
    for name, cover in covers.items():
        if len(cover.members):
            rows = cover.scattered[released.codes[name][cells]]
            fits &= cover.has_members(rows, known.codes[name][values])
    return fits
