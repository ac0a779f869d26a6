"""Integers counted, numbered and put into order, by cells and by radix passes, as plain Python does it."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tcdp_audit.core.encoding import keys as keys_module
from tcdp_audit.core.encoding.counted import Packing
from tcdp_audit.core.encoding.keys import (
    boundaries,
    distinct_of,
    narrow,
    numbered,
    order_of,
    run_lengths,
    tally,
)

SPANS = [1, 2, 5, 20, 2**8, 2**16, 2**17, 2**40, 2**62]


@st.composite
def keys_below_a_span(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    span = draw(st.sampled_from(SPANS))
    drawn = draw(st.lists(st.integers(0, span - 1) | st.integers(0, min(span, 4) - 1), max_size=12))
    return np.array(drawn, dtype=narrow(span)), span


@pytest.mark.parametrize(("cells", "block"), [(0, 8), (2**10, 8), (2**10, 1)])
@given(keys_below_a_span(), st.data())
def test_different_keys_are_counted_and_numbered(
    cells: int, block: int, keys: tuple[np.ndarray, int], data: st.DataObject
) -> None:
    values, span = keys  # without cells there are sorts only; blocks of two cells are met by small spans
    times = data.draw(st.lists(st.integers(1, 2**55), min_size=len(values), max_size=len(values)))
    expected, weighed = Counter(values.tolist()), Counter[int]()
    for key, weight in zip(values.tolist(), times, strict=True):
        weighed[key] += weight
    with patch.multiple(keys_module, COUNTED=cells, MARKED=cells, BLOCK=block):
        counted = tally(values, span)
        summed = tally(values, span, np.array(times, dtype=np.int64))
        distinct, numbers = numbered(values, span)
        only = distinct_of(values, span)
    assert dict(zip(*(one.tolist() for one in counted), strict=True)) == expected
    assert dict(zip(*(one.tolist() for one in summed), strict=True)) == weighed
    assert counted[0].tolist() == summed[0].tolist() == distinct.tolist() == only.tolist() == sorted(expected)
    assert distinct[numbers].tolist() == values.tolist()


@given(keys_below_a_span())
def test_the_order_of_keys_is_stable(keys: tuple[np.ndarray, int]) -> None:
    values, span = keys
    assert order_of(values, span).tolist() == sorted(range(len(values)), key=values.tolist().__getitem__)


@given(st.lists(st.integers(0, 3), max_size=20).map(sorted))
def test_runs_of_sorted_keys(values: list[int]) -> None:
    keys = np.array(values, dtype=np.int64)
    starts = boundaries(keys)
    assert keys[starts].tolist() == sorted(set(values))
    assert run_lengths(starts, len(keys)).tolist() == [values.count(one) for one in sorted(set(values))]


@pytest.mark.parametrize(("span", "dtype"), [(256, "u1"), (257, "u2"), (2**32, "u4"), (2**32 + 1, "i8"), (2**63, "i8")])
def test_the_narrowest_type_holds_the_number_below_the_span(span: int, dtype: str) -> None:
    assert np.dtype(narrow(span)) == np.dtype(dtype)
    assert np.array([span - 1], dtype=narrow(span)).tolist() == [span - 1]


@given(st.lists(st.integers(1, 256), min_size=1, max_size=4), st.data())
def test_packed_codes_are_unpacked_again(radices: list[int], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(*(st.integers(0, radix - 1) for radix in radices)), min_size=1, max_size=9))
    columns = [np.array(column, dtype=np.uint8) for column in zip(*rows, strict=True)]
    packing = Packing({str(place): radix for place, radix in enumerate(radices)})
    numbers = packing.packed(columns)
    assert [packing.unpacked(numbers, name).tolist() for name in packing.radices] == [one.tolist() for one in columns]
    assert sorted(rows) == [rows[i] for i in np.argsort(numbers, kind="stable")]
