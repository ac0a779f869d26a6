"""The parameters of checks on concealment, and what they ask of a policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import Parameters
from tcdp_audit.plugin.detector import PolicyDocument, Text
from tcdp_audit_plugins.checks._shared.sampling import counts_rows


class ConcealmentParameters(Parameters):
    """Parameters of `k_concealment`."""

    k: Annotated[
        int | None, Field(ge=1, description="The least number of records that somebody must be hidden among.")
    ] = None
    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The attributes that an intruder knows; without it, all quasi-identifiers."),
    ] = None


def known(parameters: ConcealmentParameters, quasi_identifiers: Sequence[str]) -> list[str]:
    """The attributes that an intruder knows, sorted."""
    return sorted(set(parameters.attributes or quasi_identifiers))


def declared(parameters: ConcealmentParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Why records of a policy cannot hide each other, or an intruder cannot know some attributes."""
    yield from counts_rows(document)
    for name in sorted(set(parameters.attributes or [])):
        if name not in document.attributes:
            yield "attributes", f"the policy declares no attribute {name!r}"
        elif name == document.key:
            yield "attributes", f"{name!r} is the key, which an intruder does not have; leave it out"
