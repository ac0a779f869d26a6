"""Histograms in compressed rows against counters of plain Python, rows without values included."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from unittest.mock import patch

import numpy as np
from hypothesis import given, strategies as st

from tcdp_audit.core.classes import histogram
from tcdp_audit.core.classes.histogram import (
    Counts,
    Histogram,
    LargestShares,
    add_up,
    cached_on_histogram,
    count_in_classes,
    count_pairs,
)
from tcdp_audit.core.encoding.keys import fold

Rows = list[Counter[int]]


def compressed(rows: Rows) -> Histogram:
    pairs = [sorted(row.items()) for row in rows]
    offsets = np.cumsum([0, *map(len, pairs)]).astype(np.int64)
    values = np.array([value for row in pairs for value, _ in row], dtype=np.int64)
    counts = np.array([count for row in pairs for _, count in row], dtype=np.int64)
    return Histogram(offsets, values, counts)


def plain(histogram: Histogram) -> Rows:
    rows = []
    for start, end in zip(histogram.offsets[:-1].tolist(), histogram.offsets[1:].tolist(), strict=True):
        values, counts = histogram.values[start:end].tolist(), histogram.counts[start:end].tolist()
        assert values == sorted(set(values))
        rows.append(Counter(dict(zip(values, counts, strict=True))))
    return rows


ROWS = st.lists(st.dictionaries(st.integers(0, 5), st.integers(1, 4), max_size=4).map(Counter), min_size=1, max_size=8)


@given(ROWS)
def test_figures_of_rows(rows: Rows) -> None:
    histogram = compressed(rows)
    assert len(histogram) == len(rows)
    assert histogram.distinct.tolist() == [len(row) for row in rows]
    assert histogram.total.tolist() == [row.total() for row in rows]
    assert histogram.max(histogram.counts).tolist() == [max(row.values(), default=0) for row in rows]
    assert histogram.min(histogram.counts).tolist() == [min(row.values(), default=0) for row in rows]
    assert histogram.filled().tolist() == [bool(row) for row in rows]
    assert histogram.rows.tolist() == [number for number, row in enumerate(rows) for _ in row]
    assert histogram.spread(histogram.total).tolist() == [row.total() for row in rows for _ in row]


@given(ROWS, st.lists(st.integers(0, 7), max_size=8), st.integers(0, 5))
def test_taking_rows_and_leaving_a_value_out(rows: Rows, wanted: list[int], value: int) -> None:
    histogram = compressed(rows)
    chosen = [one for one in wanted if one < len(rows)]
    assert plain(histogram.take(np.array(chosen, dtype=np.intp))) == [rows[one] for one in chosen]
    assert plain(histogram.without(value)) == [Counter({v: c for v, c in row.items() if v != value}) for row in rows]


@given(ROWS)
def test_profiles_are_the_multisets_of_counts(rows: Rows) -> None:
    classes = np.flatnonzero([bool(row) for row in rows])
    actual = {}
    for profile, positions in compressed(rows).profiles(classes):
        actual |= {int(classes[position]): profile for position in positions}
    assert actual == {c: tuple(sorted(rows[c].values(), reverse=True)) for c in classes.tolist()}


@given(ROWS)
def test_ranked_rows_have_their_counts_in_descending_order(rows: Rows) -> None:
    ranked = compressed(rows).ranked()
    parts = np.split(ranked.counts, ranked.offsets[1:-1])
    assert [part.tolist() for part in parts] == [sorted(row.values(), reverse=True) for row in rows]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 6)), max_size=40), st.booleans())
def test_counting_pairs(records: list[tuple[int, int, int]], wide: bool) -> None:
    radix = 2**61 if wide else 7  # beyond 62 bits together with the keys, so that both are renumbered
    columns = [np.array([record[i] for record in records], dtype=np.int64) for i in range(3)]
    keys = fold(columns[:2], [4, 3])
    expected: dict[tuple[int, int], Counter[int]] = {}
    for first, second, value in records:
        expected.setdefault((first, second), Counter())[value] += 1
    assert plain(count_pairs(keys, columns[2], radix)) == [row for _, row in sorted(expected.items())]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(1, 9)), max_size=20))
def test_adding_up_triples(triples: list[tuple[int, int, int]]) -> None:
    expected: Rows = [Counter() for _ in range(5)]
    for row, value, count in triples:
        expected[row][value] += count
    columns = [np.array([triple[i] for triple in triples], dtype=np.int64) for i in range(3)]
    assert plain(add_up(columns[0], columns[1], columns[2], 5, 6)) == expected


def test_an_answer_is_computed_once_for_a_histogram_and_for_each_object_that_it_is_asked_with():
    asked = []

    @cached_on_histogram
    def plus(histogram: Histogram, added: Counts) -> Counts:
        asked.append(added)
        return histogram.counts + added

    rows, one, other = compressed([Counter({0: 1, 4: 2}), Counter({2: 3})]), np.array([1]), np.array([1])

    assert plus(rows, one).tolist() == [2, 3, 4]
    assert plus(rows, one) is plus(rows, one)
    assert len(asked) == 1
    assert plus(rows, other) is not plus(rows, one)  # equal, but another object
    assert plus(rows.take(np.array([1])), one).tolist() == [4]
    assert len(asked) == 3


def test_classes_of_one_row_each_in_any_order():
    result = count_in_classes(np.array([2, 0, 1]), 3, np.array([1, 2, 0]), 3, times=np.array([4, 5, 6]))
    assert result.offsets.tolist() == [0, 1, 2, 3]
    assert (result.values.tolist(), result.counts.tolist()) == ([2, 0, 1], [5, 6, 4])


shared = st.lists(st.tuples(st.lists(st.integers(0, 6), min_size=3, max_size=3), st.integers(6, 9)), max_size=6)


@given(shared, shared, st.sampled_from([1, 2**26]))
def test_the_largest_share_of_each_value_is_exact_over_all_classes(
    some: list[tuple[list[int], int]], others: list[tuple[list[int], int]], exact: int
) -> None:
    """Each class has as many members with each of three values, and as many members."""

    def of_classes(classes: list[tuple[list[int], int]]) -> Histogram:
        pairs = [(row, code, n) for row, (counts, _) in enumerate(classes) for code, n in enumerate(counts) if n]
        columns = [np.array([pair[place] for pair in pairs], np.int64) for place in range(3)]
        offsets = np.append(0, np.cumsum([sum(n > 0 for n in counts) for counts, _ in classes])).astype(np.int64)
        return Histogram(offsets, columns[1], columns[2], np.array([members for _, members in classes], np.int64))

    with patch.object(histogram, "EXACT_SHARES", exact):
        parts = [LargestShares.within(of_classes(classes), 3) for classes in (some, others)]
    shares, every = parts[0].merge(parts[1]), some + others
    assert shares.members == sum(members for _, members in every)
    assert shares.having.tolist() == [sum(counts[code] for counts, _ in every) for code in range(3)]
    expected = [max((Fraction(counts[code], members) for counts, members in every), default=0) for code in range(3)]
    assert [Fraction(*pair) for pair in zip(shares.own.tolist(), shares.of.tolist(), strict=True)] == expected


def test_shares_that_are_one_as_floats_are_compared_as_fractions() -> None:
    members = np.array([2**60, 2**60 - 1])
    classes = Histogram(np.arange(3), np.zeros(2, np.int64), members - 1, members)
    shares = LargestShares.within(classes, 1)
    assert (shares.own.tolist(), shares.of.tolist()) == ([2**60 - 1], [2**60])
