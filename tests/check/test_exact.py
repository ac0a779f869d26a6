"""Comparisons with a threshold are exact, however close."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tcdp_audit.core.check.threshold import as_measured
from tcdp_audit.plugin.check import ApproximateFigure, Ratios

INTEGERS = st.integers(0, 2**60)


@given(st.lists(st.tuples(INTEGERS, st.integers(1, 2**60)), min_size=1), st.tuples(INTEGERS, st.integers(1, 2**60)))
def test_ratios_compare_as_fractions_do(pairs, threshold):
    pairs = [*pairs, threshold]
    limit = Fraction(*threshold)
    ratios = Ratios(*(np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True)))
    exact = [Fraction(*pair) for pair in pairs]
    assert ratios.compare(limit).tolist() == [(value > limit) - (value < limit) for value in exact]


def test_a_hair_is_enough():
    ratios = Ratios(np.array([1, 2**61 + 1]), np.array([3, 2**61]))
    assert ratios.compare(Fraction(1, 3)).tolist() == [0, 1]
    assert ratios.compare(Fraction(33333333333333333333, 10**20)).tolist() == [1, 1]
    assert ratios.compare(Fraction(1)).tolist() == [-1, 1]


def test_a_denominator_of_zero_is_infinity():
    ratios = Ratios(np.array([1, 1]), np.array([0, 2]))
    assert ratios.values.tolist() == [float("inf"), 0.5]
    assert ratios.compare(Fraction(10**12)).tolist() == [1, -1]


def test_python_integers_where_64_bits_are_too_few():
    ratios = Ratios(np.array([10**40, 1], dtype=object), np.array([3 * 10**40, 10**40], dtype=object))
    assert ratios.values.tolist() == [1 / 3, 1e-40]
    assert ratios.compare(Fraction(1, 3)).tolist() == [0, -1]


def test_only_borderline_classes_are_decided():
    asked = []

    def decide(classes, threshold):
        asked.append((classes.tolist(), threshold))
        return np.array([0, -1], dtype=np.int8)

    measured = ApproximateFigure(np.array([1.0, 2.0, 2.0 - 1e-12, np.inf]), decide)
    assert measured.compare(Fraction(2)).tolist() == [-1, 0, -1, 1]
    assert asked == [([1, 2], Fraction(2))]


@pytest.mark.parametrize(
    "values", [np.array([1, 2, 3]), np.array([1.0, 2.0, 3.0]), [1, 2, 3], np.array([1, 2, 3], np.int8)]
)
def test_arrays_are_taken_at_their_exact_value(values):
    assert as_measured(values).compare(Fraction(2)).tolist() == [-1, 0, 1]


def test_a_float_is_the_binary_fraction_that_it_is():
    assert as_measured(np.array([0.1])).compare(Fraction(1, 10)).tolist() == [1]
