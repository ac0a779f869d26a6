"""The best assignment within candidate sets against every permutation, and against the figures of the census."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from attacked_tables import attacked
from hypothesis import given, settings, strategies as st

from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets
from tcdp_audit_plugins.checks.masking_attacks import links
from tcdp_audit_plugins.checks.masking_attacks.links import assign, count_assigned

# file, attributes: right links of the assignment within the sets
CENSUS = [
    ("P1", 10, 3, 1080),
    ("P5", 54, 3, 852),
    ("P5", 54, 5, 1066),
    ("P5", 54, 13, 1080),
    ("P15", 162, 3, 34),
    ("P15", 162, 5, 254),
    ("P15", 162, 7, 601),
    ("P15", 162, 9, 1032),
    ("P15", 162, 13, 1059),
]
Matrix = list[list[bool]]


def sets_of(matrix: Matrix, people: int) -> CandidateSets:
    """Candidates of known records that each stand alone; the first are the pairs, in their order."""
    rows, columns = np.nonzero(np.array(matrix))
    known, released = len(matrix), len(matrix[0])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=known))])
    pairs = np.arange(people)
    alone = [(np.arange(size) >= people).astype(np.int64) for size in (known, released)]
    return CandidateSets(offsets, columns, pairs, pairs, *alone)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Matrix, list[list[int]], int]:
    """Candidates, their squared distances, and how many are in both tables; one may have more records."""
    people, more = draw(st.integers(1, 5)), draw(st.integers(0, 2))
    known, released = draw(st.sampled_from([(people, people + more), (people + more, people)]))
    cells = st.lists(st.booleans(), min_size=released, max_size=released)
    matrix = draw(st.lists(cells, min_size=known, max_size=known))
    for i in range(people):
        matrix[i][i] = True
    near = st.lists(st.integers(0, 5), min_size=released, max_size=released)
    return matrix, draw(st.lists(near, min_size=known, max_size=known)), people


def best(matrix: Matrix, squared: list[list[int]], people: int) -> tuple[int, set[int]]:
    """The least sum, and how many links are right in each assignment that has it, by trying all of them."""
    turned = len(matrix) > len(matrix[0])
    if turned:
        matrix, squared = ([list(one) for one in zip(*rows, strict=True)] for rows in (matrix, squared))
    actual: dict[int, set[int]] = {}
    for order in permutations(range(len(matrix[0])), len(matrix)):
        if all(matrix[i][j] for i, j in enumerate(order)):
            total = sum(squared[i][j] for i, j in enumerate(order))
            actual.setdefault(total, set()).add(sum(i == j < people for i, j in enumerate(order)))
    least = min(actual)
    return least, actual[least]


@settings(max_examples=25)
@given(problems(), st.sampled_from([1, 256]))
def test_no_permutation_is_nearer(problem: tuple[Matrix, list[list[int]], int], together: int) -> None:
    matrix, squared, people = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(links, "TOGETHER", together)
        sets = sets_of(matrix, people).closed()
        distances = np.array(squared, float)[sets.rows, sets.candidates]
        flow, correct = assign(sets, distances), count_assigned(sets, distances)
    least, right = best(matrix, squared, people)
    assert flow is not None
    assert flow.sum() == min(len(matrix), len(matrix[0]))
    assert max(np.bincount(sets.rows, flow).max(), np.bincount(sets.candidates, flow).max()) == 1
    assert flow @ distances == least
    assert correct == max(right)


def test_equal_records_are_distinguished_by_chance() -> None:
    """Two people on one point, and their two records on another: half of the links are right in the mean."""
    points = np.zeros(2, np.intp)
    none = np.zeros(1, np.int64)
    sets = CandidateSets(np.array([0, 1]), np.zeros(1, np.intp), points, points, none, none)
    assert count_assigned(sets, np.zeros(1)) == 1


def test_it_is_left_out_where_it_would_take_long_or_no_one_knows_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    everybody = sets_of([[True] * 3] * 3, 3)
    assert count_assigned(everybody, np.array([0.0, 1, 1, 1, 0, 1, 1, 1, 0])) == 3
    assert assign(sets_of([[True] * 3] * 3, 2), np.zeros(9)) is None
    monkeypatch.setattr(links, "WORK", 26)
    assert count_assigned(everybody, np.zeros(9)) is None


def test_an_attack_reports_it_beside_the_nearest() -> None:
    known, swapped = {"a": [1, 2, 3, 4], "b": [1, 3, 2, 4]}, {"a": [2, 1, 4, 3], "b": [1, 3, 2, 4]}
    assert attacked("rank_swap_attack", swapped, known, displacement=1).details["assigned_correct"] == 4
    assert "assigned_correct" not in attacked("rank_swap_attack", swapped, known, closure=False).details
    constant = {"a": [1, 1, 1]}
    assert "assigned_correct" not in attacked("rank_swap_attack", constant, constant).details
    groups = attacked("microaggregation_attack", {"a": [1, 1, 5, 5]}, {"a": [0, 2, 4, 6]}, method="known_groups")
    assert groups.details["assigned_correct"] == Fraction(2)


@pytest.mark.long
@pytest.mark.parametrize(("file", "w", "attributes", "correct"), CENSUS)
def test_census_agrees_with_independent_figures(data: Path, file: str, w: int, attributes: int, correct: int) -> None:
    census = pd.read_csv(data / "casc/census.csv")
    masked = pd.read_csv(data / f"casc/census_masked/rankswap_{file}.csv")
    names = list(census)[:attributes]
    attack_outcome = attacked("rank_swap_attack", masked[names], census[names], displacement=w)
    assert attack_outcome.details["assigned_correct"] == correct
