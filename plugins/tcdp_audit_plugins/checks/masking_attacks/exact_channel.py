r"""\(P[x, y]\) of an attribute as fractions, a column at a time: what decides about posteriors at a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts
from tcdp_audit_plugins.checks.masking_attacks.labelled_matrix import LabelledMatrix

Column = Sequence[Fraction | None]  # of all original values; None for one of which nothing is known


class Channel(Protocol):
    """How values are released."""

    def column(self, released: int) -> Column:
        """The probability of a released value under each original one."""
        ...


@dataclass(frozen=True)
class Kept:
    """Each of some values is kept with a probability, and otherwise becomes any other with the same."""

    size: int
    retention: Fraction

    @property
    def both(self) -> tuple[Fraction, Fraction]:
        """The probabilities of a value itself and of any other."""
        if self.size == 1:
            return Fraction(1), Fraction(0)
        return self.retention, (1 - self.retention) / (self.size - 1)

    def column(self, released: int) -> Column:
        """All the same but for the value itself."""
        own, other = self.both
        return [own if one == released else other for one in range(self.size)]


@dataclass(frozen=True)
class Counted:
    """How often each value was released as each. int64, shape (original values, released values)."""

    counts: Counts

    @cached_property
    def _totals(self) -> list[int]:
        return [int(one) for one in self.counts.sum(axis=1)]

    def column(self, released: int) -> Column:
        """Shares of the records with each original value."""
        counts = self.counts[:, released].tolist()
        return [Fraction(one, whole) if whole else None for one, whole in zip(counts, self._totals, strict=True)]


@dataclass(frozen=True)
class Declared:
    """A declared matrix, its rows divided by their sums.

    Args:
        matrix: as it was declared.
        rows: the row of each original value, -1 where there is none.
        columns: the column of each released value, likewise.
    """

    matrix: LabelledMatrix
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]

    @cached_property
    def _lines(self) -> list[list[Fraction]]:
        rows = (self.matrix.fractions(row) for row in range(len(self.matrix.rows)))
        lines = ((row, sum(row, Fraction(0))) for row in rows)
        return [[one / whole for one in line] for line, whole in lines]

    def column(self, released: int) -> Column:
        """The probabilities; 0 for what the matrix lacks."""
        place = int(self.columns[released])
        if place < 0:
            return [Fraction(0)] * len(self.rows)
        return [self._lines[row][place] if row >= 0 else Fraction(0) for row in self.rows.tolist()]


@dataclass(frozen=True)
class Adapted:
    """R = P Q, under which the expected number of records with each value stays as it is; see `channel.invariant`.

    Args:
        channel: P.
        counts: the original records with each value.

    Cost: O(values^2) for the first column, where P is declared, and for each; O(values) where values are kept.
    """

    channel: Kept | Declared
    counts: Sequence[int]

    @cached_property
    def _columns(self) -> list[list[Fraction]]:
        return [[one or Fraction(0) for one in self.channel.column(place)] for place in range(len(self.counts))]

    def column(self, released: int) -> Column:
        """A column of R."""
        if isinstance(self.channel, Kept):
            return self._of_kept(self.channel, released)
        back = [self._back(column, released) for column in self._columns]
        places = range(len(self.counts))
        ways = [Fraction(one == released) if way is None else way for one, way in zip(places, back, strict=True)]
        return [
            sum((column[x] * way for column, way in zip(self._columns, ways, strict=True)), Fraction(0)) for x in places
        ]

    def _back(self, column: Sequence[Fraction], released: int) -> Fraction | None:
        """Q of a value, released as another before; None where the value is never released."""
        whole = sum(one * times for one, times in zip(column, self.counts, strict=True))
        return column[released] * self.counts[released] / whole if whole else None

    def _of_kept(self, kept: Kept, released: int) -> Column:
        (own, other), times, records = kept.both, self.counts[released], sum(self.counts)
        wholes = [other * (records - one) + own * one for one in self.counts]
        ways = [
            ((own if one == released else other) * times / whole) if whole else Fraction(one == released)
            for one, whole in enumerate(wholes)
        ]
        everywhere = other * sum(ways, Fraction(0))
        return [everywhere + (own - other) * one for one in ways]
