"""Households: small ones by hand, generated and real ones, and their figures in plain Python with fractions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from tcdp_audit import Audit, audit

QI = {"role": "quasi_identifier"}
HOME = {"home": {"role": "insensitive"}}
WEIGHT = {"weight": {"role": "insensitive", "scale": "numeric"}}
Person = tuple[Hashable, Hashable]  # household, and what is known

T2: Sequence[Person] = [
    *(("h1", "30f"), ("h1", "32m"), ("h2", "30f"), ("h2", "32m")),
    *(("h3", "30f"), ("h3", "32m"), ("h3", "5f"), ("h4", "70f"), ("h5", "70f")),
]


def table_of(people: Sequence[Person], **further: Sequence[Any]) -> pa.Table:
    """People as a table of their household and one quasi-identifier."""
    return pa.table({"home": [str(one) for one, _ in people], "a": [str(one) for _, one in people], **further})


def audited(table: pa.Table, expect: Sequence[Mapping[str, Any]], **policy: Any) -> Audit:
    """Some demands on households whose further columns but a weight are quasi-identifiers."""
    known = {name: QI for name in table.column_names if name not in ("home", "weight", "person", "w")}
    rest = {"person": {"role": "insensitive"}, "w": WEIGHT["weight"], **HOME, **WEIGHT}
    declared = {**known, **{name: rest[name] for name in table.column_names if name in rest}}
    plain = {"version": 1, "household": "home", "attributes": declared, "expect": [*expect]}
    return audit(table, {**plain, **policy})


def risk_of(table: pa.Table, measure: str = "expected", at_most: Any = None, **policy: Any) -> Any:
    """The outcome of `individual_risk`."""
    demand = {"measure": measure, **({} if at_most is None else {"at_most": at_most})}
    (one,) = audited(table, [{"individual_risk": demand}], **policy).expectations
    return one


def generated(seed: int = 11, households: int = 2000) -> pa.Table:
    """`households(11, 2000)` of the definitions: regions, weights, age bands and sexes."""
    numbers, rows = _lcg(seed), []
    for home in range(households):
        region, weight = next(numbers) % 3, 20 + next(numbers) % 400
        for _ in range(1 + min(next(numbers) % 5, next(numbers) % 5)):
            band, sex = min(next(numbers) % 9, next(numbers) % 9), "fm"[next(numbers) % 2]
            rows.append((str(home), region, weight, band, sex))
    return pa.table(dict(zip(("home", "region", "weight", "band", "sex"), zip(*rows, strict=True), strict=True)))


def _lcg(seed: int) -> Iterator[int]:
    x = seed
    while True:
        x = (1103515245 * x + 12345) % 2**31
        yield x >> 8


def eusilc(data: Path) -> pa.Table:
    """The synthetic EU-SILC of laeken with six keys; NA is a value."""
    keys = ("db040", "hsize", "rb090", "age", "pb220a", "pl030")
    texts = pa.csv.ConvertOptions(column_types={name: pa.string() for name in ("db030", *keys)})
    table = pa.csv.read_csv(data / "histories/eusilc.csv", convert_options=texts).select(["db030", *keys, "rb050"])
    return table.rename_columns(["home", *keys, "weight"])


@dataclass(frozen=True)
class Figures:
    """What a program that compares people with people says of a whole population: r = 1/f."""

    people: Sequence[Person]

    @property
    def sizes(self) -> Counter[Hashable]:
        """How many people have each value."""
        return Counter(label for _, label in self.people)

    @property
    def homes(self) -> dict[Hashable, list[Hashable]]:
        """The members of each household."""
        homes: dict[Hashable, list[Hashable]] = defaultdict(list)
        for home, label in self.people:
            homes[home].append(label)
        return homes

    def alike(self, home: Hashable) -> int:
        """The households with the same members."""
        return sum(Counter(self.homes[home]) == Counter(other) for other in self.homes.values())

    def chance(self, home: Hashable) -> Fraction:
        """The chance that anyone of a household is found."""
        return 1 - prod((1 - Fraction(1, self.sizes[one]) for one in self.homes[home]), start=Fraction(1))

    @property
    def risks(self) -> dict[str, Fraction]:
        """The sums over people and households."""
        homes = self.homes
        return {
            "expected": sum((Fraction(1, self.sizes[label]) for _, label in self.people), Fraction(0)),
            "unit_expected": sum(map(self.chance, homes), Fraction(0)),
            "unit_highest": max(map(self.chance, homes)),
            "through_household": sum((len(homes[one]) * self.chance(one) for one in homes), Fraction(0)),
            "by_composition": sum((Fraction(len(homes[one]), self.alike(one)) for one in homes), Fraction(0)),
        }

    @property
    def details(self) -> dict[str, int]:
        """The people of households that are alone."""
        homes, sizes = self.homes, self.sizes
        candidates = [self.alike(home) * homes[home].count(label) for home, label in self.people]
        with_one = [any(sizes[one] == 1 for one in homes[home]) for home, _ in self.people]
        return {
            "people": len(self.people),
            "people_in_households_alone": sum(self.alike(home) == 1 for home, _ in self.people),
            "people_alike": min(candidates),
            "people_without_their_like": candidates.count(1),
            "people_in_a_household_with_one_alone": sum(with_one),
        }
