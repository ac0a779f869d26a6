"""Parameters of attacks by likelihood, and what must be true of them under a policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from tcdp_audit.plugin.check import Parameters
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Text

BY_DEFAULT = 40_000  # distinct records up to which a release is attacked without being asked: a minute of a processor

Direction = Literal["masked_to_original", "original_to_masked"]


class LikelihoodParameters(Parameters):
    """Parameters of every attack by likelihood."""

    at_most: Annotated[
        Exact | None, Field(ge=0, le=1, description="The largest share of records that may be linked correctly.")
    ] = None
    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The attributes that the intruder knows; without it, all quasi-identifiers."),
    ] = None
    direction: Annotated[
        Direction, Field(description="Which records are linked: released ones to known ones, or the reverse.")
    ] = "masked_to_original"
    probability: Annotated[
        Exact, Field(ge=0, lt=1, description="People with a posterior above this are candidates for a released record.")
    ] = Fraction(1, 10)
    limit: Annotated[
        int, Field(ge=2, description="The most distinct records of a table; time grows with the square.")
    ] = 100_000


def known_attributes(parameters: LikelihoodParameters, quasi_identifiers: Sequence[str]) -> list[str]:
    """The attributes that the intruder knows, sorted."""
    return sorted(set(parameters.attributes or quasi_identifiers))


def attributes_under(parameters: LikelihoodParameters, document: PolicyDocument) -> list[str]:
    """The same, from a policy."""
    own = [name for name, one in document.attributes.items() if one.role is Role.QUASI_IDENTIFIER]
    return known_attributes(parameters, own)


def misnamed(parameters: LikelihoodParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Why no intruder can know the attributes: they are not declared, or tell who is who."""
    for name in attributes_under(parameters, document):
        if name not in document.attributes:
            yield "attributes", f"the policy declares no attribute {name!r}"
        elif name == document.key:
            yield "attributes", f"{name!r} is the key, which an intruder does not have; leave it out"
