"""Pattern counts and best matches, by joins and by enumeration, against plain Python over all pairs."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tcdp_audit import CheckError
from tcdp_audit_plugins.checks.record_linkage import agreement
from tcdp_audit_plugins.checks.record_linkage.agreement import (
    Compared,
    alike,
    enumerated_best,
    enumerated_counts,
    equal,
    patterns_of_pairs,
    tolerant,
)
from tcdp_audit_plugins.checks.record_linkage.agreement_patterns import Column, best_matches, pattern_counts

SIZE = 3  # codes 0, 1, 2; 3 is missing


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    attributes = draw(st.integers(1, 4))
    rows = st.lists(st.tuples(*[st.integers(0, SIZE)] * attributes), min_size=1, max_size=8)
    return draw(rows), draw(rows)


def columns(released, original):
    pairs = zip(np.array(released).T, np.array(original).T, strict=True)
    return [Column(a.astype(np.uint8), b.astype(np.uint8), SIZE) for a, b in pairs]


def compared(released, original):
    return [Compared(one.released, one.original, equal(one.size)) for one in columns(released, original)]


def pattern(a, b):
    return sum(1 << j for j, (x, y) in enumerate(zip(a, b, strict=True)) if x == y != SIZE)


def counted(released, original):
    counts = [0] * (1 << len(released[0]))
    for a, b in product(released, original):
        counts[pattern(a, b)] += 1
    return counts


def best_of(released, original, rank):
    best = [max(rank[pattern(a, b)] for b in original) for a in released]
    return best, [sum(rank[pattern(a, b)] == top for b in original) for a, top in zip(released, best, strict=True)]


@given(tables())
def test_joins_count_what_plain_python_counts_over_all_pairs(both):
    assert pattern_counts(columns(*both)).tolist() == counted(*both)


@given(tables())
def test_so_does_enumeration(both):
    assert enumerated_counts(compared(*both)).tolist() == counted(*both)


@given(tables(), st.data())
def test_best_matches_are_those_of_plain_python(both, data):
    """Agreement raises, lowers or does not change the rank of a pattern, attribute by attribute."""
    gains = data.draw(st.lists(st.integers(-3, 3), min_size=len(both[0][0]), max_size=len(both[0][0])))
    rank = np.array([20 + sum(g for j, g in enumerate(gains) if at >> j & 1) for at in range(1 << len(gains))])
    expected = best_of(*both, rank.tolist())

    for best, ties in (best_matches(columns(*both), rank), enumerated_best(compared(*both), rank)):
        assert (best.tolist(), ties.tolist()) == expected


def test_best_matches_of_records_in_many_blocks(monkeypatch):
    released, original = [(0, 1), (1, 1), (2, 3), (0, 0)] * 5, [(0, 1), (1, 0), (2, 2)]
    rank = np.array([3, 4, 1, 2])  # the second attribute speaks against a match
    module = "tcdp_audit_plugins.checks.record_linkage.agreement_patterns.DENSE"
    monkeypatch.setattr(module, 4)

    best, ties = best_matches(columns(released, original), rank)

    assert (best.tolist(), ties.tolist()) == best_of(released, original, rank.tolist())
    assert (best[:4].tolist(), ties[:4].tolist()) == ([3, 4, 4, 4], [2, 1, 1, 1])


def test_sparse_keys_are_renumbered():
    """A thousand distinct values each: the keys of two attributes have a million places for two thousand records."""
    code = np.arange(1000)
    counts = pattern_counts([Column(code, code, 1000), Column(code, code[::-1], 1000), Column(code, code, 1000)])

    assert counts.tolist() == [998_000, 0, 1000, 0, 0, 1000, 0, 0]
    assert counts.sum() == 1000 * 1000


def test_a_missing_value_agrees_with_nothing_not_even_a_missing_one():
    nothing = Column(np.array([SIZE, SIZE]), np.array([SIZE, 0]), SIZE)

    assert pattern_counts([nothing]).tolist() == [4, 0]
    assert not equal(SIZE).block(nothing.released, nothing.original).any()
    assert not tolerant(np.arange(3), Fraction(10)).block(nothing.released, nothing.original).any()
    assert not alike(["a", "b", "c"], Fraction(1, 100)).block(nothing.released, nothing.original).any()


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_records_changes_no_count(both, random):
    released, original = both
    shuffled = random.sample(released, len(released)), random.sample(original, len(original))

    assert pattern_counts(columns(*shuffled)).tolist() == pattern_counts(columns(*both)).tolist()


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=12, unique=True).map(sorted),
    st.integers(0, 30),
    st.sampled_from([1, 10, 1000]),
)
def test_a_tolerance_is_compared_as_the_decimals_that_were_typed(tenths, width, scale):
    near = tolerant(np.array(tenths) / scale, Fraction(width, scale))
    codes = np.arange(len(tenths))

    expected = [[abs(a - b) <= width for b in tenths] for a in tenths]
    assert near.block(codes, codes).tolist() == expected


@given(st.lists(st.text("abc ", min_size=1, max_size=6), min_size=1, max_size=6, unique=True), st.fractions(0, 1))
def test_a_similarity_is_dices_coefficient_compared_exactly(texts, least):
    least = least or Fraction(1, 2)
    grams = [{f" {text} "[i : i + 2] for i in range(len(text) + 1)} for text in texts]
    expected = [[bool(a & b) and Fraction(2 * len(a & b), len(a) + len(b)) >= least for b in grams] for a in grams]
    codes = np.arange(len(texts))
    first, second = (index.ravel() for index in np.indices((len(texts), len(texts))))
    near = alike(texts, least)

    assert near.block(codes, codes).tolist() == expected
    assert near.paired(first, second).reshape(len(texts), -1).tolist() == expected


def test_similar_names_at_their_very_coefficient():
    names, codes = ["smith", "smyth"], np.arange(2)  # 4 of 6 and 6 bigrams are common: 8/12

    assert alike(names, Fraction(2, 3)).block(codes, codes).all()
    assert not alike(names, Fraction(2, 3) + Fraction(1, 10**12)).block(codes, codes)[0, 1]


def test_too_many_texts_for_a_similarity_are_refused_without_naming_one(monkeypatch):
    monkeypatch.setattr(agreement, "LARGEST", 10)

    with pytest.raises(CheckError, match="too many distinct texts") as caught:
        alike(["zqvalue-one", "zqvalue-two"], Fraction(1, 2))
    assert "zqvalue" not in str(caught.value)


@given(tables())
def test_patterns_of_named_pairs_are_those_of_plain_python(both):
    first, second = (index.ravel() for index in np.indices((len(both[0]), len(both[1]))))
    expected = [pattern(both[0][i], both[1][j]) for i, j in zip(first, second, strict=True)]

    assert patterns_of_pairs(compared(*both), first, second).tolist() == expected
