"""Who is in a person's groups of all blocks of attributes, for an intruder who forms the groups again.

People who have the same values in a block cannot be told apart there, so that each of them may be in the groups of all
of them; of several blocks somebody is a candidate who is in a possible group of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcdp_audit.plugin._internal import Counts, fold, gibibytes
from tcdp_audit.plugin.check import CheckError
from tcdp_audit_plugins.checks._shared.candidate_sets import Positions
from tcdp_audit_plugins.checks.masking_attacks.tables import AttackedTables

EDGE = 80  # bytes that a candidate takes while they are joined


@dataclass(frozen=True)
class _Block:
    """The groups of a block.

    Args:
        known: of each known point, which values it has in the block. Shape (known points,).
        released: of each released point, which group it is in. Shape (released points,).
        ways: values and groups of people, as values x groups + group, ascending.
    """

    known: Positions
    released: Positions
    ways: Counts

    @classmethod
    def of(cls, tables: AttackedTables, names: Sequence[str]) -> _Block:
        """Those of some attributes."""
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
        """How many groups there are."""
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
        """Which pairs of points may be one person by this block, as positions among them."""
        keys = self.known[known] * self.groups + self.released[released]
        place = np.minimum(np.searchsorted(self.ways, keys), len(self.ways) - 1)
        return np.flatnonzero(self.ways[place] == keys)


def known_groups(
    tables: AttackedTables, blocks: Sequence[Sequence[str]], memory: int | None
) -> tuple[Positions, Positions]:
    """Known points and the released ones that they may be, ascending.

    Args:
        tables: both tables as points.
        blocks: the attributes that were microaggregated together.
        memory: bytes, or None for no limit.

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
        kept = one.allows(known, released)
        known, released = known[kept], released[kept]
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
