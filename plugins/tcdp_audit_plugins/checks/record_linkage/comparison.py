"""Demands of checks that compare records on a policy: attributes, weights, and a common scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import Parameters
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text

Weight = Annotated[Exact, Field(ge=0, le=10**6)]


class ComparedAttributes(Parameters):
    """Which attributes are compared."""

    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The attributes that are compared; without it, all quasi-identifiers."),
    ] = None


class ComparisonParameters(ComparedAttributes):
    """Which attributes are compared, and how much each weighs."""

    weights: Annotated[
        dict[Text, Weight] | None,
        Field(description="The weight of attributes in the squared distance; 1 for those that are not named."),
    ] = None

    @property
    def weighing(self) -> dict[str, Fraction]:
        """The weights that are given."""
        return dict(self.weights or {})


def compared(parameters: ComparedAttributes, quasi_identifiers: Sequence[str]) -> list[str]:
    """The attributes that are compared, sorted."""
    return sorted(set(parameters.attributes or quasi_identifiers))


def comparable_attributes(parameters: ComparedAttributes, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Why attributes cannot be compared under a policy."""
    own = [name for name, one in document.attributes.items() if one.role is Role.QUASI_IDENTIFIER]
    names = compared(parameters, own)
    for name in names:
        declaration = document.attributes.get(name)
        if declaration is None:
            yield "attributes", f"the policy declares no attribute {name!r}"
        elif name == document.key:
            yield "attributes", f"{name!r} is the key, which an intruder does not have; leave it out"
        elif declaration.scale is None:
            example = f"`{name}: {{role: {declaration.role.value}, scale: nominal}}`"
            yield (
                "",
                f"{name!r} has no scale, so its values cannot be compared; declare it, for example {example}",
            )
        elif declaration.scale is Scale.ORDINAL and declaration.order is None:
            yield "", f"{name!r} is compared by rank; declare its `order: [low, middle, high]`"


def comparable(parameters: ComparisonParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """The same, and why they cannot be weighed."""
    yield from comparable_attributes(parameters, document)
    own = [name for name, one in document.attributes.items() if one.role is Role.QUASI_IDENTIFIER]
    for name in sorted(set(parameters.weights or {}) - set(compared(parameters, own))):
        yield "weights", f"{name!r} is weighed but not compared"
