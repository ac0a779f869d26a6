r"""Probabilities of post-randomisation, \(P[x, y]\) that x is released as y: in floats, and exactly by column.

Floats weigh all pairs of records. Fractions decide about the few posteriors that rounding leaves open at a threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts, Floats
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import agree, count
from tcdp_audit_plugins.checks.masking_attacks.parameters import LabelledMatrix

Codes = NDArray[np.int64]
MOST = 4_000  # values of an attribute: 128 MiB
PRINTED = 1e-3  # what a row of printed decimals may lack of 1

Column = Sequence[Fraction | None]  # of all original values; None for one of which nothing is known


def retention_matrix(size: int, retention: float) -> Floats:
    """Each of some values is kept with a probability, and otherwise becomes any other with the same.

    Returns:
        float64, shape (size, size); rows are original values.

    Example:
        >>> retention_matrix(3, 0.9).round(3).tolist()
        [[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]]
    """
    matrix = np.full((size, size), (1 - retention) / max(size - 1, 1))
    np.fill_diagonal(matrix, retention if size > 1 else 1)
    return matrix


def declared(matrix: LabelledMatrix, labels: Sequence[str], original: Counts, released: Counts) -> Floats:
    """A declared matrix over the values of an attribute, with 0 for those that neither the file nor a table has.

    Returns:
        float64, shape (values, values).

    Raises:
        CheckError: a row has a negative number or does not sum to 1, or the file lacks a value that a table has.
    """
    sums = matrix.numbers.sum(axis=1)
    wrong = int(((matrix.numbers.min(axis=1) < 0) | (np.abs(sums - 1) > PRINTED)).sum())
    if wrong:
        rows = f"{count(wrong, 'row')} {agree(wrong, 'is', 'are')}"
        raise CheckError(f"{matrix.name}: {rows} no distribution; its numbers must be at least 0 and sum to 1")
    row, column = places(labels, matrix.rows), places(labels, matrix.columns)
    _require_all(row, original, f"{matrix.name} has no row for", "the original")
    _require_all(column, released, f"{matrix.name} has no column for", "the release")
    whole = np.zeros((len(labels), len(labels)))
    numbers = matrix.numbers / sums[:, None]
    whole[np.ix_(row >= 0, column >= 0)] = numbers[np.ix_(row[row >= 0], column[column >= 0])]
    return whole


def places(labels: Sequence[str], among: Sequence[str]) -> NDArray[np.intp]:
    """The place of each label among others; -1 where it has none."""
    place = {label: number for number, label in enumerate(among)}
    return np.array([place.get(label, -1) for label in labels], dtype=np.intp)


def _require_all(own: NDArray[np.intp], counts: Counts, lacks: str, table: str) -> None:
    absent = int(((own < 0) & (counts > 0)).sum())
    if absent:
        raise CheckError(f"{lacks} {count(absent, 'value')} of {table}; add what is not there")


def invariant(matrix: Floats, counts: Floats | Counts) -> Floats:
    """A matrix under which the expected number t of records with each value stays as it is.

    R = P Q, P with a row for each value: the value k that P makes of a record is answered by the value l that a record
    released as k had before, with the probability of that, Q_kl = P_lk t_l / sum_j P_jk t_j.

    Returns:
        R, with t R = t.

    Cost: O(values^3).

    Source: Gouweleeuw, Kooiman, Willenborg, de Wolf, Journal of Official Statistics 14(4), 1998.

    Example:
        >>> two = invariant(np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([110.0, 90.0]))
        >>> (np.array([110.0, 90.0]) @ two).round(9).tolist()
        [110.0, 90.0]
    """
    backwards = (matrix * counts[:, None]).T
    whole = backwards.sum(axis=1, keepdims=True)
    back = np.where(whole > 0, backwards / np.where(whole > 0, whole, 1.0), np.eye(len(matrix)))
    return np.asarray(matrix @ back)


def changes(size: int, original: Codes, released: Codes) -> Counts:
    """In how many pairs each value was released as each.

    Codes are `size` where a value is missing.

    Returns:
        int64, shape (size, size); rows are original values.

    Example:
        >>> changes(2, np.array([0, 0, 0, 0, 1]), np.array([0, 0, 0, 1, 1])).tolist()
        [[3, 1], [0, 1]]
    """
    both = (original < size) & (released < size)
    cells = original[both] * size + released[both]
    return np.bincount(cells, minlength=size * size).reshape(size, size)


def estimated(counts: Counts) -> Floats:
    """The observed frequencies of releases of each value, in parts: known only with both tables.

    Returns:
        float64, shape (size, size); a row of NaN for a value of no pair.

    Example:
        >>> estimated(np.array([[3, 1], [0, 1]])).tolist()
        [[0.75, 0.25], [0.0, 1.0]]
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def logarithms(matrix: Floats, released: Counts) -> Floats:
    """Ln P with a last row and column for missing cells, which say nothing.

    A released cell that is missing is as probable for everyone. An original that is missing, or of which nothing is
    known, is released as anything is in all.

    Returns:
        float64, shape (released values + 1, original values + 1).
    """
    share = released / max(int(released.sum()), 1)
    rows = np.vstack([np.where(np.isnan(matrix), share, matrix), share])
    with np.errstate(divide="ignore"):
        return np.ascontiguousarray(np.log(np.column_stack([rows, np.ones(len(rows))])).T)


