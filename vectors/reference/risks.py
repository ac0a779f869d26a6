"""Measures of the whole table: shares of records, and what a population or another table adds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import localcontext
from fractions import Fraction
from itertools import combinations
from math import comb, factorial
from typing import Any

from vectors.reading import Row, Vector, rows
from vectors.reference.classes import Group, Judged, companion, compatible, convention, counted, judge, missing, roles
from vectors.reference.values import DIGITS, Real, Value, decimal, ln, real


@dataclass(frozen=True)
class TableMeasure:
    """A measure of the whole table.

    Args:
        figure: its figure; None is infinite.
        threshold: the parameter that it is compared with.
        comparison: how.
    """

    figure: Callable[[Vector], Value]
    threshold: str
    comparison: str = "<="


def _judged(vector: Vector) -> Judged:
    judged = judge(vector)
    if judged is None:
        raise ValueError(vector.id)
    return judged


def _share_of(groups: Sequence[Group], judged: Judged) -> Fraction:
    """The share of records (of people, each once) that are in some classes."""
    unit_less = judged.people == judged.records
    part = sum(len(one.own) for one in groups) if unit_less else len({who for one in groups for who in one.people})
    return Fraction(part, judged.people)


def uniqueness(vector: Vector) -> Fraction:
    """The share of records that are alone in their class."""
    judged = _judged(vector)
    return _share_of([one for one in judged.groups if one.size == 1], judged)


def homogeneity(vector: Vector) -> Fraction:
    """The share of records in classes with a value that all have, or without any value."""
    judged = _judged(vector)
    return _share_of([one for one in judged.groups if one.certain or not one.counts], judged)


def reidentification(vector: Vector) -> Fraction:
    """1 over the size of the class: the highest, the average over records, or the share above a risk."""
    judged = _judged(vector)
    if vector.parameters.get("scenario") == "journalist":
        sizes = [(one, _population(vector)[one.key]) for one in judged.groups]
    else:
        sizes = [(one, one.size) for one in judged.groups]
    kind = vector.parameters.get("measure", "highest")
    if kind == "highest":
        return max(Fraction(1, n) for _, n in sizes)
    if kind == "average":
        return sum((Fraction(len(one.own), n) for one, n in sizes), Fraction(0)) / judged.records
    limit = Fraction(vector.parameters["threshold_risk"])
    return _share_of([one for one, n in sizes if Fraction(1, n) > limit], judged)


def _keys(vector: Vector, table: Sequence[Row]) -> Counter[tuple[Any, ...]]:
    lacking, names = missing(vector), roles(vector, "quasi_identifier")
    return Counter(tuple(None if row[name] in lacking else row[name] for name in names) for row in table)


def _population(vector: Vector) -> Counter[tuple[Any, ...]]:
    everyone = _keys(vector, companion(vector, "population"))
    if convention(vector, "missing_quasi_identifier", "own_category") != "wildcard":
        return everyone
    return Counter(
        {
            key: sum(n for other, n in everyone.items() if compatible(key, other))
            for key in _keys(vector, counted(vector))
        }
    )


def k_map(vector: Vector) -> Fraction:
    """The least number of people of the population in the class of a released record."""
    return Fraction(min(_population(vector)[key] for key in _keys(vector, counted(vector))))


def delta_presence(vector: Vector) -> Fraction:
    """The largest share of a class of the population that is released."""
    released = _keys(vector, counted(vector))
    return max(Fraction(released[key], n) for key, n in _population(vector).items())


def least_presence(vector: Vector) -> Fraction:
    """The smallest share of a class of the population that is released; 0 for a class that is not."""
    released = _keys(vector, counted(vector))
    return min(Fraction(released[key], n) for key, n in _population(vector).items())


def population_uniqueness(vector: Vector) -> Fraction:
    """The share of the records alone in the release that are alone in the population; 0 where there are none."""
    everyone = _population(vector)
    alone = [key for key, n in _keys(vector, counted(vector)).items() if n == 1]
    return Fraction(sum(everyone[key] == 1 for key in alone), len(alone)) if alone else Fraction(0)


def individual_risk(vector: Vector) -> Value:
    """Benedetti and Franconi: the mean of 1/F for f sampled of an estimated F."""
    judged, table = _judged(vector), counted(vector)
    keys = [one.key for one in judged.groups]
    weight = vector.declared.get("weight")
    risks: list[tuple[int, Value]] = []
    for group in judged.groups:
        alike = [
            i
            for key, other in zip(keys, judged.groups, strict=True)
            if _meets(vector, group.key, key)
            for i in other.own
        ]
        f = group.size
        total = (
            sum((Fraction(table[i][weight]) for i in alike), Fraction(0))
            if weight
            else f / Fraction(str(vector.declared["sampling_fraction"]))
        )
        risks.append((len(group.own), _franconi(f, total)))
    if vector.parameters.get("measure", "highest") == "highest":
        return max((r for _, r in risks), key=_number)
    with localcontext(prec=DIGITS):
        expected = sum(n * _number(r) for n, r in risks)
        exact = all(isinstance(r, Fraction) for _, r in risks)
        n = judged.records if vector.parameters["measure"] == "average" else 1
        if exact:
            return sum((k * r for k, r in risks if isinstance(r, Fraction)), Fraction(0)) / n
        return real(expected / n)


def _meets(vector: Vector, one: Sequence[Any], other: Sequence[Any]) -> bool:
    wildcard = convention(vector, "missing_quasi_identifier", "own_category") == "wildcard"
    return compatible(tuple(one), tuple(other)) if wildcard else one == other


def _franconi(f: int, total: Fraction) -> Value:
    if total <= f:
        return Fraction(1, f)
    p = f / total
    odds = p / (1 - p)
    if f > 2:
        return p / (f - (1 - p))
    with localcontext(prec=DIGITS):
        log = _number(ln(1 / p))
        return real(decimal(odds) * log if f == 1 else decimal(odds) - decimal(odds) ** 2 * log)


def _number(value: Value) -> Any:
    return value.value if isinstance(value, Real) else decimal(value or Fraction(0))


def suda(vector: Vector) -> Fraction:
    """The share of records that at most `max_size` attributes single out."""
    sets = _uniques(vector)
    size = int(vector.parameters["max_size"])
    return Fraction(sum(any(len(one) <= size for one in own) for own in sets), len(sets))


def suda_score(vector: Vector) -> Fraction:
    """The highest score: (m - size)! for each minimal sample unique of a record."""
    m = len(roles(vector, "quasi_identifier"))
    return Fraction(max(sum(factorial(m - len(one)) for one in own) for own in _uniques(vector)))


def _uniques(vector: Vector) -> list[list[tuple[str, ...]]]:
    """Of each record the sets of attributes that single it out while no part of them does."""
    table, names = counted(vector), roles(vector, "quasi_identifier")
    found: list[list[tuple[str, ...]]] = [[] for _ in table]
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            cells = [tuple(row[name] for name in chosen) for row in table]
            often = Counter(cells)
            for i, cell in enumerate(cells):
                if often[cell] == 1 and not any(set(part) <= set(chosen) for part in found[i]):
                    found[i].append(chosen)
    return found


def histories(vector: Vector) -> dict[str, Counter[tuple[str, ...]]]:
    """The rows of each person, with their numbers."""
    names, unit = roles(vector, "quasi_identifier"), vector.declared["unit"]
    found: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    for row in rows(vector.path):
        found[row[unit]][tuple(row[name] for name in names)] += 1
    return found


def support(known: Counter[tuple[str, ...]], everyone: dict[str, Counter[tuple[str, ...]]]) -> int:
    """How many people have some events, equal ones as often."""
    return sum(known <= other for other in everyone.values())


def known_events(vector: Vector) -> Fraction:
    """The least number of people who share m events of one of them, equal events counted."""
    everyone, m = histories(vector), int(vector.parameters["m"])
    return Fraction(
        min(
            support(Counter(known), everyone)
            for own in everyone.values()
            for known in combinations(sorted(own.elements()), min(m, own.total()))
        )
    )


def unicity(vector: Vector) -> Fraction:
    """The mean probability that p events of a person, drawn at random, are nobody else's."""
    everyone, p = histories(vector), int(vector.parameters["points"])
    total = Fraction(0)
    for own in everyone.values():
        draw = min(p, own.total())
        alone = sum(support(Counter(known), everyone) == 1 for known in combinations(sorted(own.elements()), draw))
        total += Fraction(alone, comb(own.total(), draw))
    return total / len(everyone)


def whole_histories(vector: Vector) -> Fraction:
    """The least number of people with the same rows, each as often, in any order."""
    return Fraction(min(Counter(frozenset(one.items()) for one in histories(vector).values()).values()))
