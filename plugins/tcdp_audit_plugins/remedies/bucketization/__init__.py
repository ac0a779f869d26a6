"""Bucketization: a confidential attribute in buckets, in classes that are close to the table by design.

- `parameters`: what a policy may say, and what is proposed where it says nothing;
- `apply`: the remedy from beginning to end, and the proof that t is kept;
- `goal`: the buckets and class sizes that t and k ask for, and whether they can be attained;
- `refusal`: which inequality fails where they cannot, and what is nearest;
- `composition`: how many records of each bucket a class has;
- `choice`: the records of each class: `halving` assigns them, then neighbouring classes exchange some.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.bucketization.apply import apply
from tcdp_audit_plugins.remedies.bucketization.parameters import (
    BucketizationParameters,
    faults,
    plans,
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
    plan=plans,
    why_not_applicable=why_not_applicable,
)
