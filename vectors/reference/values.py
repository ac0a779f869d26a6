"""Figures that are exact: fractions, roots of fractions, logarithms of fractions, and infinity."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

DIGITS = 60
ROUNDING = "12 decimals, outwards"


@dataclass(frozen=True)
class Real:
    """A figure that is no fraction, to 60 digits.

    Args:
        value: the figure.
        power: a fraction that the figure equals when raised to `degree`; compared instead of the digits.
        degree: see above; 0 where no power of it is known as a fraction.
    """

    value: Decimal
    power: Fraction = Fraction(0)
    degree: int = 0


Value = Fraction | Real | None  # None is infinite


def decimal(value: Fraction) -> Decimal:
    """A fraction to 60 digits."""
    with localcontext(prec=DIGITS):
        return Decimal(value.numerator) / Decimal(value.denominator)


def root(power: Fraction, degree: int) -> Fraction | Real:
    """The root of a fraction, as a fraction if it is one."""
    with localcontext(prec=DIGITS):
        value = (decimal(power).ln() / degree).exp()
    near = Fraction(value).limit_denominator(10_000)
    return near if near**degree == power else Real(value, power, degree)


def ln(ratio: Fraction) -> Fraction | Real:
    """The natural logarithm."""
    with localcontext(prec=DIGITS):
        return Fraction(0) if ratio == 1 else Real(decimal(ratio).ln())


def real(value: Decimal) -> Real:
    """A figure known by its digits alone; raises ArithmeticError for one that is none."""
    if not value.is_finite():
        raise ArithmeticError(value)
    return Real(value)


def size(value: Value) -> Decimal:
    """What figures are ordered by."""
    return Decimal("Infinity") if value is None else value.value if isinstance(value, Real) else decimal(value)


def keeps(value: Value, comparison: str, threshold: Fraction) -> bool:
    """Whether a figure keeps a threshold, exactly."""
    if value is None:
        return comparison == ">="
    if isinstance(value, Real) and value.degree:
        one, other = value.power, threshold**value.degree
    elif isinstance(value, Real):
        one, other = Fraction(value.value), threshold
    else:
        one, other = value, threshold
    return {">=": one >= other, "<=": one <= other, "<": one < other}[comparison]


def written(value: Value) -> str | dict[str, str]:
    """A figure as the file of a vector has it."""
    if value is None:
        return "infinite"
    if isinstance(value, Fraction):
        return str(value)
    step = Decimal("1e-12")
    with localcontext(prec=DIGITS):
        low, high = (value.value.quantize(step, rounding=one) for one in (ROUND_FLOOR, ROUND_CEILING))
    return {"low": str(low), "high": str(high), "rounding": ROUNDING}
