"""Comparing e^x with a rational number, exactly, for rational x of at least 0.

By the theorem of Lindemann, e^x is transcendental for every rational x but 0. So it equals a rational number only
at x = 0, and everywhere else enough decimal digits distinguish them.
"""

from __future__ import annotations

from fractions import Fraction

from tcdp_audit_plugins.checks._shared.logarithms import sign_of_logarithm


def sign_of_exponential(exponent: Fraction, threshold: Fraction) -> int:
    """Sign of e^exponent - threshold: -1, 0 or 1, exact.

    Args:
        exponent: at least 0.
        threshold: any fraction.

    Example:
        >>> sign_of_exponential(Fraction(0), Fraction(1)), sign_of_exponential(Fraction(1), Fraction(272, 100))
        (0, -1)
    """
    return 1 if threshold < 1 else -sign_of_logarithm(threshold, exponent)
