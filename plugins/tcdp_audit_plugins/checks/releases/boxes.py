"""Overlaps of the classes of one release with those of another, however coarse each of them is.

Classes are boxes. They are joined one quasi-identifier after another, the most selective first, so that classes of two
releases that are generalised alike cost no more than their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcdp_audit.plugin._internal import Counts, numbered, positions_of
from tcdp_audit.plugin.check import TableView
from tcdp_audit.plugin.engine import CheckError, Hierarchy
from tcdp_audit.plugin.sentences import count
from tcdp_audit_plugins.checks.releases.classes import Positions, ReleaseClasses, blocks_of, together
from tcdp_audit_plugins.checks.releases.overlap import Overlap, Pairs, overlap_of

BYTES = 64  # of a pair while it is looked at
MOST = 32  # bytes of a pair that was found


def overlapping(view: TableView, one: ReleaseClasses, other: ReleaseClasses, *, suppressed_is_anything: bool) -> Pairs:
    """The classes of two releases that may hold the same person.

    Raises:
        CheckError: there are more pairs than the memory holds.

    Cost: O(classes x quasi-identifiers) where both are generalised alike; otherwise O(pairs) for each quasi-identifier.
    """
    overlaps = []
    for name, own, theirs in zip(one.names, one.domains, other.domains, strict=True):
        declared = view.policy.attributes[name]
        hierarchy: Hierarchy | None = view.hierarchies.get(name)
        overlaps.append(
            overlap_of(
                own, theirs, hierarchy, ordered=declared.is_ordered, suppressed_is_anything=suppressed_is_anything
            )
        )
    return joined(one.codes, other.codes, overlaps, view.memory)


def joined(
    one: Sequence[Positions], other: Sequence[Positions], overlaps: Sequence[Overlap], memory: int | None = None
) -> Pairs:
    """The boxes of two sides that overlap in every attribute; each side is given by the codes of different boxes."""
    sides = [_Side(np.zeros(len(codes[0]), dtype=np.int64)) for codes in (one, other)]
    pairs = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for place in sorted(range(len(overlaps)), key=lambda number: overlaps[number].share):
        overlap = overlaps[place]
        sides = [side.refined(codes[place], size)
                 for side, codes, size in zip(sides, (one, other), overlap.sizes, strict=True)]  # fmt: skip
        pairs = _extended(pairs, sides, overlap, memory)
    return sides[0].boxes[pairs[0]], sides[1].boxes[pairs[1]]


@dataclass(frozen=True)
class _Side:
    """Boxes grouped by the attributes that were looked at."""

    group: Positions  # the group of each box
    # of each group, the group that it was before times `width`, plus its code of the latest attribute
    keys: Positions | None = None
    width: int = 1  # a number above all codes of that

    def refined(self, codes: Positions, width: int) -> _Side:
        """The groups distinguished by one more attribute."""
        span = (int(self.group.max(initial=-1)) + 1) * width
        keys, group = numbered(self.group * width + codes, span)
        return _Side(group.astype(np.int64), keys.astype(np.int64), width)

    @property
    def codes(self) -> Positions:
        """The code of each group."""
        return self._keys % self.width

    @property
    def _keys(self) -> Positions:
        assert self.keys is not None  # noqa: S101 - only before the first attribute
        return self.keys

    @property
    def parents(self) -> Positions:
        """The group that each group was before."""
        return self._keys // self.width

    @property
    def boxes(self) -> Positions:
        """The box of each group, once every attribute was looked at."""
        boxes = np.empty(len(self._keys), dtype=np.int64)
        boxes[self.group] = np.arange(len(self.group))
        return boxes

    def find(self, parents: Positions, codes: Positions) -> tuple[Positions, Positions]:
        """The groups that there are among some, and their numbers."""
        asked = parents * self.width + codes
        places = np.minimum(np.searchsorted(self._keys, asked), len(self._keys) - 1)
        there = np.flatnonzero(self._keys[places] == asked)
        return there, places[there]


def _extended(pairs: Pairs, sides: Sequence[_Side], overlap: Overlap, memory: int | None) -> Pairs:
    """Pairs of groups, followed to the groups that they have become and that still overlap."""
    turned = overlap.turned()
    ways = [_Way(pairs[0], sides[0], overlap), _Way(pairs[1], sides[1], turned)]
    forward = ways[0].cost.sum() <= ways[1].cost.sum()
    way, other = (ways[0], sides[1]) if forward else (ways[1], sides[0])
    partners = pairs[1] if forward else pairs[0]
    parts: list[Pairs] = []
    overlaps = 0
    for begin, end in blocks_of(way.cost, together(memory, BYTES)):
        group, number, code = way.candidates(begin, end)
        there, partner = other.find(partners[number], code)
        parts.append((group[there], partner))
        overlaps += len(there)
        if memory is not None and overlaps * MOST > memory:
            raise CheckError(
                f"more than {count(overlaps, 'pair')} of classes of the two releases overlap, which is more than the "
                "memory holds; give more with --memory, or name the `key` by which people are followed"
            )
    none = np.zeros(0, dtype=np.int64)
    own, partners = (np.concatenate([none, *(part[side] for part in parts)]) for side in (0, 1))
    return (own, partners) if forward else (partners, own)


class _Way:
    """From the groups of one side to what they have become, and to the codes of the other side that overlap with it.

    The side is the first of `overlap`.
    """

    def __init__(self, groups: Positions, side: _Side, overlap: Overlap) -> None:
        self._groups, self._codes, self._overlap = groups, side.codes, overlap
        self._starts = np.searchsorted(side.parents, np.arange(int(groups.max(initial=-1)) + 2))
        self._upto = np.concatenate([[0], np.cumsum(overlap.number[self._codes])])

    @property
    def cost(self) -> Counts:
        """The number of candidates that each pair has."""
        return self._upto[self._starts[self._groups + 1]] - self._upto[self._starts[self._groups]]

    def candidates(self, begin: int, end: int) -> tuple[Positions, Positions, Positions]:
        """For some pairs: what their group has become, the number of the pair, and a code of the other side."""
        groups = self._groups[begin:end]
        children = self._starts[groups + 1] - self._starts[groups]
        group = positions_of(self._starts[groups], children)
        number = np.repeat(np.arange(begin, end), children)
        lengths = self._overlap.number[self._codes[group]]
        partners = self._overlap.other[positions_of(self._overlap.offsets[self._codes[group]], lengths)]
        return np.repeat(group, lengths), np.repeat(number, lengths), partners
