"""Column risks: what each column that an intruder may know adds to the risk of re-identification.

All figures are computed from the sizes of groups by each subset of those columns: of the distinct rows with the number
of records of each, or of units by their whole histories.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.audit_figures import ColumnRisk
from tcdp_audit.core.encoding.keys import Codes, numbered, occurrences

EXACT = 8  # columns at most for the Shapley values of a report: every subset is measured in each audit that has one
ROWS = 200_000  # distinct rows at most, times the subsets that must be looked at; else nothing is measured

Sizes = NDArray[np.int64]
Measure = Callable[[tuple[int, ...]], Any]  # a figure of some columns


def column_risks(codes: Mapping[str, Codes], times: Sizes, labels: Mapping[str, str]) -> list[ColumnRisk]:
    """The columns by what they add to the risk, the most risky first.

    The share is the Shapley value of a column in the game whose value is the number of unique records, or of pairs
    distinguished where no record is unique. Beyond eight columns it is the drop when the column is left out.

    Args:
        codes: of each column, one for every distinct row. Shape (rows,) each.
        times: how many records each row represents. Shape (rows,).
        labels: what the policy calls columns.

    Cost: numbering the rows for each subset of up to eight columns, for each column beyond.

    Example:
        >>> codes = {"age": np.array([0, 1, 2]), "sex": np.array([0, 0, 0])}
        >>> [(one.column, one.share) for one in column_risks(codes, np.array([1, 1, 1]), {})]
        [('age', 1.0), ('sex', 0.0)]
    """
    names = [*codes]
    return risks_by_subsets(names, MeasuredSubsets([codes[name] for name in names], times), labels) if names else []


def risks_by_subsets(
    names: Sequence[str], measured: Subsets, labels: Mapping[str, str], noun: str = ""
) -> list[ColumnRisk]:
    """The columns by what they add to the risk, the most risky first; see `column_risks`.

    Args:
        names: the columns, at least one.
        measured: their subsets, by their places among the names.
        labels: what the policy calls columns.
        noun: what is counted in the place of records.

    Cost: the sizes of the groups by each subset of up to eight columns, without each column beyond.
    """
    everything = tuple(range(len(names)))
    measure = measured.alone if measured.alone(everything) else measured.apart
    shares = _shares(measure, len(names))
    risks = [
        ColumnRisk(
            column=name,
            label=labels.get(name, ""),
            share=share,
            distinction=measured.groups((place,)) / measured.records,
            separation=measured.apart((place,)) / max(comb(measured.records, 2), 1),
            unique=measured.alone(everything),
            unique_without=measured.alone(everything[:place] + everything[place + 1 :]),
            noun=noun,
        )
        for place, (name, share) in enumerate(zip(names, shares, strict=True))
    ]
    return sorted(risks, key=lambda one: (-one.share, names.index(one.column)))


def affordable(columns: int, rows: int) -> bool:
    """Whether so many columns and distinct rows can be measured at little cost."""
    subsets = 2**columns if columns <= EXACT else columns + 1
    return columns > 0 and rows * subsets <= ROWS * 2**EXACT // 4


class Subsets(ABC):
    """Groups by any subset of some columns, which are named by their places.

    Args:
        records: how many records, or units, the groups have in all.
    """

    def __init__(self, records: int) -> None:
        self.records = records
        self.known: dict[tuple[int, ...], int] = {}  # records alone
        self.distinguished: dict[tuple[int, ...], int] = {}  # pairs of records

    @abstractmethod
    def sizes(self, subset: tuple[int, ...]) -> Sizes:
        """Records in each group, none of them empty."""

    def groups(self, subset: tuple[int, ...]) -> int:
        """The number of groups."""
        return len(self.sizes(subset))

    def alone(self, subset: tuple[int, ...]) -> int:
        """Records that no other agrees with."""
        if subset not in self.known:
            self.known[subset] = int((self.sizes(subset) == 1).sum())
        return self.known[subset]

    def apart(self, subset: tuple[int, ...]) -> int:
        """Pairs of records that are distinguished."""
        if subset not in self.distinguished:
            together = sum(size * (size - 1) // 2 * number for size, number in _counted(self.sizes(subset)))
            self.distinguished[subset] = comb(self.records, 2) - together
        return self.distinguished[subset]


class MeasuredSubsets(Subsets):
    """The sizes of groups of rows. A subset that begins as the last one did continues its groups.

    Args:
        columns: codes of each column, one for every row. Shape (rows,) each.
        times: how many records each row represents. Shape (rows,).
    """

    def __init__(self, columns: Sequence[Codes], times: Sizes) -> None:
        super().__init__(int(times.sum()))
        self.columns, self.times = columns, times
        self.radices = [int(one.max()) + 1 for one in columns]
        self.numbers_of_groups: dict[tuple[int, ...], int] = {}
        self.path = [_Numbered(-1, np.zeros(len(times), np.int64), 1)]  # the rows by no column, by one, by two, ...

    def groups(self, subset: tuple[int, ...]) -> int:
        """The number of groups."""
        if subset not in self.numbers_of_groups:
            self.numbers_of_groups[subset] = self._numbered(subset).groups
        return self.numbers_of_groups[subset]

    def sizes(self, subset: tuple[int, ...]) -> Sizes:
        """Records in each group."""
        by = self._numbered(subset)
        return occurrences(by.numbers, by.groups, self.times)

    def numbers(self, subset: tuple[int, ...]) -> tuple[Codes, int]:
        """The group of each row, and how many groups there are."""
        by = self._numbered(subset)
        return by.numbers, by.groups

    def _numbered(self, subset: tuple[int, ...]) -> _Numbered:
        """The rows by their groups, from those of the columns that the last subset began with, too."""
        while tuple(one.place for one in self.path[1:]) != subset[: len(self.path) - 1]:
            self.path.pop()
        for place in subset[len(self.path) - 1 :]:
            self.path.append(self._divided(self.path[-1], place))
        return self.path[-1]

    def _divided(self, by: _Numbered, place: int) -> _Numbered:
        """The groups by one more column."""
        if by.groups == len(by.numbers):
            return _Numbered(place, by.numbers, by.groups)
        keys = by.numbers * np.int64(self.radices[place]) + self.columns[place]
        distinct, numbers = numbered(keys, by.groups * self.radices[place])
        return _Numbered(place, numbers, len(distinct))


class _Numbered(NamedTuple):
    """Rows with the numbers of their groups, and the column that divided them last."""

    place: int
    numbers: Codes
    groups: int


def _counted(sizes: Sizes) -> list[tuple[int, int]]:
    """Sizes with how often they occur, as Python's own numbers, which cannot overflow."""
    values, numbers = np.unique(sizes, return_counts=True)
    return list(zip(values.tolist(), numbers.tolist(), strict=True))


