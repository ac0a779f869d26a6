"""What a check is: a frozen specification around one pure function. Checks are found through plugins.

The kind of a check decides how the core runs it. A `ClassCheck` maps equivalence classes to one figure each, and
every class must keep the thresholds. A `VictimCheck` says which classes an attack succeeds on, and the share of
records in them must keep the threshold. Each kind answers four questions: why it cannot hold for a policy
(`faults`), what it runs on (`targets`), what it measures in a shard (`figures`), and what came of it (`verdict`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.errors import CheckError
from tcdp_audit.exact import Floats, Measured, as_measured
from tcdp_audit.hierarchy import Tree
from tcdp_audit.histogram import Counts, Histogram
from tcdp_audit.outcome import Comparison, Outcome, Severity
from tcdp_audit.policy.model import AttributeDeclaration, Model, PolicyDocument, Role, Scale, Text
from tcdp_audit.policy.scalars import Exact
from tcdp_audit.summary import ClassSummary

if TYPE_CHECKING:
    from tcdp_audit.table_view import TableView


class Parameters(Model):
    """Base of every check's parameters. A field named as a `Threshold` says must have None as its default."""

    severity: Annotated[
        Severity, Field(strict=False, description="Whether a failure fails the audit or only warns.")
    ] = Severity.ERROR

    def figures(self) -> dict[str, Any]:
        """The parameters that were given or default, without what every check has and without None."""
        own = ((name, getattr(self, name)) for name in type(self).model_fields)
        return {
            name: value for name, value in own if name not in ("severity", "attribute") and value is not None
        }


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
class Target:
    """What a check runs on: no attribute, one, or several read together; and what else the intruder knows.

    Args:
        attributes: the sensitive attributes, none for a check on classes alone.
        known: sensitive attributes that are grouped by as if they were quasi-identifiers.
    """

    attributes: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    @property
    def name(self) -> str | None:
        """The attribute as an outcome names it; a combination as `a × b`."""
        return " × ".join(self.attributes) or None


@dataclass(frozen=True)
class ClassEvidence:
    """What a class check sees of one shard: figures of classes, never records and never cells.

    Args:
        size: what k counts in each class. int64, shape (classes,).
        histogram: the sensitive attribute in each class; no class of it is empty. None for a check without one.
        marginal: the reference distribution of that attribute.
        values: the attribute's domain as numbers in ascending order, where its scale is numeric. Shape (domain,).
        labels: the attribute's domain as text, for parameters that name values. Never put one into an answer.
        tree: the attribute's hierarchy laid over its domain, where it has one.
        records: N, the records (with a unit, the entities) of the whole release and not of the shard; 0 if untold.
    """

    size: Counts
    histogram: Histogram | None = None
    marginal: Marginal | None = None
    values: NDArray[Any] | None = None
    labels: Sequence[str] = ()
    tree: Tree | None = None
    records: int = 0

    @property
    def sensitive(self) -> tuple[Histogram, Marginal]:
        """Histogram and marginal, for checks that declare `on_attribute`."""
        if self.histogram is None or self.marginal is None:
            raise TypeError(
                "this check measures a sensitive attribute; set `on_attribute=True` in its specification"
            )
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


@dataclass(frozen=True)
class Figure:
    """What a check measured in the classes of a shard: a value for each, and which of them fail."""

    values: Floats
    fails: NDArray[np.bool_]
    comparison: Comparison


