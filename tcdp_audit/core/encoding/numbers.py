"""Texts as numbers, and where float64 does not tell two of them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from math import isfinite

from tcdp_audit.core.base.errors import DataError

PLAIN = 15  # a decimal number of so many characters without an exponent has a float64 of its own

Rounded = Mapping[float, Decimal]


def number_of(text: str) -> int | float | None:
    """A finite decimal number in ASCII digits, or None. Underscores, infinity and other scripts' digits are text.

    Example:
        >>> number_of("+07"), number_of(" 1e1 "), number_of("1_000"), number_of("inf"), number_of("１２")
        (7, 10.0, None, None, None)
    """
    if "_" in text or not text.isascii():
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def rounded_numbers(attribute: str, texts: Sequence[str], numbers: Sequence[float]) -> Rounded:
    """What stands in the cells whose number is no float64's shortest decimal, by that float64.

    Args:
        attribute: the column, for the message.
        texts: distinct numbers as they stand.
        numbers: the same as float64; an integer up to 2^53 may be an int.

    Raises:
        DataError: two different numbers have the same float64.

    Example:
        >>> rounded_numbers("x", ["0.30", "0.1000000000000000055"], [0.3, 0.1])
        {0.1: Decimal('0.1000000000000000055')}

    Cost: nothing for numbers of up to 15 digits, a comparison of texts for what a program wrote of a float64.
    """
    rounded: dict[float, Decimal] = {}
    own: set[str] = set()  # the texts that are rounded
    for text, number in zip(texts, numbers, strict=True):
        if (len(text) > PLAIN or "e" in text or "E" in text) and repr(number) != text:
            cell = _decimal(attribute, text)
            if cell != Decimal(repr(number)):
                own.add(text)
                if rounded.setdefault(number, cell) != cell:
                    raise _merged(attribute)
    if rounded and any(number in rounded and text not in own for text, number in zip(texts, numbers, strict=True)):
        raise _merged(attribute)
    return rounded


def _decimal(attribute: str, text: str) -> Decimal:
    number = None
    with suppress(InvalidOperation):
        number = Decimal(text.strip())
    if number is None:  # an exponent of more than 18 digits
        raise _merged(attribute)
    return number


def _merged(attribute: str) -> DataError:
    return DataError(
        f"column {attribute!r} holds numbers that are different and too close, or too many digits long, to be told "
        "apart as 64-bit floating point; round them, or declare `{scale: nominal}`"
    )
