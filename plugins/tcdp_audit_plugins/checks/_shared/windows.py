"""The largest part of every class that lies close together: in an interval, or under one node of a hierarchy."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Histogram
from tcdp_audit.plugin.engine import Tree
from tcdp_audit.plugin.measure import add_up

SAFE = 2**61  # integers of the domain and the width stay below this, so that their sum stays in 64 bits


def most_within(histogram: Histogram, reach: Counts) -> Counts:
    """The most records of a class in one interval of the domain.

    An interval that holds the most can be taken to begin at a value of the class, so only those are tried.

    Args:
        histogram: counts of the classes.
        reach: the last code inside an interval that begins at each code, ascending, shape (domain,).

    Returns:
        int64, shape (classes,).

    Cost: O(pairs of class and value x log pairs).
    """
    begins = histogram.rows * len(reach)
    position = begins + histogram.values  # ascending: rows ascend, and the values within each
    end = np.searchsorted(position, begins + reach.take(histogram.values), side="right")
    before = np.concatenate([[0], np.cumsum(histogram.counts)])
    return np.asarray(histogram.max(before.take(end) - before[:-1]))


def most_under_a_node(histogram: Histogram, tree: Tree, level: int) -> Counts:
    """The most records of a class under one node at a level of a hierarchy. O(pairs log pairs). Shape (classes,)."""
    nodes = tree.ancestors[level][histogram.values]
    above = add_up(histogram.rows, nodes, histogram.counts, len(histogram), tree.nodes(level))
    return np.asarray(above.max(above.counts))


def reach_of_ranks(domain: int, width: Fraction) -> Counts:
    """The last code whose rank exceeds that of each code by at most a width. int64, shape (domain,)."""
    return np.minimum(np.arange(domain) + min(int(width), domain), domain - 1)


def reach_of_numbers(values: NDArray[Any], width: Fraction) -> Counts:
    """The last code whose number exceeds that of each code by at most a width, exact.

    Numbers stored as floating point stand for the decimals that they print as: 0.3 is within 0.2 of 0.1.

    Args:
        values: distinct numbers in ascending order, int64 or float64, shape (domain,).
        width: at least 0.

    Returns:
        int64, shape (domain,).

    Cost: O(domain x log domain), and rational arithmetic where floating point does not decide.
    """
    if values.dtype.kind in "iu" and max(abs(int(values[0])), abs(int(values[-1])), int(width)) < SAFE:
        return np.searchsorted(values, values + int(width), side="right") - 1
    floats = values.astype(np.float64)
    ends = floats + float(width)
    doubt = 8 * np.finfo(np.float64).eps * (np.abs(floats) + np.abs(ends))
    reach = np.searchsorted(floats, ends - doubt, side="right") - 1
    beyond = np.searchsorted(floats, ends + doubt, side="right") - 1
    for code in np.flatnonzero(beyond > reach).tolist():
        reach[code] = _last_within(values, code, int(reach[code]), int(beyond[code]), width)
    return np.maximum(reach, np.arange(len(values)))


def _last_within(values: NDArray[Any], code: int, last: int, beyond: int, width: Fraction) -> int:
    start = _decimal(values[code])
    while last < beyond and _decimal(values[last + 1]) - start <= width:
        last += 1
    return last


def _decimal(value: Any) -> Fraction:
    return Fraction(str(value.item()))
