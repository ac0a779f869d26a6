"""Bucketization: a confidential attribute in buckets, in classes that are close to the table by construction.

- `masses` and `buckets`: which values belong together;
- `attainability`, `demand` and `refusal`: whether t and k can be attained, and what is nearest;
- `composition`: how many records of each bucket a class has;
- `choice`, `halving` and `exchange`: which records those are;
- `apply`: all of it, and the proof.
"""

from __future__ import annotations

from tcdp_audit import Remedy
from tcdp_audit_plugins.remedies.bucketization.apply import apply
from tcdp_audit_plugins.remedies.bucketization.guide import GUIDE
from tcdp_audit_plugins.remedies.bucketization.parameters import BucketizationParameters, faults
from tcdp_audit_plugins.remedies.bucketization.plan import plan

BUCKETIZATION = Remedy(
    name="bucketization",
    title="Bucketization",
    summary="Releases a confidential attribute in buckets, in classes with nearly the table's share of each.",
    guide=GUIDE,
    parameters=BucketizationParameters,
    apply=apply,
    validate=faults,
    plan=plan,
)
