"""PRAM, the post-randomisation method: categories are released as others, with known probabilities.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy from a view to columns of drawn values;
- `matrices`: the probabilities, declared or invariant.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.pram.apply import post_randomise
from tcdp_audit_plugins.remedies.pram.parameters import PramParameters, faults, plans, why_not_applicable

__all__ = ["PRAM", "PramParameters", "post_randomise"]
PRAM = Remedy(
    name="pram",
    title="PRAM",
    summary="Releases categories as others with declared probabilities, or so that no margin is expected to change.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("pram.md")),
    parameters=PramParameters,
    apply=post_randomise,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
    once=True,
)