def _shares(measure: Measure, columns: int) -> list[float]:
    """The shares of all columns in the whole; equal parts where none adds anything."""
    is_exact = columns <= EXACT
    added = exact_shapley(measure, columns) if is_exact else [_drop(measure, columns, n) for n in range(columns)]
    total = sum(added)
    return [one / total for one in added] if total else [1 / columns] * columns


def exact_shapley(measure: Measure, columns: int) -> list[float]:
    """The mean of what each column adds over all orders in which columns may be learned. Cost: 2^columns measures."""
    # Sorted, each subset differs from the one before in its last columns only, so that `MeasuredSubsets` divides the
    # groups that it has and does not begin anew. After this loop every figure is known, and what follows adds them up.
    for subset in sorted(one for size in range(columns) for one in combinations(range(columns), size + 1)):
        measure(subset)
    return [float(_shapley_value(measure, columns, column)) for column in range(columns)]


def _shapley_value(measure: Measure, columns: int, column: int) -> float:
    others = [one for one in range(columns) if one != column]
    value = 0.0
    for number in range(columns):
        weight = 1 / (columns * comb(columns - 1, number))
        for some in combinations(others, number):
            value += weight * (measure(tuple(sorted((*some, column)))) - measure(some))
    return value


def _drop(measure: Measure, columns: int, column: int) -> float:
    everything = tuple(range(columns))
    return float(measure(everything) - measure(everything[:column] + everything[column + 1 :]))
