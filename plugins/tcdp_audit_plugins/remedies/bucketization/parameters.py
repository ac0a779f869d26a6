"""What a policy says about bucketization."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from tcdp_audit.policy import Role, Scale
from tcdp_audit.policy.model import PolicyDocument, Text
from tcdp_audit.policy.scalars import Exact
from tcdp_audit.remedy import RemedyParameters


class Released(StrEnum):
    """What stands in place of a confidential value."""

    LABELS = "labels"
    MEANS = "means"


class BucketizationParameters(RemedyParameters):
    """Parameters of `bucketization`."""

    attribute: Annotated[Text, Field(description="The confidential attribute.")]
    t: Annotated[
        Exact,
        Field(
            ge=1,
            description="The largest ratio of a bucket's share in a class and in the table, or the other way round.",
        ),
    ]
    k: Annotated[int, Field(ge=1, description="The least number of records in a class; at least as many as buckets.")]
    buckets: Annotated[
        int | None,
        Field(ge=2, description="How many buckets; by default the largest whole number up to t, plus one."),
    ] = None
    release: Annotated[
        Released,
        Field(strict=False, description="labels: what a bucket covers; means: the mean of its numbers."),
    ] = Released.LABELS


def faults(parameters: BucketizationParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """What the policy shows to be wrong: (parameter, sentence)."""
    name = parameters.attribute
    declared = document.attributes.get(name)
    if declared is None:
        yield "attribute", f"the policy declares no attribute {name!r}"
        return
    if declared.role is not Role.SENSITIVE:
        yield "attribute", f"{name!r} is not sensitive: its role is {declared.role.value}"
    if declared.scale is Scale.ORDINAL and declared.order is None:
        yield "attribute", f"buckets of {name!r} need its order; declare it, for example `order: [low, middle, high]`"
    if parameters.release is Released.MEANS and declared.scale is not Scale.NUMERIC:
        yield "release", f"means need numbers; {name!r} is {(declared.scale or Scale.NOMINAL).value}"
    if document.conventions.reference != "release":
        yield "", "buckets keep t against the release itself; bucketization needs `reference: release`"