def expected_released(original: Counts, matrix: Floats) -> Floats:
    """The expected releases of each value; added up by size, so that no order of values matters.

    Example:
        >>> expected_released(np.array([110, 90]), retention_matrix(2, 0.9)).round(9).tolist()
        [108.0, 92.0]
    """
    return np.asarray(np.sort(original[:, None] * matrix, axis=0).sum(axis=0))


def cell_posterior(original: Counts, matrix: Floats) -> Floats:
    """Pr(x = y | y): how probably a released value is the original one, for each value; NaN for one never released.

    Example:
        >>> from fractions import Fraction
        >>> shares = cell_posterior(np.array([110, 90]), retention_matrix(2, 0.9))
        >>> [Fraction(share).limit_denominator(100) for share in shares]
        [Fraction(11, 12), Fraction(81, 92)]
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(original * np.diag(matrix) / expected_released(original, matrix))


class Channel(Protocol):
    """The channel that values are released through."""

    def column(self, released: int) -> Column:
        """The probability of a released value under each original one."""
        ...


@dataclass(frozen=True)
class Retained:
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
        """Equal probabilities, except that of the value itself."""
        own, other = self.both
        return [own if one == released else other for one in range(self.size)]


@dataclass(frozen=True)
class Counted:
    """The count of releases of each value as each. int64, shape (original values, released values)."""

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
    """A declared matrix, its rows divided by their sums."""

    matrix: LabelledMatrix
    rows: NDArray[np.intp]  # the row of each original value, -1 where there is none
    columns: NDArray[np.intp]  # the column of each released value, likewise

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

    Cost: O(values^2) for the first column, where P is declared, and for each; O(values) where values are kept.
    """

    channel: Retained | Declared  # P
    counts: Sequence[int]  # the original records with each value

    @cached_property
    def _columns(self) -> list[list[Fraction]]:
        return [[one or Fraction(0) for one in self.channel.column(place)] for place in range(len(self.counts))]

    def column(self, released: int) -> Column:
        """A column of R."""
        if isinstance(self.channel, Retained):
            return self._of_retained(self.channel, released)
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

    def _of_retained(self, retained: Retained, released: int) -> Column:
        # P has only two different entries, so that a column of P Q is a constant plus one entry: O(values) instead of
        # O(values^2), which counts for attributes of thousands of values.
        (own, other), times, records = retained.both, self.counts[released], sum(self.counts)
        wholes = [other * (records - one) + own * one for one in self.counts]
        ways = [
            ((own if one == released else other) * times / whole) if whole else Fraction(one == released)
            for one, whole in enumerate(wholes)
        ]
        everywhere = other * sum(ways, Fraction(0))
        return [everywhere + (own - other) * one for one in ways]
