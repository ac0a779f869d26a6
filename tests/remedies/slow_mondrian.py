"""Mondrian in plain Python, one partition at a time: the remedy's own rules, and the textbook's for comparison.

A partition is a list of record numbers. Nothing is shared with the remedy but the definition of its strategies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby
from typing import Any

import numpy as np

from tcdp_audit_plugins.remedies.mondrian.partition import CutScore, Strategy

Partition = list[int]
Keeps = Callable[[Partition], bool]


@dataclass(frozen=True)
class Line:
    """Numbers, or names in their order; None for no value."""

    cells: Sequence[Any]
    is_set: bool = False

    @cached_property
    def domain(self) -> list[Any]:
        return sorted({cell for cell in self.cells if cell is not None})

    def key(self, record: int) -> tuple[bool, Any]:
        return (self.cells[record] is None, self.cells[record])

    def width(self, records: Partition) -> float:
        held = {self.cells[record] for record in records}
        if None in held:
            return 1.0
        if self.is_set:
            return 0.0 if len(held) == 1 else len(held) / len(self.domain)
        return (max(held) - min(held)) / ((self.domain[-1] - self.domain[0]) or 1)

    def nodes(self, records: Partition) -> list[dict[int, Any]]:
        held = Counter(self.key(record) for record in records)
        keys = sorted(held, key=lambda key: (key[0], key[1] or 0))
        before = dict(zip(keys, accumulate((held[key] for key in keys), initial=0), strict=False))
        median = min(keys, key=lambda key: abs(2 * before[key] - len(records)))
        low = set(keys[: keys.index(median)])
        return [{record: int(self.key(record) not in low) for record in records}]


@dataclass(frozen=True)
class Hierarchy:
    """Values with their labels from leaf to root; None for no value. A label above the leaves may be a value, too."""

    cells: Sequence[str | None]
    branches: Mapping[str, Sequence[str]]

    @property
    def height(self) -> int:
        return len(next(iter(self.branches.values()))) - 1

    @cached_property
    def _lineage(self) -> dict[str, tuple[int, list[str]]]:
        """Own level of each label, and its node at each level: below its own level a label stands for itself."""
        actual: dict[str, tuple[int, list[str]]] = {}
        for level in range(self.height + 1):
            for branch in self.branches.values():
                actual.setdefault(branch[level], (level, [f"only {branch[level]}"] * level + list(branch[level:])))
        return actual

    def level(self, label: str) -> int:
        return self._lineage[label][0]

    def path(self, label: str) -> list[str]:
        return self._lineage[label][1]

    @cached_property
    def _numbers(self) -> dict[tuple[int, str], int]:
        seen: dict[tuple[int, str], int] = {}
        for label in sorted({cell for cell in self.cells if cell is not None}):
            for place in enumerate(self.path(label)):
                seen.setdefault(place, len(seen))
        return seen

    def key(self, record: int) -> tuple[Any, ...]:
        cell = self.cells[record]
        if cell is None:
            return (True,)
        path = self.path(cell)
        return (False, *(self._numbers[level, path[level]] for level in reversed(range(len(path)))))

    def common(self, records: Partition) -> int:
        """The level of the lowest common ancestor."""
        held = {self.cells[record] for record in records}
        if len(held) == 1:
            return 0
        if None in held:
            return self.height
        paths = [self.path(label) for label in held if label is not None]
        return next(level for level in range(self.height + 1) if len({path[level] for path in paths}) == 1)

    def width(self, records: Partition) -> float:
        if any(self.cells[record] is None for record in records):
            return 1.0
        label = str(self.cells[records[0]])
        level = max(self.common(records), self.level(label))
        node = self.path(label)[level]
        under = sum(branch[level] == node for branch in self.branches.values())
        return 0.0 if under == 1 else under / len(self.branches)

    def nodes(self, records: Partition) -> list[dict[int, Any]]:
        top = self.common(records)
        return [{record: self._node(record, top, level) for record in records} for level in reversed(range(top))]

    def _node(self, record: int, top: int, level: int) -> str | None:
        cell = self.cells[record]
        return None if cell is None or self.level(cell) >= top else self.path(cell)[level]


Dimension = Line | Hierarchy


def own_partitioning(
    dimensions: Sequence[Dimension], start: Partition, keeps: Keeps, strategy: Strategy
) -> list[Partition]:
    """The remedy's rules: the first cut in the strategy's order that gives allowed parts, with a rest where need be."""
    scored = [(_score(one, start, strategy), one) for one in dimensions]
    ranked = [one for score, one in sorted(scored, key=lambda pair: -pair[0]) if score >= 0]
    nodes = [one.nodes(start) for one in ranked]
    for rank, depth in strategy.turns(len(ranked), max(map(len, nodes), default=0)):
        parts = _allowed(ranked[rank], start, nodes[rank][depth:], keeps)
        if parts:
            return [final for part in parts for final in own_partitioning(dimensions, part, keeps, strategy)]
    return [start]


def _score(dimension: Dimension, records: Partition, strategy: Strategy) -> float:
    if len({dimension.key(record) for record in records}) == 1:
        return -1.0
    node = dimension.nodes(records)[0]
    parts = _parts(dimension, records, node)
    if len(parts) == 1:
        return -1.0
    saved, bits = dimension.width(records), 0.0
    left = 0.0
    for part in parts:
        share = np.float64(len(part) / len(records))
        left += dimension.width(part) * share
        bits += -share * np.log2(share)
    figures = (np.array([figure]) for figure in (saved, max(saved - left, 0.0), bits))
    return float(strategy.score(CutScore(*figures))[0])


def _parts(dimension: Dimension, records: Partition, node: Mapping[int, Any]) -> list[Partition]:
    """The records of each node, in the order of the dimension."""
    return [list(part) for _, part in groupby(sorted(records, key=dimension.key), node.__getitem__)]


def _allowed(
    dimension: Dimension, records: Partition, nodes: Sequence[Mapping[int, Any]], keeps: Keeps
) -> list[Partition]:
    allowed: list[Partition] = []
    rest = list(records)
    for node in nodes:
        for part in _parts(dimension, [record for record in rest if node[record] is not None], node):
            if keeps(part):
                allowed.append(part)
                rest = [record for record in rest if record not in part]
    if not rest:
        return allowed if len(allowed) > 1 else []
    allowed.sort(key=len)
    taken = 0
    while taken < len(allowed):
        whole = rest + [record for part in allowed[:taken] for record in part]
        if keeps(whole):
            return [*allowed[taken:], sorted(whole)]
        taken = 2 * taken + 1
    return []


def textbook_partitioning(dimensions: Sequence[Dimension], start: Partition, keeps: Keeps) -> Iterator[Partition]:
    """LeFevre et al.: the widest dimension first; cut at the median, or into all children; all parts allowed."""
    pending = [start]
    while pending:
        records = pending.pop()
        widths = [dimension.width(records) for dimension in dimensions]
        for number in sorted(range(len(dimensions)), key=lambda number: -widths[number]):
            parts = _textbook_parts(dimensions[number], records)
            if len(parts) > 1 and all(keeps(part) for part in parts):
                pending.extend(parts)
                break
        else:
            yield records


def _textbook_parts(dimension: Dimension, records: Partition) -> list[Partition]:
    """The most even cut in two, equal values together; or one part for each child of the node."""
    if len({dimension.cells[record] for record in records}) == 1:
        return [records]
    node = dimension.nodes(records)[0]
    parts: dict[Any, Partition] = {}
    for record in records:
        parts.setdefault(node[record], []).append(record)
    return list(parts.values())


def certainty_penalty(dimensions: Sequence[Dimension], parts: Sequence[Partition]) -> float:
    """Mean over records and dimensions of the width of their class."""
    total = sum(len(part) * dimension.width(part) for part in parts for dimension in dimensions)
    return total / sum(map(len, parts)) / len(dimensions)
