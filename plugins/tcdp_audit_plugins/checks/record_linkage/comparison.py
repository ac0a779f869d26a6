"""Demands of checks that compare records on a policy: attributes, weights, and a common scale."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import Parameters
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Scale, Text
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes, quasi_identifiers_of, why_unknown

Weight = Annotated[Exact, Field(ge=0, le=10**6)]


class ComparedAttributes(Parameters):
    """The attributes to compare."""

    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The attributes that are compared; without it, all quasi-identifiers."),
    ] = None


class ComparisonParameters(ComparedAttributes):
    """The attributes to compare, and the weight of each."""

    weights: Annotated[
        dict[Text, Weight] | None,
        Field(description="The weight of attributes in the squared distance; 1 for those that are not named."),
    ] = None

    @property
    def weighing(self) -> dict[str, Fraction]:
        """The weights that are given."""
        return dict(self.weights or {})


def comparable_attributes(parameters: ComparedAttributes, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """The reason why attributes cannot be compared under a policy."""
    names = known_attributes(parameters.attributes, quasi_identifiers_of(document))
    for name in names:
        reason = why_unknown(name, document)
        if reason:
            yield "attributes", reason
            continue
        declaration = document.attributes[name]
        if declaration.scale is None:
            example = f"`{name}: {{role: {declaration.role.value}, scale: nominal}}`"
            yield ("", f"{name!r} has no scale, so its values cannot be compared; declare it, for example {example}")
        elif declaration.scale is Scale.ORDINAL and declaration.order is None:
            yield "", f"{name!r} is compared by rank; declare its `order: [low, middle, high]`"


def comparable(parameters: ComparisonParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """The same, and why they cannot be weighed."""
    yield from comparable_attributes(parameters, document)
    names = known_attributes(parameters.attributes, quasi_identifiers_of(document))
    for name in sorted(set(parameters.weights or {}) - set(names)):
        yield "weights", f"{name!r} is weighed but not compared"


LINKED = (  # ties count 1/t
    "{expected_correct/records:{record}} ({observed:%})[, where {allowed}]; guessing finds {random_baseline:%}"
)


def finds(how: str) -> str:
    """The template of what linkage means for one person: how often they are found, and how often by guessing."""
    return (
        f"{{intruder}} and {how} finds the right record with {{observed:chance}}; "
        "guessing is right with {random_baseline:chance}."
    )
