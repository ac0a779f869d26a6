"""Round numbers to try as thresholds: 1, 2, 5 and their multiples by powers of ten."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

FACTORS = (1, 2, 5)
TEN = Fraction(10)


def between(low: Fraction, high: Fraction) -> list[Fraction]:
    """Both ends and the round numbers between them, ascending.

    Example:
        >>> [str(one) for one in between(Fraction(3), Fraction(50))]
        ['3', '5', '10', '20', '50']
        >>> [str(one) for one in between(Fraction("0.15"), Fraction("0.5"))]
        ['3/20', '1/5', '1/2']
    """
    inner = [low]
    for one in _above(low) if low > 0 else _above(high / 100) if high > 0 else ():
        if one >= high:
            break
        inner.append(one)
    return inner if low == high else [*inner, high]


def around(own: Fraction, steps: int) -> list[Fraction]:
    """A positive number with so many round numbers below it and above it, ascending.

    Example:
        >>> [str(one) for one in around(Fraction(5), 2)]
        ['1', '2', '5', '10', '20']
    """
    above = list(islice(_above(own), steps))
    below = [1 / one for one in islice(_above(1 / own), steps)]  # 1, 2, 5 are 1, 1/2, 1/5 upside down
    return [*reversed(below), own, *above]


def _above(start: Fraction) -> Iterator[Fraction]:
    """The round numbers above a positive one, without end."""
    power = Fraction(1)
    while power > start:
        power /= TEN
    while power * TEN <= start:
        power *= TEN
    while True:
        yield from (factor * power for factor in FACTORS if factor * power > start)
        power *= TEN
