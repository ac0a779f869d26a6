"""What a policy says about rebucketize."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from tcdp_audit.policy import Role, Scale
from tcdp_audit.policy.model import PolicyDocument, Text
from tcdp_audit.remedy import RemedyParameters


class RebucketizeParameters(RemedyParameters):
    """Parameters of `rebucketize`."""

    attribute: Annotated[Text, Field(description="The attribute whose buckets are joined.")]
    buckets: Annotated[
        int | None,
        Field(ge=1, description="How many buckets to leave at most; by default as many as pass."),
    ] = None


def faults(parameters: RebucketizeParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """What the policy shows to be wrong: (parameter, sentence)."""
    name = parameters.attribute
    declared = document.attributes.get(name)
    if declared is None:
        yield "attribute", f"the policy declares no attribute {name!r}"
    elif declared.role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        yield "attribute", f"{name!r} is neither sensitive nor a quasi-identifier: its role is {declared.role.value}"
    elif declared.scale is Scale.ORDINAL and declared.order is None:
        yield (
            "attribute",
            f"neighbours of {name!r} need its order; declare it, for example `order: [low, middle, high]`",
        )
