"""Both tables of an attack as points, one for records that agree, and the groups that points are in.

An intruder who holds all values forms the groups of a microaggregation again. People with the same values in a block
cannot be distinguished there, so that each may be in the groups of all of them; of several blocks a person's candidates
are in a possible group of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts, fold, gibibytes
from tcdp_audit.plugin.check import Pairs
from tcdp_audit.plugin.engine import CheckError, CodedTable
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets, Positions

Codes = NDArray[np.int64]

EDGE = 80  # bytes that a candidate takes while they are joined


@dataclass(frozen=True)
class Points:
    """The distinct records of a table, in the order of their codes, whatever the order of its rows is."""

    codes: Codes  # over the common domains, a domain's size where a cell is missing. Shape (points, attributes).
    first: Positions  # a record on each point. Shape (points,).
    point: Positions  # the point of each record. Shape (records,).

    @classmethod
    def of(cls, table: CodedTable, names: Sequence[str]) -> Points:
        """The points of a table. O(records log records)."""
        keys = fold([table.codes[name] for name in names], [table.domains[name].size + 1 for name in names]).values
        _, first, point = np.unique(keys, return_index=True, return_inverse=True)
        columns = [table.codes[name][first].astype(np.int64) for name in names]
        return cls(np.column_stack(columns), first, point.reshape(-1))


@dataclass(frozen=True)
class AttackedTables:
    """The tables that an attack on candidate sets sees: both as points, and who is who."""

    pairs: Pairs
    names: Sequence[str]  # the attributes that the intruder knows

    def __post_init__(self) -> None:
        """Insist that every attribute can be compared: where no pair has both values, everyone may be everyone.

        Raises:
            CheckError: no pair of records has a value of an attribute in both tables.
        """
        pairs = self.pairs
        for name in self.names:
            size = pairs.released.domains[name].size
            released, known = pairs.released.codes[name][pairs.matched], pairs.original.codes[name]
            if not ((released < size) & (known[pairs.partner[pairs.matched]] < size)).any():
                raise CheckError(
                    f"nothing can be compared: no pair of records has a value of {name!r} in both tables; leave it out"
                )

    @cached_property
    def known(self) -> Points:
        """The points of the original."""
        return Points.of(self.pairs.original, self.names)

    @cached_property
    def released(self) -> Points:
        """The points of the release."""
        return Points.of(self.pairs.released, self.names)

    @cached_property
    def ends(self) -> tuple[Positions, Positions]:
        """The known and the released point of each pair."""
        matched = self.pairs.matched
        return self.known.point[self.pairs.partner[matched]], self.released.point[matched]

    def sets(self, offsets: Positions, candidates: Positions) -> CandidateSets:
        """Candidate sets of these tables."""
        known, released = self.ends
        people = np.bincount(self.known.point, minlength=len(self.known.first))
        records = np.bincount(self.released.point, minlength=len(self.released.first))
        return CandidateSets(
            offsets,
            candidates,
            known,
            released,
            people - np.bincount(known, minlength=len(people)),
            records - np.bincount(released, minlength=len(records)),
        )


@dataclass(frozen=True)
class _Block:
    """The groups of a block."""

    known: Positions  # of each known point, which values it has in the block. Shape (known points,).
    released: Positions  # of each released point, which group it is in. Shape (released points,).
    ways: Counts  # values and groups of people, as values x groups + group, ascending

    @classmethod
    def of(cls, tables: AttackedTables, names: Sequence[str]) -> _Block:
        """The block of some attributes."""
        columns = [tables.names.index(name) for name in names]
        sizes = [tables.pairs.released.domains[name].size + 1 for name in names]
        sides = (tables.known.codes, tables.released.codes)
        known, released = (
            np.unique(fold([codes[:, one] for one in columns], sizes).values, return_inverse=True)[1] for codes in sides
        )
        ends = tables.ends
        return cls(known, released, np.unique(known[ends[0]] * (released.max() + 1) + released[ends[1]]))

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.released.max()) + 1

    @property
    def candidates(self) -> Counts:
        """Released points that each known one may be by this block alone. Shape (known points,)."""
        value, group = np.divmod(self.ways, self.groups)
        size = np.bincount(self.released, minlength=self.groups)
        return np.bincount(value, size[group], int(self.known.max()) + 1).astype(np.int64)[self.known]

    def joined(self) -> tuple[Positions, Positions]:
        """Known points and the released ones that they may be by this block alone."""
        value, group = np.divmod(self.ways, self.groups)
        first = np.searchsorted(value, self.known)
        known, way = _each(first, np.searchsorted(value, self.known, side="right") - first)
        order = np.argsort(self.released, kind="stable")
        sizes = np.bincount(self.released, minlength=self.groups)
        place, member = _each((np.cumsum(sizes) - sizes)[group[way]], sizes[group[way]])
        return known[place], order[member]

    def allows(self, known: Positions, released: Positions) -> Positions:
        """The pairs of points that may be one person by this block, as positions among them."""
        keys = self.known[known] * self.groups + self.released[released]
        place = np.minimum(np.searchsorted(self.ways, keys), len(self.ways) - 1)
        return np.flatnonzero(self.ways[place] == keys)


def known_groups(
    tables: AttackedTables, blocks: Sequence[Sequence[str]], memory: int | None
) -> tuple[Positions, Positions]:
    """Known points and the released ones that they may be, ascending.

    Raises:
        CheckError: the candidates by the block with the smallest groups outgrow the memory.

    Cost: O(records x attributes), and the candidates by that block.
    """
    every = sorted((_Block.of(tables, names) for names in blocks), key=lambda one: int(one.candidates.sum()))
    number = int(every[0].candidates.sum())
    if memory is not None and number > memory // EDGE:
        raise CheckError(
            f"the groups leave {number:,} pairs of different records, beyond what {gibibytes(memory)} can hold; give "
            "more with --memory, or audit a part of the release"
        )
    known, released = every[0].joined()
    for one in every[1:]:
        allowed = one.allows(known, released)
        known, released = known[allowed], released[allowed]
    order = np.lexsort([released, known])
    return known[order], released[order]


def _each(starts: Counts, sizes: Counts) -> tuple[Positions, Positions]:
    """Positions from each start on, and which start each is from.

    Example:
        >>> [one.tolist() for one in _each(np.array([4, 0]), np.array([2, 1]))]
        [[0, 0, 1], [4, 5, 0]]
    """
    place = np.repeat(np.arange(len(starts)), sizes)
    return place, np.arange(int(sizes.sum())) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
