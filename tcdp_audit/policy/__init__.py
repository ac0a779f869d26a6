"""The policy: what a release must satisfy, read from YAML with every fault at its line."""

from __future__ import annotations

from tcdp_audit.policy.discovery import discover
from tcdp_audit.policy.loading import load_policy
from tcdp_audit.policy.model import AttributeDeclaration, Conventions, Role, Scale
from tcdp_audit.policy.policy import Expectation, PlannedRemedy, Policy

__all__ = [
    "AttributeDeclaration",
    "Conventions",
    "Expectation",
    "PlannedRemedy",
    "Policy",
    "Role",
    "Scale",
    "discover",
    "load_policy",
]
