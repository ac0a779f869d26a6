"""Ranges of numbers and ranks: the narrowest that covers the values of a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.remedy import Attribute, interval_label, number_text
from tcdp_audit_plugins.remedies._shared.recoding.extremes import distinct_pairs, extremes

Integers = NDArray[np.int64]


def is_ranged(attribute: Attribute) -> bool:
    """Whether its values are generalised to ranges: numbers, and values of a declared order."""
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
    """Where each value of an ordered domain begins and ends, as ranks among the ends that occur.

    Args:
        low: rank of its lower end. Shape (domain,).
        high: rank of its upper end, likewise.
        starts: the lower ends as text, by rank, and whether each is open; a closed one comes first.
        stops: the upper ends, likewise; an open one comes first.
    """

    low: Integers
    high: Integers
    starts: Sequence[tuple[str, bool]]
    stops: Sequence[tuple[str, bool]]


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
    """From the least lower end to the greatest upper one; a label that covers just that stays as it is."""
    ends = _ends(attribute)
    first, last, chosen = distinct_pairs(*extremes(ends.low[codes], ends.high[codes], classes, count))
    own = dict(zip(zip(ends.low.tolist(), ends.high.tolist(), strict=True), attribute.domain.labels, strict=True))
    labels = []
    for low, high in zip(first.tolist(), last.tolist(), strict=True):
        (start, open_start), (stop, open_end) = ends.starts[low], ends.stops[high]
        labels.append(own.get((low, high)) or span_label(start, stop, open_start=open_start, open_end=open_end))
    return labels, chosen
