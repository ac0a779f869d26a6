"""Randomised response: every record keeps its value, or answers any value of the domain at random."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from math import expm1, floor

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.remedy import NewColumn, RemedyError
from tcdp_audit.remedy_view import Attribute
from tcdp_audit_plugins.checks.differential_privacy.stochastic_t_closeness import FINEST, Mechanism
from tcdp_audit_plugins.remedies.noise.library import opendp
from tcdp_audit_plugins.remedies.noise.masking import Masking, column, present
from tcdp_audit_plugins.remedies.noise.parameters import NoiseParameters
from tcdp_audit_plugins.remedies.noise.rounding import at_least, at_most

LARGEST_EXPONENT = 700.0  # of e that float64 holds


def randomised_response(attribute: Attribute, parameters: NoiseParameters) -> Masking:
    """Keep each value with probability r, else answer one of the m values of the domain, each equally likely.

    With r = (e^epsilon - 1) / (e^epsilon + m - 1) a value is answered at most e^epsilon times as often by a record
    that has it, r + (1 - r)/m, as by one that has not, (1 - r)/m. r is rounded down to nine decimals, so that it can
    be declared exactly as it was drawn with.

    Raises:
        RemedyError: OpenDP is not installed, the domain has fewer than two values, or epsilon is too small for them.

    Cost of a draw: O(records), about 1 µs each in OpenDP's exact sampler.

    Source: Warner, Journal of the American Statistical Association 60, 1965; Kairouz, Oh, Viswanath, Journal of
    Machine Learning Research 17, 2016 (for more than two values).
    """
    found, values = present(attribute), attribute.domain.size
    if values < 2:
        raise RemedyError(f"column {attribute.name!r} has one value only, so there is nothing to answer instead")
    retention = retained(parameters.epsilon, values)
    if not retention:
        raise RemedyError(f"epsilon is so small that no record would keep its value among {values:,}; raise it")
    own = attribute.codes[found].astype(np.int64)
    replaced = _coins(retention)

    def draw() -> NewColumn:
        replace = replaced(len(own))
        answers = own.copy()
        answers[replace] = _any_of(values, int(replace.sum()))
        return column(attribute.domain.values, answers, found)

    declared = {"mechanism": Mechanism.RANDOMISED_RESPONSE.value, "retention": float(retention)}
    return Masking(draw, declared, {"retention": float(retention), "answers": values})


def retained(epsilon: Fraction, values: int) -> Fraction:
    """The probability of keeping a value, rounded down to nine decimals.

    Example:
        >>> retained(Fraction(1), 2)
        Fraction(462117157, 1000000000)
    """
    gain = expm1(min(float(epsilon), LARGEST_EXPONENT))
    exact = gain / (gain + values)
    return Fraction(min(floor(exact * FINEST * (1 - 1e-15)), FINEST - 1), FINEST)


def _coins(retention: Fraction) -> Callable[[int], NDArray[np.bool_]]:
    """Which of some records answer at random, from OpenDP's randomised response on bits.

    It flips every bit with probability f/2, and f is at most 1; so flips are what happens less often.
    """
    dp = opendp()
    keeps_more = retention >= Fraction(1, 2)
    f = at_least(2 * (1 - retention)) if keeps_more else at_most(2 * retention)
    flips = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=f)

    def toss(records: int) -> NDArray[np.bool_]:
        flipped = np.frombuffer(flips(bytes(-(-records // 8))), dtype=np.uint8)
        shown = np.unpackbits(flipped)[:records].astype(bool)
        return shown if keeps_more else ~shown

    return toss


def _any_of(values: int, number: int) -> NDArray[np.int64]:
    """Numbers from 0 to values - 1, exactly equally likely, from the operating system's cryptographic source."""
    words = np.frombuffer(os.urandom(8 * number), dtype=np.uint64).copy()
    last = np.uint64(2**64 - 2**64 % values - 1)  # words beyond it would favour the first values
    while (beyond := words > last).any():
        words[beyond] = np.frombuffer(os.urandom(8 * int(beyond.sum())), dtype=np.uint64)
    return (words % np.uint64(values)).astype(np.int64)
