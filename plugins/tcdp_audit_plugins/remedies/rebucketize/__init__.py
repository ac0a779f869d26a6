"""Rebucketize: fewer, wider buckets of one attribute, until the policy is kept.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the search for a number of buckets, and the column;
- `coarsening`: the values that are joined, for every number of buckets;
- `trial`: whether a number of buckets suffices.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.rebucketize.apply import apply
from tcdp_audit_plugins.remedies.rebucketize.parameters import RebucketizeParameters, faults, plans, why_not_applicable

REBUCKETIZE = Remedy(
    name="rebucketize",
    title="Rebucketize",
    summary="Joins neighbouring values or buckets of one attribute into fewer, wider ones until the policy is kept.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("rebucketize.md")),
    parameters=RebucketizeParameters,
    apply=apply,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
)
