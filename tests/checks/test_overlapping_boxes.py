"""Boxes of two releases that overlap, and values in common: as by all pairs, within any memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit.plugin.engine import CheckError
from tcdp_audit_plugins.checks.releases.boxes import joined
from tcdp_audit_plugins.checks.releases.candidates import candidates
from tcdp_audit_plugins.checks.releases.classes import ClassValues
from tcdp_audit_plugins.checks.releases.overlap import Overlap

CODES = 4
EVERYTHING = [(a, b) for a in range(CODES) for b in range(CODES)]
BOXES = st.lists(st.tuples(*[st.integers(0, CODES - 1)] * 3), min_size=1, max_size=7, unique=True)
OVERLAPS = st.lists(st.lists(st.sampled_from(EVERYTHING), unique=True), min_size=3, max_size=3)


def overlap_of(pairs: Sequence[tuple[int, int]]) -> Overlap:
    ends = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    return Overlap(ends[:, 0], ends[:, 1], (CODES, CODES))


def columns(boxes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    return list(np.array(boxes, dtype=np.int64).T)


@given(BOXES, BOXES, OVERLAPS)
@settings(max_examples=25)
def test_boxes_overlap_that_overlap_in_every_attribute(one, other, overlaps):
    pairs = zip(*joined(columns(one), columns(other), [overlap_of(some) for some in overlaps], 64 * 40), strict=True)
    places = product(range(len(one)), range(len(other)))
    expected = [(a, b) for a, b in places if all(map(contains, overlaps, one[a], other[b]))]
    assert sorted((int(a), int(b)) for a, b in pairs) == expected


def contains(pairs: Sequence[tuple[int, int]], one: int, other: int) -> bool:
    return (one, other) in pairs


def test_more_pairs_than_the_memory_holds_are_said():
    boxes = columns(list(product(range(CODES), repeat=3)))
    with pytest.raises(CheckError, match="pairs of classes of the two releases overlap"):
        joined(boxes, boxes, [overlap_of(EVERYTHING)] * 3, 5000)


def values_of(classes: Sequence[frozenset[int]]) -> ClassValues:
    keys = np.array([number * CODES + value for number, one in enumerate(classes) for value in sorted(one)], np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in classes])]).astype(np.int64)
    return ClassValues(offsets, keys, np.ones(len(keys), np.int64), CODES, np.zeros(0, np.bool_))


CLASSES = st.lists(st.frozensets(st.integers(0, CODES - 1)), min_size=1, max_size=4)


@given(st.lists(CLASSES, min_size=2, max_size=3), st.integers(1, 2000))
@settings(max_examples=25)
def test_values_in_common_are_those_of_the_intersection(releases, memory):
    every = [
        combination for combination in product(*(range(-1, len(one)) for one in releases)) if max(combination) >= 0
    ]
    result = candidates([values_of(one) for one in releases], columns(every), memory)
    sets = [[one[number] for one, number in zip(releases, places, strict=True) if number >= 0] for places in every]
    assert result.number.tolist() == [len(frozenset.intersection(*one)) for one in sets]
    assert (result.entropy <= np.log2(np.maximum(result.number, 1)) + 1e-9).all()