@dataclass(frozen=True)
class Verdict:
    """What came of a check over all shards; `failed` is None where no threshold was demanded."""

    observed: float
    threshold: Fraction | None
    comparison: Comparison
    failed: bool | None
    details: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Specification(Generic[P]):
    """What every kind of check declares.

    Args:
        name: snake_case name for policies, unique among all plugins, never changed once released.
        title: what a person calls it.
        guide: definition, formula, reading and source.
        quarter: its place in Torra's map.
        parameters: a model of its parameters, derived from `Parameters` or `AttributeParameters`.
        on_attribute: whether it measures a sensitive attribute.
        joint: whether it always reads several sensitive attributes together, whatever the policy's convention.
        needs_hierarchy: whether it needs the attribute's hierarchy under some parameters.
        scales: the scales of the attribute that it can measure under some parameters; None for every scale.
        variant: a suffix of the title that parameters bring, such as the distance.
        validate: further faults of the parameters under a policy: (parameter or "", sentence).
        sentence: one sentence about an outcome, in place of the general one. It sees no cell.
    """

    name: str
    title: str
    guide: Guide
    quarter: Quarter
    parameters: type[P]
    on_attribute: bool = False
    joint: bool = False
    needs_hierarchy: Callable[[P], bool] = field(default=lambda _: False)
    scales: Callable[[P], frozenset[Scale] | None] = field(default=lambda _: None)
    variant: Callable[[P], str] = field(default=lambda _: "")
    validate: Callable[[P, PolicyDocument], Iterable[tuple[str, str]]] = field(default=lambda _, __: ())
    sentence: Callable[[Outcome], str] | None = None

    def titled(self, parameters: P) -> str:
        """The title with what the parameters add to it."""
        variant = self.variant(parameters)
        return f"{self.title}, {variant}" if variant else self.title

    def targets(self, parameters: P, document: PolicyDocument) -> list[Target]:
        """What an expectation runs on, one outcome each."""
        if not self.on_attribute:
            return [Target()]
        sensitive = sorted(name for name, one in document.attributes.items() if one.role is Role.SENSITIVE)
        chosen = self._chosen(parameters)
        convention = document.conventions.multiple_sensitive
        if self.joint or (convention == "joint" and not chosen):
            return [Target(tuple(chosen or sensitive))] if chosen or sensitive else []
        known = convention == "others_as_quasi_identifiers"
        return [
            Target((name,), tuple(other for other in sensitive if other != name) if known else ())
            for name in chosen or sensitive
        ]

    def _chosen(self, parameters: P) -> list[str]:
        """The sensitive attributes that the parameters name."""
        one, several = getattr(parameters, "attribute", None), getattr(parameters, "attributes", None)
        return [one] if one is not None else sorted(several or [])

    def faults(self, parameters: P, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        """Why an expectation cannot hold for this policy: (parameter or "", sentence)."""
        if all(one.role is not Role.QUASI_IDENTIFIER for one in document.attributes.values()):
            yield "", "no attribute has the role quasi_identifier, so there is nothing to group by"
        misnamed = list(self._misnamed(parameters, document)) if self.on_attribute else []
        yield from misnamed
        if misnamed:
            return
        targets = self.targets(parameters, document)
        if not targets:
            yield "", "no attribute has the role sensitive"
        for target in targets:
            yield from self._unmeasurable(parameters, target, document)
        yield from self.validate(parameters, document)

    def _misnamed(self, parameters: P, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        field_name = "attributes" if getattr(parameters, "attribute", None) is None else "attribute"
        for name in self._chosen(parameters):
            declaration = document.attributes.get(name)
            if declaration is None:
                yield field_name, f"the policy declares no attribute {name!r}"
            elif declaration.role is not Role.SENSITIVE:
                yield field_name, f"{name!r} is not sensitive: its role is {declaration.role.value}"

    def _unmeasurable(
        self, parameters: P, target: Target, document: PolicyDocument
    ) -> Iterator[tuple[str, str]]:
        allowed, title = self.scales(parameters), self.titled(parameters)
        if len(target.attributes) > 1 and (allowed is not None or self.needs_hierarchy(parameters)):
            yield "", f"{title} cannot read several attributes as one; name one `attribute`"
            return
        for name in target.attributes:
            declaration = document.attributes[name]
            if allowed is not None:
                yield from _scale_faults(title, name, declaration, allowed)
            if self.needs_hierarchy(parameters) and declaration.hierarchy is None:
                yield (
                    "",
                    f"{title} needs a hierarchy of {name!r}; add `hierarchy: {name}.csv` to its declaration",
                )
            if document.conventions.reference == "declared" and declaration.distribution is None:
                yield (
                    "",
                    f"the reference is declared, but {name!r} has none; add `distribution: uniform` or weights",
                )


@dataclass(frozen=True, kw_only=True)
class ClassCheck(Specification[P]):
    """A check on equivalence classes: every class must keep every threshold; the worst class is the verdict.

    Args:
        thresholds: what each class must keep; the first is the headline figure.
        details: named figures of the whole release beyond the worst class, from the merged summaries.
    """

    thresholds: tuple[Threshold[P], ...]
    details: Callable[[Sequence[ClassSummary]], Mapping[str, Any]] = field(default=lambda _: {})

    @property
    def comparison(self) -> Comparison:
        """How the headline figure is compared."""
        return self.thresholds[0].comparison

    @property
    def label(self) -> str:
        """What the headline figure is called."""
        return self.thresholds[0].label

    def figures(self, evidence: ClassEvidence, parameters: P) -> tuple[Figure, ...]:
        """The figure of each threshold in every class, and the classes that do not keep it."""
        return tuple(_compared(one, evidence, parameters) for one in self.thresholds)

    def demanded(self, parameters: P) -> Fraction | None:
        """The headline threshold of an expectation."""
        return self.thresholds[0].demanded(parameters)

    def verdict(self, summaries: Sequence[ClassSummary], parameters: P) -> Verdict:
        """The worst class, and whether all classes keep all thresholds."""
        headline = summaries[0]
        demands = any(one.demanded(parameters) is not None for one in self.thresholds)
        observed = headline.observed
        if observed is None:
            raise CheckError("no equivalence class was evaluated")
        others = zip(self.thresholds[1:], summaries[1:], strict=True)
        return Verdict(
            observed=observed,
            threshold=self.demanded(parameters),
            comparison=self.comparison,
            failed=headline.failing_classes > 0 if demands else None,
            details={**{one.parameter: summary.observed for one, summary in others}, **self.details(summaries)},
        )


class ShareParameters(AttributeParameters):
    """Base of the parameters of a `VictimCheck` on a sensitive attribute."""

    at_most: Annotated[
        Exact | None, Field(ge=0, le=1, description="The largest share of records exposed.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class VictimCheck(Specification[P]):
    """An attack that succeeds on some classes: the share of records in them must be at most the parameter `at_most`.

    Args:
        victims: which classes the attack succeeds on, bool, shape (classes,).
        label: what the share is a share of.
    """

    victims: Callable[[ClassEvidence, P], NDArray[np.bool_]]
    label: str = "share of records exposed"
    comparison: Comparison = Comparison.AT_MOST

    def figures(self, evidence: ClassEvidence, parameters: P) -> tuple[Figure, ...]:
        """Which classes are victims, whatever the threshold is."""
        exposed = np.asarray(self.victims(evidence, parameters))
        if exposed.dtype != bool or exposed.shape != evidence.size.shape:
            raise CheckError("the check must say true or false for each class")
        return (Figure(exposed.astype(np.float64), exposed, Comparison.AT_MOST),)

    def demanded(self, parameters: P) -> Fraction | None:
        """The largest share of an expectation."""
        value = getattr(parameters, "at_most", None)
        return None if value is None else Fraction(value)

    def verdict(self, summaries: Sequence[ClassSummary], parameters: P) -> Verdict:
        """The share of records in classes that the attack succeeds on, compared exactly."""
        summary, demanded = summaries[0], self.demanded(parameters)
        share = Fraction(summary.failing_records, summary.records)
        return Verdict(
            observed=float(share),
            threshold=demanded,
            comparison=self.comparison,
            failed=None if demanded is None else share > demanded,
            details={"victims": summary.failing_records, "victim_classes": summary.failing_classes},
        )


@dataclass(frozen=True)
class Finding:
    """What a table check found.

    Args:
        value: the figure: exact where it can be, infinite or finite, never NaN.
        records: how many records it is about.
        failing: how many of them are exposed, where that is a matter of yes or no.
        classes: how many equivalence classes it is about, and how many of them are exposed, where it is about classes.
        details: further figures by documented names; no cell among them.
        distribution: [figure, classes, records] triples for the chart, in ascending order of the figure.
    """

    value: Fraction | float
    records: int
    failing: int | None = None
    classes: tuple[int, int | None] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    distribution: Sequence[Sequence[float]] = ()


@dataclass(frozen=True, kw_only=True)
class TableCheck(Specification[P]):
    """A check on the release as a whole, and on the tables that it can be compared with.

    Args:
        measure: the figure, from a view that reads what it is asked for.
        threshold: the parameter with the largest (or least) figure allowed.
        comparison: how the figure must stand to it.
        label: what the figure is called.
        requires: the further tables that it needs: "original", "population", "holdout".
    """

    measure: Callable[[TableView, P], Finding]
    threshold: str = "at_most"
    comparison: Comparison = Comparison.AT_MOST
    label: str = "share of records"
    requires: frozenset[str] = frozenset()

    def demanded(self, parameters: P) -> Fraction | None:
        """The threshold of an expectation."""
        value = getattr(parameters, self.threshold)
        return None if value is None else Fraction(value)

    def faults(self, parameters: P, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        """Why an expectation cannot hold for this policy: (parameter or "", sentence)."""
        yield from Specification.faults(self, parameters, document)
        if "original" in self.requires and document.key is None and not document.rows_aligned:
            yield "", NO_PAIRING

    def verdict(self, finding: Finding, parameters: P) -> Verdict:
        """The figure, compared exactly with the threshold."""
        value, demanded = finding.value, self.demanded(parameters)
        if value != value:  # noqa: PLR0124 - NaN
            raise CheckError("the check gave NaN; a figure must be a number or infinite")
        sign = 0 if demanded is None else (value > demanded) - (value < demanded)
        kept = bool(self.comparison.holds(sign))
        return Verdict(float(value), demanded, self.comparison, None if demanded is None else not kept, finding.details)


NO_PAIRING = (
    "which released record came from which original is not declared; add `key:` with the attribute that both tables "
    "share, or `rows_aligned: true` if row i of one is row i of the other"
)
Check = ClassCheck[Any] | VictimCheck[Any] | TableCheck[Any]
KINDS = (ClassCheck, VictimCheck, TableCheck)


def _scale_faults(
    title: str, name: str, declaration: AttributeDeclaration, allowed: frozenset[Scale]
) -> Iterator[tuple[str, str]]:
    if declaration.scale not in allowed:
        scales = " or ".join(sorted(scale.value for scale in allowed))
        example = f"{name}: {{role: sensitive, scale: {'numeric' if Scale.NUMERIC in allowed else scales}}}"
        yield "", f"{title} needs {name!r} to be {scales}; declare it, for example `{example}`"
    elif declaration.scale is Scale.ORDINAL and declaration.order is None:
        yield (
            "",
            (
                f"{title} needs the order of {name!r}; declare it, for example "
                f"`{name}: {{role: sensitive, scale: ordinal, order: [low, middle, high]}}`"
            ),
        )


def _compared(threshold: Threshold[Any], evidence: ClassEvidence, parameters: Parameters) -> Figure:
    """A figure per class, and which classes do not keep the threshold. A check's answer is never trusted blindly."""
    measured = as_measured(threshold.measure(evidence, parameters))
    values = measured.values
    if values.shape != evidence.size.shape:
        raise CheckError(f"the check gave {values.size} figures for {evidence.size.size} classes")
    if np.isnan(values).any():
        raise CheckError("the check gave NaN for a class; a figure must be a number or infinite")
    demanded = threshold.demanded(parameters)
    if demanded is None:
        return Figure(values, np.zeros(len(values), dtype=bool), threshold.comparison)
    kept = np.asarray(threshold.comparison.holds(measured.compare(demanded)), dtype=bool)
    return Figure(values, ~kept, threshold.comparison)
