"""Distances of a class's distribution from the reference, by definition."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

Shares = Mapping[Hashable, Fraction]
ZERO = Fraction(0)


def equal(p: Shares, q: Shares) -> Fraction:
    """Half the sum of absolute differences."""
    return sum((abs(p.get(v, ZERO) - q.get(v, ZERO)) for v in {*p, *q}), ZERO) / 2


def ordered(p: Shares, q: Shares, order: Sequence[Hashable]) -> Fraction:
    """The work of moving shares along the ranks of an order, the whole of it being 1."""
    return line(p, q, order, [Fraction(1)] * (len(order) - 1))


def numeric(p: Shares, q: Shares, order: Sequence[str]) -> Fraction:
    """The work of moving shares along a line of numbers, its range being 1."""
    numbers = [Fraction(one) for one in order]
    return line(p, q, order, [b - a for a, b in pairwise(numbers)])


def line(p: Shares, q: Shares, order: Sequence[Hashable], steps: Sequence[Fraction]) -> Fraction:
    """Cumulated differences, each over the step that it has to cross."""
    moved, work = ZERO, ZERO
    for value, step in zip(order, steps, strict=False):
        moved += p.get(value, ZERO) - q.get(value, ZERO)
        work += abs(moved) * step
    return work / sum(steps, ZERO) if steps else ZERO


def hierarchical(p: Shares, q: Shares, tree: Mapping[str, Any]) -> Fraction:
    """Over the inner nodes: height by height of the tree, times the smaller of surplus and deficit of the children."""
    extra = {v: p.get(v, ZERO) - q.get(v, ZERO) for v in {*p, *q}}
    (root,) = tree.values()
    height = _height(root)
    return sum((Fraction(h, height) * min(surplus, deficit) for h, surplus, deficit in _nodes(root, extra)), ZERO)


def _height(node: Any) -> int:
    return 1 + max(map(_height, node.values())) if isinstance(node, Mapping) else 1


def _leaves(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        for child in node.values():
            yield from _leaves(child)
    else:
        yield from node


def _nodes(node: Any, extra: Mapping[Hashable, Fraction]) -> Iterator[tuple[int, Fraction, Fraction]]:
    children = list(node.values()) if isinstance(node, Mapping) else [[leaf] for leaf in node]
    sums = [sum((extra.get(leaf, ZERO) for leaf in _leaves(child)), ZERO) for child in children]
    yield _height(node), sum((s for s in sums if s > 0), ZERO), -sum((s for s in sums if s < 0), ZERO)
    if isinstance(node, Mapping):
        for child in node.values():
            yield from _nodes(child, extra)


def multiplicative(p: Shares, q: Shares) -> Fraction | None:
    """The largest factor either way; infinite where one of the two lacks a value."""
    if {v for v in p if p[v]} != {v for v in q if q[v]}:
        return None
    return max(max(p[v] / q[v], q[v] / p[v]) for v in p)
