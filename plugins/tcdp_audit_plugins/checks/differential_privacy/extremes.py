"""The largest fraction of each class, exactly: floating point looks first, integers decide where it cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit import Ratios
from tcdp_audit.exact import LIMIT, Integers
from tcdp_audit.histogram import Histogram
from tcdp_audit.keys import boundaries

NEAR = 1 - 2.0**-49  # quotients of rounded integers are off by less than this


def largest(histogram: Histogram, numerator: Integers, denominator: Integers) -> NDArray[np.intp]:
    """The pair of each class with the largest fraction; the first of equal ones.

    Args:
        histogram: its rows say which pairs belong together; none may be empty.
        numerator: an integer for each pair.
        denominator: an integer for each pair, 0 for infinity. Never 0 in both.

    Returns:
        Positions of pairs, shape (classes,).

    Cost: O(pairs); pairs that floating point cannot tell apart are compared once or twice more.
    """
    with np.errstate(divide="ignore"):
        quotient = numerator.astype(np.float64) / denominator.astype(np.float64)
    near = np.flatnonzero(quotient >= NEAR * histogram.spread(histogram.max(quotient)))
    rows = histogram.rows
    best = near[boundaries(rows[near])]
    while len(near):
        rival = best[rows[near]]
        near = near[_greater(numerator, denominator, near, rival)]
        best[rows[near][::-1]] = near[::-1]
    return best


def maximum(*ratios: Ratios) -> Ratios:
    """The largest of several fractions for every class, exactly. O(classes x ratios)."""
    classes, several = len(ratios[0].numerator), len(ratios)
    numerator = np.stack([one.numerator for one in ratios], axis=1).reshape(-1)
    denominator = np.stack([one.denominator for one in ratios], axis=1).reshape(-1)
    rows = Histogram(several * np.arange(classes + 1), np.tile(np.arange(several), classes), numerator)
    best = largest(rows, numerator, denominator)
    return Ratios(numerator[best], denominator[best])


def product(one: Any, other: Any) -> Any:
    """Of integers at least 0: in 64 bits where it fits, in Python integers where it does not."""
    one, other = np.asarray(one), np.asarray(other)
    if int(one.max(initial=0)) * int(other.max(initial=0)) < LIMIT:
        return one * other
    return one.astype(object) * other.astype(object)


def _greater(
    numerator: Integers, denominator: Integers, one: NDArray[np.intp], other: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether the fraction at `one` is greater than that at `other`, by cross-multiplication."""
    left = product(numerator[one], denominator[other])
    right = product(numerator[other], denominator[one])
    return np.asarray(left > right, dtype=bool)
