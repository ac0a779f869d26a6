"""Scalars of a policy that remember how they were typed, so that `02139` is a code and 0.2 is one fifth."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, WithJsonSchema

LARGEST_EXPONENT = 300  # of float64, nearly; `1e999999999` would not fit into memory


class TypedInt(int):
    """An integer of a YAML file, with the text that stood there."""

    text: str

    def __new__(cls, value: int, text: str) -> Self:
        """Keep `text` beside `value`."""
        self = super().__new__(cls, value)
        self.text = text
        return self


class TypedFloat(float):
    """A decimal number of a YAML file, with the text that stood there."""

    text: str

    def __new__(cls, value: float, text: str) -> Self:
        """Keep `text` beside `value`."""
        self = super().__new__(cls, value)
        self.text = text
        return self


def as_text(value: Any) -> Any:
    """A scalar as the text that was typed, for attributes' names and values."""
    if isinstance(value, bool):
        raise ValueError("YAML reads this as true or false; put it in quotes")  # noqa: TRY004 - pydantic wants ValueError
    if isinstance(value, TypedInt | TypedFloat):
        return value.text
    if isinstance(value, int | float):
        return str(value)
    return value


def as_fraction(value: Any) -> Fraction:
    """The exact number that was typed: 0.2 is 1/5, and `3/8` is allowed."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic wants ValueError
    text = value.text if isinstance(value, TypedInt | TypedFloat) else str(value)
    text = text.replace("_", "")
    try:
        if "/" in text:
            return Fraction(text)
        decimal = Decimal(text)
        if decimal and abs(decimal.adjusted()) > LARGEST_EXPONENT:
            raise ValueError  # noqa: TRY301 - told in one sentence with the others
        return Fraction(decimal)
    except (InvalidOperation, ValueError, OverflowError, ZeroDivisionError):
        raise ValueError("must be a finite number") from None


Exact = Annotated[
    Fraction,
    BeforeValidator(as_fraction),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^-?\d+/\d+$"}]}),
]
