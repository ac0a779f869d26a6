"""Microaggregated releases for the tests: how they are made, and the algorithms in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit import Audit, audit, load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.treatment import apply_treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins.remedies.microaggregation import MICROAGGREGATION
from tcdp_audit_plugins.remedies.microaggregation.points import LabelDistances, Points

PLUGINS = Plugins.load(external=False)
Record = tuple[tuple[float, ...], tuple[int, ...]]  # numbers, and labels
Squared = Callable[[Record, Record], float]


@dataclass(frozen=True)
class Microaggregated:
    """A table after microaggregation, its records in their order."""

    table: pa.Table
    notes: Mapping[str, Any]
    policy: Mapping[str, Any]

    def audit(self) -> Audit:
        """Of the released table by itself."""
        return audit(self.table, self.policy, plugins=PLUGINS)

    def column(self, name: str) -> list[Any]:
        """The cells of one column."""
        return list(self.table[name].to_pylist())


def policy_of(attributes: Mapping[str, Any], *expect: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A policy; an attribute declared by its scale alone is a quasi-identifier."""
    declared = {
        name: {"role": "quasi_identifier", "scale": one} if isinstance(one, str) else one
        for name, one in attributes.items()
    }
    return {"version": 1, "attributes": declared, "expect": list(expect), **more}


def microaggregated(table: pa.Table, policy: Mapping[str, Any], **parameters: Any) -> Microaggregated:
    """Apply microaggregation, whether or not the table needs it."""
    with open_engine(table, 2**28) as engine:
        view = RemedyView(Release(engine, load_policy(policy, PLUGINS)), (), 0, lambda _: ())
        treatment = MICROAGGREGATION.apply(view, MICROAGGREGATION.parameters.model_validate(parameters))
        return Microaggregated(apply_treatment(table, view, treatment), treatment.notes, policy)


def parts(clusters: Sequence[int]) -> set[frozenset[int]]:
    """Clusters as sets of records, whatever their numbers."""
    actual: dict[int, set[int]] = {}
    for record, cluster in enumerate(clusters):
        actual.setdefault(int(cluster), set()).add(record)
    return {frozenset(one) for one in actual.values()}


def flat(labels: int) -> LabelDistances:
    """Labels without a hierarchy."""
    return LabelDistances(np.arange(labels + 1)[None, :])


def points(records: Sequence[Record], label_distances: Sequence[LabelDistances] = ()) -> Points:
    """Records as the remedy has them."""
    numbers = np.array([one for one, _ in records], dtype=float).reshape(len(records), -1)
    columns = tuple(np.array([labels[a] for _, labels in records], dtype=np.int64) for a in range(len(label_distances)))
    return Points(numbers, columns, tuple(label_distances))


def squared(one: Record, other: Record) -> float:
    """Squared distance of two records whose labels have no hierarchy."""
    numbers = sum((x - y) ** 2 for x, y in zip(one[0], other[0], strict=True))
    return numbers + sum(a != b for a, b in zip(one[1], other[1], strict=True))


def centroid(records: Sequence[Record]) -> Record:
    """Means and modes, the least label of those that tie."""
    numbers = tuple(sum(column) / len(records) for column in zip(*(one for one, _ in records), strict=True))
    columns = zip(*(labels for _, labels in records), strict=True)
    return numbers, tuple(min(Counter(one).items(), key=lambda item: (-item[1], item[0]))[0] for one in columns)


def plain_mdav(records: Sequence[Record], k: int) -> set[frozenset[int]]:
    """MDAV-generic as it is printed: Domingo-Ferrer, Torra (2005)."""
    left, actual = list(range(len(records))), []

    def around(middle: Record) -> None:
        members = sorted(left, key=lambda i: squared(records[i], middle))[:k]
        actual.append(frozenset(members))
        left[:] = [i for i in left if i not in members]

    def farthest(middle: Record) -> Record:
        return records[max(left, key=lambda i: squared(records[i], middle))]

    while len(left) >= 3 * k:
        first = farthest(centroid([records[i] for i in left]))
        second = farthest(first)
        around(first)
        around(second)
    if len(left) >= 2 * k:
        around(farthest(centroid([records[i] for i in left])))
    return {*actual, frozenset(left)}


def plain_loss(records: Sequence[Record], clusters: set[frozenset[int]]) -> float:
    """Sum over clusters of the squared distances of their pairs over their size."""
    return sum(
        sum(squared(records[i], records[j]) for i, j in combinations(sorted(members), 2)) / len(members)
        for members in clusters
    )


def partitions(records: frozenset[int], k: int) -> Iterator[set[frozenset[int]]]:
    """Every way to put records into clusters of at least k."""
    if not records:
        yield set()
        return
    first, *others = sorted(records)
    for size in range(k - 1, len(records)):
        for chosen in combinations(others, size):
            cluster = frozenset([first, *chosen])
            for more in partitions(records - cluster, k):
                yield {cluster, *more}


def least_loss(records: Sequence[Record], k: int) -> float:
    """The least sum of squares of all partitions into clusters of at least k."""
    every = partitions(frozenset(range(len(records))), k)
    return min((plain_loss(records, one) for one in every), default=inf)
