"""Local suppression: records of failing classes are grouped with each other by suppressing as few cells as will do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcdp_audit.plugin.remedy import Demands
from tcdp_audit_plugins.remedies.suppression.quasi_identifier_cells import (
    Indices,
    Integers,
    Mask,
    QuasiIdentifierCells,
)


@dataclass
class LocalSuppression:
    """A search for cells to suppress. A record is pending until it is in a class that keeps the demands.

    The classes of the records that are not pending keep the demands at every moment.

    Args:
        cells: the quasi-identifiers.
        demands: what a class must keep; no distribution changes, because no record is dropped.
        suppressed: which cells are suppressed so far. Shape (attributes, records).
        pending: which records are pending. Shape (records,).
    """

    cells: QuasiIdentifierCells
    demands: Demands
    suppressed: Mask
    pending: Mask

    @classmethod
    def begun(cls, cells: QuasiIdentifierCells, demands: Demands) -> LocalSuppression:
        """Nothing is suppressed, and the records of failing classes are pending."""
        nothing = np.zeros(cells.codes.shape, dtype=bool)
        search = cls(cells, demands.without(cells.exempt), nothing, np.zeros(len(cells.exempt), dtype=bool))
        numbers, kept = search.judged(nothing[:, search.counted], search.counted)
        search.pending[search.counted] = ~kept[numbers]
        return search

    def copy(self) -> LocalSuppression:
        """Another search that goes on from here."""
        return LocalSuppression(self.cells, self.demands, self.suppressed.copy(), self.pending.copy())

    @cached_property
    def counted(self) -> Indices:
        """The records that count."""
        return np.flatnonzero(~self.cells.exempt)

    @cached_property
    def _position(self) -> Indices:
        return np.cumsum(~self.cells.exempt) - 1

    @property
    def settled(self) -> Mask:
        """The records in classes that keep the demands. Shape (records,)."""
        return ~self.pending & ~self.cells.exempt

    def judged(self, suppressed: Mask, records: Indices) -> tuple[Integers, Mask]:
        """The class of each of some records, and which of these classes keep the demands.

        Args:
            suppressed: which cells of these records would be suppressed, shape (attributes, len(records)).
            records: their positions, ascending.
        """
        numbers, count = self.cells.classes(suppressed, records)
        return numbers, self.demands.kept_by(numbers, count, self._position[records])

    def served(self, pattern: Mask, movers: Indices) -> Mask:
        """The records among some that would be in a class that keeps the demands if all had a pattern suppressed.

        Settled records whose cells are like that already are in those classes too.

        Args:
            pattern: which attributes, shape (attributes,).
            movers: positions of the records, ascending.
        """
        hidden = self.suppressed[pattern] | (self.cells.codes[pattern] == self.cells.hidden[pattern])
        moves = np.zeros(len(self.pending), dtype=bool)
        moves[movers] = True
        records = np.flatnonzero(moves | (self.settled & hidden.all(axis=0)))
        numbers, kept = self.judged(self.suppressed[:, records] | (pattern[:, None] & moves[records]), records)
        return kept[numbers][moves[records]]

    def move(self, pattern: Mask, movers: Indices) -> None:
        """Suppress a pattern in those of some records that it serves. They are settled then."""
        done = movers[self.served(pattern, movers)] if len(movers) else movers
        self.suppressed[np.ix_(pattern, done)] = True
        self.pending[done] = False

    def group(self, levels: Sequence[Sequence[Mask]], *, most_first: bool) -> None:
        """Group pending records with each other, pattern by pattern.

        Args:
            levels: patterns of equal importance, the least important first.
            most_first: whether of equal ones that which serves the most records goes first, or that which serves the
                fewest.

        Cost: a sort of the pending records, at most twice, for each pattern.
        """
        for level in levels:
            for pattern in self._in_turn(level, most_first=most_first):
                self.move(pattern, np.flatnonzero(self.pending))

    def _in_turn(self, level: Sequence[Mask], *, most_first: bool) -> list[Mask]:
        """The patterns of a level that serve anybody."""
        pending = np.flatnonzero(self.pending)
        if len(level) == 1 or not len(pending):
            return list(level)
        served = np.array([int(self.served(pattern, pending).sum()) for pattern in level])
        order = np.argsort(-served if most_first else served, kind="stable")
        return [level[place] for place in order if served[place]]
