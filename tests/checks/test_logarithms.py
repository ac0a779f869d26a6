"""Logarithms of fractions against rational numbers: equality is found, and nearness never decides."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import log

import pytest
from hypothesis import assume, given, strategies as st

from tcdp_audit_plugins.checks._shared.frequency_ratios import sign_of_gain, sign_of_logarithm

ratios = st.fractions(min_value=1, max_value=1000, max_denominator=1000)


@given(ratios, st.fractions(min_value=0, max_value=8, max_denominator=50))
def test_what_floating_point_can_tell_apart(ratio: Fraction, threshold: Fraction):
    difference = log(ratio) - threshold
    assume(abs(difference) > 1e-9)

    assert sign_of_logarithm(ratio, threshold) == (1 if difference > 0 else -1)


@given(st.fractions(min_value=Fraction(11, 10), max_value=9, max_denominator=20), st.integers(0, 9), st.integers(1, 5))
def test_powers_of_the_base_are_equal(root: Fraction, above: int, below: int):
    assert sign_of_logarithm(root**above, Fraction(above, below), root**below) == 0


@pytest.mark.parametrize("digits", [20, 40, 60, 200])
def test_a_threshold_next_to_a_logarithm_is_decided(digits: int):
    with localcontext() as context:
        context.prec = digits + 5
        near = Fraction(Decimal(2).ln())
    step = Fraction(1, 10**digits)

    assert [sign_of_logarithm(Fraction(2), near + move) for move in (-step, step)] == [1, -1]
    assert sign_of_logarithm(Fraction(2), near) in (-1, 1)  # a logarithm is irrational


def test_only_a_threshold_of_0_is_ever_equal_to_a_natural_logarithm():
    assert sign_of_logarithm(Fraction(1), Fraction(0)) == 0
    assert sign_of_logarithm(Fraction(1), Fraction(1, 10**40)) == -1
    assert sign_of_logarithm(Fraction(10**40 + 1, 10**40), Fraction(0)) == 1


@pytest.mark.parametrize(
    ("ratio", "threshold", "base", "sign"),
    [
        (Fraction(8), Fraction(3), Fraction(2), 0),
        (Fraction(8), Fraction(3, 2), Fraction(4), 0),
        (Fraction(9, 4), Fraction(2), Fraction(3, 2), 0),
        (Fraction(8), Fraction(2), Fraction(3), -1),
        (Fraction(2**62 + 1, 2**62), Fraction(0), Fraction(2), 1),
        (Fraction(2**62 + 1, 2**61), Fraction(1), Fraction(2), 1),
        (Fraction(2**62 - 1, 2**61), Fraction(1), Fraction(2), -1),
    ],
)
def test_other_bases(ratio: Fraction, threshold: Fraction, base: Fraction, sign: int):
    assert sign_of_logarithm(ratio, threshold, base) == sign


@pytest.mark.parametrize(
    ("gain", "probability", "sign"),
    [
        (Fraction(1, 9), Fraction(9, 10), 1),  # 0.1111 > 0.1054
        (Fraction(1), Fraction(1, 2), 1),  # 1 > 0.6931
        (Fraction(1, 2), Fraction(1, 2), -1),
        (Fraction(0), Fraction(1), 0),
        (Fraction(0), Fraction(999, 1000), -1),
        (Fraction(1), Fraction(1), 1),
    ],
)
def test_gains_against_minus_the_logarithm_of_a_share(gain: Fraction, probability: Fraction, sign: int):
    assert sign_of_gain(gain, probability) == sign
