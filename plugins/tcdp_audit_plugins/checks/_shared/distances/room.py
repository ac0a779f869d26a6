"""Room for products: 64-bit integers where they suffice, Python's own where they do not."""

from __future__ import annotations

from dataclasses import replace

from tcdp_audit.plugin.check import Histogram
from tcdp_audit.plugin.measure import LIMIT


def roomy(histogram: Histogram, factor: int) -> Histogram:
    """A histogram whose class totals can be multiplied by `factor` without overflow.

    Args:
        histogram: counts in every class.
        factor: the largest number that a class total will be multiplied by.

    Returns:
        The same counts, as Python integers (dtype object) where a product would leave 62 bits.
    """
    if int(histogram.total.max(initial=0)) * factor < LIMIT:
        return histogram
    return widened(histogram)


def widened(histogram: Histogram) -> Histogram:
    """The same counts as Python integers."""
    return replace(histogram, counts=histogram.counts.astype(object))
