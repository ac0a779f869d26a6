"""Figures over people, row by row and person by person in plain fractions; nothing here is the auditor's.

A row's class is all rows that are compatible with it, itself included. A person's risk is that of their riskiest row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import log
from random import Random
from typing import Any

from brute_classes import QUASI_IDENTIFIERS, SENSITIVE, TOKENS, Conventions, Record, value_of

NUMBERS_OF_ROWS = (1, 1, 1, 2, 3, 10, 50)
CELLS: Mapping[str, Sequence[str | None]] = {
    "sex": ["f", "m", "m", None],
    "zip": ["02139", "02140", "02141", "*"],
    "illness": ["flu", "gout", "cold", "*", None],
    "stage": ["low", "middle", "high", None],
}
WEIGHTS = ("1", "2.5", "7", "40")


def unequal_table(random: Random, people: int) -> list[Record]:
    """Rows of people who have from 1 to 50 of them; most cells of some people are the same in all rows."""
    rows: list[Record] = []
    for person in range(people):
        steady = random.random()
        usual = {name: random.choice(cells) for name, cells in CELLS.items()}
        named = None if random.random() < 0.1 else str(person)
        for _ in range(random.choice(NUMBERS_OF_ROWS)):
            cells = {name: usual[name] if random.random() < steady else random.choice(of) for name, of in CELLS.items()}
            if random.random() < 0.05:
                cells = dict.fromkeys((*QUASI_IDENTIFIERS, *SENSITIVE), "*")
            rows.append({**cells, "person": named, "weight": random.choice(WEIGHTS)})
    random.shuffle(rows)
    return rows


@dataclass(frozen=True)
class Table:
    """A release, and what its rows may be taken for.

    Args:
        rows: those that count.
        conventions: what a verdict means.
    """

    rows: Sequence[Record]
    conventions: Conventions

    @classmethod
    def of(cls, rows: Sequence[Record], conventions: Conventions) -> Table:
        """The rows that the policy does not exempt."""
        if conventions.suppressed == "counted":
            return cls(rows, conventions)
        columns = (*QUASI_IDENTIFIERS, *SENSITIVE)
        return cls([one for one in rows if any(one[name] not in TOKENS for name in columns)], conventions)

    @property
    def classes(self) -> list[list[Record]]:
        """For each row the rows that are compatible with it."""
        return [[other for other in self.rows if self._compatible(one, other)] for one in self.rows]

    def _compatible(self, one: Record, other: Record) -> bool:
        wildcard = self.conventions.missing_quasi_identifier == "wildcard"
        pairs = [(one[name], other[name]) for name in QUASI_IDENTIFIERS]
        return all(a == b or (wildcard and None in (a, b)) for a, b in pairs)

    def whose(self, row: int) -> Hashable:
        """Who counts for a row: its person, where the policy names one, and otherwise the row itself."""
        return self.rows[row]["person"] if self.conventions.unit else row

    @property
    def people(self) -> set[Hashable]:
        """Who counts, each once."""
        return {self.whose(row) for row in range(len(self.rows))}

    def size(self, rows: Sequence[Record]) -> int:
        """How many people, or rows, some rows are."""
        return len({one["person"] for one in rows}) if self.conventions.unit else len(rows)

    def share(self, exposed: Iterable[bool]) -> Fraction:
        """The share of people with a row that is exposed."""
        those = {self.whose(row) for row, one in enumerate(exposed) if one}
        return Fraction(len(those), len(self.people))

    @property
    def unique(self) -> Fraction:
        """The share that is alone in a class."""
        return self.share(self.size(one) == 1 for one in self.classes)

    def homogeneous(self, attribute: str) -> Fraction:
        """The share that is in a class in which everybody has a value, or nobody has any."""
        return self.share(self._gives_away(one, attribute) for one in self.classes)

    def _gives_away(self, rows: Sequence[Record], attribute: str) -> bool:
        having: dict[Any, set[Hashable]] = defaultdict(set)
        for number, one in enumerate(rows):
            value = value_of(one, (attribute,))
            if value is not None or self.conventions.missing_sensitive == "own_category":
                having[value].add(one["person"] if self.conventions.unit else number)
        everybody = set().union(*having.values())
        return not everybody or any(those == everybody for those in having.values())

    @property
    def risks(self) -> dict[Hashable, Fraction]:
        """The highest risk of a row of each person."""
        highest: dict[Hashable, Fraction] = {}
        for row, one in enumerate(self.classes):
            who = self.whose(row)
            highest[who] = max(highest.get(who, Fraction(0)), Fraction(1, self.size(one)))
        return highest

    @property
    def average(self) -> Fraction:
        """The mean of these."""
        return sum(self.risks.values(), Fraction(0)) / len(self.risks)

    def above(self, risk: Fraction) -> Fraction:
        """The share with a higher risk."""
        return Fraction(sum(one > risk for one in self.risks.values()), len(self.risks))

    def individual(self, fraction: Fraction | None) -> list[float]:
        """Of each person, or row, the chance that a row is found: from weights, or from a sampling fraction."""
        missed: dict[Hashable, float] = {}
        for row, one in enumerate(self.classes):
            weight = sum(Fraction(str(other["weight"])) for other in one)
            risk = benedetti_franconi(len(one), weight if fraction is None else len(one) / fraction)
            missed[self.whose(row)] = missed.get(self.whose(row), 1.0) * (1 - risk)
        return [1 - one for one in missed.values()]

    def supports(self, most: int) -> int:
        """The least number of people who have some items, at most so many, that one of them has."""
        items: dict[Hashable, set[tuple[str, str]]] = defaultdict(set)
        for row, one in enumerate(self.rows):
            cells = ((name, one[name]) for name in QUASI_IDENTIFIERS)
            items[self.whose(row)] |= {(name, cell) for name, cell in cells if cell is not None and cell not in TOKENS}
        known = {some for own in items.values() for n in range(1, most + 1) for some in combinations(sorted(own), n)}
        return min(sum(set(some) <= own for own in items.values()) for some in known)


def benedetti_franconi(sample: int, population: Fraction) -> float:
    """The mean of 1/F by the formulas of the page."""
    if population <= sample:
        return 1 / sample
    p = float(sample / population)
    odds = p / (1 - p)
    if sample == 1:
        return odds * log(1 / p)
    return odds - odds**2 * log(1 / p) if sample == 2 else p / (sample - (1 - p))
