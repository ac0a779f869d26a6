"""The values of the worst class: the same whatever the shards, and beside the reference without a cell."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from tcdp_audit.core.auditor.worst_values import MOST, worst_values
from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.check.evidence import ReferenceDistribution
from tcdp_audit.core.check.summary import PAIR, merge, summarise
from tcdp_audit.core.classes.histogram import AlikeClasses, Histogram
from tcdp_audit.core.encoding.domain import Domain

CLASS = st.tuples(st.integers(1, 2), st.integers(1, 2), st.dictionaries(st.integers(0, 3), st.integers(1, 2)))
CLASSES = st.lists(CLASS, max_size=12)


def packed(*pairs):
    return np.array(pairs, dtype=PAIR.base).tobytes()


def summary(classes):
    values, records, rows = ([one[i] for one in classes] for i in range(3))
    pairs = [pair for row in rows for pair in sorted(row.items())]
    codes, counts = np.array(pairs, np.int64).reshape(-1, 2).T
    offsets = np.cumsum([0, *map(len, rows)])
    histogram = Histogram(offsets, codes, counts)
    failing = np.zeros(len(classes), bool)
    sizes = np.array(records, np.int64)
    classes = AlikeClasses(sizes, sizes, histogram)
    return summarise(np.array(values, float), classes, failing, Comparison.AT_MOST, pictured=True)


@given(CLASSES, CLASSES)
def test_they_are_the_least_of_the_equally_bad_whatever_the_shards(one, other):
    merged = merge([summary(one), summary(other)], Comparison.AT_MOST)
    ranked = [(-value, -records, tuple(sorted(row.items()))) for value, records, row in one + other]
    assert merged.worst_values == (packed(*min(ranked)[2]) if ranked else b"")
    assert summary(one + other).worst_values == merged.worst_values


def column(size):
    names = np.array([f"cell {code}" for code in range(size)], dtype=object)
    return Domain("disease", names, np.ones(size, np.int64), 0, np.arange(size))


def test_shares_stand_beside_those_of_the_reference_and_the_largest_difference_is_first():
    result = worst_values(packed((0, 10), (2, 30)), ReferenceDistribution(np.array([1, 6, 1])), column(3), named=False)
    assert result == [
        {"value": "value 1", "in_group": 0.0, "in_reference": 0.75},
        {"value": "value 2", "in_group": 0.75, "in_reference": 0.12},
        {"value": "value 3", "in_group": 0.25, "in_reference": 0.12},
    ]


def test_values_are_named_only_where_that_was_asked_for():
    result = worst_values(packed((0, 1)), ReferenceDistribution(np.array([1, 3])), column(2), named=True)
    assert [one["value"] for one in result] == ["cell 0", "cell 1"]


def test_there_are_at_most_six_and_none_that_no_one_has():
    many = worst_values(packed((0, 10)), ReferenceDistribution(np.ones(30, np.int64)), column(30), named=False)
    assert len(many) == MOST
    few = worst_values(packed((0, 10)), ReferenceDistribution(np.array([1, 0, 0])), column(3), named=False)
    assert few == [{"value": "value 1", "in_group": 1.0, "in_reference": 1.0}]


def test_shares_of_fewer_than_ten_are_given_only_where_values_are_named():
    reference = ReferenceDistribution(np.array([1, 6, 1]))
    assert worst_values(packed((0, 4), (2, 5)), reference, column(3), named=False) == []
    assert len(worst_values(packed((0, 4), (2, 5)), reference, column(3), named=True)) == 3


def test_a_class_without_values_has_none():
    assert worst_values(b"", ReferenceDistribution(np.array([1])), column(1), named=False) == []
