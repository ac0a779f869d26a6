"""Larger groups around equivalence classes: what is below the same nodes of the quasi-identifiers' hierarchies.

The groups of step s are the records that agree in every quasi-identifier's ancestor s levels below its root, or in the
value itself where that is nearer to the root. Step 0 is the whole table. A quasi-identifier without a hierarchy has
its values one level below the root.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts, ancestors_of, count_pairs, fold, numbered
from tcdp_audit.plugin.check import Histogram, TableView
from tcdp_audit.plugin.engine import CodedTable, Domain, Hierarchy

Nodes = NDArray[np.int64]


@dataclass(frozen=True)
class Classes:
    """The equivalence classes of a release, with the values of an attribute in each.

    Args:
        histogram: the attribute's values in each class.
        records: of each class, those without a value among them.
        nodes: for each quasi-identifier the node above each class's value at each level. Shapes (height + 1, classes).
    """

    histogram: Histogram
    records: Counts
    nodes: Sequence[Nodes]

    @property
    def steps(self) -> int:
        """How many steps there are above the classes themselves."""
        return max(len(one) for one in self.nodes) - 1

    def groups(self) -> Iterator[tuple[NDArray[np.intp], int]]:
        """The group of each class at each step from the classes up to the table, and how many groups there are."""
        for step in reversed(range(1, self.steps)):
            columns = [one[max(len(one) - 1 - step, 0)] for one in self.nodes]
            keys = fold(columns, [int(one.max()) + 1 for one in columns])
            distinct, group = numbered(keys.values, keys.span)
            yield group.astype(np.intp), len(distinct)
        yield np.zeros(len(self.records), dtype=np.intp), 1


def classes_of(view: TableView, table: CodedTable, attribute: str, *, missing_is_a_value: bool) -> Classes:
    """The classes of a table's rows. O(rows log rows)."""
    names = view.quasi_identifiers
    domains = [table.domains[name] for name in names]
    keys = fold([table.codes[name] for name in names], [one.size + 1 for one in domains])
    size = table.domains[attribute].size
    counted = count_pairs(keys, table.codes[attribute], size + 1, table.times)
    codes = keys.decode(numbered(keys.values, keys.span)[0].astype(np.int64))
    nodes = [
        _nodes(domain, view.hierarchies.get(name))[:, own]
        for name, domain, own in zip(names, domains, codes, strict=True)
    ]
    return Classes(counted if missing_is_a_value else counted.without(size), counted.total, nodes)


def _nodes(domain: Domain, hierarchy: Hierarchy | None) -> Nodes:
    """The node above each value at each level, from 0 on; a missing value has nodes of its own below the root."""
    values = np.arange(domain.size + 1)
    if hierarchy is None:
        return np.array([values, np.zeros_like(values)])
    above = ancestors_of(hierarchy, domain.labels)
    levels = [np.unique(one, return_inverse=True)[1] for one in above[:-1]]
    return np.array([*(np.append(one, one.max(initial=-1) + 1) for one in levels), np.zeros_like(values)])
