"""Parameters of attacks on masked releases, and why an attribute cannot be compared."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from tcdp_audit.plugin.check import Parameters
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text
from tcdp_audit_plugins.checks._shared.known_attributes import (
    known_attributes,
    quasi_identifiers_of,
    why_unknown,
    without_key,
)

BY_DEFAULT = 40_000  # distinct records up to which a release is attacked without being asked: a minute of a processor
Direction = Literal["masked_to_original", "original_to_masked"]


class AttackParameters(Parameters):
    """Parameters of every attack on candidate sets."""

    at_most: Annotated[Exact | None, Field(ge=0, le=1, description="The largest share of people who may be found.")] = (
        None
    )
    links: Annotated[
        Literal["certain", "expected"],
        Field(description="Which links are counted: certain ones, or right ones by guessing among the candidates."),
    ] = "certain"
    closure: Annotated[
        bool, Field(description="Whether candidates are ruled out that no one-to-one matching of all people leaves.")
    ] = True
    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The attributes that the intruder knows; without it, all quasi-identifiers."),
    ] = None


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


def ordered_attributes(parameters: AttackParameters, document: PolicyDocument) -> list[str]:
    """The attributes that are named, else all ordered quasi-identifiers; sorted."""
    own = (name for name in without_key(document) if not why_unordered(name, document))
    return known_attributes(parameters.attributes, own)


def ordered_faults(parameters: AttackParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Report attributes that cannot be ranked: (parameter, sentence)."""
    for name in sorted(set(parameters.attributes or [])):
        reason = why_not_released(name, document) or why_unordered(name, document)
        if reason:
            yield "attributes", reason
    if not ordered_attributes(parameters, document):
        yield (
            "",
            "no quasi-identifier is numeric, or ordinal with an `order`, so that none has ranks; name `attributes`",
        )


def why_not_released(name: str, document: PolicyDocument) -> str:
    """The reason why an intruder cannot compare an attribute with the release; empty where one can."""
    reason = why_unknown(name, document)
    if not reason and document.attributes[name].role is Role.IDENTIFIER:
        return f"{name!r} is an identifier, which is not released; leave it out"
    return reason


def why_unordered(name: str, document: PolicyDocument) -> str:
    """The reason why an attribute has no ranks; empty where it has."""
    declaration = document.attributes[name]
    if declaration.scale is Scale.NUMERIC or (declaration.scale is Scale.ORDINAL and declaration.order is not None):
        return ""
    example = f"{name}: {{role: {declaration.role.value}, scale: numeric}}"
    return f"{name!r} has no order, so its values have no ranks; declare its scale, for example `{example}`"


def unknown_attributes(parameters: LikelihoodParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Report attributes that no intruder can know: (parameter, sentence)."""
    for name in known_attributes(parameters.attributes, quasi_identifiers_of(document)):
        reason = why_unknown(name, document)
        if reason:
            yield "attributes", reason
