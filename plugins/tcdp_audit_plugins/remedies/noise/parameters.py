"""The parameters of noise, and those that belong together."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

from pydantic import Field, model_validator

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.remedy import RemedyParameters, RemedyView
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.checks.differential_privacy.stochastic_t_closeness import Mechanism
from tcdp_audit_plugins.remedies._shared.scope import only_where_masked

LARGEST = 2**53  # whole numbers and scales up to this are exact in float64, and far from overflowing 64 bits
WIDEST = 10**100  # of real noise's scale, and of its inverse


class NoiseParameters(RemedyParameters):
    """Parameters of `noise`."""

    attribute: Annotated[Text, Field(description="The attribute that is masked.")]
    mechanism: Annotated[
        Mechanism,
        Field(
            strict=False,
            description="laplace: real noise on numbers; geometric: whole noise on whole numbers; randomised_response: "
            "keep the value or answer any of the domain's at random.",
        ),
    ]
    epsilon: Annotated[Exact, Field(gt=0, description="The most that a record's value changes the log-likelihood.")]
    bounds: Annotated[
        list[Exact] | None,
        Field(
            min_length=2,
            max_length=2,
            description="laplace and geometric: [low, high], to which values are clamped before the noise. Never read "
            "them off the data.",
        ),
    ] = None
    until_close: Annotated[
        Exact | None,
        Field(
            ge=1,
            description="Draw again until every class's released values are within this factor of the table's. Then no "
            "epsilon holds.",
        ),
    ] = None
    draws: Annotated[int, Field(ge=1, le=10_000, description="With until_close: how often it is drawn at most.")] = 100

    @model_validator(mode="after")
    def _belong_together(self) -> NoiseParameters:
        if self.mechanism is Mechanism.RANDOMISED_RESPONSE:
            if self.bounds is not None:
                raise ValueError("randomised_response answers values of the domain; it takes no bounds")
        else:
            self._require_bounds()
        if self.until_close is not None and self.mechanism is Mechanism.LAPLACE:
            raise ValueError(
                "real noise makes every value another one, so that no class is ever close; use geometric or "
                "randomised_response with until_close"
            )
        if self.until_close is None and "draws" in self.model_fields_set:
            raise ValueError("draws belongs to until_close; without it the noise is drawn once")
        return self

    def _require_bounds(self) -> None:
        if self.bounds is None:
            raise ValueError(f"{self.mechanism.value} takes `bounds: [low, high]`; they decide how much noise it needs")
        low, high = self.bounds
        if low >= high:
            raise ValueError("the lower bound must be less than the upper one")
        if self.mechanism is Mechanism.GEOMETRIC and (low.denominator > 1 or high.denominator > 1):
            raise ValueError("geometric noise is for whole numbers, so its bounds must be whole")
        widest = WIDEST if self.mechanism is Mechanism.LAPLACE else LARGEST
        if max(abs(low), abs(high)) > widest or not Fraction(1, WIDEST) <= self.scale <= widest:
            raise ValueError("the bounds or the scale of the noise are beyond what can be computed with")

    @property
    def range(self) -> tuple[Fraction, Fraction]:
        """The bounds of noise that is added."""
        low, high = self.bounds or (Fraction(0), Fraction(0))
        return low, high

    @property
    def scale(self) -> Fraction:
        """The scale b of noise that is added: a record moves its value by at most high - low."""
        low, high = self.range
        return (high - low) / self.epsilon


def why_not_applicable(view: RemedyView, parameters: NoiseParameters | None, outcome: Outcome) -> str:
    """Why noise cannot help a failing demand, or nothing."""
    if parameters is None:
        return "needs an epsilon and a mechanism that only you can choose"
    return only_where_masked(view, outcome, [parameters.attribute], lambda _: True, unfit="", chosen=False, alike=False)


def faults(parameters: NoiseParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    declared = document.attributes.get(parameters.attribute)
    if declared is None or declared.role is Role.IDENTIFIER:
        yield "attribute", f"{parameters.attribute!r} is no attribute of this policy that is released"
        return
    if parameters.mechanism is not Mechanism.RANDOMISED_RESPONSE and declared.scale is not Scale.NUMERIC:
        yield (
            "mechanism",
            f"{parameters.mechanism.value} adds to numbers; declare `scale: numeric`, or use randomised_response",
        )
    if parameters.until_close is not None and declared.role is not Role.SENSITIVE:
        yield (
            "until_close",
            f"closeness is that of a sensitive attribute in its classes, and {parameters.attribute!r} is none",
        )
