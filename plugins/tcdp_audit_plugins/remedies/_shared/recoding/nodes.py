"""Nodes of a hierarchy: the lowest common ancestor of the values of a class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import ancestors_of, inverse
from tcdp_audit.plugin.remedy import Attribute
from tcdp_audit_plugins.remedies._shared.recoding.extremes import distinct_pairs, extremes

Integers = NDArray[np.int64]


def common_ancestors(
    attribute: Attribute, codes: Integers, classes: Integers, count: int, token: str
) -> tuple[list[str], Integers]:
    """The lowest common ancestor; of a value that the hierarchy does not know and any other, the token.

    In an order that keeps every subtree together, the first and the last value of a class have its ancestor.
    """
    ancestors, names = lineages(attribute, token)
    order = np.lexsort(ancestors)
    rank = inverse(order)
    first, last, chosen = distinct_pairs(*extremes(rank[codes], rank[codes], classes, count))
    levels = (ancestors[:, order[first]] == ancestors[:, order[last]]).argmax(axis=0)
    return [names[code][level] for code, level in zip(order[first].tolist(), levels.tolist(), strict=True)], chosen


def lineages(attribute: Attribute, token: str) -> tuple[Integers, list[list[str]]]:
    """For each value its nodes from itself to above the root, as numbers and as labels."""
    hierarchy, labels = attribute.hierarchy, attribute.domain.labels
    assert hierarchy is not None  # noqa: S101 - the caller asked
    above_the_root = np.zeros((1, len(labels)), dtype=np.int64)
    ancestors = np.vstack([ancestors_of(hierarchy, labels), above_the_root])
    names = []
    for label in labels:
        level, upward = hierarchy.lineage.get(label, (hierarchy.height, (label,)))
        names.append([*[label] * level, *upward, token])
    return ancestors, names
