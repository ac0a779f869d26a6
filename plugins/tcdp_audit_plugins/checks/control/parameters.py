"""What all attacks with a control set are asked with: attributes, and how sure the interval is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import Parameters
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Text
from tcdp_audit_plugins.checks.record_linkage.comparison import ComparisonParameters, comparable


class ControlParameters(Parameters):
    """Parameters of an attack whose success on the original is compared with that on the hold-out."""

    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The attributes that the intruder knows; without it, all quasi-identifiers."),
    ] = None
    confidence: Annotated[
        Exact, Field(gt=0, lt=1, description="How sure the interval is whose upper end is compared with the demand.")
    ] = Fraction(95, 100)

    @property
    def demands(self) -> bool:
        """Whether anything is demanded."""
        return any(getattr(self, name, None) is not None for name in ("at_most", "true_positive_rate"))


def quasi_identifiers_of(document: PolicyDocument) -> list[str]:
    """What an intruder knows by default."""
    return [name for name, one in document.attributes.items() if one.role is Role.QUASI_IDENTIFIER]


def measurable(names: Sequence[str], document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Why records cannot be compared by some attributes."""
    if names:
        yield from comparable(ComparisonParameters(attributes=list(names)), document)
    else:
        yield "attributes", "no attribute is left that the intruder knows; name some"
