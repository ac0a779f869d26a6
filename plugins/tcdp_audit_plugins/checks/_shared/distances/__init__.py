"""Distances between a class's distribution and the reference.

With counts c of a class of n records and weights w of a reference with total W, p - q has the numerator
c W - w n over n W. Sums of such numerators are integers, so no rounding depends on order, shard or engine.
"""

from __future__ import annotations

from tcdp_audit_plugins.checks._shared.distances.hierarchical import (
    equal_distance,
    hierarchical_distance,
    hierarchical_flow,
    numeric_distance,
)
from tcdp_audit_plugins.checks._shared.distances.line import Move, ordered_distance, ordered_flow
from tcdp_audit_plugins.checks._shared.distances.multiplicative import (
    jensen_shannon,
    kullback_leibler,
    multiplicative_distance,
)

__all__ = [
    "Move",
    "equal_distance",
    "hierarchical_distance",
    "hierarchical_flow",
    "jensen_shannon",
    "kullback_leibler",
    "multiplicative_distance",
    "numeric_distance",
    "ordered_distance",
    "ordered_flow",
]
