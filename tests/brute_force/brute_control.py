"""Attacks with a control set, one pair of records at a time, in fractions, and over all parts of a larger hold-out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import inf, sqrt
from statistics import NormalDist
from typing import Any

Row = dict[str, Any]
Tables = tuple[Sequence[Row], Sequence[Row], Sequence[Row]]  # release, original, hold-out
NUMERIC = ("age", "grade", "pay")


class Nothing(Exception):  # noqa: N818 - not an error of the reference
    """There is nothing to attack."""


def mean(values: Sequence[Any]) -> Any:
    return sum(values) / len(values)


def ranges(tables: Tables, names: Sequence[str]) -> dict[str, Fraction]:
    """The range of each number in original and hold-out."""
    known = [*tables[1], *tables[2]]
    if all(len({one[name] for one in known}) == 1 for name in names):
        raise Nothing
    if any(all(one[name] is None for one in table) for table in tables[1:] for name in names):
        raise Nothing  # nobody is near to anybody by it
    values = {name: [one[name] for one in known if one[name] is not None] for name in names if name in NUMERIC}
    return {name: Fraction(max(own) - min(own)) if own else Fraction(0) for name, own in values.items()}


def apart(one: Row, other: Row, names: Sequence[str], width: dict[str, Fraction]) -> Fraction:
    """Gower's distance, summed."""
    total = Fraction(0)
    for name in names:
        a, b = one[name], other[name]
        if name not in NUMERIC or a is None or b is None:
            total += a != b
        else:
            total += min(Fraction(1), abs(a - b) / (width[name] or 1))
    return total


def nearest(seeker: Row, known: Sequence[Row], names: Sequence[str], width: dict[str, Fraction]) -> set[int]:
    distances = [apart(seeker, one, names, width) for one in known]
    return {place for place, one in enumerate(distances) if one == min(distances)}


def wilson(successes: Any, attempts: float, confidence: float = 0.95) -> tuple[float, float]:
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    s = float(successes)
    centre = (s + z**2 / 2) / (attempts + z**2)
    return centre, z / (attempts + z**2) * sqrt(s * (attempts - s) / attempts + z**2 / 4)


def upper(a: Any, n: int, c: Any, m: int) -> float:
    """The upper end of the risk of a successes in n attempts, beyond c in m."""
    (a_centre, a_error), (c_centre, c_error) = wilson(a, n), wilson(c, m)
    risk = (a_centre - c_centre) / (1 - c_centre)
    error = sqrt((a_error / (1 - c_centre)) ** 2 + ((a_centre - 1) * c_error / (1 - c_centre) ** 2) ** 2)
    share, chance = Fraction(a) / n, Fraction(c) / m
    plain = float((share - chance) / (1 - chance)) if chance < 1 else 0.0
    return min(1.0, max(0.0, risk + error, plain))


def unique(rows: Sequence[Row], names: Sequence[str]) -> set[tuple[Any, ...]]:
    return {key for key, times in Counter(tuple(one[name] for name in names) for one in rows).items() if times == 1}


def parts(tables: Tables) -> Iterator[Sequence[Row]]:
    """All parts of the hold-out that are as large as the original."""
    if len(tables[2]) < len(tables[1]):
        raise Nothing
    return combinations(tables[2], len(tables[1]))  # type: ignore[return-value]


def singling_out(tables: Tables, sets: Sequence[Sequence[str]]) -> float:
    q = own = 0
    control = Fraction(0)
    for names in sets:
        keys = unique(tables[0], names)
        q += len(keys)
        own += len(keys & unique(tables[1], names))
        control += mean([Fraction(len(keys & unique(part, names))) for part in parts(tables)])
    if not q:
        raise Nothing
    return upper(own, q, control, q)


def linkability(tables: Tables, first: Sequence[str], second: Sequence[str]) -> float:
    def credit(one: Row) -> Fraction:
        a, b = (nearest(one, tables[0], names, ranges(tables, names)) for names in (first, second))
        return Fraction(len(a & b), len(a) * len(b))

    return both(tables, credit)


