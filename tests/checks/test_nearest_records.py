"""The nearest known records of every released one, ties and ranks, against all distances in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from numpy.typing import NDArray

from tcdp_audit_plugins.checks.record_linkage import distances, nearest as search
from tcdp_audit_plugins.checks.record_linkage.distances import closer
from tcdp_audit_plugins.checks.record_linkage.standardised import RecordPoints, Space

SMALL = {"BLOCK": 5, "LEAF": 3, "SOME": 2, "NEAR": 2, "WAITING": 4}
WEIGHTS = [1, 1, 0.25, 2.5]  # of nominal attributes
Table = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]


def space_of(released: Table, known: Table) -> Space:
    """A space of points (numbers, labels, records) that are not standardised."""
    one, other = (RecordPoints(*table, np.arange(len(table[2]))) for table in (released, known))
    weights = np.array(WEIGHTS[: one.labels.shape[1]], dtype=float)
    return Space(one, other, np.ones(one.numbers.shape[1]), weights, [], 0)


def integers(random: np.random.Generator, size: int, numbers: int, labels: int, span: int, missing: float) -> Table:
    """Points on a grid, so that every distance is a sum of integers and of quarters."""
    values = random.integers(-span, span + 1, (size, numbers)).astype(float)
    values[random.random(values.shape) < missing] = np.nan
    return values, random.integers(0, 3, (size, labels)), random.integers(1, 4, size)


def squares_of(released: Table, known: Table) -> list[list[float]]:
    """Every squared distance by its definition; each is a multiple of a quarter, so that none is rounded."""

    def square(i: int, j: int) -> float:
        pairs = zip(released[0][i].tolist(), known[0][j].tolist(), strict=True)
        numbers = sum(2 if a != a or b != b else (a - b) ** 2 for a, b in pairs)  # noqa: PLR0124 - NaN
        differ = (a != b for a, b in zip(released[1][i].tolist(), known[1][j].tolist(), strict=True))
        return numbers + sum(weight for weight, differs in zip(WEIGHTS, differ, strict=False) if differs)

    return [[square(i, j) for j in range(len(known[2]))] for i in range(len(released[2]))]


def nearest_of(squares: Sequence[float], records: Sequence[int]) -> tuple[float, int, float]:
    """The least, how many records are there, and the second least."""
    least = min(squares)
    ties = sum(times for square, times in zip(squares, records, strict=True) if square == least)
    return least, ties, least if ties > 1 else min((one for one in squares if one > least), default=inf)


@pytest.fixture(params=["leaves", "any"])
def ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and leaves of a few points; with and without a tree where there are few dimensions."""
    for name, value in SMALL.items():
        monkeypatch.setattr(search, name, value)
    monkeypatch.setattr(distances, "CELLS", 16)
    if request.param == "leaves":
        monkeypatch.setattr(search, "TREE_DIMENSIONS", -1)


shapes = st.tuples(st.integers(0, 7), st.integers(0, 4)).filter(any)


@pytest.mark.usefixtures("ways")
@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32),
    shapes,
    st.tuples(st.integers(1, 14), st.integers(1, 40)),
    st.sampled_from([1, 2, 30]),
    st.sampled_from([0, 0.2]),
    st.sampled_from([1, 2]),
)
def test_nearest_and_closer_are_those_of_plain_python(
    seed: int, shape: tuple[int, int], sizes: tuple[int, int], span: int, missing: float, neighbours: int
) -> None:
    random = np.random.default_rng(seed)
    released, known = (integers(random, size, *shape, span, missing) for size in sizes)
    squares, records = squares_of(released, known), known[2].tolist()
    expected = [nearest_of(row, records) for row in squares]
    space, hint = space_of(released, known), random.integers(0, sizes[1], sizes[0])
    assume(space.rounding > 0)  # what is standardised has a variance, so that not every number is 0 or missing
    answer = search.nearest(space, hint, neighbours=neighbours)
    assert list(zip(answer.squared.tolist(), answer.ties.tolist(), strict=True)) == [one[:2] for one in expected]
    if neighbours == 2:
        assert answer.second.tolist() == [one[2] for one in expected]
    asked = random.integers(0, sizes[0], 9), random.integers(0, sizes[1], 9)
    assert closer(space, *asked).tolist() == [
        sum(times for square, times in zip(squares[i], records, strict=True) if square < squares[i][j])
        for i, j in zip(*(one.tolist() for one in asked), strict=True)
    ]


@pytest.mark.parametrize("neighbours", [1, 2])
@pytest.mark.parametrize(
    ("records", "numbers", "labels", "missing"),
    [
        (700, 7, 0, 0),
        (300, 3, 0, 0),
        (300, 2, 0, 0),
        (600, 2, 3, 0.1),
        (500, 0, 4, 0.1),
        (5, 6, 1, 0),
        (200, 40, 0, 0.1),
    ],
)
def test_every_way_of_searching_is_the_matrix_of_all_distances(
    records: int, numbers: int, labels: int, missing: float, neighbours: int
) -> None:
    random = np.random.default_rng(records)
    released, known = (integers(random, n, numbers, labels, 2, missing) for n in (records, records + 4000))
    released[0][:] *= 0.3
    known[0][:] *= 0.3
    space, everything = matrix_of(released, known)
    answer = search.nearest(space, random.integers(0, records, records), neighbours=neighbours)
    assert np.array_equal(answer.squared, everything.min(axis=1))
    tied = everything <= space.nearly(answer.squared)[:, None]
    assert np.array_equal(answer.ties, tied @ known[2])
    if neighbours == 2:
        second = np.where(tied, np.inf, everything).min(axis=1)
        assert np.array_equal(answer.second, np.where(answer.ties > 1, answer.squared, second))
    few = np.arange(5)
    limit = np.maximum(np.sqrt(everything[few, few + 7]) - space.rounding, 0) ** 2
    assert np.array_equal(closer(space, few, few + 7), (everything[few] < limit[:, None]) @ known[2])


def matrix_of(released: Table, known: Table) -> tuple[Space, NDArray[np.float64]]:
    """A space, and every squared distance in it as float64."""
    space = space_of(released, known)
    grid: Any = np.indices((len(released[2]), len(known[2]))).reshape(2, -1)
    return space, space.squared_distances(*grid).reshape(len(released[2]), -1)


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize("size", [1e10, 1e19, 1e25, 1e39, 1e100])
def test_numbers_that_float32_cannot_hold_are_compared_in_float64(size: float) -> None:
    random = np.random.default_rng(0)
    tables = [integers(random, n, 7, 0, 9, 0) for n in (20, 60)]
    for values, *_ in tables:
        values[random.random(values.shape) < 0.05] *= size
    space, everything = matrix_of(*tables)
    answer = search.nearest(space, np.zeros(20, dtype=int))
    assert np.array_equal(answer.squared, everything.min(axis=1))
    assert np.array_equal(answer.ties, (everything <= space.nearly(answer.squared)[:, None]) @ tables[1][2])
    few = np.arange(20)
    limit = np.maximum(np.sqrt(everything[few, few]) - space.rounding, 0) ** 2
    assert np.array_equal(closer(space, few, few), (everything < limit[:, None]) @ tables[1][2])
