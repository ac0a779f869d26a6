"""Rebucketize: fewer, wider buckets of one attribute, until the policy is kept.

- `apply`: the parameters, the search for a number of buckets, and the column.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.rebucketize.apply import (
    RebucketizeParameters,
    apply,
    faults,
    suggest_parameters,
    why_not_applicable,
)

REBUCKETIZE = Remedy(
    name="rebucketize",
    title="Rebucketize",
    summary="Joins neighbouring values or buckets of one attribute into fewer, wider ones until the policy is kept.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("rebucketize.md")),
    parameters=RebucketizeParameters,
    apply=apply,
    validate=faults,
    suggest_parameters=suggest_parameters,
    why_not_applicable=why_not_applicable,
)
