"""Ratios of a value's share in a class to its share in the reference, p_i / q_i as exact fractions.

With count c in a class of n records and weight w in a reference of total W, p/q = c W / (n w).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import LIMIT, Floats, boundaries, cached_on_histogram
from tcdp_audit.plugin.check import Histogram, Ratios, ReferenceDistribution, Signs

DISTINGUISHED = 2**51  # quotients of integers whose products stay below this differ as float64 where they differ at all
SHIFT = 130  # enough binary places to distinguish any two fractions of 62-bit integers


def greatest_ratio(
    histogram: Histogram, marginal: ReferenceDistribution, among: NDArray[np.bool_] | None = None
) -> Ratios:
    """The largest p_i / q_i of every class.

    `among` marks the codes that matter, shape (domain,); all of them by default.

    Returns:
        Exact fractions, shape (classes,): 0 where the class has none of the values that matter, infinite where it
        has one to which the reference gives no weight.

    Cost: O(pairs of class and value).
    """
    if among is None:
        return _ratio_at(histogram, marginal, furthest(histogram, marginal)[0])
    order = np.where(among[histogram.values], _in_order(histogram, marginal), -1)
    largest = histogram.max(order)
    ratio = _ratio_at(histogram, marginal, _first(histogram, order == histogram.spread(largest)))
    none = largest < 0
    return Ratios(np.where(none, 0, ratio.numerator), np.where(none, 1, ratio.denominator))


def least_ratio(histogram: Histogram, marginal: ReferenceDistribution) -> Ratios:
    """The smallest p_i / q_i of every class, over the values that it has: exact fractions, shape (classes,)."""
    return _ratio_at(histogram, marginal, furthest(histogram, marginal)[1])


@cached_on_histogram
def furthest(histogram: Histogram, marginal: ReferenceDistribution) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For every class the first pair with its largest p_i / q_i, and that with the smallest. O(pairs)."""
    order = _in_order(histogram, marginal)
    high, low = histogram.spread(histogram.max(order)), histogram.spread(histogram.min(order))
    return _first(histogram, order == high), _first(histogram, order == low)


@cached_on_histogram
def ratios(histogram: Histogram, marginal: ReferenceDistribution) -> Floats:
    """p_i / q_i of every pair of class and value, infinite where q_i = 0. Shape (pairs,)."""
    above = histogram.counts.astype(np.float64) * marginal.total
    below = histogram.spread(histogram.total) * marginal.weights_of(histogram).astype(np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(above / below)


def decided_once(
    histogram: Histogram,
    marginal: ReferenceDistribution,
    pairs: NDArray[np.intp],
    decide: Callable[[Fraction, Fraction], int],
) -> Signs:
    """What an exact decision says of some pairs, asked once for pairs with equal p_i and q_i.

    `pairs` are positions with q_i > 0; `decide` takes p_i and q_i to -1, 0 or 1.
    """
    sizes, weights = histogram.spread(histogram.total)[pairs], marginal.weights_of(histogram)[pairs]
    cases = np.stack([histogram.counts[pairs], sizes, weights], axis=1)
    distinct, which = np.unique(cases, axis=0, return_inverse=True)
    signs = [decide(Fraction(c, n), Fraction(w, marginal.total)) for c, n, w in distinct.tolist()]
    return np.array(signs, dtype=np.int8)[which.reshape(-1)]


def _ratio_at(histogram: Histogram, marginal: ReferenceDistribution, pairs: NDArray[np.intp]) -> Ratios:
    """p_i / q_i at one pair of every class."""
    counts, weights, sizes = histogram.counts[pairs], marginal.weights_of(histogram)[pairs], histogram.total
    most = int(sizes.max(initial=0))  # no count exceeds it, and no weight the total
    if most * marginal.total >= LIMIT:
        counts, weights, sizes = counts.astype(object), weights.astype(object), sizes.astype(object)
    return Ratios(counts * marginal.total, sizes * weights)


def _in_order(histogram: Histogram, marginal: ReferenceDistribution) -> NDArray[Any]:
    """A number for each pair, in the order of p_i / q_i within a class, equal only where those are equal."""
    counts, weights = histogram.counts, marginal.weights_of(histogram)
    if int(counts.max(initial=0)) * int(weights.max(initial=0)) < DISTINGUISHED:
        with np.errstate(divide="ignore"):
            return np.asarray(counts / weights)
    scaled = (counts.astype(object) << SHIFT) // np.maximum(weights, 1)
    return np.where(weights == 0, 1 << 3 * SHIFT, scaled)


def _first(histogram: Histogram, marked: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The first marked pair of every class; each has one."""
    pairs = np.flatnonzero(marked)
    return pairs[boundaries(histogram.rows.take(pairs))]


FIRST_DIGITS = 40
GUARD = 6  # digits that a sum of four rounded terms may lose


def sign_of_logarithm(ratio: Fraction, threshold: Fraction, base: Fraction | None = None) -> int:
    """Sign of log(ratio) - threshold: -1, 0 or 1, exact.

    The ratio is at least 1, the threshold at least 0, the base above 1, or None for the natural logarithm.

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

    The probability is above 0 and at most 1.

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
