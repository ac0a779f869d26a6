"""Distinct and entropy l-diversity: how many values a class has, and how many it is as varied as."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import pytest
from class_rows import Rows, evidence, outcome, tables, totals, with_gaps
from hypothesis import given, strategies as st

from tcdp_audit import PolicyError
from tcdp_audit_plugins.checks import l_diversity
from tcdp_audit_plugins.checks.l_diversity import (
    DistinctParameters,
    EntropyParameters,
    distinct_values,
    effective_values,
    sign_of_perplexity,
)

DIFFERENT = Fraction(1, 10**30)


def perplexity(row: list[int]) -> float:
    """exp(H) from its definition."""
    shares = [count / sum(row) for count in row if count]
    return exp(-sum(share * log(share) for share in shares))


def exceeds(row: list[int], l: Fraction) -> int:
    """The sign of n^n b^n - a^n prod c_i^c_i for l = a/b: what exp(H) is beside l, in whole numbers."""
    n = sum(row)
    left, right = n**n * l.denominator**n, l.numerator**n
    for count in row:
        right *= count**count
    return (left > right) - (left < right)


@given(tables)
def test_the_distinct_values_by_definition(rows: Rows):
    assert distinct_values(evidence(rows), DistinctParameters()).tolist() == [sum(map(bool, row)) for row in rows]


@given(tables)
def test_the_effective_values_by_definition(rows: Rows):
    actual = effective_values(evidence(rows), EntropyParameters()).values

    assert actual.tolist() == pytest.approx([perplexity(row) for row in rows], rel=1e-12)


def test_a_logarithm_is_the_same_from_the_table_and_beyond_it(monkeypatch: pytest.MonkeyPatch):
    rows = evidence([[1, 1, 0], [2, 5, 9], [3, 3, 4], [70, 1, 0]])
    tabulated = effective_values(rows, EntropyParameters()).values.tolist()
    monkeypatch.setattr(l_diversity, "_table", list)

    assert effective_values(rows, EntropyParameters()).values.tolist() == tabulated


@given(tables)
def test_one_class_of_all_is_never_less_varied(rows: Rows):
    together = evidence([totals(rows)])
    apart = evidence(rows)

    assert distinct_values(together, DistinctParameters())[0] >= min(distinct_values(apart, DistinctParameters()))
    of_all, of_parts = (effective_values(one, EntropyParameters()).values for one in (together, apart))
    assert of_all[0] >= min(of_parts) * (1 - 1e-12)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.fractions(1, 5, max_denominator=6))
def test_entropy_is_decided_as_in_whole_numbers(row: list[int], l: Fraction):
    assert sign_of_perplexity(row, l) == exceeds(row, l)


@given(st.integers(1, 9), st.integers(1, 7))
def test_equal_shares_are_exactly_as_many(values: int, each: int):
    row = [each] * values

    assert effective_values(evidence([row]), EntropyParameters()).values.tolist() == [values]
    assert [sign_of_perplexity(row, values + near) for near in (-DIFFERENT, Fraction(0), DIFFERENT)] == [1, 0, -1]


@pytest.mark.parametrize(("l", "status"), [(2, "passed"), (3, "failed"), (None, "measured")])
def test_a_class_of_two_distinct_values(l: int | None, status: str):
    result = outcome("distinct_l_diversity", [[9, 1, 0], [1, 1, 1]], l=l)

    assert (result.status.value, result.observed) == (status, 2)


@pytest.mark.parametrize(
    ("l", "status"),
    [("2.999999999999", "passed"), (3, "passed"), ("3.000000000000000000001", "failed"), (None, "measured")],
)
def test_three_equally_frequent_values_are_three(l: object, status: str):
    result = outcome("entropy_l_diversity", [[7, 7, 7]], l=l)

    assert (result.status.value, result.observed) == (status, 3)


def test_counts_4_2_2_are_as_varied_as_the_square_root_of_eight():
    """H = (ln 2) / 2 + (ln 4) / 4 + (ln 4) / 4 = (3/2) ln 2."""
    assert outcome("entropy_l_diversity", [[4, 2, 2]]).observed == pytest.approx(8**0.5, rel=1e-15)
    assert outcome("entropy_l_diversity", [[4, 2, 2]], l="2.8284271247461900").status.value == "passed"
    assert outcome("entropy_l_diversity", [[4, 2, 2]], l="2.8284271247461901").status.value == "failed"


def test_a_missing_value_adds_no_diversity():
    distinct, entropy = with_gaps("distinct_l_diversity", l=2), with_gaps("entropy_l_diversity", l=2)

    assert (distinct.status.value, distinct.classes.failing) == ("failed", 2)
    assert (entropy.status.value, entropy.classes.failing) == ("failed", 2)


@pytest.mark.parametrize("check", ["distinct_l_diversity", "entropy_l_diversity"])
def test_l_below_one_is_a_fault_of_the_policy(check: str):
    with pytest.raises(PolicyError, match="l: "):
        outcome(check, [[1]], l=0)
