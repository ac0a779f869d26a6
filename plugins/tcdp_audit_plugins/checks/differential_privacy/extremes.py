"""The largest and smallest fraction of each class, exactly: floats look first, integers decide where they cannot."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import LIMIT, Counts, Integers, boundaries, cached_on_reference
from tcdp_audit.plugin.check import Histogram, Ratios, ReferenceDistribution
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.checks._shared.distances.multiplicative import larger
from tcdp_audit_plugins.checks._shared.frequency_ratios import sign_of_logarithm

FEW = 16  # heaviest values that are looked for in all classes at once
MORE = 4  # times as many, in the classes that have all of these
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
    first = boundaries(rows[near])
    best, near = near[first], np.delete(near, first)
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


def response_distance(histogram: Histogram, marginal: ReferenceDistribution, retention: Fraction) -> Ratios:
    """Multiplicative distance max_o max(f_E(o) / f_T(o), f_T(o) / f_E(o)) between the answers of class and table.

    Args:
        histogram: the true values of each class.
        marginal: the table's; its size m is the domain of the mechanism.
        retention: the probability r of the true answer, from 0 to 1. At 1 this is the multiplicative distance of the
            distributions themselves, with 0/0 ignored.

    Returns:
        Exact fractions of at least 1, shape (classes,); infinite only where r is 1 and one side lacks a value of
        the other.

    Cost: O(pairs of class and value), and a sort of the domain.

    Source: Domingo-Ferrer, Soria-Comas (2015), definitions 3 and 4; Warner (1965) for two values.
    """
    a, blank = retention.numerator, retention.denominator - retention.numerator
    scale, total, size = a * marginal.size, marginal.total, histogram.total
    overflows = retention.denominator * marginal.size * max(int(size.max(initial=0)), total) >= LIMIT
    kind = object if overflows else np.int64
    own = scale * histogram.counts.astype(kind, copy=False) + blank * histogram.spread(size).astype(kind, copy=False)
    table = (scale * marginal.weights.astype(kind, copy=False) + blank * total).take(histogram.values)
    above, below = extremes(histogram, own, table)
    return maximum(
        Ratios(product(total, own[above]), product(size, table[above])),
        Ratios(product(size, table[below]), product(total, own[below])),
        _lacked(histogram, marginal, scale, blank),
    )


def _lacked(histogram: Histogram, marginal: ReferenceDistribution, scale: int, blank: int) -> Ratios:
    """f_T / f_E at the most frequent value that the class lacks: 1 + a m w / ((d - a) W), whatever the class is."""
    weight = heaviest_lacked(histogram, marginal)
    if not blank:  # without noise, a value that the class lacks is infinitely less likely there
        return Ratios(np.ones(len(weight), dtype=np.int64), (weight == 0).astype(np.int64))
    added, denominator = product(scale, weight), np.asarray(product(blank, marginal.total))
    return Ratios(added + denominator, np.full(len(weight), denominator))


def heaviest_lacked(histogram: Histogram, marginal: ReferenceDistribution) -> Counts:
    """The largest weight among the values that a class does not have; 0 where it has all of them.

    With the domain ranked by descending weight, it is the weight at the first rank that the class lacks.

    Cost: O(pairs + classes), and a sort of the domain.
    """
    weights, rank = _by_weight(marginal)
    return np.asarray(weights[_first_lacked(histogram, rank, FEW)])


def _first_lacked(histogram: Histogram, rank: Counts, few: int) -> NDArray[np.intp]:
    """The first rank that each class lacks. Those that have the first few ones are looked at again, with more."""
    ranks = np.minimum(rank, few).astype(np.int32).take(histogram.values)
    within = np.flatnonzero(ranks < few)
    has = np.zeros(len(histogram) * (few + 1), dtype=bool)
    has[histogram.rows.take(within) * (few + 1) + ranks.take(within)] = True
    first = has.reshape(-1, few + 1).argmin(axis=1)
    again = np.flatnonzero(first == few)
    if few < len(rank) and len(again):
        first[again] = _first_lacked(histogram.take(again), rank, MORE * few)
    return first


@cached_on_reference
def _by_weight(marginal: ReferenceDistribution) -> tuple[Counts, Counts]:
    """The weights in descending order, 0 last, and the rank of each value among them."""
    order = np.argsort(-marginal.weights, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.append(marginal.weights[order], 0), rank
