"""Distances between categories: equal, how much of a distribution differs; hierarchical, how high values must move.

Products are in 64-bit integers where these suffice, and in Python's own where they do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import LIMIT, Counts, Floats, Integers, add_up, boundaries, cached_on_reference
from tcdp_audit.plugin.check import Histogram, Measured, Ratios, ReferenceDistribution
from tcdp_audit.plugin.engine import Tree
from tcdp_audit_plugins.checks._shared.distances.line import (
    Move,
    as_python_integers,
    common_shares,
    estimated_distance,
    line_distance,
)


def fits_int64(histogram: Histogram, factor: int) -> bool:
    """Whether the class totals of a histogram can be multiplied by `factor` within 62 bits."""
    return int(histogram.total.max(initial=0)) * factor < LIMIT


def equal_distance(histogram: Histogram, marginal: ReferenceDistribution) -> Ratios:
    """Variational distance, 1/2 sum_i |p_i - q_i| = sum_i max(p_i - q_i, 0).

    It is the earth mover's distance where all values are equally far apart. Relabelling values does not change it.

    Returns:
        Fractions from 0 to 1, shape (classes,).

    Cost: O(pairs of class and value).

    Source: Li et al. (2007), section 4.2, equal distance.

    Example:
        >>> classes = Histogram(np.array([0, 2]), np.array([0, 1]), np.array([1, 3]))
        >>> equal_distance(classes, ReferenceDistribution(np.array([1, 1]))).values.tolist()
        [0.25]
    """
    total = marginal.total
    counted = histogram if fits_int64(histogram, 2 * total) else as_python_integers(histogram)
    return Ratios(surplus(counted, marginal.weights_of(histogram), total), counted.total * total)


def surplus(histogram: Histogram, weights: Counts, total: int) -> NDArray[Any]:
    """Sum over values of max(c W - w n, 0) in every class: the part of it that the reference does not have, over n W.

    Returns:
        Integers from 0 to n W, shape (classes,).
    """
    excess = histogram.counts * total
    excess -= weights * histogram.spread(histogram.total)
    return histogram.sum(np.maximum(excess, 0, out=excess))


def hierarchical_distance(histogram: Histogram, marginal: ReferenceDistribution, tree: Tree) -> Ratios:
    """Earth mover's distance where two values cost the height of their lowest common ancestor over that of the root.

    Li et al. sum over inner nodes N the cost height(N)/H min(pos(N), neg(N)), with pos and neg what the children of N
    have too much and too little of. Writing e for the excess of a node, neg = pos - e, so min(pos, neg) is pos(N)
    less max(e(N), 0). Let S_h be the sum of max(e, 0) over the nodes at height h. The pos of all nodes at height h add
    up to S_{h-1}, hence the cost at height h is h/H (S_{h-1} - S_h), and as S_H = 0 the whole is

        (S_0 + S_1 + ... + S_{H-1}) / H,

    the mean over the levels below the root of the equal distance between the generalised distributions. Only nodes
    that the class touches can have an excess above 0, so only those are visited.

    Args:
        histogram: counts of values in every class.
        marginal: the reference distribution, shape (m,).
        tree: the hierarchy over the domain; all values at one depth.

    Returns:
        Fractions from 0 to 1, shape (classes,).

    Cost: O(pairs of class and value x height), and one sort of the pairs.

    Source: Li et al. (2007), section 4.2, hierarchical distance.

    Example:
        >>> classes = Histogram(np.array([0, 2]), np.array([0, 1]), np.array([1, 1]))
        >>> tree = Tree(np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]))
        >>> hierarchical_distance(classes, ReferenceDistribution(np.array([1, 1, 1, 1])), tree).values.tolist()
        [0.5]
    """
    total, height = marginal.total, max(tree.height, 1)
    counted = histogram if fits_int64(histogram, 2 * height * total) else as_python_integers(histogram)
    cost = surplus(counted, marginal.weights_of(histogram), total)
    for level, weights in _inner_levels(counted, marginal.weights, tree):
        cost = cost + surplus(level, weights.take(level.values), total)
    return Ratios(cost, counted.total * (total * height))


def hierarchical_flow(histogram: Histogram, marginal: ReferenceDistribution, tree: Tree) -> list[Move]:
    """An optimal flow in a hierarchy from the distribution of a single class to the reference.

    From the lowest nodes up, what the values below a node have too much goes to those below it that have too little;
    the rest waits for the next level. So each node moves min(pos, neg) of its children, as Li et al. have it, and the
    shares times their costs add up to `hierarchical_distance`.

    Returns:
        Moves by height, at most m at each.

    Cost: O(m x height), and a sort of the values at each level.

    Source: Li et al. (2007), section 4.2, hierarchical distance.

    Example:
        >>> classes = Histogram(np.array([0, 1]), np.array([0]), np.array([1]))
        >>> tree = Tree(np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]]))
        >>> moves = hierarchical_flow(classes, ReferenceDistribution(np.array([1, 1, 1])), tree)
        >>> [(one.end, str(one.cost)) for one in moves]
        [(1, '1/2'), (2, '1')]
    """
    own, wanted, whole = common_shares(histogram, marginal)
    excess = [a - b for a, b in zip(own, wanted, strict=True)]
    moves = []
    for level in range(1, tree.height + 1):
        nodes = tree.ancestors[level].tolist()
        below: dict[int, list[int]] = {}
        for code, node in enumerate(nodes):
            below.setdefault(node, []).append(code)
        for values in below.values():
            for start, end, moved in _settled(excess, values):
                moves.append(Move(start, end, Fraction(moved, whole), Fraction(level, tree.height)))
    return moves


def _settled(excess: list[int], values: list[int]) -> Iterator[tuple[int, int, int]]:
    """Moves between some values, from those with an excess to those that lack. They change the excess of both."""
    lacking = [code for code in values if excess[code] < 0]
    for start in (code for code in values if excess[code] > 0):
        while excess[start] and lacking:
            end = lacking[0]
            moved = min(excess[start], -excess[end])
            excess[start] -= moved
            excess[end] += moved
            yield start, end, moved
            if not excess[end]:
                lacking.pop(0)


def _inner_levels(histogram: Histogram, weights: Counts, tree: Tree) -> Iterator[tuple[Histogram, Counts]]:
    """Classes and reference generalised to each level between the values and the root, the lowest first.

    Nodes are renumbered in the order of the tree, where those below any node are adjacent.
    """
    order = np.lexsort(tree.ancestors)
    current, weights, nodes = histogram, weights[order], tree.ancestors[:, order]
    for level in range(1, tree.height):
        starts = boundaries(nodes[level])
        parent = np.repeat(np.arange(len(starts)), np.diff(starts, append=nodes.shape[1]))
        weights, nodes = np.add.reduceat(weights, starts), nodes[:, starts]  # of the first value below each node
        current = _merged(current, parent) if level > 1 else _of_values(current, order, parent)
        yield current, weights


def _of_values(histogram: Histogram, order: NDArray[np.intp], parent: Counts) -> Histogram:
    """A histogram with each value replaced by its parent; `parent` has those of the values in the tree's order."""
    number = np.empty_like(parent)
    number[order] = parent
    if (number[1:] >= number[:-1]).all():
        return _merged(histogram, number)
    return add_up(histogram.rows, number[histogram.values], histogram.counts, len(histogram), int(parent[-1]) + 1)


