"""The decisions of ARX's privacy models on a table without suppressed records, after their Java code in version 3.9.2.

A table is a list of rows of a class, a sensitive value and a number. Classes that exist in the population only are rows
of the population alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

Rows = Sequence[tuple[str, str, int]]
Distribution = Mapping[str, int]


def counted(rows: Rows, place: int) -> dict[str, Counter[str]]:
    """For each class how often it has each value of the column at a place."""
    classes: dict[str, Counter[str]] = {}
    for row in rows:
        classes.setdefault(row[0], Counter())[str(row[place])] += 1
    return classes


def each_class(rows: Rows, place: int, holds: Callable[[Distribution, Distribution], bool]) -> bool:
    whole = Counter(str(row[place]) for row in rows)
    return all(holds(one, whole) for one in counted(rows, place).values())


def k_anonymity(rows: Rows, k: int) -> bool:
    return all(one.total() >= k for one in counted(rows, 1).values())


def distinct(rows: Rows, least: int) -> bool:
    return each_class(rows, 1, lambda p, _: len(p) >= least)


def entropy(rows: Rows, least: float) -> bool:
    def holds(p: Distribution, _: Distribution) -> bool:
        n = sum(p.values())
        return -sum(one / n * math.log(one / n) for one in p.values()) >= math.log(least) - 1e-12

    return each_class(rows, 1, holds)


def recursive(rows: Rows, c: float, least: int) -> bool:
    def holds(p: Distribution, _: Distribution) -> bool:
        if len(p) < least:
            return False
        ascending = sorted(p.values())
        return ascending[-1] < c * sum(ascending[: len(ascending) - least + 1])

    return each_class(rows, 1, holds)


def equal_closeness(rows: Rows, t: float) -> bool:
    def holds(p: Distribution, q: Distribution) -> bool:
        n, m = sum(p.values()), sum(q.values())
        return (1 + sum(abs(q[one] / m - p[one] / n) - q[one] / m for one in p)) / 2 <= t + 1e-12

    return each_class(rows, 1, holds)


def ordered_closeness(rows: Rows, t: float) -> bool:
    def holds(p: Distribution, q: Distribution) -> bool:
        n, m, total, distance = sum(p.values()), sum(q.values()), 0.0, 0.0
        order = sorted(q, key=int)
        for one in order:
            total += p.get(one, 0) / n - q[one] / m
            distance += abs(total)
        return distance <= t * (len(order) - 1) + 1e-12

    return each_class(rows, 2, holds)


def hierarchical_closeness(rows: Rows, t: float, parents: Mapping[str, str]) -> bool:
    """The cost of a tree with one inner level and a root, as ARX sums it over inner nodes."""

    def holds(p: Distribution, q: Distribution) -> bool:
        n, m = sum(p.values()), sum(q.values())
        extra = {one: p.get(one, 0) / n - q[one] / m for one in q}
        inner: dict[str, list[float]] = {}
        for one, difference in extra.items():
            inner.setdefault(parents[one], []).append(difference)
        cost = sum(1 / 2 * _least(one) for one in inner.values())
        return cost + _least([sum(one) for one in inner.values()]) <= t + 1e-12

    return each_class(rows, 1, holds)


def _least(differences: Sequence[float]) -> float:
    return min(sum(one for one in differences if one > 0), -sum(one for one in differences if one < 0))


def disclosure(rows: Rows, delta: float) -> bool:
    def holds(p: Distribution, q: Distribution) -> bool:
        n, m = sum(p.values()), sum(q.values())
        return all(abs(math.log2(p[one] / n / (q[one] / m))) < delta for one in p)

    return each_class(rows, 1, holds)


def likeness(rows: Rows, beta: float, *, enhanced: bool) -> bool:
    def holds(p: Distribution, q: Distribution) -> bool:
        n, m = sum(p.values()), sum(q.values())
        most = {one: min(beta, -math.log(q[one] / m)) if enhanced else beta for one in p}
        return all((p[one] / n - q[one] / m) / (q[one] / m) <= most[one] + 1e-12 for one in p)

    return each_class(rows, 1, holds)


def sample_uniqueness(rows: Rows, at_most: float) -> bool:
    sizes = [one.total() for one in counted(rows, 1).values()]
    return sizes.count(1) / len(rows) <= at_most


def average_risk(rows: Rows, average: float, highest: float, share: float) -> bool:
    sizes = [one.total() for one in counted(rows, 1).values()]
    size = 1 / highest
    floor = math.floor(size) + (1 / math.floor(size) - 1 / size >= 0.01 * highest)
    return 1 / (len(rows) / len(sizes)) <= average and sum(one for one in sizes if one < floor) / len(rows) <= share


def presence(rows: Rows, population: Rows, low: float, high: float) -> bool:
    own, all_of_them = counted(rows, 1), counted(population, 1)
    shares = [own.get(one, Counter()).total() / size.total() for one, size in all_of_them.items()]
    return all(low <= share <= high for share in shares)


def k_map(rows: Rows, population: Rows, k: int) -> bool:
    all_of_them = counted(population, 1)
    return all(all_of_them[one].total() >= k for one in counted(rows, 1))
