"""Stochastic t-closeness: how far the outputs of a declared masking mechanism distinguish a class from the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from tcdp_audit.plugin.check import (
    ApproximateFigure,
    AttributeParameters,
    ClassCheck,
    ClassEvidence,
    DisclosureType,
    Ratios,
    Threshold,
)
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Scale, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences, count
from tcdp_audit_plugins.checks.differential_privacy.extremes import (
    ASSUMING,
    ODDS_OF_VALUE,
    demand_of,
    factor_of,
    response_distance,
    worst_figure,
)
from tcdp_audit_plugins.checks.differential_privacy.laplace import laplace_distance
from tcdp_audit_plugins.guides import built_in_guide

if TYPE_CHECKING:
    from tcdp_audit_plugins.checks.differential_privacy.masked_outputs import OutputChannel

FINEST = 10**9  # denominators of a retention up to this keep the fractions within what floating point holds
WIDEST = 10**100  # of the noise's scale, and of its inverse

Share = Annotated[Exact, Field(ge=0, le=1)]
Lines = Annotated[dict[Text, Annotated[dict[Text, Share], Field(min_length=1)]], Field(min_length=1)]


class Mechanism(StrEnum):
    """The mechanism that masks the confidential values before they are released."""

    LAPLACE = "laplace"
    GEOMETRIC = "geometric"
    GAUSSIAN = "gaussian"
    RANDOMISED_RESPONSE = "randomised_response"
    PRAM = "pram"
    PRODUCT = "product"


NOISE = frozenset({Mechanism.LAPLACE, Mechanism.GEOMETRIC, Mechanism.GAUSSIAN})
TAKES = {
    Mechanism.RANDOMISED_RESPONSE: "retention",
    Mechanism.PRAM: "matrix",
    Mechanism.PRODUCT: "factors",
    Mechanism.GAUSSIAN: "deviation",
}
FURTHER = {Mechanism.GAUSSIAN: ("delta",), Mechanism.LAPLACE: ("rounded_to",)}
OWN = ("noise_scale", "epsilon", "sensitivity", "retention", "matrix", "deviation", "rounded_to", "delta", "factors")


class MaskedBy(BaseModel):
    """A mechanism and what it takes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    mechanism: Annotated[
        Mechanism,
        Field(
            strict=False,
            description="laplace: real noise; geometric: two-sided, on whole numbers; gaussian: normal noise; "
            "randomised_response: keep or answer at random; pram: a matrix of probabilities; product: several "
            "attributes, each masked by itself.",
        ),
    ]
    noise_scale: Annotated[
        Exact | None,
        Field(
            gt=0, description="b of the noise e^(-|x|/b), in units of the attribute; or give epsilon and sensitivity."
        ),
    ] = None
    epsilon: Annotated[Exact | None, Field(gt=0, description="With sensitivity: b = sensitivity / epsilon.")] = None
    sensitivity: Annotated[Exact | None, Field(gt=0, description="The most that one person moves a value.")] = None
    retention: Annotated[
        Share | None, Field(description="The probability that randomised response keeps the value.")
    ] = None
    matrix: Annotated[
        str | Lines | None,
        Field(
            description="pram: a CSV file with released values in the first line, then for each value a line with the "
            "probabilities; or the lines themselves, `{male: {male: 0.9, female: 0.1}, …}`."
        ),
    ] = None
    rounded_to: Annotated[
        Exact | None,
        Field(gt=0, description="laplace: the base to whose multiples the masked values are rounded; not by default."),
    ] = None

    @model_validator(mode="after")
    def _belong_together(self) -> Self:
        given = {name for name in OWN if getattr(self, name, None) is not None}
        rest = given - set(FURTHER.get(self.mechanism, ()))
        if self.mechanism in TAKES:
            needed = TAKES[self.mechanism]
            if rest != {needed}:
                no_others = f", and no {', '.join(sorted(rest - {needed}))}" if rest - {needed} else ""
                raise ValueError(f"{self.mechanism.value} takes `{needed}`{no_others}")
        elif rest not in ({"noise_scale"}, {"epsilon", "sensitivity"}):
            others = sorted(rest - {"noise_scale", "epsilon", "sensitivity"}) or ["retention"]
            raise ValueError(
                f"{self.mechanism.value} takes `noise_scale`, or `epsilon` and `sensitivity`, and no "
                f"{', '.join(others)}"
            )
        if self.retention is not None and self.retention.denominator > FINEST:
            raise ValueError("the retention has too many digits to be computed with exactly; round it")
        if self.mechanism in NOISE and not Fraction(1, WIDEST) <= self.noise <= WIDEST:
            raise ValueError("the scale of the noise is beyond what can be computed with")
        self._require_distributions()
        return self

    def _require_distributions(self) -> None:
        lines = {} if self.matrix is None or isinstance(self.matrix, str) else self.matrix
        wrong = sum(sum(line.values()) != 1 for line in lines.values())
        if wrong:
            raise ValueError(f"the probabilities of a line of the matrix must add up to 1, and {wrong:,} do not")

    @property
    def noise(self) -> Fraction:
        """The scale b of Laplace and two-sided geometric noise; of Gaussian noise its standard deviation."""
        if (own := self.noise_scale or getattr(self, "deviation", None)) is not None:
            return Fraction(own)
        return Fraction(self.sensitivity or 0) / Fraction(self.epsilon or 1)

    def shown(self) -> dict[str, Any]:
        """The number of values of a matrix, which an outcome carries in place of its lines."""
        listed = self.matrix is not None and not isinstance(self.matrix, str)
        return {"matrix": count(len(self.matrix or ()), "value")} if listed else {}


