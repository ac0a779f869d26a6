"""Correlated noise: normal noise with a given covariance is added to numbers.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `covariance`: of the numbers, and of the noise that follows from it or is declared;
- `apply`: the remedy from a view to columns with noise.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.correlated_noise.apply import add_noise
from tcdp_audit_plugins.remedies.correlated_noise.parameters import (
    CorrelatedNoiseParameters,
    faults,
    plans,
    why_not_applicable,
)

__all__ = ["CORRELATED_NOISE", "CorrelatedNoiseParameters", "add_noise"]
CORRELATED_NOISE = Remedy(
    name="correlated_noise",
    title="Correlated noise",
    summary="Adds normal noise with a given covariance to numbers, so that correlations stay on average.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("correlated_noise.md")),
    parameters=CorrelatedNoiseParameters,
    apply=add_noise,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
    once=True,
)
