"""Generalization: the combination of levels of all quasi-identifiers' hierarchies that keeps a policy at least loss."""

from __future__ import annotations

from tcdp_audit.remedy import Remedy
from tcdp_audit_plugins.remedies.generalization.apply import generalized
from tcdp_audit_plugins.remedies.generalization.guide import GUIDE
from tcdp_audit_plugins.remedies.generalization.parameters import GeneralizationParameters, faults
from tcdp_audit_plugins.remedies.generalization.plan import plans

__all__ = ["GENERALIZATION", "GeneralizationParameters", "generalized"]

GENERALIZATION = Remedy(
    name="generalization",
    title="Full-domain generalization",
    summary=(
        "Generalises every quasi-identifier to one level of its hierarchy, the combination that loses least among all "
        "that keep the policy, and may drop a few records."
    ),
    guide=GUIDE,
    parameters=GeneralizationParameters,
    apply=generalized,
    validate=faults,
    plan=plans,
)
