"""Sets of nominal values: all those of a class."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import count_pairs, fold
from tcdp_audit.plugin.check import Histogram
from tcdp_audit.plugin.remedy import Attribute, members, set_label

Integers = NDArray[np.int64]


def sets(
    attribute: Attribute, codes: Integers, classes: Integers, count: int, token: str
) -> tuple[list[str], Integers]:
    """The set of values, or the token where it is all that there are; a value that is a set counts as its members."""
    elements, content = _elements(attribute)
    pairs = count_pairs(fold([classes], [count]), codes, attribute.domain.size)
    parts = content.take(pairs.values)
    rows = np.repeat(pairs.rows, parts.distinct)
    contents = count_pairs(fold([rows], [len(pairs)]), parts.values, len(elements))
    labels: list[str] = []
    chosen = np.zeros(count, dtype=np.int64)
    filled = np.unique(classes)
    # What `profiles` tells apart are multisets of counts: elements numbered from 1 stand in for them.
    numbered = Histogram(contents.offsets, contents.values, contents.values + 1)
    for numbers, where in numbered.profiles(np.arange(len(contents))):
        chosen[filled[where]] = len(labels)
        everything = len(numbers) == len(elements) > 1
        labels.append(token if everything else set_label([elements[number - 1] for number in reversed(numbers)]))
    return labels, chosen


def _elements(attribute: Attribute) -> tuple[list[str], Histogram]:
    """The single values of a nominal attribute, and for each value of its domain those that it stands for."""
    labels, suppressed = attribute.domain.labels, attribute.domain.suppressed
    known = frozenset(labels)
    parts = [[] if code in suppressed else _parts(label, known) for code, label in enumerate(labels)]
    elements = sorted({part for some in parts for part in some})
    number = {element: code for code, element in enumerate(elements)}
    offsets = np.cumsum([0, *map(len, parts)])
    values = np.array([number[part] for some in parts for part in some], dtype=np.int64)
    return elements, Histogram(offsets, values, np.ones(len(values), dtype=np.int64))


def _parts(label: str, known: Collection[str]) -> Sequence[str]:
    """The members of a set label; a value that is none stands for itself."""
    if not (label.startswith("{") and label.endswith("}") and ", " in label):
        return [label]
    return members(label, known) or label[1:-1].split(", ")
