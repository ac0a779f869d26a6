"""What the checks on several releases have in common: the attribute that they ask about, and what they need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import Parameters, TableView
from tcdp_audit.plugin.detector import PolicyDocument, Role, Text
from tcdp_audit_plugins.checks._shared.sampling import counts_rows

NO_EARLIER_RELEASE = (
    "no earlier release is named; add `previous:` with the table that was released before, or a list of such tables"
)


class SensitiveParameters(Parameters):
    """Parameters of a check that asks what several releases together tell about sensitive attributes."""

    sensitive: Annotated[
        Text | None, Field(description="The sensitive attribute; without it all of them, and the worst is the figure.")
    ] = None


def sensitive_attributes(parameters: SensitiveParameters, view: TableView) -> list[str]:
    """The attributes that are asked about."""
    return view.policy.with_role(Role.SENSITIVE) if parameters.sensitive is None else [parameters.sensitive]


def needs_an_earlier_release(_: Parameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """What the policy lacks without an earlier release, or why releases of several rows a person are not compared."""
    if document.previous is None:
        yield "", NO_EARLIER_RELEASE
    yield from counts_rows(document)


def needs_a_sensitive_attribute(parameters: SensitiveParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """What the policy lacks without an earlier release, or without a sensitive attribute."""
    yield from needs_an_earlier_release(parameters, document)
    sensitive = sorted(name for name, one in document.attributes.items() if one.role is Role.SENSITIVE)
    if not sensitive:
        yield "", "no attribute has the role sensitive"
    elif parameters.sensitive is not None and parameters.sensitive not in sensitive:
        yield "sensitive", f"the policy declares no sensitive attribute {parameters.sensitive!r}"
