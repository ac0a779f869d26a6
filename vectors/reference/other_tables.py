"""Measures against the original, on cells of sums, and the rules of regulators."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import floor

from vectors.reading import Row, Vector, rows
from vectors.reference.classes import companion, missing, roles
from vectors.reference.values import DIGITS, Value, decimal

SAME = Decimal("1e-40")  # distances that differ by less are equal: they have 60 digits


def _pairs(vector: Vector) -> list[tuple[Row, Row]]:
    """Released records with their originals, by the declared key."""
    key = vector.declared["key"]
    original = {row[key]: row for row in companion(vector, "original")}
    return [(row, original[row[key]]) for row in rows(vector.path) if row[key] in original]


def _known(vector: Vector) -> list[str]:
    return list(vector.parameters.get("attributes", roles(vector, "quasi_identifier")))


def _combined(vector: Vector, inside: dict[str, list[bool]]) -> Fraction:
    """The average over attributes, or the share of records inside in all of them."""
    shares = [Fraction(sum(one), len(one)) for one in inside.values()]
    if vector.parameters.get("aggregate", "average") == "joint":
        together = [all(one) for one in zip(*inside.values(), strict=True)]
        return Fraction(sum(together), len(together))
    return sum(shares, Fraction(0)) / len(shares)


def sd_interval(vector: Vector) -> Fraction:
    """The share of values within p percent of a standard deviation of the original ones."""
    lacking = missing(vector)
    inside: dict[str, list[bool]] = {}
    p = Fraction(vector.parameters["p"]) / 100
    for name in _known(vector):
        values = [Fraction(row[name]) for row in companion(vector, "original") if row[name] not in lacking]
        mean = sum(values, Fraction(0)) / len(values)
        variance = sum(((v - mean) ** 2 for v in values), Fraction(0)) / (len(values) - 1)
        if variance:
            inside[name] = [
                a[name] not in lacking
                and b[name] not in lacking
                and (Fraction(a[name]) - Fraction(b[name])) ** 2 <= p**2 * variance
                for a, b in _pairs(vector)
            ]
    return _combined(vector, inside)


def rank_interval(vector: Vector) -> Fraction:
    """The share of original values among the masked ones w ranks to either side, whole ties included."""
    lacking = missing(vector)
    inside: dict[str, list[bool]] = {}
    for name in _known(vector):
        masked = sorted(Fraction(row[name]) for row in rows(vector.path) if row[name] not in lacking)
        w = floor(Fraction(vector.parameters["p"]) * len(masked) / 200)
        inside[name] = []
        for a, b in _pairs(vector):
            known = a[name] not in lacking and b[name] not in lacking
            inside[name].append(known and _within(masked, Fraction(a[name]), Fraction(b[name]), w))
    return _combined(vector, inside)


def _within(masked: Sequence[Fraction], own: Fraction, original: Fraction, w: int) -> bool:
    first = masked.index(own)
    last = len(masked) - 1 - masked[::-1].index(own)
    return masked[max(first - w, 0)] <= original <= masked[min(last + w, len(masked) - 1)]


def linkage(vector: Vector) -> Fraction:
    """The expected share of released records whose nearest original, among t that tie 1/t, is their own."""
    key, names = vector.declared["key"], _known(vector)
    released, original = list(rows(vector.path)), list(companion(vector, "original"))
    numbers = [name for name in names if vector.declared["attributes"][name].get("scale") == "numeric"]
    scaled = [(_moments(released, name), _moments(original, name), name) for name in numbers]
    earned, attempts = Fraction(0), 0
    for row in released:
        distances = []
        for other in original:
            d = Decimal(sum(row[name] != other[name] for name in names if name not in numbers))
            for (mean_a, sd_a), (mean_b, sd_b), name in scaled:
                if sd_a and sd_b:
                    d += _square(Fraction(row[name]) - mean_a, sd_a, Fraction(other[name]) - mean_b, sd_b)
            distances.append(d)
        if all(other[key] != row[key] for other in original):
            continue
        attempts += 1
        near = [other[key] for other, d in zip(original, distances, strict=True) if d - min(distances) < SAME]
        earned += Fraction(near.count(row[key]), len(near))
    return earned / attempts


def _moments(table: Sequence[Row], name: str) -> tuple[Fraction, Decimal]:
    """Mean and standard deviation."""
    values = [Fraction(row[name]) for row in table]
    mean = sum(values, Fraction(0)) / len(values)
    with localcontext(prec=DIGITS):
        return mean, decimal(sum(((v - mean) ** 2 for v in values), Fraction(0)) / (len(values) - 1)).sqrt()


def _square(a: Fraction, sd_a: Decimal, b: Fraction, sd_b: Decimal) -> Decimal:
    with localcontext(prec=DIGITS):
        return (decimal(a) / sd_a - decimal(b) / sd_b) ** 2


def cells(vector: Vector) -> dict[str, list[Fraction]]:
    """What each person contributes to each cell, the largest first."""
    declared = vector.declared
    sums: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for row in rows(vector.path):
        if row[declared["value"]] not in missing(vector):
            sums[row[declared["cell"]], row[declared["unit"]]] += Fraction(row[declared["value"]])
    found: dict[str, list[Fraction]] = defaultdict(list)
    for (cell, _), value in sums.items():
        found[cell].append(value)
    return {cell: sorted(values, reverse=True) for cell, values in found.items()}


def dominance(vector: Vector) -> Fraction:
    """The largest share, in percent, that the n largest contributors have of a cell."""
    n = int(vector.parameters["n"])
    return max(100 * sum(xs[:n], Fraction(0)) / sum(xs) for xs in cells(vector).values() if sum(xs))


def p_percent(vector: Vector) -> Value:
    """The least of what all but the two largest contribute, in percent of the largest."""
    remainders = (100 * sum(xs[2:], Fraction(0)) / xs[0] for xs in cells(vector).values() if sum(xs))
    return min(remainders, default=None)


def cell_frequency(vector: Vector) -> Value:
    """The smallest published count; 0 is left out unless zeros are counted."""
    counts = [Fraction(row[vector.declared["count"]]) for row in rows(vector.path)]
    kept = [n for n in counts if n or vector.parameters.get("zeros") == "counted"]
    return min(kept, default=None)


def ages_above(vector: Vector) -> Fraction:
    """Records that reveal an age above the cap; `90+` says only that it is above 89."""
    cap, column, lacking = int(vector.parameters["at"]), vector.parameters["column"], missing(vector)
    tokens = [*lacking, *vector.conventions.get("suppressed_tokens", ["*"])]
    ages = [row[column] for row in rows(vector.path) if row[column] not in tokens]
    return Fraction(sum(_reveals(age, cap) for age in ages))


def _reveals(age: str, cap: int) -> bool:
    if age.endswith("+"):
        return int(age[:-1]) > cap + 1
    return int(age.rsplit("-", maxsplit=1)[-1]) > cap


def region_population(vector: Vector) -> Fraction:
    """People in the smallest region that the release names."""
    column, lacking = vector.parameters["column"], missing(vector)
    tokens = [*lacking, *vector.conventions.get("suppressed_tokens", ["*"])]
    people: Counter[str] = Counter()
    for row in companion(vector, "population"):
        people[row[column]] += int(row[vector.declared["population"]["count"]])
    return Fraction(min(people[row[column]] for row in rows(vector.path) if row[column] not in tokens))


def singled_out(vector: Vector) -> Fraction:
    """Of the combinations that one released record has, the share that one original record has."""
    names = _known(vector)
    released, original = (
        Counter(tuple(row[name] for name in names) for row in table)
        for table in (rows(vector.path), companion(vector, "original"))
    )
    alone = [key for key, n in released.items() if n == 1]
    return Fraction(sum(original[key] == 1 for key in alone), len(alone))
