"""Codes of multisets: equal exactly where the multisets are, whatever the hash is, as plain counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit.core.units import coding
from tcdp_audit.core.units.coding import CodedHistories, code_histories

OWNERS, LABELS = 7, 5
rows = st.lists(st.tuples(st.integers(0, OWNERS - 1), st.integers(0, LABELS - 1), st.integers(1, 3)), max_size=40)
Hash = Callable[[np.ndarray], np.ndarray]
WEAK: dict[str, Hash] = {
    "all alike": lambda labels: np.zeros(len(labels), np.uint64),
    "the label": lambda labels: labels.astype(np.uint64),  # 0 + 2 = 1 + 1
    "two values": lambda labels: (labels % 2).astype(np.uint64),
    "half of all": lambda labels: labels.astype(np.uint64) << np.uint64(63),  # two of them are none
}


def coded(some: Sequence[tuple[int, int, int]], *, counted: bool) -> CodedHistories:
    """Rows with their number, or each as often as it counts."""
    if not counted:
        some = [(owner, label, 1) for owner, label, times in some for _ in range(times)]
    owner, label, times = (np.array([row[i] for row in some], dtype=np.int64) for i in range(3))
    return code_histories(owner, label, OWNERS, LABELS, times if counted else None)


def histories(some: Sequence[tuple[int, int, int]]) -> list[Counter[int]]:
    return [
        sum((Counter({label: times}) for who, label, times in some if who == owner), Counter())
        for owner in range(OWNERS)
    ]


def as_plain(some: Sequence[tuple[int, int, int]], result: CodedHistories) -> None:
    plain = histories(some)
    assert result.lengths.tolist() == [one.total() for one in plain]
    assert result.distinct == len({frozenset(one.items()) for one in plain})
    assert {*result.codes.tolist()} == {*range(result.distinct)}
    for one, code in zip(plain, result.codes.tolist(), strict=True):
        for other, another in zip(plain, result.codes.tolist(), strict=True):
            assert (code == another) == (one == other)
            assert code <= another or one.total() >= other.total()  # shorter ones first


@given(some=rows, counted=st.booleans())
def test_codes_are_equal_where_multisets_are(some: list[tuple[int, int, int]], counted: bool) -> None:
    as_plain(some, coded(some, counted=counted))


@pytest.mark.parametrize("weak", WEAK)
def test_no_collision_merges_two_histories(monkeypatch: pytest.MonkeyPatch, weak: str) -> None:
    monkeypatch.setattr(coding, "_mixed", WEAK[weak])
    draw = np.random.default_rng(5)
    for _ in range(150):
        number = int(draw.integers(0, 40))
        some = [
            tuple(int(draw.integers(low, high)) for low, high in ((0, OWNERS), (0, LABELS), (1, 3)))
            for _ in range(number)
        ]
        for counted in (False, True):
            as_plain(some, coded(some, counted=counted))


def test_histories_of_equal_length_and_sum_are_compared_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pair of labels has one sum: each of the histories must still have a different code."""
    monkeypatch.setattr(coding, "_mixed", WEAK["all alike"])
    pairs = [(one, other) for one in range(30) for other in range(one, 30)]
    owner = np.repeat(np.arange(2 * len(pairs)), 2)
    label = np.array([pairs[i // 2] if i % 2 else pairs[i // 2][::-1] for i in range(2 * len(pairs))]).ravel()
    result = code_histories(owner, label, 2 * len(pairs), 30)
    assert result.distinct == len(pairs)
    assert (result.codes[::2] == result.codes[1::2]).all()


@settings(max_examples=20)
@given(some=rows, order=st.randoms(use_true_random=False))
def test_neither_order_nor_names_matter(some: list[tuple[int, int, int]], order: object) -> None:
    shuffled, owners, labels = [*some], [*range(OWNERS)], [*range(LABELS)]
    for one in (shuffled, owners, labels):
        order.shuffle(one)  # type: ignore[attr-defined]
    before = coded(some, counted=True)
    after = coded([(owners[who], labels[label], times) for who, label, times in shuffled], counted=True)
    assert after.distinct == before.distinct
    sizes = [np.bincount(one.codes, minlength=1)[one.codes] for one in (before, after)]
    assert sizes[0].tolist() == sizes[1][owners].tolist()


def test_owners_without_rows_have_the_empty_history() -> None:
    none = np.zeros(0, dtype=np.int64)
    result = code_histories(none, none, 3, 1)
    assert (result.codes.tolist(), result.lengths.tolist(), result.distinct) == ([0, 0, 0], [0, 0, 0], 1)
    assert code_histories(none, none, 0, 1).distinct == 0


def test_labels_beyond_32_bits_and_narrow_owners() -> None:
    """Keys of many columns are wide, and owners are of the narrowest type."""
    owner = np.array([0, 0, 1, 1, 2, 2], dtype=np.uint8)
    label = np.array([2**61, 1, 1, 2**61, 2**61 - 1, 1])
    result = code_histories(owner, label, 3, 2**61 + 1)
    assert (result.distinct, result.codes[0] == result.codes[1]) == (2, True)


def test_the_hash_of_labels_is_a_bijection_of_a_sample() -> None:
    labels = np.concatenate([np.arange(50_000), np.arange(2**40, 2**40 + 50_000)])
    hashes = coding._mixed(labels)
    assert len(np.unique(hashes)) == len(labels)
    ones = sum(int(hashes.view(np.uint8)[i::8].astype(int).sum()) for i in range(8))
    assert abs(Fraction(ones, 8 * len(labels)) - Fraction(255, 2)) < 1  # bytes are evenly distributed
