"""Mondrian: the table is cut in parts, each attribute where it serves, as long as every part keeps the policy."""

from __future__ import annotations

from tcdp_audit.remedy import Remedy
from tcdp_audit_plugins.remedies.mondrian.apply import cut
from tcdp_audit_plugins.remedies.mondrian.guide import GUIDE
from tcdp_audit_plugins.remedies.mondrian.parameters import MondrianParameters, faults
from tcdp_audit_plugins.remedies.mondrian.plan import plans

__all__ = ["MONDRIAN", "MondrianParameters", "cut"]

MONDRIAN = Remedy(
    name="mondrian",
    title="Mondrian partitioning",
    summary=(
        "Cuts the table into classes that keep the policy, each attribute as finely as its part of the table allows, "
        "and releases intervals, nodes of hierarchies or sets in place of values."
    ),
    guide=GUIDE,
    parameters=MondrianParameters,
    apply=cut,
    validate=faults,
    plan=plans,
)
