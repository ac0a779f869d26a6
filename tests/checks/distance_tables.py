"""Tables of counts, random trees, and every distance in plain Python from its definition: slow, exact, independent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log
from typing import Any

import numpy as np
from scipy.optimize import linprog

from tcdp_audit.core.check.evidence import ReferenceDistribution
from tcdp_audit.core.check.threshold import Measured
from tcdp_audit.core.classes.histogram import Histogram
from tcdp_audit.core.encoding.hierarchy import Tree
from tcdp_audit.plugin.check import Ratios

Distribution = Sequence[Fraction]
Cost = Callable[[int, int], float]


@dataclass(frozen=True)
class Table:
    """Counts of m values in some classes, the weights of a reference, and a path from each value to the root."""

    counts: Sequence[Sequence[int]]
    weights: Sequence[int]
    paths: Sequence[Sequence[int]]

    @property
    def histogram(self) -> Histogram:
        """As the checks see it."""
        return histogram(self.counts)

    @property
    def marginal(self) -> ReferenceDistribution:
        """As the checks see it."""
        return ReferenceDistribution(np.array(self.weights, dtype=np.int64))

    @property
    def tree(self) -> Tree:
        """As the checks see it: level by value."""
        return Tree(np.array(self.paths, dtype=np.int64).T)

    def pairs(self) -> list[tuple[Distribution, Distribution]]:
        """p and q of each class."""
        q = shares(self.weights)
        return [(shares(row), q) for row in self.counts]


def histogram(counts: Sequence[Sequence[int]]) -> Histogram:
    """Counts of values in every class, in compressed rows."""
    table = np.array(counts, dtype=np.int64)
    rows, values = np.nonzero(table)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(table)))])
    return Histogram(offsets.astype(np.int64), values.astype(np.int64), table[rows, values])


def exact(measured: Measured) -> list[Fraction | float]:
    """Figures as the fractions that they are."""
    assert isinstance(measured, Ratios)
    result = zip(measured.numerator.tolist(), measured.denominator.tolist(), strict=True)
    return [Fraction(above, below) if below else inf for above, below in result]


def shares(counts: Sequence[int]) -> list[Fraction]:
    """Counts as a distribution."""
    return [Fraction(count, sum(counts)) for count in counts]


def random_table(random: np.random.Generator, values: int | None = None) -> Table:
    """Up to five classes over up to eight values, a reference that is theirs or another, and a tree of depth 1 to 4."""
    m = values or int(random.integers(1, 9))
    counts = random.poisson(random.choice([0.5, 2, 20]), (random.integers(1, 6), m))
    counts[np.arange(len(counts)), random.integers(0, m, len(counts))] += 1
    other = random.poisson(3, m)
    other[random.integers(0, m)] += 1
    weights = counts.sum(axis=0) if random.random() < 0.5 else other
    paths = [list(range(m))]
    for _ in range(random.integers(0, 4)):
        parent = random.integers(0, m, m)
        paths.append([int(parent[node]) for node in paths[-1]])
    return Table(counts.tolist(), weights.tolist(), np.array([*paths, [0] * m]).T.tolist())


# Definitions


def equal(p: Distribution, q: Distribution) -> Fraction:
    """Half the sum of differences."""
    return sum((abs(a - b) for a, b in zip(p, q, strict=True)), Fraction(0)) / 2


def on_a_line(p: Distribution, q: Distribution, positions: Sequence[Any]) -> Fraction:
    """Area between the cumulative distributions, over the span of the positions."""
    places = [Fraction(one) for one in positions]
    if len(places) == 1:
        return Fraction(0)
    work = below = Fraction(0)
    for a, b, left, right in zip(p, q, places, places[1:], strict=False):
        below += a - b
        work += abs(below) * (right - left)
    return work / (places[-1] - places[0])


def hierarchical(p: Distribution, q: Distribution, paths: Sequence[Sequence[int]]) -> Fraction:
    """Li et al., section 4.2, to the letter: height(N)/H min(pos_extra, neg_extra), summed over inner nodes N."""
    height = len(paths[0]) - 1
    total = Fraction(0)
    for level in range(1, height + 1):
        for node in {path[level] for path in paths}:
            below = {path[level - 1] for path in paths if path[level] == node}
            extras = [
                sum(p[i] - q[i] for i, path in enumerate(paths) if path[level - 1] == child and path[level] == node)
                for child in below
            ]
            positive = sum((extra for extra in extras if extra > 0), Fraction(0))
            negative = -sum((extra for extra in extras if extra < 0), Fraction(0))
            total += Fraction(level, height) * min(positive, negative)
    return total


def multiplicative(p: Distribution, q: Distribution) -> Fraction | float:
    """The largest ratio, either way round."""
    known = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    return max(inf if not a or not b else max(a / b, b / a) for a, b in known)


def kullback_leibler(p: Distribution, q: Distribution) -> float:
    """In nats."""
    return sum((inf if not b else float(a) * log(a / b)) for a, b in zip(p, q, strict=True) if a)


def jensen_shannon(p: Distribution, q: Distribution) -> float:
    """In nats."""
    middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    return (kullback_leibler(p, middle) + kullback_leibler(q, middle)) / 2


def transport(p: Distribution, q: Distribution, cost: Cost) -> float:
    """The earth mover's distance as the linear program that defines it."""
    m = len(p)
    costs = [cost(i, j) for i in range(m) for j in range(m)]
    leaving = np.kron(np.eye(m), np.ones(m))
    arriving = np.kron(np.ones(m), np.eye(m))
    answer = linprog(
        costs, A_eq=np.vstack([leaving, arriving]), b_eq=[float(share) for share in (*p, *q)], method="highs"
    )
    assert answer.success
    return float(answer.fun)


def lowest_common_ancestor(paths: Sequence[Sequence[int]]) -> Cost:
    """The ground distance of a hierarchy: the height of the lowest common ancestor over that of the root."""
    height = len(paths[0]) - 1
    return lambda i, j: next(h for h in range(height + 1) if paths[i][h] == paths[j][h]) / height
