"""Products without overflow: 64-bit integers where they suffice, Python's own where they do not."""

from __future__ import annotations

from dataclasses import replace

from tcdp_audit.plugin.check import Histogram
from tcdp_audit.plugin.measure import LIMIT


def fits_int64(histogram: Histogram, factor: int) -> bool:
    """Whether the class totals of a histogram can be multiplied by `factor` within 62 bits."""
    return int(histogram.total.max(initial=0)) * factor < LIMIT


def as_python_integers(histogram: Histogram) -> Histogram:
    """The same counts as Python integers (dtype object), which no product overflows."""
    return replace(histogram, counts=histogram.counts.astype(object))
