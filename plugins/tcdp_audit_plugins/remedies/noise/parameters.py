"""The parameters of noise, and a mechanism that is fitted to an attribute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from importlib import import_module
from math import inf, nextafter
from typing import Annotated, Any

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError
from tcdp_audit_plugins.remedies._shared.masking import Masking, MaskingParameters

LARGEST = 2**53  # whole numbers and scales up to this are exact in float64, and far from overflowing 64 bits
WIDEST = 10**100  # of real noise's scale, and of its inverse
Draw = Callable[[], NewColumn]


class Mechanism(StrEnum):
    """A mechanism that masks single values; `stochastic_t_closeness` knows it by the same name."""

    LAPLACE = "laplace"
    GEOMETRIC = "geometric"
    RANDOMISED_RESPONSE = "randomised_response"


class NoiseParameters(MaskingParameters):
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

    @property
    def names(self) -> list[str]:
        """The attribute that is masked."""
        return [self.attribute]


MASKING = Masking(NoiseParameters, never_suggested="needs an epsilon and a mechanism that only you can choose")


def faults(parameters: NoiseParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Yield the faults that only the policy as a whole shows: (parameter, sentence)."""
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


@dataclass(frozen=True)
class FittedMechanism:
    """A mechanism that is fitted to an attribute."""

    draw: Draw  # the masked column; another one at every call
    audited_as: Mapping[str, Any]  # the mechanism as `stochastic_t_closeness` takes it
    notes: Mapping[str, Any]  # its figures
    # the check by which an intruder who knows the mechanism attacks, and its parameters without the attribute
    attack: tuple[str, Mapping[str, Any]]

    def attacks(self, attribute: str) -> tuple[Mapping[str, Mapping[str, Any]], ...]:
        """The same as a treatment has it."""
        from tcdp_audit_plugins.checks.masking_attacks.parameters import BY_DEFAULT  # noqa: PLC0415 - many modules

        check, known = self.attack
        return ({check: {"attributes": [attribute], "limit": BY_DEFAULT, **known}},)

    def lines(self, attribute: str) -> tuple[str, ...]:
        """Policy lines that audit the table before the noise under this mechanism."""
        declared = yaml.safe_dump(
            {"attribute": attribute, **self.audited_as}, default_flow_style=True, sort_keys=False, width=2**20
        )
        return (
            "# for the table before the noise; on the masked one it would describe a second masking",
            f"- stochastic_t_closeness: {declared.strip()}",
        )


def records_with_value(attribute: Attribute) -> NDArray[np.bool_]:
    """The records that have a value, shape (records,); a RemedyError where none has one, or a value covers several."""
    domain = attribute.domain
    if domain.covers is not None or domain.suppressed:
        raise RemedyError(
            f"column {attribute.name!r} has generalised or suppressed cells; noise is for the values themselves, so "
            "let it have its turn before other remedies"
        )
    has_value = np.asarray(attribute.codes != domain.size)
    if not has_value.any():
        raise RemedyError(f"column {attribute.name!r} has no value in any record")
    return has_value


def masked_column(cells: NDArray[Any], codes: NDArray[np.int64], has_value: NDArray[np.bool_]) -> NewColumn:
    """A column from the masked values of the records that have one; the others stay without."""
    everywhere = np.full(len(has_value), len(cells), dtype=np.int64)
    everywhere[has_value] = codes
    return NewColumn(cells, everywhere)


def opendp() -> Any:
    """OpenDP's public interface, with the mechanisms that its contributors have proven but not yet vetted.

    Raises:
        RemedyError: it is not installed.
    """
    try:
        library = import_module("opendp.prelude")
    except ModuleNotFoundError:
        raise RemedyError('noise: needs OpenDP; pip install "tcdp-audit[dp]"') from None
    library.enable_features("contrib")
    return library


def at_least(number: Fraction) -> float:
    """The least float64 that is not below a number.

    Example:
        >>> at_least(Fraction(1, 2)), Fraction(at_least(Fraction(1, 10))) >= Fraction(1, 10)
        (0.5, True)
    """
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else nextafter(nearest, inf)


def at_most(number: Fraction) -> float:
    """The largest float64 that is not above a number."""
    return -at_least(-number)
