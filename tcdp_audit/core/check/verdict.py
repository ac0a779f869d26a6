"""The verdict of a check over all shards, or on whole tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tcdp_audit.core.base.outcome import Comparison


@dataclass(frozen=True)
class Verdict:
    """What came of a check.

    Args:
        observed: the headline figure.
        threshold: what is demanded of it; None where nothing is.
        comparison: how the figure must compare with it.
        failed: whether it does not; None where nothing is demanded, or it cannot be decided.
        details: further figures.
        undecided: whether a sample is too small to decide whether the demand is kept.
    """

    observed: float
    threshold: Fraction | None
    comparison: Comparison
    failed: bool | None
    details: Mapping[str, Any]
    undecided: bool = False