class StochasticParameters(MaskedBy, AttributeParameters):
    """Parameters of `stochastic_t_closeness`."""

    t: Annotated[Exact | None, Field(ge=1, description="The largest factor between a group and the table.")] = None
    deviation: Annotated[Exact | None, Field(gt=0, description="gaussian: the standard deviation of the noise.")] = None
    delta: Annotated[
        Exact | None,
        Field(
            ge=Fraction(1, 10**12),
            lt=1,
            description="gaussian: the probability that the factor may leave out. Without it the tails make the factor "
            "infinite for nearly every group.",
        ),
    ] = None
    factors: Annotated[
        dict[Text, MaskedBy] | None,
        Field(
            min_length=2,
            description="product: the mechanism of each attribute, `{pay: {mechanism: laplace, noise_scale: 1000}, "
            "job: {mechanism: pram, matrix: job.csv}}`; they are read jointly.",
        ),
    ] = None

    @property
    def attributes(self) -> list[str]:
        """The attributes that are read jointly, if the mechanism is a product."""
        return sorted(self.factors or ())

    def files(self) -> Iterator[tuple[str, str | None, str]]:
        """The files of matrices."""
        own = [
            (self.attribute, self.matrix),
            *((name, one.matrix) for name, one in sorted((self.factors or {}).items())),
        ]
        yield from (("matrix", name, matrix) for name, matrix in own if isinstance(matrix, str))

    def figures(self) -> dict[str, Any]:
        """As an outcome carries them: the values of a matrix in the policy are counted."""
        figures = {**super().figures(), **self.shown()}
        if self.factors is not None:
            figures["factors"] = {
                name: {**one.model_dump(exclude_none=True), **one.shown()} for name, one in sorted(self.factors.items())
            }
        return figures


def stochastic_distance(evidence: ClassEvidence, parameters: StochasticParameters) -> Ratios | ApproximateFigure:
    """Supremum over outputs o of max(f_E(o) / f_T(o), f_T(o) / f_E(o)), with f_E = (1/n_E) sum of Pr_Z(c) over E.

    It is computed from the mechanism's own distribution, never estimated from a realisation. With `delta` it is the
    least t with f_E(S) <= t f_T(S) + delta, and the same exchanged, for all sets S of outputs.

    Returns:
        Figures of at least 1, shape (classes,): exact fractions for randomised response, otherwise float64 that exact
        arithmetic decides close to a threshold; under Gaussian noise, the safe side of a relative 1e-9.

    Raises:
        CheckError: a mechanism does not fit its attribute, its matrix cannot be read or lacks a value, or there is too
            little noise or there are too many outputs to be computed with.

    Cost: O(pairs log m) for noise and randomised response; O(outputs x pairs) for a matrix, rounded noise, a product.

    Source: Domingo-Ferrer, Soria-Comas (2015), definition 3.
    """
    histogram, marginal = evidence.sensitive
    if parameters.mechanism is Mechanism.RANDOMISED_RESPONSE:
        return response_distance(histogram, marginal, Fraction(parameters.retention or 0))
    used = marginal.weights > 0
    used[histogram.values] = True
    if parameters.mechanism is Mechanism.PRODUCT:
        return _of_product(evidence, parameters.factors or {}, used)
    if parameters.mechanism is Mechanism.PRAM or parameters.rounded_to is not None:
        if evidence.parts:
            raise CheckError("several attributes are read together; declare `mechanism: product` with their factors")
        from tcdp_audit_plugins.checks.differential_privacy.masked_outputs import channel_distance  # noqa: PLC0415 - many modules

        column = Column(parameters.attribute, evidence.labels, evidence.values, used)
        channel = _channel(column, parameters, evidence.resolve)
        return channel_distance(histogram, marginal, [channel], [np.arange(marginal.size)])
    values = _numbers(parameters.mechanism, evidence.values)
    if parameters.mechanism is Mechanism.GAUSSIAN:
        from tcdp_audit_plugins.checks.differential_privacy.gaussian import gaussian_distance  # noqa: PLC0415 - SciPy

        return gaussian_distance(histogram, marginal, values, parameters.noise, Fraction(parameters.delta or 0))
    return laplace_distance(histogram, marginal, values, parameters.noise)


@dataclass(frozen=True)
class Column:
    """An attribute with its values, and which of them the table or a class has."""

    name: str | None
    labels: Sequence[str]
    values: NDArray[Any] | None
    used: NDArray[np.bool_]


