"""Known and released records as points: those that agree in all attributes of an attack stand on one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import fold
from tcdp_audit.plugin.check import CheckError, CodedTable, Pairs
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets, Positions

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Points:
    """The distinct records of a table, in the order of their codes, whatever the order of its rows is.

    Args:
        codes: over the common domains, a domain's size where a cell is missing. Shape (points, attributes).
        first: a record on each point. Shape (points,).
        point: the point of each record. Shape (records,).
    """

    codes: Codes
    first: Positions
    point: Positions

    @classmethod
    def of(cls, table: CodedTable, names: Sequence[str]) -> Points:
        """Those of a table. O(records log records)."""
        keys = fold([table.codes[name] for name in names], [table.domains[name].size + 1 for name in names]).values
        _, first, point = np.unique(keys, return_index=True, return_inverse=True)
        columns = [table.codes[name][first].astype(np.int64) for name in names]
        return cls(np.column_stack(columns), first, point.reshape(-1))


@dataclass(frozen=True)
class AttackedTables:
    """What an attack on candidate sets sees: both tables as points, and who is who.

    Args:
        pairs: release and original.
        names: the attributes that the intruder knows.
    """

    pairs: Pairs
    names: Sequence[str]

    def __post_init__(self) -> None:
        """Insist that every attribute can be compared: where no pair has both values, everybody may be everybody.

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
        """Those of the original."""
        return Points.of(self.pairs.original, self.names)

    @cached_property
    def released(self) -> Points:
        """Those of the release."""
        return Points.of(self.pairs.released, self.names)

    @cached_property
    def ends(self) -> tuple[Positions, Positions]:
        """The known and the released point of each pair."""
        matched = self.pairs.matched
        return self.known.point[self.pairs.partner[matched]], self.released.point[matched]

    def sets(self, offsets: Positions, candidates: Positions) -> CandidateSets:
        """Candidate sets of these tables.

        Args:
            offsets: where the candidates of each known point begin. Shape (known points + 1,).
            candidates: released points, ascending for each known point.
        """
        known, released = self.ends
        everybody = np.bincount(self.known.point, minlength=len(self.known.first))
        records = np.bincount(self.released.point, minlength=len(self.released.first))
        return CandidateSets(
            offsets,
            candidates,
            known,
            released,
            everybody - np.bincount(known, minlength=len(everybody)),
            records - np.bincount(released, minlength=len(records)),
        )
