"""Exact numbers as float64 on the safe side: rounded the other way, there would be too little noise."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter


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
