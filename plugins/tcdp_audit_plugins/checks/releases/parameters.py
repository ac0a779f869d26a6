"""What the checks on several releases have in common: the attribute that they ask about, and what they need."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import Parameters, TableView
from tcdp_audit.plugin.detector import Role, Text


class SensitiveParameters(Parameters):
    """Parameters of a check that asks what several releases together tell about sensitive attributes."""

    sensitive: Annotated[
        Text | None, Field(description="The sensitive attribute; without it all of them, and the worst is the figure.")
    ] = None


def sensitive_attributes(parameters: SensitiveParameters, view: TableView) -> list[str]:
    """The attributes that are asked about."""
    return view.policy.with_role(Role.SENSITIVE) if parameters.sensitive is None else [parameters.sensitive]