def _merged(histogram: Histogram, parent: Counts) -> Histogram:
    """A histogram with each value replaced by its parent, whose order is that of the values. O(pairs)."""
    values = parent[histogram.values]
    first = np.ones(len(values), dtype=bool)
    first[1:] = values[1:] != values[:-1]
    first[histogram.offsets[:-1]] = True
    starts = np.flatnonzero(first)
    before = np.concatenate([[0], np.cumsum(histogram.counts)])
    offsets = np.concatenate([[0], np.cumsum(first)])[histogram.offsets]
    return Histogram(offsets, values[starts], np.diff(before[np.append(starts, len(values))]))


EXACT_DECIMAL = 1e15  # a decimal of up to 15 digits is the shortest text of the float nearest to it
MOST_DECIMALS = 22  # powers of ten up to this one are exact floats
COARSE = 1e-12  # floats further apart than this, relative to their range, are subtracted as decimals


def numeric_distance(histogram: Histogram, marginal: ReferenceDistribution, values: NDArray[Any]) -> Measured:
    """Earth mover's distance where moving from v_i to v_j costs |v_i - v_j| / (max v - min v).

    An extra that Li et al. do not define: unlike by rank, a gap between neighbouring values matters. Shifting all
    values, or multiplying them by a number other than 0, keeps it.

    Args:
        histogram: counts of values in every class.
        marginal: the reference distribution, shape (m,).
        values: the domain in ascending order, int64 or float64, shape (m,). A float denotes the decimal that it
            is written as.

    Returns:
        From 0 to 1, shape (classes,); 0 where the domain has a single value. Fractions where integers of 62 bits
        suffice, otherwise floats of which the borderline ones are decided in exact arithmetic.

    Cost: O(pairs of class and value x log m).

    Source: the ordered distance of Li et al. (2007), section 4.1, with the ground distance of values.

    Example:
        >>> classes = Histogram(np.array([0, 2]), np.array([0, 1]), np.array([1, 1]))
        >>> reference = ReferenceDistribution(np.array([1, 1, 1]))
        >>> numeric_distance(classes, reference, np.array([0, 1, 100])).numerator.tolist()
        [199]
    """
    if marginal.size == 1:
        return Ratios.whole(np.zeros(len(histogram), dtype=np.int64))
    positions = _positions(marginal, values)
    if positions is not None:
        return line_distance(histogram, marginal, positions)
    return estimated_distance(histogram, marginal, _scale(marginal, values), lambda: _decimal(values))


