"""PRAM, the post-randomisation method: categories are released as others, with known probabilities.

- `apply`: the parameters, the probabilities, and the columns of drawn values.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.pram.apply import MASKING, PramParameters, post_randomise

__all__ = ["PRAM", "PramParameters", "post_randomise"]
PRAM = Remedy(
    name="pram",
    title="PRAM",
    summary="Releases categories as others with declared probabilities, or so that no margin is expected to change.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("pram.md")),
    parameters=PramParameters,
    apply=post_randomise,
    validate=MASKING.faults,
    suggest_parameters=MASKING.suggest_parameters,
    why_not_applicable=MASKING.why_not_applicable,
    once=True,
)
