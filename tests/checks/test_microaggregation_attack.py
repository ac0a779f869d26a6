"""The attack on microaggregation: the census against independent figures, and every matching of small tables."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from attacked_tables import Matrix, attacked, both_ends, closed, together, without_nearest
from hypothesis import assume, given, settings, strategies as st
from microaggregated_tables import by_rank, in_blocks, one_by_one

import tcdp_audit
from tcdp_audit.core.base.outcome import Status

MICRO = "microaggregation_attack"
# k, attributes: mean number of candidates, certain, expected, certain after the closure
ONE_BY_ONE = [
    (5, 1, 9.991, 0, 108.3, 0),
    (5, 2, 1.065, 1010, 1045, 1040),
    (10, 2, 1.302, 791, 929.6, 912),
    (25, 2, 3.194, 102, 428.5, 288),
    (25, 3, 1.140, 941, 1008.5, 1010),
    (50, 3, 2.1, 395, 670.1, 651),
    (50, 13, 1.0, 1080, 1080, 1080),
]
# k, sizes of blocks: certain, expected
BLOCKS = [(5, [13], 0, 216), (10, [13], 0, 108), (5, [7, 6], 1011, 1045), (10, [7, 6], 822, 945)]
BLOCKS += [(10, [4, 4, 5], 1068, 1074)]


@pytest.fixture(scope="module")
def census(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "casc/census.csv")


@pytest.mark.parametrize(("k", "attributes", "mean", "certain", "expected", "left"), ONE_BY_ONE)
def test_census_one_attribute_at_a_time(census, k, attributes, mean, certain, expected, left):
    known = census[list(census)[:attributes]]
    details = attacked(MICRO, one_by_one(known, k), known, k=k).details
    before = details["original_to_masked"]
    assert before["mean_candidates"] == pytest.approx(mean, abs=0.0501 if mean == 2.1 else 0.000501)
    assert (before["certain"], details["certain"], before["wrongly_certain"]) == (certain, left, 0)
    assert float(before["expected_correct"]) == pytest.approx(expected, abs=0.051)


@pytest.mark.parametrize(("k", "sizes", "certain", "expected"), BLOCKS)
def test_census_in_blocks_by_anyone_who_forms_them_again(census, k, sizes, certain, expected):
    masked, blocks = in_blocks(census, sizes, k)
    details = attacked(MICRO, masked, census, method="known_groups", k=k, blocks=blocks).details
    assert (details["certain"], details["expected_correct"]) == (certain, expected)
    assert set(details["smallest_group"].values()) == {k}


@pytest.mark.parametrize("k", [5, 10])
def test_census_masked_by_others_keeps_n_over_k(data, census, k):
    masked = pd.read_csv(data / f"casc/census_masked/mdav_k{k}.csv")
    details = attacked(MICRO, masked, census, method="known_groups", k=k).details
    assert (details["certain"], details["expected_correct"]) == (0, 1080 // k)
    alone = attacked(MICRO, masked, census, k=k, at_most=0)  # it was not done one attribute at a time
    assert (alone.status, "this intruder is wrong about" in alone.message) == (Status.ERROR, True)


KNOWN = {"a": [1, 2, 3, 10, 11, 12], "b": [1, 5, 2, 6, 3, 7]}
MASKED = {"a": [2, 2, 2, 11, 11, 11], "b": [2, 6, 2, 6, 2, 6]}


def test_values_beyond_the_outer_means_can_only_have_become_these():
    outcome = attacked(MICRO, MASKED, KNOWN, at_most="1/4", links="expected")
    before = outcome.details["original_to_masked"]  # (1, 1) can only be (2, 2), (12, 7) only (11, 6), others anybody
    assert (before["mean_candidates"], before["expected_correct"]) == (28 / 6, Fraction(2, 2) + Fraction(4, 6))
    assert (
        before["nearest_correct"] == 4 * Fraction(1, 2) + 2
    )  # everybody to their own group, of which two have one record
    assert outcome.details["smallest_group"] == {"a": 3, "b": 3}
    assert outcome.status is Status.FAILED


def near(released: Sequence[int | None], original: Sequence[int | None], reach: int = 1) -> Matrix:
    """The values below, at and above each known one among the different released values."""
    values = sorted({value for value in released if value is not None})

    def may(known: int, masked: int) -> bool:
        below, above = bisect_left(values, known), bisect_right(values, known)
        return masked in values[max(below - reach, 0) : above + reach]

    return [[x is None or y is None or may(x, y) for y in released] for x in original]


cells = st.one_of(st.none(), st.integers(0, 5))


@pytest.mark.long
@settings(max_examples=60)
@given(st.lists(st.tuples(*[cells] * 4), min_size=1, max_size=6), st.integers(1, 2))
def test_small_tables_agree_with_every_matching(rows, reach):
    released = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
    original = {"a": [row[2] for row in rows], "b": [row[3] for row in rows]}
    for name, column in released.items():
        assume(any(None not in pair for pair in zip(column, original[name], strict=True)))
    matrix = together([near(released[name], original[name], reach) for name in released])
    details = attacked(MICRO, released, original, reach=reach).details
    assert without_nearest(details) == both_ends(matrix)
    outside = sum(not matrix[i][i] for i in range(len(rows)))
    assert details["without_own_record"] == outside
    assert ("closed" in details) == (outside == 0)
    if not outside:
        assert details["closed"] == both_ends(closed(matrix))


@pytest.mark.long
@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=4, max_size=30),
    st.integers(2, 4),
    st.randoms(use_true_random=False),
)
def test_the_own_record_is_always_a_candidate_and_order_says_nothing(rows, k, random):
    table = pd.DataFrame(rows, columns=["a", "b"])
    assume(len(table) >= k)
    masked = one_by_one(table, k)
    details = attacked(MICRO, masked, table, k=k).details
    assert (details["without_own_record"], details["wrongly_certain"]) == (0, 0)
    order = random.sample(range(len(table)), len(table))
    assert attacked(MICRO, masked.iloc[order], table.iloc[order], k=k).details == details


@pytest.mark.long
@settings(max_examples=40)
@given(st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=1, max_size=8))
def test_known_groups_are_those_of_everybody_with_the_same_values(rows):
    original = {"a": [row[0] for row in rows]}
    released = {"a": [10 * row[1] + row[2] for row in rows]}
    groups = {x: {y for x2, y in zip(original["a"], released["a"], strict=True) if x2 == x} for x in original["a"]}
    matrix = [[y in groups[x] for y in released["a"]] for x in original["a"]]
    details = attacked(MICRO, released, original, method="known_groups").details
    assert without_nearest(details) == both_ends(matrix)


def test_groups_that_are_known_and_a_k_that_is_not_that_of_the_release():
    outcome = attacked(MICRO, MASKED, KNOWN, method="known_groups", at_most="1/3")
    assert outcome.details["smallest_group"] == {"block 1": 1}
    # (2, 2) twice, (2, 6), (11, 6) twice, (11, 2)
    assert (outcome.details["certain"], outcome.details["expected_correct"]) == (2, 4)
    assert outcome.status is Status.PASSED
    assert attacked(MICRO, MASKED, KNOWN, method="known_groups", k=3, blocks=[["a"], ["b"]]).details[
        "smallest_group"
    ] == {"block 1": 3, "block 2": 3}
    wrong = attacked(MICRO, MASKED, KNOWN, method="known_groups", k=3)
    assert wrong.status is Status.ERROR
    assert "says k = 3, and block 1 of the release has a group of 1 record" in wrong.message


def test_means_that_were_rounded_need_a_reach():
    known = pd.DataFrame({"a": [10, 11, 12, 13, 14, 15]})
    rounded = pd.DataFrame({"a": [12, 12, 13, 13, 11, 11]})  # so that a value is two means away
    outcome = attacked(MICRO, rounded, known)
    assert (outcome.status, outcome.details["without_own_record"]) == (Status.MEASURED, 3)
    failed = attacked(MICRO, rounded, known, at_most="1/2")
    assert failed.status is Status.ERROR
    assert "which `reach: 3` accounts" in failed.message
    wider = attacked(MICRO, rounded, known, reach=3, at_most="1/2")
    assert (wider.status, wider.details["without_own_record"]) == (Status.PASSED, 0)


def test_a_reach_from_end_to_end_judges_nothing():
    outcome = attacked(MICRO, MASKED, KNOWN, reach=6, at_most=0)
    assert (outcome.observed, outcome.status, set(outcome.unfailable)) == (0, Status.MEASURED, {"at_most"})
    assert attacked(MICRO, MASKED, KNOWN, at_most=0).status is Status.PASSED


def test_plain_groups_take_what_is_left_over():
    assert by_rank(pd.Series([5, 1, 3, 2, 4]), 2).tolist() == [4, 1.5, 4, 1.5, 4]
    assert Fraction(1, 2) == attacked(MICRO, {"a": [1.5, 1.5]}, {"a": [1, 2]}, links="expected").observed


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"blocks": [["a"]]}, "blocks need `method: known_groups`"),
        ({"method": "known_groups", "reach": 2}, "have no reach"),
        ({"method": "known_groups", "blocks": [["a"]], "attributes": ["a"]}, "leave `attributes` out"),
        ({"method": "known_groups", "blocks": [["a"], ["a"]]}, "is in two blocks"),
        ({"method": "known_groups", "blocks": [["c"]]}, "declares no attribute 'c'"),
        ({"method": "known_groups", "attributes": ["c"]}, "declares no attribute 'c'"),
        ({"attributes": ["c"]}, "declares no attribute 'c'"),
    ],
)
def test_what_contradicts_itself_is_a_fault_of_the_policy(parameters: dict[str, Any], sentence: str):
    with pytest.raises(tcdp_audit.PolicyError, match=sentence):
        attacked(MICRO, MASKED, KNOWN, **parameters)


def test_an_attribute_without_a_value_in_one_table_is_no_attack():
    outcome = attacked(MICRO, {"a": [1, 2], "b": [None, None]}, {"a": [1, 2], "b": [3, 4]}, at_most=1)
    assert outcome.status.value == "error"
    assert "no pair of records has a value of 'b' in both tables" in outcome.message


def test_people_who_are_equal_in_a_block_have_the_groups_of_both():
    """Two people of 33 are in the groups of 31 and 34, and the other block tells nobody of these four apart."""
    original = {"q0": [29, 33, 33, 35, 50, 52], "q1": [1, 3, 4, 6, 8, 9]}
    released = {"q0": [31, 31, 34, 34, 51, 51], "q1": [3.5, 3.5, 3.5, 3.5, 8.5, 8.5]}
    blocks = [["q0"], ["q1"]]
    attack_outcome = attacked(
        MICRO, released, original, method="known_groups", blocks=blocks, links="expected", closure=False
    )
    assert candidates_by_blocks(released, original, blocks) == [2, 4, 4, 2, 2, 2]
    assert (attack_outcome.details["mean_candidates"], attack_outcome.details["expected_correct"]) == (
        16 / 6,
        Fraction(5, 2),
    )


def candidates_by_blocks(released: Any, original: Any, blocks: list[list[str]]) -> list[int]:
    """Released records in a possible group of each block, person by person."""
    people = range(len(next(iter(original.values()))))

    def at(table: Any, person: int, block: list[str]) -> tuple[Any, ...]:
        return tuple(table[name][person] for name in block)

    def possible(person: int, record: int, block: list[str]) -> bool:
        alike = [one for one in people if at(original, one, block) == at(original, person, block)]
        return at(released, record, block) in {at(released, one, block) for one in alike}

    return [sum(all(possible(i, j, block) for block in blocks) for j in people) for i in people]


@pytest.mark.long
def test_candidates_of_blocks_are_those_of_everybody():
    draw = np.random.default_rng(2)
    for _ in range(60):
        people, values = int(draw.integers(2, 9)), int(draw.integers(1, 4))
        names = ["a", "b", "c"]
        original, released = ({name: draw.integers(0, values + 1, people).tolist() for name in names} for _ in range(2))
        blocks = [[["a"], ["b"], ["c"]], [["a", "b"], ["c"]], [["c", "b", "a"]]][int(draw.integers(3))]
        attack_outcome = attacked(MICRO, released, original, method="known_groups", blocks=blocks, closure=False)
        numbers = candidates_by_blocks(released, original, blocks)
        assert attack_outcome.details["mean_candidates"] == pytest.approx(sum(numbers) / people)
        assert attack_outcome.details["certain"] == numbers.count(1)
