"""Recoding: the records of a class get one common label in a quasi-identifier, the narrowest that covers them all.

First the least and the greatest value of each class; then ranges, nodes of a hierarchy, and sets; at last `recode`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import ancestors_of, checkpoint, count_pairs, fold
from tcdp_audit.plugin.check import Histogram
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.remedy import Attribute, NewColumn, interval_label, members, number_text, set_label
from tcdp_audit_plugins.remedies._shared.segments import inverse

Integers = NDArray[np.int64]
__all__ = ["is_ranged", "recode"]
Labels = tuple[list[str], Integers]  # distinct labels, and for each class the position of its label


def extremes(low: Integers, high: Integers, classes: Integers, count: int) -> tuple[Integers, Integers]:
    """The least of `low` and the greatest of `high` in each class; the greater first where a class has no record.

    Numbers are at least 0. Return two int64 arrays of shape (count,).
    """
    least = np.full(count, np.iinfo(np.int64).max)
    greatest = np.full(count, -1)
    np.minimum.at(least, classes, low)
    np.maximum.at(greatest, classes, high)
    return least, greatest


def distinct_pairs(first: Integers, last: Integers) -> tuple[Integers, Integers, Integers]:
    """The different pairs of ends among the classes that have any, and which of them each class has."""
    filled = first <= last
    radix = int(last.max(initial=0)) + 1
    pairs, which = np.unique(first[filled] * radix + last[filled], return_inverse=True)
    chosen = np.zeros(len(first), dtype=np.int64)
    chosen[filled] = which
    return pairs // radix, pairs % radix, chosen


def is_ranged(attribute: Attribute) -> bool:
    """Say whether its values are generalised to ranges: numbers, and values of a declared order."""
    return attribute.scale is Scale.NUMERIC or attribute.declaration.order is not None


def span_label(low: float | str, high: float | str, *, open_start: bool, open_end: bool) -> str:
    """A range from one end to another, each of which may be left out of it.

    Example:
        >>> span_label(20, 35, open_start=True, open_end=False), span_label(20, 20, open_start=False, open_end=False)
        ('(20, 35]', '20')
    """
    label = interval_label(low, high, open_end=open_end)
    return f"({label[1:]}" if open_start else label


@dataclass(frozen=True)
class _Ends:
    """The beginning and end of each value of an ordered domain, as ranks among the ends that occur."""

    low: Integers  # rank of its lower end, shape (domain,)
    high: Integers  # rank of its upper end, likewise
    # the lower ends as text, by rank, and whether each is open; a closed one comes first
    starts: Sequence[tuple[str, bool]]
    stops: Sequence[tuple[str, bool]]  # the upper ends, likewise; an open one comes first


def _ends(attribute: Attribute) -> _Ends:
    domain, order = attribute.domain, attribute.declaration.order
    if domain.covers is None:
        own = np.arange(domain.size)
        return _Ends(own, own, *[[(label, False) for label in domain.labels]] * 2)
    lows = sorted({(cover.low, cover.low_open) for cover in domain.covers})
    highs = sorted({(cover.high, not cover.high_open) for cover in domain.covers})
    low = {end: rank for rank, end in enumerate(lows)}
    high = {end: rank for rank, end in enumerate(highs)}

    def text(end: float) -> str:
        return number_text(end) if order is None or not np.isfinite(end) else order[int(end)]

    return _Ends(
        np.array([low[cover.low, cover.low_open] for cover in domain.covers]),
        np.array([high[cover.high, not cover.high_open] for cover in domain.covers]),
        [(text(end), is_open) for end, is_open in lows],
        [(text(end), not closed) for end, closed in highs],
    )


def ranges(attribute: Attribute, codes: Integers, classes: Integers, count: int) -> tuple[list[str], Integers]:
    """Name the range from the least lower end to the greatest upper one; a label that covers just that stays."""
    ends = _ends(attribute)
    first, last, chosen = distinct_pairs(*extremes(ends.low[codes], ends.high[codes], classes, count))
    own = dict(zip(zip(ends.low.tolist(), ends.high.tolist(), strict=True), attribute.domain.labels, strict=True))
    labels = []
    for low, high in zip(first.tolist(), last.tolist(), strict=True):
        checkpoint()
        (start, open_start), (stop, open_end) = ends.starts[low], ends.stops[high]
        labels.append(own.get((low, high)) or span_label(start, stop, open_start=open_start, open_end=open_end))
    return labels, chosen


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
        checkpoint()
        level, upward = hierarchy.lineage.get(label, (hierarchy.height, (label,)))
        names.append([*[label] * level, *upward, token])
    return ancestors, names


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
    # `profiles` distinguishes multisets of counts: elements numbered from 1 take the place of counts.
    numbered = Histogram(contents.offsets, contents.values, contents.values + 1)
    for numbers, where in numbered.profiles(np.arange(len(contents))):
        checkpoint()
        chosen[filled[where]] = len(labels)
        everything = len(numbers) == len(elements) > 1
        labels.append(token if everything else set_label([elements[number - 1] for number in reversed(numbers)]))
    return labels, chosen


def _elements(attribute: Attribute) -> tuple[list[str], Histogram]:
    """The single values of a nominal attribute, and for each value of its domain those that it covers."""
    labels, suppressed = attribute.domain.labels, attribute.domain.suppressed
    known = frozenset(labels)
    parts = [[] if code in suppressed else _parts(label, known) for code, label in enumerate(labels)]
    elements = sorted({part for some in parts for part in some})
    number = {element: code for code, element in enumerate(elements)}
    offsets = np.cumsum([0, *map(len, parts)])
    values = np.array([number[part] for some in parts for part in some], dtype=np.int64)
    return elements, Histogram(offsets, values, np.ones(len(values), dtype=np.int64))


def _parts(label: str, known: Collection[str]) -> Sequence[str]:
    """The members of a set label; a value that is no set has itself as its member."""
    if not (label.startswith("{") and label.endswith("}") and ", " in label):
        return [label]
    return members(label, known) or label[1:-1].split(", ")


def recode(attribute: Attribute, classes: Integers, count: int, token: str) -> NewColumn:
    """One label for every class: the value that all its records have, or the narrowest label that covers theirs.

    Numbers and values of a declared order become a closed interval from the least to the greatest; other values the
    lowest common ancestor in their hierarchy, or the set of them where they have none. A class with a missing or
    suppressed value becomes the token, and so does a set of all values that there are. Classes are numbered from 0 to
    count - 1; some may have no record. Return the column; as numbers where every class has a single one.

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
