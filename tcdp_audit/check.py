"""What a check is: a frozen specification around one pure function. Checks are found through plugins.

The kind of a check decides how the core runs it. A `ClassCheck` maps equivalence classes to one figure each; the
core compares, counts, ranks and merges. Other kinds implement the same three methods: `faults` against a policy,
`attributes` to run on, and `summarise` per shard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.exact import Measured
from tcdp_audit.histogram import Counts, Histogram
from tcdp_audit.outcome import Comparison, Outcome, Severity
from tcdp_audit.policy.model import Model, PolicyDocument, Role, Scale, Text


class Parameters(Model):
    """Base of every check's parameters. A field named as a `Threshold` says must have None as its default."""

    severity: Annotated[
        Severity, Field(strict=False, description="Whether a failure fails the audit or only warns.")
    ] = Severity.ERROR

    def figures(self) -> dict[str, Any]:
        """The parameters that were given or default, without what every check has and without None."""
        own = ((name, getattr(self, name)) for name in type(self).model_fields)
        return {name: value for name, value in own if name not in ("severity", "attribute") and value is not None}


class AttributeParameters(Parameters):
    """Base of the parameters of a check on a sensitive attribute."""

    attribute: Annotated[
        Text | None, Field(description="The sensitive attribute; without it, each of them in turn.")
    ] = None


class Quarter(StrEnum):
    """Torra's map: which disclosure a check is about, and whether it answers yes or no or how much."""

    IDENTITY_MODEL = "identity, yes or no"
    IDENTITY_DEGREE = "identity, how much"
    ATTRIBUTE_MODEL = "attribute, yes or no"
    ATTRIBUTE_DEGREE = "attribute, how much"


@dataclass(frozen=True)
class Marginal:
    """The reference distribution of a sensitive attribute: integer weights, so that fractions stay exact."""

    weights: Counts

    @property
    def total(self) -> int:
        """Sum of the weights."""
        return int(self.weights.sum())

    @property
    def size(self) -> int:
        """Number of values in the domain."""
        return len(self.weights)


@dataclass(frozen=True)
class ClassEvidence:
    """What a class check sees of one shard: figures of classes, never records and never cells.

    Args:
        size: what k counts in each class. int64, shape (classes,).
        histogram: the sensitive attribute in each class; no class of it is empty. None for a check without one.
        marginal: the reference distribution of that attribute.
        values: the attribute's domain as numbers, where its scale is numeric. Shape (domain,).
    """

    size: Counts
    histogram: Histogram | None = None
    marginal: Marginal | None = None
    values: NDArray[Any] | None = None

    @property
    def sensitive(self) -> tuple[Histogram, Marginal]:
        """Histogram and marginal, for checks that declare `on_attribute`."""
        if self.histogram is None or self.marginal is None:
            raise TypeError("this check measures a sensitive attribute; set `on_attribute=True` in its specification")
        return self.histogram, self.marginal


P = TypeVar("P", bound=Parameters)


@dataclass(frozen=True)
class Threshold(Generic[P]):
    """One figure that a class must keep, and the parameter that says how large it may or must be.

    Args:
        parameter: the field of the check's parameters with the threshold; None there means measure only.
        comparison: how the observed figure must stand to it.
        measure: one figure per class; `Ratios` for exact fractions, an integer array, or `Transcendental`.
        label: what the figure is called in a report.
    """

    parameter: str
    comparison: Comparison
    measure: Callable[[ClassEvidence, P], Measured | NDArray[Any]]
    label: str = ""

    def demanded(self, parameters: Parameters) -> Fraction | None:
        """The threshold in a set of parameters."""
        value = getattr(parameters, self.parameter)
        return None if value is None else Fraction(value)


