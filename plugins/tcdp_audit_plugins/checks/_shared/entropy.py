"""Comparing exp(entropy) with a rational number, exactly.

For counts c_1 ... c_m with sum n, exp(H) = n / (prod c_i^c_i)^(1/n). So exp(H) against a/b has the sign of
n ln n + n ln b - n ln a - sum c_i ln c_i. That is zero only if both sides have the same factors, which is
decided by splitting them into factors without a common divisor; otherwise enough decimal digits decide the sign.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import gcd

FIRST_DIGITS = 40


def sign_of_perplexity(counts: Sequence[int], threshold: Fraction) -> int:
    """Sign of exp(H) - threshold for a distribution of counts: -1, 0 or 1, exact.

    Args:
        counts: positive integers.
        threshold: a positive rational number.

    Example:
        >>> sign_of_perplexity([7, 7, 7], Fraction(3)), sign_of_perplexity([8, 7, 7], Fraction(3))
        (0, -1)
    """
    n = sum(counts)
    powers = Counter({n: n})
    powers[threshold.denominator] += n
    powers[threshold.numerator] -= n
    for count in counts:
        powers[count] -= count
    if not any(_coprime(powers).values()):
        return 0
    digits = FIRST_DIGITS
    while True:
        value, error = _logarithm(powers, digits)
        if abs(value) > error:
            return 1 if value > 0 else -1
        digits *= 2


def _logarithm(powers: Counter[int], digits: int) -> tuple[Decimal, Decimal]:
    """Logarithm of a product of integer powers, and a bound on its error."""
    with localcontext() as context:
        context.prec = digits
        terms = [exponent * Decimal(base).ln() for base, exponent in powers.items() if base > 1]
        total = sum(terms, Decimal(0))
        bound = sum((abs(term) for term in terms), Decimal(1)) * (len(terms) + 2)
        return total, bound.scaleb(2 - digits)


def _coprime(powers: Counter[int]) -> Counter[int]:
    """The same product as powers of numbers above 1 without a common factor: it is 1 only if every exponent is 0.

    It needs greatest common divisors only: to find the primes of a threshold of thirty digits would take years.
    """
    rest, coprime = [(base, power) for base, power in powers.items() if base > 1], Counter[int]()
    while rest:
        number, exponent = rest.pop()
        shared = next((other for other in coprime if gcd(number, other) > 1), None)
        if shared is None:
            coprime[number] = exponent
        else:
            common, before = gcd(number, shared), coprime.pop(shared)
            split = [(common, exponent + before), (number // common, exponent), (shared // common, before)]
            rest += [(base, power) for base, power in split if base > 1]
    return coprime