@cached_on_reference
def _positions(_: ReferenceDistribution, values: NDArray[Any]) -> NDArray[np.int64] | None:
    """The values' distances from the smallest, in the largest unit in which all are integers; None if there is none."""
    whole = _whole(values)
    if whole is None:
        return None
    positions = whole - whole[0]
    return np.asarray(positions // np.gcd.reduce(positions))


@cached_on_reference
def _scale(_: ReferenceDistribution, values: NDArray[Any]) -> Floats:
    return _scaled(values)


def _whole(values: NDArray[Any]) -> NDArray[np.int64] | None:
    """Values in a unit in which all are integers, or None where 62 bits are too few or the floats too long."""
    if values.dtype.kind != "f":
        return values.astype(np.int64) if int(values[-1]) - int(values[0]) < LIMIT else None
    largest = float(np.abs(values).max())
    for decimals in range(MOST_DECIMALS + 1):
        unit = 10.0**decimals
        if largest * unit >= EXACT_DECIMAL:
            return None
        scaled = np.rint(values * unit)
        if np.array_equal(scaled / unit, values):
            return np.asarray(scaled, dtype=np.int64)
    return None


def _scaled(values: NDArray[Any]) -> Floats:
    """The values on a scale from the smallest (0) to the largest (1)."""
    near_one = np.ldexp(values.astype(np.float64), -int(np.frexp(np.abs(values).max())[1]))
    span = near_one[-1] - near_one[0]
    if np.finfo(np.float64).eps > COARSE * span:
        exact = _decimal(values)
        return np.asarray(exact / exact[-1], dtype=np.float64)
    return np.asarray((near_one - near_one[0]) / span, dtype=np.float64)


def _decimal(values: NDArray[Any]) -> Integers:
    """Differences to the smallest value as Python integers, in the largest unit that makes them whole."""
    decimals = [Fraction(repr(value)) for value in values.tolist()]
    unit = lcm(*(one.denominator for one in decimals))
    return np.array([int((one - decimals[0]) * unit) for one in decimals], dtype=object)
