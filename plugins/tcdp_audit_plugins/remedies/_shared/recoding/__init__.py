"""Recoding: the records of a class get one common label in a quasi-identifier, the narrowest that covers them all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.remedy import Attribute, NewColumn
from tcdp_audit_plugins.remedies._shared.recoding.extremes import extremes
from tcdp_audit_plugins.remedies._shared.recoding.nodes import common_ancestors
from tcdp_audit_plugins.remedies._shared.recoding.ranges import is_ranged, ranges
from tcdp_audit_plugins.remedies._shared.recoding.sets import sets

__all__ = ["is_ranged", "recode"]

Integers = NDArray[np.int64]
Labels = tuple[list[str], Integers]  # distinct labels, and for each class the position of its label


def recode(attribute: Attribute, classes: Integers, count: int, token: str) -> NewColumn:
    """One label for every class: the value that all its records have, or the narrowest label that covers theirs.

    Numbers and values of a declared order become a closed interval from the least to the greatest; other values the
    lowest common ancestor in their hierarchy, or the set of them where they have none. A class with a missing or
    suppressed value becomes the token, and so does a set of all values that there are.

    Args:
        attribute: the quasi-identifier.
        classes: class number of each record, from 0 to count - 1. Shape (records,).
        count: how many numbers there are; some may have no record.
        token: the cell that stands for a suppressed value.

    Returns:
        The column; as numbers where every class has a single one.

    Cost: O(records + classes x height of the hierarchy); a sort of the records for sets. Text is made only for
    distinct labels.

    Source: Samarati (2001), section 3; LeFevre, DeWitt, Ramakrishnan (2006), section 2 for intervals of a partition.
    """
    hidden = np.zeros(count, dtype=bool)
    hidden[classes[attribute.domain.is_uninformative[attribute.codes]]] = True
    seen = ~hidden[classes]
    codes, inside = attribute.codes[seen].astype(np.int64), classes[seen]
    if not hidden.any() and _is_uniform(codes, inside, count):
        return NewColumn(attribute.domain.values, codes)
    labels, chosen = _labels(attribute, codes, inside, count, token)
    chosen[hidden] = len(labels)
    return NewColumn.of_texts([*labels, token], chosen[classes])


def _is_uniform(codes: Integers, classes: Integers, count: int) -> bool:
    low, high = extremes(codes, codes, classes, count)
    return bool((low >= high).all())


def _labels(attribute: Attribute, codes: Integers, classes: Integers, count: int, token: str) -> Labels:
    if is_ranged(attribute):
        return ranges(attribute, codes, classes, count)
    if attribute.hierarchy is not None:
        return common_ancestors(attribute, codes, classes, count, token)
    return sets(attribute, codes, classes, count, token)
