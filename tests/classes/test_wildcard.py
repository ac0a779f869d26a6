"""The wildcard convention against a comparison of every class with every other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from hypothesis import given, strategies as st
from test_histogram import compressed, plain

from tcdp_audit.core.classes.wildcard import Compatibility

MISSING = (2, 3, 1)  # the code that stands for a missing value in each quasi-identifier
Key = tuple[int, int, int]
CLASSES = st.lists(st.tuples(*(st.integers(0, code) for code in MISSING)), min_size=1, max_size=20, unique=True)


def compatible(one: Key, other: Key) -> bool:
    return all(a == b or missing in (a, b) for a, b, missing in zip(one, other, MISSING, strict=True))


def codes(classes: Sequence[Key]) -> list[np.ndarray]:
    return [np.array(column, dtype=np.int64) for column in zip(*classes, strict=True)]


@given(CLASSES, st.data())
def test_sums_over_compatible_classes(classes: list[Key], data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 9), min_size=len(classes), max_size=len(classes)))
    expected = [
        sum(size for other, size in zip(classes, sizes, strict=True) if compatible(one, other)) for one in classes
    ]
    result = Compatibility(codes(classes), MISSING).sum(np.array(sizes, dtype=np.int64))
    assert result.tolist() == expected


@given(CLASSES, st.sampled_from([4, 100]), st.data())
def test_histograms_of_compatible_classes(classes: list[Key], radix: int, data: st.DataObject) -> None:
    row = st.dictionaries(st.sampled_from([0, 1, 2, radix - 1]), st.integers(1, 4), max_size=3).map(Counter)
    rows = data.draw(st.lists(row, min_size=len(classes), max_size=len(classes)))
    expected = [
        sum((row for other, row in zip(classes, rows, strict=True) if compatible(one, other)), Counter())
        for one in classes
    ]
    assert plain(Compatibility(codes(classes), MISSING).merge(compressed(rows), radix)) == expected


def test_the_documented_example() -> None:
    """(F,1),(F,1),(F,missing),(M,2),(M,2): the least is 2."""
    classes = [(0, 0), (0, 2), (1, 1)]
    columns = [np.array(column, dtype=np.int64) for column in zip(*classes, strict=True)]
    assert Compatibility(columns, (2, 2)).sum(np.array([2, 1, 2])).tolist() == [3, 3, 2]
