"""Candidate sets and their closure, beside every matching that there is."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets

Matrix = list[list[bool]]


def sets_of(consistent: Matrix, people: list[tuple[int, int]]) -> CandidateSets:
    """Candidate sets of a matrix known x released, and who is who."""
    known, released = len(consistent), len(consistent[0])
    rows = [[j for j, holds in enumerate(row) if holds] for row in consistent]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    pairs = np.array(people, dtype=np.intp).reshape(-1, 2)
    lone_known = np.array([int(i not in pairs[:, 0]) for i in range(known)])
    lone_released = np.array([int(j not in pairs[:, 1]) for j in range(released)])
    flat = np.array([j for row in rows for j in row], dtype=np.intp)
    return CandidateSets(offsets, flat, pairs[:, 0], pairs[:, 1], lone_known, lone_released)


def matchable(consistent: Matrix, pairs: int) -> set[tuple[int, int]]:
    """Every edge of every matching with as many pairs, by trying all."""
    known, released = len(consistent), len(consistent[0])
    edges: set[tuple[int, int]] = set()
    for chosen in combinations(range(known), pairs):
        for order in permutations(range(released), pairs):
            matching = list(zip(chosen, order, strict=True))
            if all(consistent[i][j] for i, j in matching):
                edges |= set(matching)
    return edges


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Matrix, list[tuple[int, int]]]:
    """A consistency matrix in which everybody who was released is consistent with their own record."""
    pairs = draw(st.integers(1, 4))
    known, released = pairs + draw(st.integers(0, 1)), pairs + draw(st.integers(0, 1))
    matrix = [[draw(st.booleans()) for _ in range(released)] for _ in range(known)]
    ends = (draw(st.permutations(range(side)))[:pairs] for side in (known, released))
    people = list(zip(*ends, strict=True))
    for i, j in people:
        matrix[i][j] = True
    return matrix, people


@given(graphs())
def test_closure_keeps_what_some_matching_has(graph):
    matrix, people = graph
    closed = sets_of(matrix, people).closed()
    edges = set(zip(closed.rows.tolist(), closed.candidates.tolist(), strict=True))
    assert edges == matchable(matrix, len(people))
    assert closed.holds_truth.all()
    assert closed.size.tolist() == [sum(i == edge[0] for edge in edges) for i, _ in people]


def test_equal_records_count_each():
    """Two people of one point, three records of one point, the third of them without a known one."""
    sets = CandidateSets(
        np.array([0, 1]), np.array([0]), np.array([0, 0]), np.array([0, 0]), np.array([0]), np.array([1])
    )
    assert sets.size.tolist() == [3, 3]
    assert sets.closed().size.tolist() == [3, 3]


def test_truth_outside_is_refused():
    sets = sets_of([[False, True], [True, True]], [(0, 0), (1, 1)])
    assert sets.holds_truth.tolist() == [False, True]
    with pytest.raises(ValueError, match="own record"):
        sets.closed()
