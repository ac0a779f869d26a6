"""Searches for the largest and the smallest number at which something holds, beside every number."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tcdp_audit_plugins.remedies._shared.search import largest, last_before, smallest, smallest_near


@given(st.integers(0, 40), st.integers(0, 300), st.integers(-5, 400))
def test_the_largest_is_reached_in_few_trials(least: int, span: int, limit: int) -> None:
    tried: list[int] = []

    def holds(number: int) -> bool:
        tried.append(number)
        return number <= limit

    top = least + span
    assert largest(holds, least, top) == (min(limit, top) if limit >= least else None)
    assert len(tried) <= 2 * (span + 1).bit_length() + 1
    assert all(least <= number <= top for number in tried)


@given(st.integers(0, 40), st.integers(0, 300), st.integers(-5, 400), st.sampled_from([1.25, 2.0, 3.5]))
def test_the_smallest_is_reached_between_its_ends(least: int, span: int, limit: int, growth: float) -> None:
    tried: list[int] = []

    def holds(number: int) -> bool:
        tried.append(number)
        return number >= limit

    top = least + span
    assert smallest(holds, least, top, growth=growth) == (max(limit, least) if limit <= top else None)
    assert all(least <= number <= top for number in tried)


@given(st.integers(0, 40), st.integers(0, 300), st.integers(-5, 400), st.integers(0, 300))
def test_a_good_guess_is_confirmed_in_few_trials(least: int, span: int, limit: int, run_in_background: int) -> None:
    tried: list[int] = []

    def holds(number: int) -> bool:
        tried.append(number)
        return number >= limit

    top, start = least + span, least + min(run_in_background, span)
    expected = max(limit, least) if limit <= top else None
    assert smallest_near(holds, start, least, top) == expected
    assert all(least <= number <= top for number in tried)
    assert len(tried) <= 2 * abs((top if expected is None else expected) - start).bit_length() + 3


@given(st.integers(0, 10**6))
def test_doubling_takes_few_trials(limit: int) -> None:
    tried: list[int] = []
    smallest(lambda number: tried.append(number) or number >= limit, 0, 10**6)
    assert len(tried) <= 2 * limit.bit_length() + 4


@pytest.mark.parametrize(("attained", "expected"), [({3, 9}, 9), ({3}, 3), ({4}, None), (set(), None)])
def test_an_answer_is_a_number_that_was_tried(attained: set[int], expected: int | None) -> None:
    assert largest(attained.__contains__, 1, 10) == expected  # 10, 9, 7, 3 and 1 are tried


@given(st.integers(0, 50), st.integers(1, 50))
def test_halving_finds_the_last_number_in_either_direction(number: int, distance: int) -> None:
    for last in (number, number + distance - 1):
        assert last_before(lambda one, last=last: one <= last, number, number + distance) == last
        assert last_before(lambda one, last=last: one >= -last, -number, -number - distance) == -last


def test_nothing_to_try_is_no_result() -> None:
    assert largest(lambda _: True, 5, 4) is None
