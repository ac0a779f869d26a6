"""The verdict of a check over all shards, or on whole tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tcdp_audit.outcome import Comparison


@dataclass(frozen=True)
class Verdict:
    """What came of a check; `failed` is None where no threshold was demanded."""

    observed: float
    threshold: Fraction | None
    comparison: Comparison
    failed: bool | None
    details: Mapping[str, Any]
