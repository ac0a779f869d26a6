"""Whole histories in plain Python: rows of units, compared unit with unit; nothing here is the auditor's.

A unit's history is the multiset of its rows, each as the tuple of its quasi-identifiers. Units of equal histories are
one class. A secret that differs within units is judged in the class, where a share is the share of units that have a
value in any row, or in cells: the rows of a class that agree.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from brute_classes import (
    QUASI_IDENTIFIERS,
    SENSITIVE,
    TOKENS,
    UNIT,
    Conventions,
    Counts,
    Judged,
    OneClass,
    Record,
    Value,
    value_of,
)

UNITS, CELLS = "units", "cells"
READINGS: Mapping[str, str] = {
    **dict.fromkeys(("alpha_k_anonymity", "homogeneity", "background_knowledge", "skewness"), UNITS),
    **dict.fromkeys(("basic_beta_likeness", "enhanced_beta_likeness", "delta_disclosure"), UNITS),
    **dict.fromkeys(("distinct_l_diversity", "p_sensitive_k_anonymity", "entropy_l_diversity"), CELLS),
    **dict.fromkeys(("recursive_cl_diversity", "t_closeness", "similarity"), CELLS),
    **dict.fromkeys(("implied_epsilon", "stochastic_t_closeness"), CELLS),
}


@dataclass(frozen=True)
class Histories:
    """The units of a release that count, with the positions of their rows.

    Args:
        records: the release.
        conventions: what a verdict means.
    """

    records: Sequence[Record]
    conventions: Conventions

    @property
    def everyone(self) -> Mapping[Hashable, Sequence[int]]:
        """The rows of each unit, exempt ones too; rows without a unit are those of one."""
        rows: dict[Hashable, list[int]] = defaultdict(list)
        for position, one in enumerate(self.records):
            rows[one[UNIT]].append(position)
        return rows

    @property
    def units(self) -> Mapping[Hashable, Sequence[int]]:
        """The rows of each unit that counts: one is exempt only if every cell of all its rows is suppressed."""
        return {unit: rows for unit, rows in self.everyone.items() if not self._is_exempt(rows)}

    def _is_exempt(self, rows: Sequence[int]) -> bool:
        cells = (self.records[row][name] for row in rows for name in (*QUASI_IDENTIFIERS, *SENSITIVE))
        return self.conventions.suppressed == "exempt" and all(cell in TOKENS for cell in cells)

    def label(self, row: int, known: Sequence[str] = ()) -> tuple[Any, ...]:
        """What is known of a row."""
        return tuple(self.records[row][name] for name in (*QUASI_IDENTIFIERS, *known))

    def classes(self, known: Sequence[str] = ()) -> Iterator[Mapping[Hashable, Sequence[int]]]:
        """The units of each history, with their rows."""
        left = dict(self.units)
        while left:
            first = self._history(next(iter(left.values())), known)
            alike = {unit: rows for unit, rows in left.items() if self._history(rows, known) == first}
            left = {unit: rows for unit, rows in left.items() if unit not in alike}
            yield alike

    def _history(self, rows: Sequence[int], known: Sequence[str]) -> Counter[Any]:
        return Counter(self.label(row, known) for row in rows)

    def is_constant(self, attributes: Sequence[str]) -> bool:
        """Whether every unit has one value of each attribute, in all rows."""
        cells = [[{self.records[row][name] for row in rows} for name in attributes] for rows in self.everyone.values()]
        return all(len(one) == 1 for unit in cells for one in unit)

    def values(self, rows: Sequence[int], attributes: Sequence[str]) -> set[Value]:
        """The different values of some rows."""
        values = {value_of(self.records[row], attributes) for row in rows}
        return values if self.conventions.missing_sensitive == "own_category" else values - {None}

    def counted(self, units: Mapping[Hashable, Sequence[int]], attributes: Sequence[str]) -> tuple[Counts, int]:
        """How many units have each value, and how many have any."""
        values = [self.values(rows, attributes) for rows in units.values()]
        return Counter(value for own in values for value in own), sum(map(bool, values))

    def judged(
        self, attributes: Sequence[str], known: Sequence[str], reading: str, other_reference: Counts | None = None
    ) -> Judged:
        """The classes, or the cells, in which an attribute is judged."""
        classes = list(self.classes(known))
        everyone = len(self.units)
        if not attributes or self.is_constant(attributes):
            parts = [self._of_units(one, attributes) for one in classes]
        elif reading == UNITS:
            parts = [self._of_shares(one, attributes) for one in classes]
        else:
            parts = [cell for one in classes for cell in self._cells(one, attributes, known)]
        mixture: Counter[Value] = Counter()
        for one in parts:
            mixture.update(one.counts)
        having = sum(one.members for one in parts) if any(one.of_members for one in parts) else None
        if other_reference is not None:
            return Judged(parts, other_reference, everyone)
        return Judged(parts, mixture, everyone, having)

    def _of_units(self, units: Mapping[Hashable, Sequence[int]], attributes: Sequence[str]) -> OneClass:
        """A class of units, each with one value."""
        counts, members = self.counted(units, attributes) if attributes else ({}, 0)
        positions = [row for rows in units.values() for row in rows]
        return OneClass(len(units), len(units), counts, members, positions)

    def _of_shares(self, units: Mapping[Hashable, Sequence[int]], attributes: Sequence[str]) -> OneClass:
        """A class in which a share is that of the units that have a value in any row."""
        counts, members = self.counted(units, attributes)
        positions = [row for rows in units.values() for row in rows]
        return OneClass(len(positions), len(units), counts, members, positions, of_members=True)

    def _cells(
        self, units: Mapping[Hashable, Sequence[int]], attributes: Sequence[str], known: Sequence[str]
    ) -> Iterator[OneClass]:
        whole, members = self.counted(units, attributes)
        held = [value for value, count in whole.items() if count == members]
        for label in {self.label(row, known) for rows in units.values() for row in rows}:
            own = {unit: [row for row in rows if self.label(row, known) == label] for unit, rows in units.items()}
            counts, having = self.counted(own, attributes)
            positions = [row for rows in own.values() for row in rows]
            yield OneClass(len(positions), len(units), counts, having, positions, held)

    # Figures of the whole release

    def _sizes(self) -> list[int]:
        return [len(one) for one in self.classes()]

    @property
    def k(self) -> int:
        """The fewest units of one history."""
        return min(self._sizes())

    @property
    def per_row(self) -> tuple[int, int]:
        """The fewest units with one row, and the number of different rows."""
        of_label: dict[Any, set[Hashable]] = defaultdict(set)
        for unit, rows in self.units.items():
            for row in rows:
                of_label[self.label(row)].add(unit)
        return min(map(len, of_label.values())), len(of_label)

    @property
    def alone(self) -> Fraction:
        """The share of units that no other has the history of."""
        return Fraction(self._sizes().count(1), len(self.units))

    @property
    def average(self) -> Fraction:
        """The mean chance of finding a unit."""
        return Fraction(len(self._sizes()), len(self.units))

    def above(self, risk: Fraction) -> Fraction:
        """The share of units with a higher chance of being found."""
        return Fraction(sum(size for size in self._sizes() if Fraction(1, size) > risk), len(self.units))

    def homogeneous(self, attributes: Sequence[str]) -> Fraction:
        """The share of units in a class with a value that all of it have, or in which no one has any."""
        judged = self.judged(attributes, (), UNITS)
        certain = sum(one.size for one in judged.classes if not one.counts or one.certain)
        return Fraction(certain, len(self.units))
