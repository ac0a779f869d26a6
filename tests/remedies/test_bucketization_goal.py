"""Which (t, k, N) can be attained, and what classes are made of: against a search through all counts."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tcdp_audit_plugins.remedies.bucketization.choice import compose
from tcdp_audit_plugins.remedies.bucketization.goal import ClassDesign

MASSES = st.lists(st.integers(1, 14), min_size=2, max_size=3)
RATIOS = st.fractions(1, 4, max_denominator=4)


def _sizes(records: int, classes: int) -> list[int]:
    ends = [int(Fraction(i * records, classes) + Fraction(1, 2)) for i in range(classes + 1)]
    return [b - a for a, b in itertools.pairwise(ends)]


def _allowed(size: int, mass: int, records: int, t: Fraction) -> list[int]:
    ratios = ((p, Fraction(p * records, size * mass)) for p in range(1, size + 1))
    return [p for p, ratio in ratios if max(ratio, 1 / ratio) <= t]


def _exist(masses: tuple[int, ...], t: Fraction, classes_per_bucket: int) -> bool:
    """Whether classes of the prescribed sizes exist: every combination of counts, class by class."""
    records = sum(masses)

    @cache
    def fill(sizes: tuple[int, ...], left: tuple[int, ...]) -> bool:
        return not any(left) if not sizes else any(fill(sizes[1:], rest) for rest in share(sizes[0], left))

    @cache
    def share(size: int, left: tuple[int, ...]) -> list[tuple[int, ...]]:
        partial: list[tuple[int, ...]] = [()]
        for mass, rest in zip(masses, left, strict=True):
            partial = [(*one, p) for one in partial for p in _allowed(size, mass, records, t) if p <= rest]
        return [tuple(rest - p for rest, p in zip(left, one, strict=True)) for one in partial if sum(one) == size]

    return fill(tuple(_sizes(records, len(masses) * classes_per_bucket)), masses)


@given(MASSES, RATIOS)
def test_rounds_are_those_for_which_classes_exist(masses: list[int], t: Fraction) -> None:
    design = ClassDesign(np.array(masses), t)
    result = design.classes_per_bucket(1).tolist()
    assert result == [l for l in range(1, sum(masses) // len(masses) + 1) if _exist(tuple(masses), t, l)]


@given(MASSES, RATIOS, st.integers(1, 6))
def test_k_keeps_the_classes_that_are_large_enough(masses: list[int], t: Fraction, k: int) -> None:
    design = ClassDesign(np.array(masses), t)
    expected = [l for l in design.classes_per_bucket(1).tolist() if min(_sizes(sum(masses), len(masses) * l)) >= k]
    assert design.classes_per_bucket(k).tolist() == expected
    if design.largest_k():
        assert len(design.classes_per_bucket(design.largest_k()))
    assert not len(design.classes_per_bucket(max(design.largest_k(), len(masses)) + 1))


@given(st.lists(st.integers(1, 400), min_size=2, max_size=6), RATIOS, st.integers(1, 30))
def test_a_composition_keeps_every_bound(masses: list[int], t: Fraction, k: int) -> None:
    design = ClassDesign(np.array(masses), t)
    for classes_per_bucket in design.classes_per_bucket(max(k, len(masses))).tolist()[-2:]:
        composition = compose(design, classes_per_bucket)
        sizes, counts = _sizes(sum(masses), len(masses) * classes_per_bucket), composition.counts
        assert counts.sum(axis=1).tolist() == sizes
        assert counts.sum(axis=0).tolist() == masses
        assert np.bincount(composition.emphasised).tolist() == [classes_per_bucket] * len(masses)
        for size, row in {(size, tuple(row)) for size, row in zip(sizes, counts.tolist(), strict=True)}:
            for count, mass in zip(row, masses, strict=True):
                ratio = Fraction(count * sum(masses), size * mass)
                assert max(ratio, 1 / ratio) <= t


@pytest.mark.parametrize(
    ("buckets", "t", "k", "emphasised", "others"),
    [
        (3, Fraction(2), 4, 2, 1),  # DS15, figure 2
        (3, Fraction(3, 2), 4, 2, 1),
        (3, Fraction(2), 10, 6, 2),
        (2, Fraction(3, 2), 25, 16, 9),  # 25 / (2 x 1.5) = 8.33
        (6, Fraction(5), 30, 25, 1),  # t / b and 1 / (t b) exactly
        (4, Fraction(7, 2), 25, 19, 2),  # 25 / (4 x 3.5) = 1.79
    ],
)
def test_the_emphasised_bucket_takes_what_the_others_leave(
    buckets: int, t: Fraction, k: int, emphasised: int, others: int
) -> None:
    design = ClassDesign(np.full(buckets, k * 12), t)
    classes_per_bucket = design.classes_per_bucket(k).max()
    composition = compose(design, int(classes_per_bucket))
    assert classes_per_bucket == 12
    expected = np.full((buckets * 12, buckets), others)
    expected[np.arange(len(expected)), composition.emphasised] = emphasised
    assert composition.counts.tolist() == expected.tolist()


def test_classes_grow_until_whole_numbers_fit() -> None:
    design = ClassDesign(np.array([15_418, 14_744]), Fraction(3, 2))  # Adult's ages
    classes_per_bucket = int(design.classes_per_bucket(3).max())
    assert (classes_per_bucket, np.unique(design.sizes(classes_per_bucket)).tolist()) == (3_686, [4, 5])


def test_numbers_beyond_64_bits_stay_exact() -> None:
    t = Fraction(10**30 + 1, 10**30)
    assert ClassDesign(np.array([10**9, 10**9]), t).allowed(np.array([10, 11]))[0].tolist() == [[5, 5], [6, 6]]
