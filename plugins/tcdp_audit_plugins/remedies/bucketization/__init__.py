"""Bucketization: a confidential attribute in buckets, in classes that are close to the table by design.

- `goal`: the buckets and class sizes that t and k ask for, and which inequality fails where they cannot be had;
- `choice`: how many records of each bucket a class has, and which ones;
- `apply`: the parameters, the remedy from beginning to end, and the proof that t is kept.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.bucketization.apply import (
    BucketizationParameters,
    apply,
    faults,
    suggest_parameters,
    why_not_applicable,
)

BUCKETIZATION = Remedy(
    name="bucketization",
    title="Bucketization",
    summary="Releases a confidential attribute in buckets, in classes with nearly the table's share of each.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("bucketization.md")),
    parameters=BucketizationParameters,
    apply=apply,
    validate=faults,
    suggest_parameters=suggest_parameters,
    why_not_applicable=why_not_applicable,
)