def _numbers(mechanism: Mechanism, values: NDArray[Any] | None) -> NDArray[Any]:
    if values is None:
        raise CheckError("noise is added to numbers; declare `scale: numeric`")
    if mechanism is Mechanism.GEOMETRIC and (values != np.round(values)).any():
        raise CheckError("geometric noise is for whole numbers, and the attribute has others; use laplace")
    return values


def _channel(column: Column, masked: MaskedBy, resolve: Callable[[str], str]) -> OutputChannel:
    """The outputs of one mechanism that matter, with their likelihoods."""
    from tcdp_audit_plugins.checks.differential_privacy.masked_outputs import (  # noqa: PLC0415 - many modules
        laplace_channel,
        matrix_channel,
        response_channel,
        rounded_channel,
    )

    if masked.mechanism is Mechanism.RANDOMISED_RESPONSE:
        return response_channel(len(column.labels), Fraction(masked.retention or 0))
    if masked.mechanism is Mechanism.PRAM:
        given = resolve(masked.matrix) if isinstance(masked.matrix, str) else masked.matrix or {}
        name = "the matrix" if column.name is None else f"the matrix of {column.name!r}"
        return matrix_channel(given, name, list(column.labels), column.used)
    values = _numbers(masked.mechanism, column.values)
    if masked.rounded_to is not None:
        return rounded_channel(values, masked.noise, masked.rounded_to)
    return laplace_channel(values, masked.noise)


def _of_product(evidence: ClassEvidence, factors: Mapping[str, MaskedBy], used: NDArray[np.bool_]) -> ApproximateFigure:
    """The largest ratio over all combinations of the outputs of several attributes."""
    from tcdp_audit_plugins.checks.differential_privacy.masked_outputs import channel_distance  # noqa: PLC0415 - many modules

    histogram, marginal = evidence.sensitive
    if not evidence.parts:
        raise CheckError("a product of mechanisms is of several attributes, which are read together")
    if marginal.size > len(evidence.parts[0].codes):
        raise CheckError("missing values have no place in a product; set `missing_sensitive: excluded`")
    channels = []
    for part in evidence.parts:
        own = np.zeros(len(part.labels), dtype=bool)
        own[part.codes[used]] = True
        channels.append(
            _channel(Column(part.name, part.labels, part.values, own), factors[part.name], evidence.resolve)
        )
    return channel_distance(histogram, marginal, channels, [part.codes for part in evidence.parts])


def _faults(parameters: StochasticParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Yield the faults that only the policy as a whole shows: (parameter, sentence)."""
    if parameters.factors is None:
        return
    if parameters.attribute is not None:
        yield "attribute", "the factors of a product name its attributes; leave `attribute` out"
    for name, one in sorted(parameters.factors.items()):
        if one.mechanism in (Mechanism.PRODUCT, Mechanism.GAUSSIAN):
            yield "factors", f"{name!r}: {one.mechanism.value} is no factor of a product"
        elif one.mechanism in NOISE and document.attributes[name].scale is not Scale.NUMERIC:
            yield "factors", f"{name!r}: {one.mechanism.value} adds to numbers; declare `scale: numeric`"


NAMES = {
    "gaussian": "Gaussian noise",
    "pram": "post-randomisation",
    "product": "a mechanism for each of its parts",
}


def _values(outcome: Outcome) -> dict[str, Any]:
    """The mechanism by name, the factor, and whether the tails of normal noise make it infinite."""
    mechanism = str(outcome.parameters["mechanism"])
    return {
        "masking": NAMES.get(mechanism, mechanism.replace("_", " ")),
        "tails": mechanism == Mechanism.GAUSSIAN.value,
        **factor_of(worst_figure(outcome)),
    }


CHECKS = [
    ClassCheck(
        name="stochastic_t_closeness",
        concerns="masked",
        title="Stochastic t-closeness",
        expectation_name="ToBeStochasticallyTClose",
        disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
        parameters=StochasticParameters,
        thresholds=(Threshold("t", Comparison.AT_MOST, stochastic_distance, "factor between a group and the table"),),
        monotone=lambda _: True,  # a density in a union lies between the densities in its parts
        on_attribute=True,
        joint_if=lambda parameters: parameters.mechanism is Mechanism.PRODUCT,
        scales=lambda parameters: frozenset({Scale.NUMERIC}) if parameters.mechanism in NOISE else None,
        variant=lambda parameters: parameters.mechanism.value.replace("_", " "),
        validate=_faults,
        sentences=Sentences(
            passed=(
                "{assuming}, and with {masking} applied to {attribute} of the {every_record} as declared, "
                "[{infinite?}the outputs of a group and of the table differ without bound[{tails?} in the tails of "
                "the noise: declare `delta`, a probability to be left out]|{apart}the likelihood of no output differs "
                "by more than the factor {observed} between a group and the table].{demand}"
            ),
            impact=ODDS_OF_VALUE,
            parts={
                "assuming": ASSUMING,
                "demand": demand_of("a factor"),
                "apart": "[{delta?}except for outputs of a probability of {delta}, ]",
            },
            values=_values,
        ),
        guide=built_in_guide(__file__, "stochastic_t_closeness.md"),
    )
]
