"""Rounding: numbers are released as the nearest multiples of a base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import floor, log10
from typing import Annotated

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Scale, Text
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyView, Treatment, number_text
from tcdp_audit_plugins.remedies._shared.masking import (
    NO_NUMBERS,
    Fault,
    Masking,
    MaskingParameters,
    Names,
    changed,
    masked_numbers,
    recoded,
)
from tcdp_audit_plugins.remedies._shared.scope import weakest

SHARES = tuple(Fraction(one, 100) for one in (1, 2, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 600, 800))
Base = Annotated[Exact, Field(gt=0)]


class RoundingParameters(MaskingParameters):
    """Parameters of `rounding`."""

    naming = "base"
    strengths = ("base",)
    base: Annotated[
        Base | dict[Text, Base] | None,
        Field(
            description="The base whose multiples are released: one for all, or one for each attribute. By default 1, "
            "2 or 5 times a power of ten near the least part of each standard deviation that suffices."
        ),
    ] = None
    attributes: Annotated[
        Names | None,
        Field(
            description="The numeric attributes to round; by default those with a base of their own, and without any "
            "the numeric quasi-identifiers."
        ),
    ] = None

    @property
    def names(self) -> list[str] | None:
        """The attributes to round; None for the quasi-identifiers."""
        own = sorted(self.base) if isinstance(self.base, dict) else None
        return self.attributes or own

    def base_of(self, name: str) -> Fraction | None:
        """The base of an attribute, where one is given."""
        return self.base.get(name) if isinstance(self.base, dict) else self.base

    def further_faults(self, document: PolicyDocument) -> Iterator[Fault]:  # noqa: ARG002 - as of others
        """Yield the fault of bases that are not those of the attributes."""
        if isinstance(self.base, dict) and set(self.base) != set(self.names or ()):
            yield "base", "an attribute has a base and is not rounded, or is rounded and has none"


MASKING = Masking(
    RoundingParameters,
    unfit=NO_NUMBERS,
    numeric=True,
    alike=True,
    refused={Scale.ORDINAL: "is ordinal, and numbers are rounded; use global_recoding"},
)


def round_numbers(view: RemedyView, parameters: RoundingParameters) -> Treatment:
    """Release the nearest multiple of a base in place of each number, the larger one of two as near.

    Raises:
        RemedyError: an attribute has generalised values, no quasi-identifier is numeric, or, where no base is given,
            nothing says how coarse it has to be or no base is enough.

    Cost: O(values); the same and an audit for each of at most nine bases where none is given.
    """
    attributes = masked_numbers(view, parameters.names, "numbers are rounded; round")

    def at(share: Fraction) -> Treatment:
        return _rounded(attributes, [near(share * Fraction(_deviation(one))) for one in attributes])

    if parameters.base is None:
        return at(weakest(view, at, SHARES))
    return _rounded(attributes, [parameters.base_of(one.name) or Fraction(1) for one in attributes])


def _deviation(attribute: Attribute) -> float:
    """The standard deviation of an attribute's numbers; 1 where they do not vary."""
    numbers = np.append(attribute.numbers, np.nan)[attribute.codes]
    present = numbers[np.isfinite(numbers)]
    return (float(present.std()) if len(present) else 0.0) or 1.0


def near(size: Fraction) -> Fraction:
    """The largest of 1, 2 and 5 times a power of ten that is at most a size.

    Example:
        >>> near(Fraction(37)), near(Fraction(1, 30))
        (Fraction(20, 1), Fraction(1, 50))
    """
    power = Fraction(10) ** floor(log10(size))
    return max((one for one in (power / 2, power, 2 * power, 5 * power) if one <= size), default=power)


def nearest(number: float, base: Fraction) -> Fraction:
    """The nearest multiple of a base, the larger one of two as near, decided by exact whole numbers.

    Example:
        >>> nearest(12.5, Fraction(5)), nearest(-12.5, Fraction(5)), nearest(0.26, Fraction(1, 10))
        (Fraction(15, 1), Fraction(-10, 1), Fraction(3, 10))
    """
    above, below = _as_written(number)
    top, bottom = base.as_integer_ratio()
    return Fraction((2 * above * bottom + below * top) // (2 * below * top) * top, bottom)


@lru_cache(2**16)
def _as_written(number: float) -> tuple[int, int]:
    return Fraction(repr(number)).as_integer_ratio()


def _rounded(attributes: Sequence[Attribute], bases: Sequence[Fraction]) -> Treatment:
    columns: dict[str, NewColumn] = {}
    records, coarsest = 0, 0.0
    for attribute, base in zip(attributes, bases, strict=True):
        labels = list(attribute.domain.labels)
        for code in np.flatnonzero(~attribute.domain.is_uninformative[:-1]).tolist():
            labels[code] = number_text(float(nearest(float(attribute.numbers[code]), base)))
        columns[attribute.name] = _column(attribute, labels)
        records += changed(attribute, labels)
        coarsest = max(coarsest, float(base) / _deviation(attribute))
    notes = {"records": records, "coarsest": round(coarsest, 4)}
    known = {"method": "known_groups", "attributes": [one.name for one in attributes]}
    return Treatment(columns, notes=notes, attacks=({"microaggregation_attack": known},))


def _column(attribute: Attribute, labels: Sequence[str]) -> NewColumn:
    column = recoded(attribute, labels)
    if not attribute.is_numeric:
        return column
    return NewColumn(np.array([float(one) for one in column.cells]), column.codes)


ROUNDING = MASKING.remedy(
    __file__, round_numbers, title="Rounding", summary="Releases the nearest multiples of a base in place of numbers."
)
