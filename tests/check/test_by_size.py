"""Classes by size and figure: counted into the same cells whatever the shards, and into a grid whose edges are true."""

from __future__ import annotations

from collections import Counter
from math import inf

import numpy as np
from hypothesis import assume, given, strategies as st

from tcdp_audit.core.check.by_size import MOST, NO_CLASS, BySize
from tcdp_audit.core.classes.histogram import Histogram

FIGURES = st.one_of(
    st.integers(0, 12).map(float),
    st.floats(0, 1),
    st.floats(0, 2.0**39),
    st.sampled_from([0.0, 2.0**-30, 2.0**-20, 0.7, 1.0, 2.0**40, inf]),
)
CLASSES = st.lists(st.tuples(FIGURES, st.one_of(st.integers(1, 20), st.integers(1, 2**33))), max_size=30)


def cells(classes, times=None):
    figures, sizes = ([one[i] for one in classes] for i in range(2))
    nothing = np.zeros(0, np.int64)
    histogram = Histogram(np.zeros(len(classes) + 1, np.int64), nothing, nothing)
    return BySize.of(histogram, np.array(figures, float), np.array(sizes, np.int64), times)


def column_of(edges, value):
    """The last edge that is not above a value, which lies below the one that follows."""
    place = max(i for i, edge in enumerate(edges) if edge <= value)
    assert value < edges[place + 1]
    return place


@given(CLASSES)
def test_every_class_is_between_the_edges_that_hold_it(classes):
    result = cells(classes).grid()
    assume(result)
    sizes, figures = result["sizes"], result["figures"]
    expected = Counter(
        (column_of(sizes, size), None if figure >= 2.0**40 else column_of(figures, figure if figure >= 2.0**-20 else 0))
        for figure, size in classes
    )
    assert {(column, row): number for column, row, number in result["groups"]} == expected


@given(CLASSES, CLASSES)
def test_shards_add_up(one, other):
    assert BySize.added_up([cells(one), cells(other)]) == cells(one + other)


@given(CLASSES)
def test_the_grid_is_small(classes):
    result = cells(classes).grid()
    assume(result)
    assert len(result["sizes"]) <= MOST + 2
    assert len(result["figures"]) <= MOST + 3


@given(st.lists(st.tuples(FIGURES, st.integers(1, 20), st.integers(1, 5)), min_size=1, max_size=9))
def test_classes_that_are_alike_count_as_often_as_there_are(kinds):
    times = np.array([many for *_, many in kinds])
    repeated = [(figure, size) for figure, size, many in kinds for _ in range(many)]
    assert cells([one[:2] for one in kinds], times) == cells(repeated)


def test_one_cell_is_no_grid():
    assert cells([(0.5, 3), (0.5, 3)]).grid() == {}
    assert NO_CLASS.grid() == {}


def test_what_is_infinite_has_no_row():
    result = cells([(inf, 1), (1.0, 2), (inf, 1)]).grid()
    assert [0, None, 2] in result["groups"]


def test_few_sizes_and_whole_figures_have_a_column_and_a_row_each():
    result = cells([(1.0, 1), (2.0, 2), (3.0, 4), (3.0, 4)]).grid()
    assert result["sizes"] == [1, 2, 3, 4, 5]
    assert result["groups"] == [
        [0, result["figures"].index(1.0), 1],
        [1, result["figures"].index(2.0), 1],
        [3, result["figures"].index(3.0), 2],
    ]
