"""Buckets as near equal in mass as whole values allow, against every possible partition."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tcdp_audit_plugins.remedies._shared.buckets import consecutive, pack

MASSES = st.lists(st.integers(1, 30), min_size=2, max_size=9)


def _sums(masses: list[int], buckets: list[int]) -> list[int]:
    return [sum(m for m, b in zip(masses, buckets, strict=True) if b == one) for one in range(max(buckets) + 1)]


@pytest.mark.parametrize(
    ("masses", "buckets", "expected"),
    [
        ([1] * 12, 3, [4, 4, 4]),
        ([1] * 13, 3, [4, 4, 5]),
        ([50, 1, 1, 1, 1], 3, [50, 2, 2]),  # a tie heavier than its share: the rest is divided by itself
        ([3, 3, 9, 3], 2, [6, 12]),
        ([2, 5], 2, [2, 5]),
        ([4, 4, 4], 1, [12]),
    ],
)
def test_consecutive_values_share_the_mass(masses: list[int], buckets: int, expected: list[int]) -> None:
    result = consecutive(np.array(masses), buckets).tolist()
    assert result == sorted(result)
    assert sorted(_sums(masses, result)) == sorted(expected)


@given(MASSES, st.data())
def test_no_cut_of_the_order_is_nearer_to_equal(masses: list[int], data: st.DataObject) -> None:
    buckets = data.draw(st.integers(1, len(masses)))
    result = consecutive(np.array(masses), buckets).tolist()
    assert result == sorted(result)
    assert set(result) == set(range(buckets))
    cuts = ((0, *inner, len(masses)) for inner in combinations(range(1, len(masses)), buckets - 1))
    least = min(sum(sum(masses[a:b]) ** 2 for a, b in pairwise(one)) for one in cuts)
    assert sum(mass**2 for mass in _sums(masses, result)) == least


@given(MASSES, st.data())
def test_packing_stays_within_four_thirds_of_the_best(masses: list[int], data: st.DataObject) -> None:
    buckets = data.draw(st.integers(1, min(len(masses), 3)))
    result = pack(np.array(masses), buckets).tolist()
    assert list(dict.fromkeys(result)) == list(range(buckets))  # numbered by their first value, none empty
    best = min(
        max(_sums(masses, list(one))) for one in product(range(buckets), repeat=len(masses)) if len(set(one)) == buckets
    )
    assert 3 * max(_sums(masses, result)) <= 4 * best


def test_a_thousand_values_are_cut_where_the_quantiles_are() -> None:
    masses = np.random.default_rng(1).integers(1, 5, 20_000)
    bucket = consecutive(masses, 7)
    sums = np.bincount(bucket, weights=masses)
    assert np.abs(sums - masses.sum() / 7).max() <= 4
