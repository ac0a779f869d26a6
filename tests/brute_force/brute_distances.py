"""Distances between records, links to the nearest, and the closest record, pair by pair in fifty digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, getcontext
from fractions import Fraction
from math import ceil
from typing import Any

getcontext().prec = 50
SAME = Decimal("1e-35")
Row = Mapping[str, Any]  # a number, a rank or a label for each attribute; None for a missing cell


@dataclass(frozen=True)
class Linked:
    """What linking some records to their nearest candidates earns."""

    expected: Fraction
    optimistic: Fraction
    pessimistic: Fraction
    attempts: int
    tied: int
    first: int


def squares(
    one: Sequence[Row],
    other: Sequence[Row],
    numeric: Sequence[str],
    nominal: Sequence[str],
    weights: Mapping[str, Fraction],
    standard: Sequence[Row] | None = None,
) -> list[list[Decimal]] | None:
    """d^2 of every pair, or None where no attribute weighs.

    Args:
        one: a table.
        other: another.
        numeric: attributes that are standardised; one with a single value in a table weighs nothing.
        nominal: attributes that differ by 0 or 1.
        weights: of attributes; 1 where none is given.
        standard: whose means and deviations serve both; without it each table's own.
    """
    weight = {name: Decimal(w.numerator) / Decimal(w.denominator) for name, w in weights.items()}
    total = [[Decimal(0)] * len(other) for _ in one]
    weighing = 0
    for name in [*numeric, *nominal]:
        w = weight.get(name, Decimal(1))
        if not w:
            continue
        if name in nominal:
            far = Decimal(1)
            columns: list[list[Any]] = [[row[name] for row in one], [row[name] for row in other]]
        else:
            far = Decimal(2)
            units = [_unit(table, name) for table in ((one, other) if standard is None else (standard, standard))]
            if units[0] is None or units[1] is None:
                continue
            columns = [_standardised(t, name, unit) for t, unit in zip((one, other), units, strict=True)]
        weighing += 1
        for i, a in enumerate(columns[0]):
            for j, b in enumerate(columns[1]):
                known = a is not None and b is not None
                total[i][j] += w * ((Decimal(a != b) if name in nominal else (a - b) ** 2) if known else far)
    return total if weighing else None


def _unit(table: Sequence[Row], name: str) -> tuple[Decimal, Decimal] | None:
    values = [Decimal(row[name]) for row in table if row[name] is not None]
    if len(set(values)) < 2:
        return None
    mean = sum(values) / len(values)
    return mean, (sum((v - mean) ** 2 for v in values) / (len(values) - 1)).sqrt()


def _standardised(table: Sequence[Row], name: str, unit: tuple[Decimal, Decimal]) -> list[Decimal | None]:
    return [None if row[name] is None else (Decimal(row[name]) - unit[0]) / unit[1] for row in table]


def linked(distances: Sequence[Sequence[Decimal]], partner: Mapping[int, int]) -> Linked:
    """Link each record that has a partner to its nearest candidate; 1/t for a partner among t that tie."""
    earned, hits, alone, tied, first = Fraction(0), 0, 0, 0, 0
    for i, true in partner.items():
        least = min(distances[i])
        near = [j for j, d in enumerate(distances[i]) if d - least <= SAME]
        tied += len(near) > 1
        first += not any(d < distances[i][true] - SAME for d in distances[i])
        if true in near:
            earned, hits, alone = earned + Fraction(1, len(near)), hits + 1, alone + (len(near) == 1)
    n = len(partner)
    return Linked(earned / n, Fraction(hits, n), Fraction(alone, n), n, tied, first)


def closest(distances: Sequence[Sequence[Decimal]], *, ratio: bool) -> tuple[float, float]:
    """The 5th percentile and the median of the distance to the closest, or of its ratio to the second closest."""
    figures = []
    for row in distances:
        first, second = (*sorted(row)[:2], Decimal(0))[:2]
        figures.append(first.sqrt() if not ratio else Decimal(1) if second - first <= SAME else (first / second).sqrt())
    figures.sort()
    return float(figures[ceil(len(figures) / 20) - 1]), float(figures[ceil(len(figures) / 2) - 1])
