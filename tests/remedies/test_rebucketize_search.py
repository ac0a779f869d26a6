"""The searches behind rebucketize: least-cost runs against all divisions, and a descent against every number."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcdp_audit_plugins.remedies.descent import most
from tcdp_audit_plugins.remedies.runs import least_runs

VALUES = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 9)), min_size=1, max_size=9)


@given(VALUES)
def test_runs_of_the_least_mass_times_width(values: list[tuple[int, int]]) -> None:
    masses, gaps = zip(*values, strict=True)
    numbers, ends = np.cumsum(gaps), np.cumsum([0, *masses])

    def cost(start: np.ndarray, end: np.ndarray) -> np.ndarray:
        return (ends[end] - ends[start]) * (numbers[end - 1] - numbers[start])

    runs = least_runs(len(values), len(values), cost)
    for number in range(1, len(values) + 1):
        found = runs.into(number).tolist()
        assert found == sorted(found)
        assert set(found) == set(range(number))
        cuts = [0, *(place for place in range(1, len(found)) if found[place] != found[place - 1]), len(found)]
        divisions = ((0, *inner, len(values)) for inner in combinations(range(1, len(values)), number - 1))
        totals = (sum(int(cost(np.array(a), np.array(b))) for a, b in pairwise(one)) for one in divisions)
        assert sum(int(cost(np.array(a), np.array(b))) for a, b in pairwise(cuts)) == min(totals)


@given(st.integers(0, 40), st.integers(0, 300), st.integers(-5, 400))
def test_a_descent_finds_the_largest_in_few_trials(least: int, span: int, limit: int) -> None:
    tried: list[int] = []

    def attained(number: int) -> bool:
        tried.append(number)
        return number <= limit

    top = least + span
    assert most(attained, least, top) == (min(limit, top) if limit >= least else None)
    assert len(tried) <= 2 * (span + 1).bit_length() + 1
    assert all(least <= number <= top for number in tried)


@pytest.mark.parametrize(("attained", "found"), [({3, 9}, 9), ({3}, 3), ({4}, None), (set(), None)])
def test_a_descent_answers_only_with_what_it_saw(attained: set[int], found: int | None) -> None:
    assert most(attained.__contains__, 1, 10) == found  # 10, 9, 7, 3 and 1 are tried


def test_nothing_to_try_is_nothing_found() -> None:
    assert most(lambda _: True, 5, 4) is None
