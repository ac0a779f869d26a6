"""The largest and smallest fraction of each class, exactly: floats look first, integers decide where they cannot."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import LIMIT, Integers, boundaries
from tcdp_audit.plugin.check import Histogram, Ratios
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.checks._shared.distances.multiplicative import larger
from tcdp_audit_plugins.checks._shared.frequency_ratios import sign_of_logarithm

NEAR = 1 - 2.0**-49  # quotients of rounded integers are off by less than this


def extremes(
    histogram: Histogram, numerator: Integers, denominator: Integers
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The pair of each class with the largest fraction and the one with the smallest; the first of equal ones.

    Args:
        histogram: its rows say which pairs belong together; none may be empty.
        numerator: an integer for each pair.
        denominator: an integer for each pair, 0 for infinity. Never 0 in both.

    Returns:
        Positions of pairs, twice of shape (classes,).

    Cost: O(pairs); pairs that floating point cannot distinguish are compared once or twice more.
    """
    with np.errstate(divide="ignore"):
        quotient = numerator.astype(np.float64, copy=False) / denominator.astype(np.float64, copy=False)
    high = np.flatnonzero(quotient >= NEAR * histogram.spread(histogram.max(quotient)))
    low = np.flatnonzero(NEAR * quotient <= histogram.spread(histogram.min(quotient)))
    rows = histogram.rows
    return _decided(rows, numerator, denominator, high), _decided(rows, denominator, numerator, low)


def maximum(*ratios: Ratios) -> Ratios:
    """The largest of several fractions for every class, exactly. O(classes x ratios)."""
    return reduce(larger, ratios)


def _decided(
    rows: NDArray[np.intp], numerator: Integers, denominator: Integers, near: NDArray[np.intp]
) -> NDArray[np.intp]:
    """The first pair of each class with its largest fraction, among the pairs that may have it."""
    best = near[boundaries(rows[near])]
    while len(near):
        rival = best[rows[near]]
        near = near[_greater(numerator, denominator, near, rival)]
        best[rows[near][::-1]] = near[::-1]
    return best


def product(one: Any, other: Any) -> Any:
    """The product of integers at least 0: in 64 bits where it fits, in Python integers where it does not."""
    one, other = np.asarray(one), np.asarray(other)
    if int(one.max(initial=0)) * int(other.max(initial=0)) < LIMIT:
        return one * other
    return one.astype(object) * other.astype(object)


def _greater(
    numerator: Integers, denominator: Integers, one: NDArray[np.intp], other: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether the fraction at `one` is greater than that at `other`, by cross-multiplication."""
    left = product(numerator[one], denominator[other])
    right = product(numerator[other], denominator[one])
    return np.asarray(left > right, dtype=bool)


ASSUMING = "Under the assumptions of t-closeness on prior and posterior knowledge"


def worst_figure(outcome: Outcome) -> float:
    """The figure of the worst class."""
    return inf if outcome.observed is None else outcome.observed


def factor_of(factor: float) -> dict[str, float | None]:
    """The value by which a bound changes the odds of a value; None where it is infinite."""
    return {"factor": factor if isfinite(factor) else None}


def demand_of(name: str) -> str:
    """The template of what the policy allows and how many classes do not keep it, to end a paragraph."""
    return (
        f"[{{threshold?}}{{failing_classes?}} The policy allows {name} up to {{threshold}}"
        "[{failing_classes>0?}; {failing/records:{record}} {failing/records:is|are} in "
        "{failing_classes:a group that does|{failing_classes} groups that do} not keep it].]"
    )


def _odds(value: str) -> str:
    """The template of what a bound means for one person: by how much finding their group may change the odds."""
    return (
        f"{{intruder}} and finds their group may [{{factor?}}find {value} {{factor}} times as likely, or as unlikely, "
        f"as before|rule out {value}, or be sure of it]."
    )


ODDS_OF_VALUE = _odds("a value of {attribute}")
ODDS_OF_CONFIDENTIAL_VALUE = _odds("a confidential value")


def sign_of_exponential(exponent: Fraction, threshold: Fraction) -> int:
    """Sign of e^exponent - threshold: -1, 0 or 1, exact.

    The exponent is at least 0.

    Example:
        >>> sign_of_exponential(Fraction(0), Fraction(1)), sign_of_exponential(Fraction(1), Fraction(272, 100))
        (0, -1)
    """
    return 1 if threshold < 1 else -sign_of_logarithm(threshold, exponent)