@dataclass(frozen=True)
class Guide:
    """What a person needs to know about a check; the report, `explain` and the documentation page show it.

    Args:
        definition: what it measures, in one or two sentences.
        formula: the definition as a formula in plain text.
        reading: how to read the observed value.
        choosing: how to choose a threshold.
        source: paper and definition number.
        example: lines of a policy.
        mathml: the formula as a MathML element.
        limits: what the check does not say.
    """

    definition: str
    formula: str
    reading: str
    choosing: str
    source: str
    example: str
    mathml: str = ""
    limits: str = ""


@dataclass(frozen=True, kw_only=True)
class ClassCheck(Generic[P]):
    """A check on equivalence classes: every class must keep every threshold; the worst class is the verdict.

    Args:
        name: snake_case name for policies, unique among all plugins, never changed once released.
        title: what a person calls it.
        guide: definition, formula, reading and source.
        quarter: its place in Torra's map.
        parameters: a model of its parameters, derived from `Parameters` or `AttributeParameters`.
        thresholds: what each class must keep; the first is the headline figure.
        on_attribute: whether it measures a sensitive attribute.
        scales: the scales of the attribute that it can measure under some parameters; None for every scale.
        variant: a suffix of the title that parameters bring, such as the distance.
        sentence: one sentence about an outcome, in place of the general one. It sees no cell.
    """

    name: str
    title: str
    guide: Guide
    quarter: Quarter
    parameters: type[P]
    thresholds: tuple[Threshold[P], ...]
    on_attribute: bool = False
    scales: Callable[[P], frozenset[Scale] | None] = field(default=lambda _: None)
    variant: Callable[[P], str] = field(default=lambda _: "")
    sentence: Callable[[Outcome], str] | None = None

    @property
    def comparison(self) -> Comparison:
        """How the headline figure is compared."""
        return self.thresholds[0].comparison

    def attributes(self, parameters: P, document: PolicyDocument) -> list[str | None]:
        """The attributes that an expectation runs on, one outcome each; [None] for a check on classes alone."""
        if not self.on_attribute:
            return [None]
        chosen = getattr(parameters, "attribute", None)
        if chosen is not None:
            return [chosen]
        return [*sorted(name for name, one in document.attributes.items() if one.role is Role.SENSITIVE)]

    def faults(self, parameters: P, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        """Why an expectation cannot hold for this policy: (parameter or "", sentence)."""
        if all(one.role is not Role.QUASI_IDENTIFIER for one in document.attributes.values()):
            yield "", "no attribute has the role quasi_identifier, so there is nothing to group by"
        chosen = getattr(parameters, "attribute", None)
        if chosen is not None and chosen not in document.attributes:
            yield "attribute", f"the policy declares no attribute {chosen!r}"
            return
        if chosen is not None and document.attributes[chosen].role is not Role.SENSITIVE:
            yield "attribute", f"{chosen!r} is not sensitive: its role is {document.attributes[chosen].role.value}"
            return
        attributes = self.attributes(parameters, document)
        if not attributes:
            yield "", "no attribute has the role sensitive"
        for attribute in attributes:
            if attribute is not None:
                yield from self._scale_faults(parameters, attribute, document)

    def _scale_faults(self, parameters: P, attribute: str, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        allowed = self.scales(parameters)
        declaration = document.attributes[attribute]
        if allowed is None:
            return
        if declaration.scale not in allowed:
            scales = " or ".join(sorted(scale.value for scale in allowed))
            example = f"{attribute}: {{role: sensitive, scale: {'numeric' if Scale.NUMERIC in allowed else scales}}}"
            yield "", f"{self.titled(parameters)} needs {attribute!r} to be {scales}; declare it, for example `{example}`"
        elif declaration.scale is Scale.ORDINAL and declaration.order is None:
            yield "", (
                f"{self.titled(parameters)} needs the order of {attribute!r}; declare it, for example "
                f"`{attribute}: {{role: sensitive, scale: ordinal, order: [low, middle, high]}}`"
            )

    def titled(self, parameters: P) -> str:
        """The title with what the parameters add to it."""
        variant = self.variant(parameters)
        return f"{self.title}, {variant}" if variant else self.title


Check = ClassCheck[Any]
Details = Mapping[str, Any]


