"""The policy: what a release must satisfy, read from YAML with every fault at its line.

scalars, source       numbers and texts as they were typed, and where each stands in the file
given                 what a program gives instead of a file
model                 attributes, conventions, the document
profile, profiled     named thresholds with their sources, and a policy that names some
registered, section   what a policy may name, and the sections that name it
utility               whether what people would do can be done with the columns that it names
recognition           whether a document is a policy at all, so that nothing of a table is quoted
faults, loading       faults as sentences; a text becomes a policy, or all of its faults
policy                a policy that is sound
discovery, schema     the policy when none is named; the JSON Schema of policies
"""

from __future__ import annotations

from tcdp_audit.core.policy.discovery import discover
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, Role, Scale
from tcdp_audit.core.policy.policy import Expectation, PlannedRemedy, Policy

__all__ = [
    "AttributeDeclaration",
    "Conventions",
    "Expectation",
    "PlannedRemedy",
    "Policy",
    "Role",
    "Scale",
    "discover",
    "read_policy",
]
