"""Correlated noise: normal noise with a given covariance is added to numbers.

- `apply`: the parameters, covariances, and the columns with noise.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.correlated_noise.apply import (
    MASKING,
    CorrelatedNoiseParameters,
    add_noise,
)

__all__ = ["CORRELATED_NOISE", "CorrelatedNoiseParameters", "add_noise"]
CORRELATED_NOISE = Remedy(
    name="correlated_noise",
    title="Correlated noise",
    summary="Adds normal noise with a given covariance to numbers, so that correlations stay on average.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("correlated_noise.md")),
    parameters=CorrelatedNoiseParameters,
    apply=add_noise,
    validate=MASKING.faults,
    suggest_parameters=MASKING.suggest_parameters,
    why_not_applicable=MASKING.why_not_applicable,
    once=True,
)
