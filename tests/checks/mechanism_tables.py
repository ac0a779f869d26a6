"""Small tables for the checks on masking mechanisms, and what Laplace mixtures are by definition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from tcdp_audit.core.classes.histogram import Histogram

Rows = list[list[int]]


@st.composite
def tables(draw: st.DrawFn, values: int = 6, classes: int = 4) -> tuple[Rows, list[int]]:
    """Counts of each class at each value, no class empty; and the weights of a reference distribution."""
    size = draw(st.integers(1, values))
    row = st.lists(st.sampled_from([0, 0, 1, 2, 7]), min_size=size, max_size=size).filter(any)
    rows = draw(st.lists(row, min_size=1, max_size=classes))
    if draw(st.booleans()):
        return rows, [sum(column) for column in zip(*rows, strict=True)]
    return rows, draw(row)


@st.composite
def points(draw: st.DrawFn, size: int) -> NDArray[Any]:
    """So many different numbers in ascending order, whole or not."""
    whole = draw(st.booleans())
    number: st.SearchStrategy[Any] = st.integers(-40, 40) if whole else st.floats(-4, 4, width=16)
    return np.array(sorted(draw(st.sets(number, min_size=size, max_size=size))), dtype=np.int64 if whole else float)


def histogram(rows: Rows) -> Histogram:
    """Rows of counts, compressed."""
    pairs = [(code, count) for row in rows for code, count in enumerate(row) if count]
    offsets = np.cumsum([0, *(sum(map(bool, row)) for row in rows)])
    codes, counts = np.array(pairs, dtype=np.int64).T
    return Histogram(offsets, codes, counts)


def log_density(masses: Sequence[int], values: Sequence[float], x: float, scale: float) -> float:
    """Logarithm of sum_i mass_i e^(-|x - x_i| / b) / sum_i mass_i, by definition."""
    terms = [math.log(mass) - abs(x - at) / scale for mass, at in zip(masses, values, strict=True) if mass]
    top = max(terms)
    return top + math.log(math.fsum(math.exp(term - top) for term in terms)) - math.log(sum(masses))


def log_ratio(row: Sequence[int], weights: Sequence[int], values: Sequence[float], x: float, scale: float) -> float:
    """|ln(f_E(x) / f_T(x))|, by definition."""
    return abs(log_density(row, values, x, scale) - log_density(weights, values, x, scale))
