"""Keys of several columns: they decode to what was folded, and are ordered as the columns are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from tcdp_audit.core.encoding.keys import SPAN_LIMIT, fold

HUGE = 2**40  # two of these columns fit into 62 bits only once they are compacted


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    radices = draw(st.lists(st.sampled_from([1, 2, 3, 256, HUGE, 2**61]), min_size=1, max_size=5))
    rows = draw(st.lists(st.tuples(*(st.integers(0, radix - 1) for radix in radices)), max_size=12))
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in radices], radices


@given(columns())
@example(([[5, 3], [HUGE - 1, 0], [0, HUGE - 1]], [6, HUGE, HUGE]))
@example(([[2**61 - 1, 0], [2**61 - 1, 7], [2**61 - 1, 2**60]], [2**61, 2**61, 2**61]))
def test_keys_decode_to_the_columns_and_keep_their_order(
    given_columns: tuple[list[list[int]], list[int]],
) -> None:
    lists, radices = given_columns
    arrays = [np.array(column, dtype=np.int64) for column in lists]
    keys = fold(arrays, radices)
    assert [column.tolist() for column in keys.decode(keys.values)] == lists
    rows = list(zip(*lists, strict=True))
    ranks = {row: rank for rank, row in enumerate(sorted(set(rows)))}
    assert np.unique(keys.values, return_inverse=True)[1].tolist() == [ranks[row] for row in rows]
    assert keys.span <= SPAN_LIMIT
    assert all(0 <= key < keys.span for key in keys.values.tolist())


def test_small_columns_are_folded_in_plain_mixed_radix() -> None:
    keys = fold([np.array([1, 0], np.uint8), np.array([2, 3], np.uint8)], [2, 10])
    assert (keys.values.tolist(), keys.span) == ([12, 3], 20)
    assert all(step.keys_before is None and step.codes_before is None for step in keys.steps)


def test_the_narrowest_codes_do_not_overflow() -> None:
    keys = fold([np.array([255], np.uint8)] * 3, [256] * 3)
    assert keys.values.tolist() == [256**3 - 1]


@pytest.mark.parametrize(("radices", "compacted"), [([HUGE, HUGE], (True, False)), ([2**61, 2**61], (True, False))])
def test_keys_are_compacted_before_they_leave_62_bits(radices: list[int], compacted: tuple[bool, bool]) -> None:
    column = np.array([7, 1, 7], dtype=np.int64)
    last = fold([column, column], radices).steps[-1]
    assert (last.keys_before is not None, last.codes_before is not None) == compacted


def test_codes_are_compacted_where_compacting_the_keys_is_not_enough() -> None:
    column = np.array([5, 1, 5], dtype=np.int64)
    keys = fold([np.array([0, 1, 1]), column], [2, 2**62])
    assert keys.steps[-1].codes_before is not None
    assert keys.span == 4
    assert [match.tolist() for match in keys.decode(keys.values)] == [[0, 1, 1], [5, 1, 5]]


def test_once_all_keys_differ_further_columns_are_looked_up() -> None:
    column = np.array([7, 1, 3], dtype=np.int64)
    keys = fold([column, column[::-1], column], [HUGE] * 3)
    assert (keys.values.tolist(), keys.span) == ([2, 0, 1], 3)
    assert [match.tolist() for match in keys.decode(keys.values)] == [[7, 1, 3], [3, 1, 7], [7, 1, 3]]
    assert [match.tolist() for match in keys.decode(np.array([1]))] == [[3], [7], [3]]
