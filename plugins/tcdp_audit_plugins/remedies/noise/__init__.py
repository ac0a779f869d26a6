"""Noise: mask the values of one attribute with a mechanism of differential privacy, and declare it.

- `parameters`: what a policy may say, and a mechanism that is fitted to an attribute;
- `apply`: Laplace and geometric noise, randomised response; one draw, or draws until one is close;
- `closeness`: classes of k records, and the noise that a t between them and the table needs.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.noise.apply import mask
from tcdp_audit_plugins.remedies.noise.closeness import T_BY_NOISE
from tcdp_audit_plugins.remedies.noise.parameters import MASKING, NoiseParameters, faults

__all__ = ["NOISE", "T_BY_NOISE"]
NOISE = Remedy(
    name="noise",
    title="Noise",
    summary="Masks an attribute with Laplace or geometric noise or randomised response, at a declared epsilon.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("noise.md")),
    parameters=NoiseParameters,
    apply=mask,
    validate=faults,
    why_not_applicable=MASKING.why_not_applicable,
    random=True,
)
