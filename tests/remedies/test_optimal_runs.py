"""Divisions of a sequence at the least cost, beside all divisions."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from hypothesis import given, strategies as st

from tcdp_audit_plugins.remedies._shared.buckets import least_runs

VALUES = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 9)), min_size=1, max_size=9)


@given(VALUES)
def test_runs_of_the_least_mass_times_width(values: list[tuple[int, int]]) -> None:
    masses, gaps = zip(*values, strict=True)
    numbers, ends = np.cumsum(gaps), np.cumsum([0, *masses])

    def cost(start: np.ndarray, end: np.ndarray) -> np.ndarray:
        return (ends[end] - ends[start]) * (numbers[end - 1] - numbers[start])

    runs = least_runs(len(values), len(values), cost)
    for number in range(1, len(values) + 1):
        result = runs.into(number).tolist()
        assert result == sorted(result)
        assert set(result) == set(range(number))
        cuts = [0, *(place for place in range(1, len(result)) if result[place] != result[place - 1]), len(result)]
        divisions = ((0, *inner, len(values)) for inner in combinations(range(1, len(values)), number - 1))
        totals = (sum(int(cost(np.array(a), np.array(b))) for a, b in pairwise(one)) for one in divisions)
        assert sum(int(cost(np.array(a), np.array(b))) for a, b in pairwise(cuts)) == min(totals)