def inference(tables: Tables, names: Sequence[str], secret: str, right: Callable[[Any, Any], bool]) -> float:
    width = ranges(tables, names)

    def credit(one: Row) -> Fraction:
        near = nearest(one, tables[0], names, width)
        return Fraction(sum(right(tables[0][place][secret], one[secret]) for place in near), len(near))

    own, others = ([one for one in table if one[secret] is not None] for table in tables[1:])
    if not own or not others:
        raise Nothing
    return both((tables[0], own, others), credit)


def near_enough(tables: Tables, secret: str, tolerance: Fraction) -> Callable[[Any, Any], bool]:
    values = [one[secret] for one in (*tables[1], *tables[2]) if one[secret] is not None]
    off = tolerance * (max(values) - min(values)) if values else 0
    return lambda guess, true: guess is not None and abs(guess - true) <= off


def both(tables: Tables, credit: Callable[[Row], Fraction]) -> float:
    own, control = ([credit(one) for one in table] for table in tables[1:])
    return upper(sum(own), len(own), sum(control), len(control))


def membership(tables: Tables, names: Sequence[str], *, calibrated: bool) -> tuple[Fraction, float]:
    """The area, and its upper end."""
    width = ranges(tables, names)

    def least(one: Row, known: Sequence[Row]) -> Fraction:
        return min(apart(one, other, names, width) for other in known)

    scores: list[list[Any]] = [[least(one, tables[0]) for one in table] for table in tables[1:]]
    if calibrated:
        if len(tables[2]) < 2:
            raise Nothing
        others = [[tables[2]] * len(tables[1]), [[*tables[2][:i], *tables[2][i + 1 :]] for i in range(len(tables[2]))]]
        for table, own, known in zip(tables[1:], scores, others, strict=True):
            for place, one in enumerate(table):
                ordinary = least(one, known[place])
                own[place] = Fraction(1) if own[place] == ordinary else own[place] / ordinary if ordinary else inf
    wins = [Fraction(2 * (s < t) + (s == t), 2) for s in scores[0] for t in scores[1]]
    n, m = len(tables[1]), len(tables[2])
    attempts = max(1, n * m // (n + m))
    centre, error = wilson(mean(wins) * attempts, attempts)
    return mean(wins), min(1.0, max(centre + error, float(mean(wins))))


def closest_share(tables: Tables, names: Sequence[str]) -> Fraction:
    width = ranges(tables, names)
    earned = []
    for one in tables[0]:
        own = min(apart(one, other, names, width) for other in tables[1])
        theirs = [min(apart(one, other, names, width) for other in part) for part in parts(tables)]
        earned.append(mean([Fraction(2 * (own < their) + (own == their), 2) for their in theirs]))
    return mean(earned)


def independent_attempts(tables: Tables, names: Sequence[str]) -> int:
    """Of tables of one size: 1 / 4V of the share where the labels of both are shuffled, record by record."""
    width, both = ranges(tables, names), [*tables[1], *tables[2]]
    weights, whole = [0.0] * len(both), 0.0
    for one in tables[0]:
        near = nearest(one, both, names, width)
        for place in near:
            weights[place] += sqrt(2.0 ** (1 - len(near)) / len(near)) / len(tables[0])
        whole += len(near) * 2.0 ** (1 - len(near)) / len(tables[0])
    variance = (sum(one * one for one in weights) - whole * whole / len(both)) * len(both) / (len(both) - 1)
    return max(1, int(min(len(tables[0]), 1 / max(variance, 1 / len(tables[0]))) + 1e-6))


def exact_matches(tables: Tables, names: Sequence[str]) -> float:
    held = {tuple(one[name] for name in names) for one in tables[0]}
    return both(tables, lambda one: Fraction(tuple(one[name] for name in names) in held))
