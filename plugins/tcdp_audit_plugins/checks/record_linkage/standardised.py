"""Two tables in one space: each standardised on its own, identical records together, squared distances exact.

A numeric attribute becomes (value - mean) / sd of its own table, sd with n - 1; an ordinal one the same by its rank
in the declared order, 0, 1, 2 ...; two nominal values differ by 0 or 1. A number or rank with a single value in either
table has no standard deviation to be counted in and weighs 0; a nominal attribute needs none and always weighs. A cell
that is missing on either side counts as far as two records drawn at random are on average: a squared difference of 2
for standardised numbers, of 1 for a nominal attribute; so it neither attracts nor repels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, fold
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.engine import CheckError, CodedTable

EPSILON = float(np.finfo(np.float64).eps)
RANDOM_PAIR = 2.0  # expected squared difference of two independent values of variance 1


@dataclass(frozen=True)
class RecordPoints:
    """The distinct records of a table as points."""

    # numeric and ordinal attributes, standardised and times the root of their weight; NaN where missing. float64,
    # shape (points, numeric attributes).
    numbers: Floats
    # codes of nominal attributes; a missing cell has a code that the other table lacks. int64, shape (points,
    # nominal attributes).
    labels: NDArray[np.int64]
    records: NDArray[np.int64]  # how many records are at each point. int64, shape (points,).
    point: NDArray[np.intp]  # the point of each record. Shape (records,).

    def __len__(self) -> int:
        """The number of points."""
        return len(self.records)

    def only(self, points: NDArray[np.intp]) -> RecordPoints:
        """Some of the points, and no record."""
        return RecordPoints(self.numbers[points], self.labels[points], self.records[points], self.point[:0])


@dataclass(frozen=True)
class Space:
    """Two tables that are compared."""

    released: RecordPoints  # points of the release
    known: RecordPoints  # points of the table that the intruder knows
    number_weights: Floats  # weight of each numeric or ordinal attribute
    label_weights: Floats  # weight of each nominal attribute
    without_variance: list[str]  # numbers and ranks that weigh 0 because a table has a single value of them
    missing_cells: int  # missing cells of the compared attributes, in both tables

    def turned(self) -> Space:
        """The same space, searched from the known table in the release."""
        return Space(
            self.known,
            self.released,
            self.number_weights,
            self.label_weights,
            self.without_variance,
            self.missing_cells,
        )

    @cached_property
    def rounding(self) -> float:
        """Distances that differ by less than this are equal: what float64 can lose on values of this size."""
        tables = (self.released.numbers, self.known.numbers)
        largest = [np.nanmax(np.abs(one), axis=0, initial=0.0) for one in tables]
        return 32 * EPSILON * (sqrt(float((np.maximum(*largest) ** 2).sum())) + sqrt(float(self.label_weights.sum())))

    def squared_distances(self, released: NDArray[np.intp], known: NDArray[np.intp]) -> Floats:
        """d^2 of pairs of points, attribute by attribute in one order.

        Points are pairs, or a row of released ones next to a column of known ones, for all pairs.

        Returns:
            float64, shape (pairs,), or the common shape of both.
        """
        total = np.zeros(np.broadcast_shapes(released.shape, known.shape))
        for attribute, weight in enumerate(self.number_weights):
            difference = self.released.numbers[released, attribute] - self.known.numbers[known, attribute]
            difference *= difference
            total += np.where(np.isnan(difference), RANDOM_PAIR * weight, difference)
        for attribute, weight in enumerate(self.label_weights):
            total += weight * (self.released.labels[released, attribute] != self.known.labels[known, attribute])
        return total

    def nearly(self, squared: Floats) -> Floats:
        """The largest d^2 that counts as equal to a given one."""
        return np.asarray((np.sqrt(squared) + self.rounding) ** 2)


def space(
    released: CodedTable,
    known: CodedTable,
    scales: Mapping[str, Scale],
    weights: Mapping[str, Fraction],
    standard: CodedTable | None = None,
) -> Space:
    """Standardise two tables, each on its own or both by one standard.

    Args:
        released: the release, coded together with `known`.
        known: the table that the intruder knows.
        scales: the compared attributes and their scales.
        weights: weights of attributes; 1 where none is given.
        standard: the table whose mean and sd are used for both; without it, each table's own.

    Raises:
        CheckError: none is nominal, and no number or rank varies in both tables, or in the standard.

    Cost: O(records x attributes) and a sort of the distinct values and records.
    """
    tables = (released, known)
    standards = tables if standard is None else (standard, standard)
    ranked = [name for name in sorted(scales) if scales[name] is not Scale.NOMINAL]
    constant = [name for name in ranked if min(_varieties(table, name) for table in standards) < 2]
    used = [name for name in sorted(scales) if name not in constant and weights.get(name, Fraction(1)) > 0]
    if not used:
        raise CheckError("none of the compared attributes varies in both tables, so there is nothing to compare by")
    labels = [name for name in used if scales[name] is Scale.NOMINAL]
    numbers = [name for name in used if scales[name] is not Scale.NOMINAL]
    weight = {name: float(weights.get(name, Fraction(1))) for name in used}
    first, second = (
        _points(table, standards[side], numbers, labels, weight, scales, side) for side, table in enumerate(tables)
    )
    return Space(
        first,
        second,
        np.array([weight[name] for name in numbers]),
        np.array([weight[name] for name in labels]),
        constant,
        sum(int(_counts(table, name)[-1]) for table in tables for name in scales),
    )


def _varieties(table: CodedTable, name: str) -> int:
    """The number of values of an attribute that occur in a table."""
    return int(np.count_nonzero(_counts(table, name)[:-1]))


def _counts(table: CodedTable, name: str) -> NDArray[np.int64]:
    """Records with each code, the missing one last."""
    return np.bincount(table.codes[name], table.times, table.domains[name].size + 1).astype(np.int64)


def _points(
    table: CodedTable,
    standard: CodedTable,
    numbers: Sequence[str],
    labels: Sequence[str],
    weight: Mapping[str, float],
    scales: Mapping[str, Scale],
    side: int,
) -> RecordPoints:
    """The distinct records of a table in the order of their codes, whatever the order of its rows is."""
    used = [*numbers, *labels]
    keys = fold([table.codes[name] for name in used], [table.domains[name].size + 1 for name in used]).values
    _, first, point = np.unique(keys, return_index=True, return_inverse=True)
    records = np.bincount(point, table.times).astype(np.int64)
    columns = [_standardised(standard, name, weight[name], scales[name])[table.codes[name][first]] for name in numbers]
    codes = [_without_partner(table, name, side)[table.codes[name][first]] for name in labels]
    return RecordPoints(
        np.column_stack([np.zeros((len(first), 0)), *columns]),
        np.column_stack([np.zeros((len(first), 0), dtype=np.int64), *codes]),
        records,
        point,
    )


def _standardised(table: CodedTable, name: str, weight: float, scale: Scale) -> Floats:
    """The standardised value of each code, NaN for the missing one; summed by value, so no order of rows matters."""
    domain, counts = table.domains[name], _counts(table, name)[:-1]
    values = domain.values.astype(np.float64) if scale is Scale.NUMERIC else np.arange(domain.size, dtype=np.float64)
    records = int(counts.sum())
    centred = values - float((values * counts).sum()) / records
    centred -= float((centred * counts).sum()) / records  # what rounding of a large mean left
    variance = float((centred * centred * counts).sum()) / (records - 1)
    return np.append(centred / sqrt(variance) * sqrt(weight), np.nan)


def _without_partner(table: CodedTable, name: str, side: int) -> NDArray[np.int64]:
    """Codes of a nominal attribute in which a missing cell of one table differs from one of the other."""
    size = table.domains[name].size
    return np.append(np.arange(size), size + side)
