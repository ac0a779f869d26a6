"""The four checks in plain Python, from their definitions: slow, exact, and sharing no code with the auditor.

Records are mappings from column to text, or to None for a missing cell. Numbers are given as texts as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log, prod
from typing import Literal

Record = Mapping[str, str | None]
Cell = str | None


@dataclass(frozen=True)
class Rules:
    """Roles and conventions."""

    quasi_identifiers: Sequence[str]
    sensitive: Sequence[str]
    unit: str | None = None
    missing_quasi_identifier: Literal["own_category", "wildcard", "fail"] = "own_category"
    missing_sensitive: Literal["excluded", "own_category", "fail"] = "excluded"
    suppressed: Literal["counted", "exempt"] = "counted"
    tokens: frozenset[str] = frozenset({"*"})


@dataclass(frozen=True)
class EquivalenceClass:
    """How many records it has, and the records that it is judged by: more than its own under `wildcard`."""

    records: int
    matched: Sequence[Record]


@dataclass(frozen=True)
class Measured:
    """One figure for each class, `None` for a class without a distribution."""

    classes: Sequence[EquivalenceClass]
    figures: Sequence[Fraction | float | None]


def counted(records: Sequence[Record], rules: Rules) -> list[Record]:
    """The records that are not exempt."""
    if rules.suppressed == "counted":
        return list(records)
    columns = [*rules.quasi_identifiers, *rules.sensitive]
    return [record for record in records if any(record[column] not in rules.tokens for column in columns)]


def classes(records: Sequence[Record], rules: Rules) -> list[EquivalenceClass]:
    """Records that agree in every quasi-identifier; under `wildcard` each judged with all it is compatible with."""
    names = rules.quasi_identifiers
    sizes = Counter(tuple(record[name] for name in names) for record in records)

    def compatible(key: tuple[Cell, ...], record: Record) -> bool:
        pairs = [(cell, record[name]) for cell, name in zip(key, names, strict=True)]
        if rules.missing_quasi_identifier != "wildcard":
            return all(mine == other for mine, other in pairs)
        return all(mine is None or other is None or mine == other for mine, other in pairs)

    return [
        EquivalenceClass(size, [record for record in records if compatible(key, record)]) for key, size in sizes.items()
    ]


def histogram(records: Sequence[Record], attribute: str, rules: Rules) -> Counter[Cell]:
    """Counts of values; an entity counts once for each value that it has."""
    if rules.unit is None:
        counts = Counter(record[attribute] for record in records)
    else:
        counts = Counter(value for _, value in {(record[rules.unit], record[attribute]) for record in records})
    if rules.missing_sensitive != "own_category":
        counts.pop(None, None)
    return counts


def is_certain(records: Sequence[Record], attribute: str, rules: Rules) -> bool:
    """Whether everybody who has a value has the same one, alone or beside others."""
    own = rules.missing_sensitive == "own_category"
    having: dict[object, set[Cell]] = {}
    for number, record in enumerate(records):
        if own or record[attribute] is not None:
            having.setdefault(number if rules.unit is None else record[rules.unit], set()).add(record[attribute])
    return bool(having) and bool(set.intersection(*having.values()))


def marginal(records: Sequence[Record], attribute: str, rules: Rules) -> Counter[Cell]:
    """The table's distribution: that of all classes without wildcards together."""
    plain = Rules(rules.quasi_identifiers, rules.sensitive)
    total: Counter[Cell] = Counter()
    for one in classes(records, plain):
        total += histogram(one.matched, attribute, rules)
    return total


def k_anonymity(records: Sequence[Record], rules: Rules) -> Measured:
    """Records, or entities, of each class. All records without an entity are one."""
    result = classes(counted(records, rules), rules)
    if rules.unit is None:
        return Measured(result, [Fraction(len(one.matched)) for one in result])
    return Measured(result, [Fraction(len({record[rules.unit] for record in one.matched})) for one in result])


def distinct_l_diversity(records: Sequence[Record], rules: Rules, attribute: str) -> Measured:
    """Distinct values of each class; 1 where one is certain."""
    result = classes(counted(records, rules), rules)
    sizes = [len(histogram(one.matched, attribute, rules)) for one in result]
    sizes = [1 if is_certain(one.matched, attribute, rules) else n for one, n in zip(result, sizes, strict=True)]
    return Measured(result, [Fraction(size) if size else None for size in sizes])


def entropy_l_diversity(records: Sequence[Record], rules: Rules, attribute: str) -> Measured:
    """exp(-sum p ln p) of each class; 1 where a value is certain."""
    result = classes(counted(records, rules), rules)
    rows = [[1] if is_certain(one.matched, attribute, rules) else _counts(one, attribute, rules) for one in result]
    return Measured(result, [_perplexity(row) if row else None for row in rows])


def _counts(one: EquivalenceClass, attribute: str, rules: Rules) -> list[int]:
    return list(histogram(one.matched, attribute, rules).values())


def _perplexity(counts: Sequence[int]) -> float:
    n = sum(counts)
    return exp(-sum(c / n * log(c / n) for c in counts))


def keeps_entropy(one: EquivalenceClass, attribute: str, rules: Rules, threshold: Fraction) -> bool:
    """Whether exp(H) >= threshold, as n^n >= threshold^n * prod c^c in integers; a certain value is the only one."""
    counts = [1] if is_certain(one.matched, attribute, rules) else _counts(one, attribute, rules)
    n = sum(counts)
    return n > 0 and n**n >= threshold**n * prod(c**c for c in counts)


def t_closeness(
    records: Sequence[Record], rules: Rules, attribute: str, order: Sequence[str] | None = None
) -> Measured:
    """Distance of each class from the table: by equality, or by rank in `order`."""
    retained = counted(records, rules)
    actual, table = classes(retained, rules), marginal(retained, attribute, rules)
    rows = [histogram(one.matched, attribute, rules) for one in actual]
    return Measured(actual, [_distance(row, table, order) if row else None for row in rows])


def furthest(records: Sequence[Record], rules: Rules, attribute: str, order: Sequence[str] | None = None) -> Fraction:
    """The distance of the furthest class that could be: one of a single record."""
    table = marginal(counted(records, rules), attribute, rules)
    return max(_distance(Counter({value: 1}), table, order) for value in table)


def _distance(row: Counter[Cell], table: Counter[Cell], order: Sequence[str] | None) -> Fraction:
    domain: Sequence[Cell] = list(table) if order is None else order
    n, total = sum(row.values()), sum(table.values())
    differences = [Fraction(row[value], n) - Fraction(table[value], total) for value in domain]
    if order is None:
        return sum((abs(one) for one in differences), Fraction()) / 2
    if len(domain) == 1:
        return Fraction()
    moved = [abs(sum(differences[: i + 1], Fraction())) for i in range(len(domain))]
    return sum(moved, Fraction()) / (len(domain) - 1)


def observed(measured: Measured, *, higher_is_safer: bool) -> float:
    """The worst figure; a class without a distribution is the worst there can be."""
    worst = 0.0 if higher_is_safer else inf
    figures = [worst if figure is None else float(figure) for figure in measured.figures]
    return min(figures) if higher_is_safer else max(figures)
