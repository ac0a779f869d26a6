"""The attack on rank swapping: the census against independent figures, and every matching of small tables."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from attacked_tables import attacked, both_ends, closed, largest, least, together, within, without_nearest
from hypothesis import assume, given, settings, strategies as st

import tcdp_audit
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit_plugins.checks.masking_attacks import ranks

SWAP = "rank_swap_attack"
# file, w, attributes: mean and least candidates, certain from both ends, expected, nearest from both, certain closed
CENSUS = [
    ("P1", 10, 3, 1.017, 1, (1063, 1062), 1071.3, (1073, 1073), 1078),
    ("P5", 54, 3, 2.331, 1, (350, 342), 626.0, (587, 574), 708),
    ("P5", 54, 5, 1.165, 1, (938, 938), 1003.8, (995, 987), 1045),
    ("P5", 54, 13, 1.002, 1, (1078, 1078), 1079, (1078, 1078), 1080),
    ("P15", 162, 3, 27.97, 3, (0, 0), 46.8, (32, 30), 0),
    ("P15", 162, 5, 9.37, 1, (22, 74), 180.3, (105, 187), 107),
    ("P15", 162, 7, 5.09, 1, (134, 250), 384.9, (276, 412), 413),
    ("P15", 162, 9, 1.48, 1, (729, 747), 880.8, (836, 862), 1021),
    ("P15", 162, 13, 1.255, 1, (867, 879), 964.25, (934, 944), 1048),
]
ENDS = ("original_to_masked", "masked_to_original")


@pytest.fixture(scope="module")
def census(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "casc/census.csv")


def on_census(data: Path, census: pd.DataFrame, file: str, attributes: int, **parameters: Any) -> Outcome:
    masked = pd.read_csv(data / f"casc/census_masked/rankswap_{file}.csv")
    names = list(census)[:attributes]
    return attacked(SWAP, masked[names], census[names], **parameters)


@pytest.mark.parametrize(("file", "w", "attributes", "mean", "least", "certain", "expected", "nearest", "left"), CENSUS)
def test_census_agrees_with_independent_figures(
    data, census, file, w, attributes, mean, least, certain, expected, nearest, left
):
    details = on_census(data, census, file, attributes, displacement=w).details
    ends = [details[end] for end in ENDS]
    digits = len(str(mean).partition(".")[2])
    assert round(ends[0]["mean_candidates"], digits) == mean
    assert ends[0]["least_candidates"] == least
    assert tuple(end["certain"] for end in ends) == certain
    assert float(ends[0]["expected_correct"]) == pytest.approx(expected, abs=0.051)
    assert tuple(end["nearest_correct"] for end in ends) == nearest
    assert {details["closed"][end]["certain"] for end in ENDS} == {left} == {details["certain"]}
    assert details["without_own_record"] == 0


def test_census_parameters_that_are_too_large_or_too_small(data, census):
    def asked(file: str, w: int) -> dict[str, Any]:
        outcome = on_census(data, census, file, 13, displacement=w, closure=False)
        return {**outcome.details}

    assert [asked("P5", w)["empty"] for w in (44, 27)] == [983, 1080]
    wide = [asked("P15", w) for w in (182, 324)]
    assert [one["certain"] for one in wide] == [723, 31]
    assert [one["wrongly_certain"] for one in wide] == [0, 0]
    narrow = asked("P15", 152)
    assert (narrow["wrongly_certain"], narrow["certain"] + narrow["wrongly_certain"]) == (53, 533)


def test_census_percent_and_inferred_displacements(data, census):
    assert set(on_census(data, census, "P15", 3, p=15).details["displacement"].values()) == {162}
    inferred = on_census(data, census, "P5", 13).details
    assert "largest_displacement" not in inferred
    assert max(inferred["displacement"].values()) == 53
    alone = inferred["least_displacement"]
    assert alone <= 53
    empty = [
        on_census(data, census, "P5", 13, displacement=w, closure=False).details["empty"] for w in (alone - 1, alone)
    ]
    assert empty[0] > 0 == empty[1]


KNOWN = {"a": [1, 2, 3, 4], "b": [1, 3, 2, 4]}
SWAPPED = {"a": [2, 1, 4, 3], "b": [1, 3, 2, 4]}


def test_the_closure_makes_all_four_certain():
    outcome = attacked(SWAP, SWAPPED, KNOWN, displacement=1, at_most=0.5)
    before = outcome.details["original_to_masked"]
    assert (before["certain"], before["mean_candidates"], before["expected_correct"]) == (2, 1.5, 3)  # 1; 2, 4; 1, 3; 4
    assert (outcome.details["certain"], outcome.observed, outcome.status) == (4, 1, Status.FAILED)
    assert outcome.details["candidates_left"] == {"1": 4, "2": 0, "3-5": 0, "6-10": 0, "11-100": 0, "more": 0}
    assert outcome.details["least_displacement"] == 1
    without = attacked(SWAP, SWAPPED, KNOWN, displacement=1, closure=False, at_most=0.5)
    assert (without.observed, without.status) == (0.5, Status.PASSED)
    assert "closed" not in without.details
    guessed = attacked(SWAP, SWAPPED, KNOWN, displacement=1, closure=False, at_most=0.5, links="expected")
    assert (guessed.observed, guessed.status) == (0.75, Status.FAILED)


def test_a_bound_from_end_to_end_judges_nothing():
    for declared in ({"p": 100}, {"displacement": 3}):
        outcome = attacked(SWAP, SWAPPED, KNOWN, **declared, at_most=0)
        assert (outcome.observed, outcome.status, set(outcome.unfailable)) == (0, Status.MEASURED, {"at_most"})
    judged = attacked(SWAP, SWAPPED, KNOWN, displacement=2, at_most=1, links="expected")
    assert judged.status is Status.MEASURED  # no share is above 1
    passed = attacked(SWAP, SWAPPED, KNOWN, displacement=2, at_most="0.9")
    assert (passed.status, "at most 2 ranks (none was by more than 1)" in passed.message) == (Status.PASSED, True)


def test_a_demand_of_an_intruder_who_is_wrong_is_an_error():
    outcome = attacked(SWAP, SWAPPED, KNOWN, displacement=0, at_most=0)
    assert outcome.status is Status.ERROR
    assert "wrong about 4 of 4 records" in outcome.message
    assert "moved by up to 1 rank and not by 0" in outcome.message
    measured = attacked(SWAP, SWAPPED, KNOWN, displacement=0)
    assert measured.status is Status.MEASURED
    assert (measured.details["certain"], measured.details["without_own_record"]) == (0, 4)
    assert measured.message.endswith("This intruder is wrong about 4 records, not found among the candidates.")


cells = st.one_of(st.none(), st.integers(0, 4))
attributes = st.lists(st.tuples(cells, cells, cells, cells), min_size=1, max_size=6)


@pytest.mark.long
@settings(max_examples=30)
@given(attributes, st.none() | st.integers(0, 4), st.randoms(use_true_random=False))
def test_small_tables_agree_with_every_matching(rows, declared, random):
    released = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
    original = {"a": [row[2] for row in rows], "b": [row[3] for row in rows]}
    for columns in zip(released.values(), original.values(), strict=True):
        assume(any(None not in pair for pair in zip(*columns, strict=True)))
    widths = {name: largest(released[name], original[name]) if declared is None else declared for name in released}
    matrix = together([within(released[name], original[name], widths[name]) for name in released])
    details = attacked(SWAP, released, original, **({} if declared is None else {"displacement": declared})).details
    assert without_nearest(details) == both_ends(matrix)
    assert sum(details["candidates_left"].values()) == len(rows)
    outside = sum(not matrix[i][i] for i in range(len(rows)))
    assert details["without_own_record"] == outside
    if declared is None:
        assert outside == 0
        assert details["wrongly_certain"] == 0
    if not outside:
        assert details["closed"] == both_ends(closed(matrix))
        assert details["expected_correct"] == details["closed"]["original_to_masked"]["expected_correct"]
    assert details["least_displacement"] == least(list(released.values()), list(original.values()))
    order = random.sample(range(len(rows)), len(rows))
    shuffled = [{name: [column[i] for i in order] for name, column in one.items()} for one in (released, original)]
    assert attacked(SWAP, *shuffled, **({} if declared is None else {"displacement": declared})).details == details


def test_records_of_one_table_only_are_candidates_and_reported():
    policy = {
        "version": 1,
        "key": "id",
        "attributes": {"a": {"role": "quasi_identifier", "scale": "numeric"}, "id": {"role": "insensitive"}},
        "expect": [{SWAP: {}}],
    }
    released = pd.DataFrame({"id": [1, 2, 9], "a": [10, 20, 30]})
    original = pd.DataFrame({"id": [1, 2, 3], "a": [20, 10, 30]})
    details = tcdp_audit.audit(released, policy, original).expectations[0].details
    assert (details["matched"], details["released_without_original"], details["originals_not_released"]) == (2, 1, 1)
    assert details["original_to_masked"]["mean_candidates"] == 2.5  # 10 may be 10 or 20, and 20 all three
    assert details["closed"]["original_to_masked"]["mean_candidates"] == 2.5
    assert details["expected_correct"] == Fraction(1, 2) + Fraction(1, 3)


def test_what_outgrows_the_memory_or_the_patterns_is_refused(monkeypatch):
    values = list(range(300))
    table = {"a": values, "b": values[::-1]}
    swapped = {name: column[150:] + column[:150] for name, column in table.items()}
    assert attacked(SWAP, swapped, table).details["original_to_masked"]["mean_candidates"] == 225.5
    monkeypatch.setattr(ranks, "EDGE", 2**50)
    assert "candidate sets hold more than" in attacked(SWAP, swapped, table).message
    monkeypatch.setattr(ranks, "EDGE", 1)
    monkeypatch.setattr(ranks, "PATTERNS", 1)
    assert "too many to search" in attacked(SWAP, {"a": [1, None], "b": [1, 2]}, {"a": [1, 2], "b": [1, 2]}).message


def test_the_least_displacement_is_given_up_among_very_many_ties(monkeypatch):
    released, original = {"a": [1, 1, 2, 2]}, {"a": [0, 5, 6, 7]}
    monkeypatch.setattr(ranks, "AT_ONCE", 1)
    assert attacked(SWAP, released, original).details["least_displacement"] == 1
    monkeypatch.setattr(ranks, "CELLS", -1)
    assert "least_displacement" not in attacked(SWAP, released, original).details


def test_nothing_in_common_is_refused():
    outcome = attacked(SWAP, {"a": [1, 2], "b": [None, 5]}, {"a": [1, 2], "b": [5, None]})
    assert outcome.status is Status.ERROR
    assert "no pair of records has a value of 'b'" in outcome.message


def test_tables_without_variance_have_no_nearest():
    details = attacked(SWAP, {"a": [1, 1]}, {"a": [1, 1]}).details
    assert "nearest_correct" not in details["original_to_masked"]
    assert details["expected_correct"] == 1


@pytest.mark.parametrize(
    ("declared", "parameters", "sentence"),
    [
        ({"scale": "nominal"}, {}, "no quasi-identifier is numeric"),
        ({"scale": "nominal"}, {"attributes": ["a"]}, "'a' has no order"),
        ({"scale": "numeric"}, {"attributes": ["b"]}, "declares no attribute 'b'"),
        ({"scale": "numeric"}, {"attributes": ["id"]}, "'id' is the key"),
        ({"scale": "numeric"}, {"attributes": ["who"]}, "'who' is an identifier"),
        ({"scale": "numeric"}, {"p": 5, "displacement": 3}, "give one of them"),
    ],
)
def test_what_cannot_be_ranked_is_a_fault_of_the_policy(declared, parameters, sentence):
    policy = {
        "version": 1,
        "key": "id",
        "attributes": {
            "a": {"role": "quasi_identifier", **declared},
            "id": {"role": "insensitive"},
            "who": {"role": "identifier"},
        },
        "expect": [{SWAP: parameters}],
    }
    table = pd.DataFrame({"a": [1, 2], "id": [1, 2]})
    with pytest.raises(tcdp_audit.PolicyError, match=sentence):
        tcdp_audit.audit(table, policy, table)
