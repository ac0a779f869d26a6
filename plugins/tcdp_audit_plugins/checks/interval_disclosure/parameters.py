"""Parameters of both interval checks: widths, attributes, and the figure that is compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, WithJsonSchema

from tcdp_audit.plugin._internal import Codes, Counts
from tcdp_audit.plugin.check import Pairs, Parameters
from tcdp_audit.plugin.detector import AttributeDeclaration, Exact, PolicyDocument, Role, Scale, Text

COMPARED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)


class Aggregate(StrEnum):
    """The way in which the shares of several attributes become one figure."""

    AVERAGE = "average"
    JOINT = "joint"
    WORST = "worst"


def as_list(value: Any) -> Any:
    """One width as a list of one."""
    return value if isinstance(value, list) else [value]


def widths_schema(**bounds: int) -> WithJsonSchema:
    """The JSON Schema of one width or several."""
    one = [{"type": "number", **bounds}, {"type": "string", "pattern": r"^-?\d+/\d+$"}]
    return WithJsonSchema({"anyOf": [*one, {"type": "array", "minItems": 1, "items": {"anyOf": one}}]})


Widths = Annotated[
    list[Annotated[Exact, Field(gt=0)]],
    Field(min_length=1),
    BeforeValidator(as_list),
    widths_schema(exclusiveMinimum=0),
]


class IntervalParameters(Parameters):
    """Parameters of the interval checks; each says what its `p` is a percentage of."""

    p: Annotated[Widths, Field(description="Width of the intervals in percent; one or several.")]
    at_most: Annotated[Exact | None, Field(ge=0, le=1, description="The largest figure allowed, for every p.")] = None
    attributes: Annotated[
        list[Text] | None,
        Field(
            min_length=1,
            description="The attributes to compare; without it, every quasi-identifier and sensitive attribute of a "
            "suitable scale.",
        ),
    ] = None
    aggregate: Annotated[
        Aggregate,
        Field(
            strict=False,
            description="The figure that is compared: the attributes' average share, the share of records inside in "
            "all attributes at once, or the worst attribute's share.",
        ),
    ] = Aggregate.AVERAGE

    def figures(self) -> dict[str, Any]:
        """The parameters as an outcome carries them, a single width as a number."""
        return {**super().figures(), "p": self.p[0] if len(self.p) == 1 else self.p}


def compared(parameters: IntervalParameters, document: PolicyDocument, scales: frozenset[Scale]) -> list[str]:
    """The attributes to compare, sorted."""
    suited = (name for name, one in document.attributes.items() if one.role in COMPARED and _suits(one, scales))
    return sorted(parameters.attributes or (name for name in suited if name != document.key))


def interval_faults(
    parameters: IntervalParameters, document: PolicyDocument, scales: frozenset[Scale]
) -> Iterator[tuple[str, str]]:
    """The reasons why intervals around values of these attributes cannot be compared: (parameter, sentence)."""
    named = parameters.attributes or []
    if len(set(named)) < len(named):
        yield "attributes", "an attribute is named twice"
    for name in named:
        reason = _unsuited(name, document, scales)
        if reason:
            yield "attributes", reason
    if not compared(parameters, document, scales):
        yield "", f"no quasi-identifier or sensitive attribute is {_listed(scales)}; declare the scale of one"


def _suits(declaration: AttributeDeclaration, scales: frozenset[Scale]) -> bool:
    ordered = declaration.scale is not Scale.ORDINAL or declaration.order is not None
    return declaration.scale in scales and ordered


def _unsuited(name: str, document: PolicyDocument, scales: frozenset[Scale]) -> str:
    declaration = document.attributes.get(name)
    if name == document.key:
        return f"{name!r} is the key: it says who is who and is not compared"
    if declaration is None:
        return f"the policy declares no attribute {name!r}"
    if declaration.role is Role.IDENTIFIER:
        return f"{name!r} is an identifier, which is not released"
    if _suits(declaration, scales):
        return ""
    scale = "not declared" if declaration.scale is None else declaration.scale.value
    scale += " without an `order`" if declaration.scale is Scale.ORDINAL and Scale.ORDINAL in scales else ""
    example = f"{name}: {{role: {declaration.role.value}, scale: numeric}}"
    needed = f"an interval needs {name!r} to be {_listed(scales)}, and its scale is {scale}"
    return f"{needed}; declare it, for example `{example}`"


def _listed(scales: frozenset[Scale]) -> str:
    words = {Scale.NUMERIC: "numeric", Scale.ORDINAL: "ordinal with an `order`"}
    return " or ".join(words[one] for one in sorted(scales))


@dataclass(frozen=True)
class AttributePairs:
    """One attribute as an interval check sees it."""

    name: str  # the attribute
    values: NDArray[Any]  # the common domain in ascending order, shape (domain,)
    released: Codes  # code of every pair's masked value, the domain's size where it is missing, shape (pairs,)
    original: Codes  # code of every pair's original value, likewise
    released_counts: Counts  # records of the whole release with each value, shape (domain,)
    original_counts: Counts  # records of the whole original with each value, shape (domain,)

    @property
    def is_constant(self) -> bool:
        """Whether all original values are equal, so that there is nothing to disclose and no spread."""
        return int(np.count_nonzero(self.original_counts)) == 1

    @cached_property
    def missing(self) -> int:
        """Pairs in which one value or both are missing."""
        nowhere = len(self.values)
        return int(((self.released == nowhere) | (self.original == nowhere)).sum())

    @property
    def may_have_values(self) -> bool:
        """Whether any pair of the whole tables may have both values."""
        return bool(self.released_counts.any() and self.original_counts.any())

    @property
    def has_values(self) -> bool:
        """Whether any pair has both values."""
        return self.missing < len(self.released)


def attribute_pairs(pairs: Pairs, name: str) -> AttributePairs:
    """The pairs of one attribute. O(pairs)."""
    released, original = pairs.released.domains[name], pairs.original.domains[name]
    return AttributePairs(
        name,
        released.values,
        pairs.released.codes[name][pairs.matched],
        pairs.original.codes[name][pairs.partner[pairs.matched]],
        released.counts,
        original.counts,
    )
