"""Comparing logarithms of fractions with rational numbers, exactly.

The natural logarithm of a rational number other than 1 is irrational (Lindemann), so enough digits decide. To a
rational base, log(a) = p/q only if a^q = base^p, which is decided with integer roots.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

FIRST_DIGITS = 40
GUARD = 6  # digits that a sum of four rounded terms may lose


def sign_of_logarithm(ratio: Fraction, threshold: Fraction, base: Fraction | None = None) -> int:
    """Sign of log(ratio) - threshold: -1, 0 or 1, exact.

    Args:
        ratio: at least 1.
        threshold: at least 0.
        base: more than 1; None for the natural logarithm.

    Example:
        >>> sign_of_logarithm(Fraction(8), Fraction(3), Fraction(2)), sign_of_logarithm(Fraction(8), Fraction(3))
        (0, -1)
    """
    if _equal(ratio, threshold, base):
        return 0
    if base is None:
        return _sign([(Fraction(1), ratio)], -threshold)
    return _sign([(Fraction(1), ratio), (-threshold, base)], Fraction(0))


def sign_of_gain(gain: Fraction, probability: Fraction) -> int:
    """Sign of gain - (-ln probability), exact.

    Args:
        gain: any fraction.
        probability: more than 0 and at most 1.

    Example:
        >>> sign_of_gain(Fraction(1, 9), Fraction(9, 10)), sign_of_gain(Fraction(0), Fraction(1))
        (1, 0)
    """
    if probability == 1:
        return (gain > 0) - (gain < 0)
    return _sign([(Fraction(1), probability)], gain)


def _equal(ratio: Fraction, threshold: Fraction, base: Fraction | None) -> bool:
    if threshold == 0 or ratio == 1:
        return threshold == 0 and ratio == 1
    if base is None:
        return False
    whole = zip((ratio.numerator, ratio.denominator), (base.numerator, base.denominator), strict=True)
    return all(_is_power(one, of, threshold) for one, of in whole)


def _is_power(number: int, base: int, exponent: Fraction) -> bool:
    """Whether number = base^exponent; all three positive."""
    if base == 1 or number == 1:
        return base == number
    if exponent.denominator > base.bit_length() or exponent.numerator > number.bit_length():
        return False  # a root of the base, or a power of it, would be below 2
    root = _root(base, exponent.denominator)
    powers = pow(root, exponent.denominator), pow(root, exponent.numerator)
    return powers == (base, number)


def _root(number: int, degree: int) -> int:
    """The largest integer whose power of that degree is at most a number. O(log number) multiplications."""
    low, high = 1, 1 << (number.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= number else (low, middle - 1)
    return low


def _sign(terms: Sequence[tuple[Fraction, Fraction]], offset: Fraction) -> int:
    """Sign of the sum of factor * ln(fraction), plus an offset; known not to be 0."""
    digits = FIRST_DIGITS
    while True:
        value, error = _sum(terms, offset, digits)
        if abs(value) > error:
            return 1 if value > 0 else -1
        digits *= 2


def _sum(terms: Sequence[tuple[Fraction, Fraction]], offset: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    """The sum to so many digits, and a bound on its error."""
    with localcontext() as context:
        context.prec = digits
        value = _decimal(offset)
        size = abs(value) + 1
        for factor, fraction in terms:
            above, below = Decimal(fraction.numerator).ln(), Decimal(fraction.denominator).ln()
            value += _decimal(factor) * (above - below)
            size += abs(_decimal(factor)) * (above + below)
        return value, size.scaleb(GUARD - digits)


def _decimal(fraction: Fraction) -> Decimal:
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)
