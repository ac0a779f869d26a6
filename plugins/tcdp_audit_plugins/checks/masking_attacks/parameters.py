"""The attributes that an attack compares: what is ordered, and why others cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from tcdp_audit.plugin.check import Parameters
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text

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
        bool,
        Field(description="Whether candidates are ruled out that no one-to-one matching of everybody leaves."),
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
    """Those that are named, or else all ordered quasi-identifiers, sorted."""
    if parameters.attributes:
        return sorted(set(parameters.attributes))
    declared = document.attributes.items()
    quasi = (name for name, one in declared if one.role is Role.QUASI_IDENTIFIER and name != document.key)
    return sorted(name for name in quasi if not unordered(name, document))


def ordered_faults(parameters: AttackParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Why they cannot be ranked: (parameter, sentence)."""
    for name in sorted(set(parameters.attributes or [])):
        reason = unknown(name, document) or unordered(name, document)
        if reason:
            yield "attributes", reason
    if not ordered_attributes(parameters, document):
        yield (
            "",
            "no quasi-identifier is numeric, or ordinal with an `order`, so that none has ranks; name `attributes`",
        )


def unknown(name: str, document: PolicyDocument) -> str:
    """Why an attribute is nothing that an intruder compares; nothing where it is."""
    declaration = document.attributes.get(name)
    if declaration is None:
        return f"the policy declares no attribute {name!r}"
    if name == document.key:
        return f"{name!r} is the key, which an intruder does not have; leave it out"
    if declaration.role is Role.IDENTIFIER:
        return f"{name!r} is an identifier, which is not released; leave it out"
    return ""


def unordered(name: str, document: PolicyDocument) -> str:
    """Why an attribute has no ranks; nothing where it has."""
    declaration = document.attributes[name]
    if declaration.scale is Scale.NUMERIC or (declaration.scale is Scale.ORDINAL and declaration.order is not None):
        return ""
    example = f"{name}: {{role: {declaration.role.value}, scale: numeric}}"
    return f"{name!r} has no order, so its values have no ranks; declare its scale, for example `{example}`"


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
