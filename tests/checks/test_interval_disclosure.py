"""Interval disclosure: the census against independent figures, definitions in plain Python, exact at every edge."""

from __future__ import annotations

import csv
import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from statistics import variance
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tcdp_audit import Outcome, PolicyError, Status, audit
from tcdp_audit_plugins.checks.interval_disclosure.checks import (
    inside_rank_interval,
    inside_sd_interval,
    rank_intervals,
)

RANK, SD = "rank_interval_disclosure", "sd_interval_disclosure"
NUMERIC = {"role": "quasi_identifier", "scale": "numeric"}
MASKED = [
    "addnoise_additive_20",
    "addnoise_additive_5",
    "mdav_k10",
    "mdav_k3",
    "mdav_k5",
    "rankswap_P1",
    "rankswap_P15",
    "rankswap_P5",
]


def detected(
    check: str,
    released: dict[str, Any],
    original: dict[str, Any],
    declared: dict[str, Any] | None = None,
    **parameters: Any,
) -> Outcome:
    policy = {
        "version": 1,
        "rows_aligned": True,
        "attributes": declared or dict.fromkeys(released, NUMERIC),
        "expect": [{check: parameters}],
    }
    return audit(pa.table(released), policy, pa.table(original)).expectations[0]


# Against figures that others computed


@pytest.mark.parametrize("masked", MASKED)
def test_census_figures_agree_with_the_truth(data: Path, masked: str):
    census = data / "casc" / "census.csv"
    with census.open() as file:
        names = next(csv.reader(file))
    truth = json.loads((data / "truth" / "census_disclosure_and_linkage.json").read_text())[masked]
    ranks = {2 * int(p): one for p, one in truth["rank_interval"].items()}
    widths = [f"{100 * Fraction(p)}" for p in truth["sdid_joint_sd_original"]]
    policy = {
        "version": 1,
        "rows_aligned": True,
        "attributes": dict.fromkeys(names, NUMERIC),
        "expect": [{RANK: {"p": list(ranks)}}, {SD: {"p": widths}}],
    }

    by_rank, by_sd = audit(data / "casc" / "census_masked" / f"{masked}.csv", policy, census).expectations

    assert [at["p"] for at in by_rank.details["at"]] == list(ranks)
    for at, expected in zip(by_rank.details["at"], ranks.values(), strict=True):
        figures = expected["masked_rank_ties_inclusive"]
        per_attribute = dict(zip(names, figures["per_attribute"], strict=True))
        assert at["per_attribute"] == pytest.approx(per_attribute, abs=1e-9)
        assert at["average"] == pytest.approx(figures["mean_over_attributes"], abs=1e-9)
        assert at["joint"] == pytest.approx(figures["joint_all_attributes"], abs=1e-9)
    for at, p in zip(by_sd.details["at"], truth["sdid_joint_sd_original"], strict=True):
        assert at["joint"] == pytest.approx(truth["sdid_joint_sd_original"][p], abs=1e-9)
        assert at["average"] == pytest.approx(truth["sdid_mean_over_attributes_sd_original"][p], abs=1e-9)


# By definition, in plain Python


def slow_rank(released: Sequence[int | None], original: Sequence[int | None], p: Fraction) -> list[bool]:
    ranked = sorted(value for value in released if value is not None)
    last = len(ranked) - 1
    width = int(p * len(ranked) / 200)
    inside = []
    for masked, value in zip(released, original, strict=True):
        if masked is None or value is None:
            inside.append(False)
            continue
        low = ranked[max(bisect_left(ranked, masked) - width, 0)]
        high = ranked[min(bisect_right(ranked, masked) - 1 + width, last)]
        inside.append(low <= value <= high)
    return inside


def slow_sd(released: Sequence[Any], original: Sequence[Any], p: Fraction) -> list[bool]:
    limit = p**2 * variance([Fraction(value) for value in original if value is not None])
    return [
        a is not None and b is not None and (100 * (Fraction(a) - Fraction(b))) ** 2 <= limit
        for a, b in zip(released, original, strict=True)
    ]


cells = st.one_of(st.none(), st.integers(-4, 4))
paired = st.lists(st.tuples(cells, cells), min_size=3, max_size=25).filter(
    lambda rows: len({b for _, b in rows} - {None}) > 1 and any(None not in row for row in rows)
)
percents = st.fractions(Fraction(1, 10), 100, max_denominator=40)


def coded(released: Sequence[Any], original: Sequence[Any]) -> tuple[Any, ...]:
    """Codes of both over their common domain, the domain, and the counts of each."""
    values = np.array(sorted({*released, *original} - {None}))
    code = {value: position for position, value in enumerate(values.tolist())}
    codes = [np.array([code.get(value, len(values)) for value in one]) for one in (released, original)]
    return *codes, values, *(np.bincount(one, minlength=len(values) + 1)[:-1] for one in codes)


@given(paired, percents)
def test_intervals_by_rank_by_definition(rows: list[tuple[int | None, int | None]], p: Fraction):
    released, original = zip(*rows, strict=True)
    masked, true, _, counts, _ = coded(released, original)
    assert inside_rank_interval(masked, true, counts, p).tolist() == slow_rank(released, original, p)


@given(paired, percents)
def test_intervals_by_standard_deviation_by_definition(rows: list[tuple[int | None, int | None]], p: Fraction):
    released, original = zip(*rows, strict=True)
    masked, true, values, _, counts = coded(released, original)
    assert inside_sd_interval(masked, true, values, counts, p).tolist() == slow_sd(released, original, p)


decimals = st.integers(-300, 300).map(lambda tenths: repr(tenths / 10))


@given(st.lists(st.tuples(decimals, decimals), min_size=2, max_size=20), st.sampled_from([10, 50, 100]))
def test_decimal_numbers_are_compared_as_they_are_written(rows: list[tuple[str, str]], p: int):
    released, original = zip(*rows, strict=True)
    masked, true, values, _, counts = coded([*map(float, released)], [*map(float, original)])
    inside = inside_sd_interval(masked, true, values, counts, Fraction(p))
    assert inside.tolist() == slow_sd(released, original, Fraction(p))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), percents, percents)
def test_a_wider_p_contains_every_narrower_one(counts: list[int], one: Fraction, other: Fraction):
    low, high = rank_intervals(np.array([*counts, 1]), min(one, other))
    lower, higher = rank_intervals(np.array([*counts, 1]), max(one, other))
    here = np.array([*counts, 1]) > 0
    assert ((lower <= low) & (low <= high) & (high <= higher))[here].all()


def test_ranks_are_the_same_on_any_scale():
    masked, values = [3 * n % 10 for n in range(10)], [n % 7 for n in range(10)]
    bent = detected(RANK, {"a": [v**3 for v in masked]}, {"a": [v**3 for v in values]}, p=[20, 40, 60])
    straight = detected(RANK, {"a": masked}, {"a": values}, p=[20, 40, 60])
    assert bent.details == straight.details
    assert [at["average"] for at in straight.details["at"]] == [0.3, 0.6, 0.7]


# By hand

TIED = {"a": [2, 2, 2, 11, 11, 11]}
SIX = {"a": [1, 2, 3, 10, 11, 12]}


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (33, Fraction(2, 6)),  # w = floor(0.99) = 0: the tie group alone, 2 and 11
        ("100/3", Fraction(4, 6)),  # w = 1 exactly: from 2 to 11 around both
        (100, Fraction(4, 6)),  # w = 3: the whole range of masked values, which 1 and 12 are beyond
    ],
)
def test_whole_tie_groups_are_inside(p: Any, expected: Fraction):
    assert detected(RANK, TIED, SIX, p=p).observed == float(expected)


def test_intervals_end_where_the_masked_values_do():
    """The lecture's pseudo-code, read literally, would make every interval the whole range, and the figure 1."""
    swapped = [6, 5, 4, 3, 2, 1]
    outcome = detected(RANK, {"a": swapped}, {"a": swapped[::-1]}, p=34)  # w = 1
    assert outcome.observed == 2 / 6


@pytest.mark.parametrize(("p", "inside"), [(49, 0), (50, 3), ("49.9999999999", 0)])
def test_the_interval_of_the_standard_deviation_is_closed(p: Any, inside: int):
    outcome = detected(SD, {"a": [1, 3, 5]}, {"a": [0, 2, 4]}, p=p, aggregate="worst")  # sd = 2
    assert outcome.records is not None
    assert (outcome.records.failing, outcome.observed) == (inside, inside / 3)


def test_floating_point_does_not_decide_at_the_edge():
    original, masked = [0.1, 0.2, 0.3], [0.2, 0.3, 0.4]  # sd is 0.1; 0.4 - 0.3 is above 0.1 in floating point
    assert abs(0.4 - 0.3) > 0.1
    assert detected(SD, {"a": masked}, {"a": original}, p=100).observed == 1
    assert detected(SD, {"a": [0.2, 0.3, 0.4000000000001]}, {"a": original}, p=100).observed == 2 / 3


@pytest.mark.parametrize("scale", [1.0, 1e-300, 4e307])
def test_no_scale_overflows(scale: float):
    original = {"a": [0.0, 2 * scale, 4 * scale]}
    assert detected(SD, {"a": [1 * scale, 3.5 * scale, 4 * scale]}, original, p=50).observed == 2 / 3


# Several attributes, several p

TWO = {"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}
HALF = {"a": [1, 2, 3, 4], "b": [4, 3, 3, 4]}


@pytest.mark.parametrize(
    ("aggregate", "figure", "failing"), [("average", 0.75, None), ("joint", 0.5, 2), ("worst", 1.0, 4)]
)
def test_average_joint_and_worst(aggregate: str, figure: float, failing: int | None):
    outcome = detected(SD, HALF, TWO, p=1, aggregate=aggregate, at_most="0.6")

    assert outcome.status is (Status.PASSED if figure <= 0.6 else Status.FAILED)
    assert outcome.records is not None
    assert (outcome.observed, outcome.records.total, outcome.records.failing) == (figure, 4, failing)
    assert [outcome.details[name] for name in ("average", "worst", "joint")] == [0.75, 1.0, 0.5]
    assert outcome.details["at"][0]["per_attribute"] == {"a": 1, "b": Fraction(1, 2)}


def test_the_headline_of_several_p_is_that_of_the_largest():
    outcome = detected(SD, HALF, TWO, p=[300, 1, 80], at_most="3/4")  # sd = 1.29

    assert [(at["p"], at["average"]) for at in outcome.details["at"]] == [(1, 0.75), (80, 0.875), (300, 1.0)]
    assert (outcome.status, outcome.observed) == (Status.FAILED, 1.0)
    assert outcome.parameters["p"] == [300, 1, 80]


def test_the_figure_is_compared_exactly():
    third = {"a": [1, 9, 9]}, {"a": [1, 2, 3]}
    assert detected(SD, *third, p=1, at_most="1/3").status is Status.PASSED
    assert detected(SD, *third, p=1, at_most=0.3333333333333333).status is Status.FAILED
    assert detected(SD, *third, p=1).status is Status.MEASURED


# What is not compared


@pytest.mark.parametrize("check", [RANK, SD])
def test_a_missing_value_is_not_inside(check: str):
    released, original = {"a": [1, None, 3, None]}, {"a": [1, 2, None, None]}
    outcome = detected(check, released, original, p=1)
    assert (outcome.observed, outcome.details["missing"]) == (0.25, {"a": 3})


@pytest.mark.parametrize("check", [RANK, SD])
def test_a_constant_attribute_is_flagged_and_not_averaged(check: str):
    released = {"a": [1, 9, 3], "c": [5, 5, 5], "e": pa.nulls(3, pa.int64())}
    original = {"a": [1, 2, 3], "c": [5, 5, 5], "e": [1, 2, 3]}

    outcome = detected(check, released, original, p=1, aggregate="joint")

    assert outcome.observed == 2 / 3
    assert (outcome.details["constant"], outcome.details["without_values"]) == (["c"], ["e"])
    assert list(outcome.details["at"][0]["per_attribute"]) == ["a"]
    assert "1 column left out as constant, 1 column left out for want of values" in outcome.message


@pytest.mark.parametrize("check", [RANK, SD])
def test_nothing_to_compare_is_no_pass(check: str):
    outcome = detected(check, {"c": [5, 5]}, {"c": [5, 5]}, p=1, at_most=1)
    assert outcome.status is Status.ERROR
    assert outcome.message.startswith("nothing can be compared: every attribute is constant in the original")


# Scales and faults


def test_ranks_of_an_ordinal_attribute_follow_its_declared_order():
    order = ["mild", "moderate", "severe", "acute"]
    attributes = {"a": {"role": "sensitive", "scale": "ordinal", "order": order}, "z": NUMERIC}
    released = {"a": ["mild", "moderate", "severe", "acute"], "z": [1, 1, 1, 1]}
    original = {"a": ["severe", "mild", "moderate", "acute"], "z": [1, 1, 1, 1]}

    outcome = detected(RANK, released, original, attributes, p=50)

    assert outcome.observed == 0.75  # w = 1: all but severe, two steps from mild


@pytest.mark.parametrize(
    ("check", "parameters", "said"),
    [
        (
            RANK,
            {"p": 5, "attributes": ["word"]},
            "needs 'word' to be numeric or ordinal with an `order`, and its scale",
        ),
        (RANK, {"p": 5, "attributes": ["grade"]}, "its scale is ordinal without an `order`"),
        (
            SD,
            {"p": 5, "attributes": ["level"]},
            "needs 'level' to be numeric, and its scale is ordinal; declare it",
        ),
        (SD, {"p": 5, "attributes": ["ag"]}, "the policy declares no attribute 'ag'"),
        (SD, {"p": 5, "attributes": ["age", "age"]}, "an attribute is named twice"),
        (SD, {"p": 5, "attributes": ["name"]}, "'name' is an identifier, which is not released"),
        (SD, {"p": 5, "attributes": ["id"]}, "'id' is the key"),
        (RANK, {"p": 101}, f"{RANK}.p: must be at most 100"),
        (RANK, {"p": 0}, f"{RANK}.p: must be greater than 0"),
        (SD, {"p": [5, "x"]}, f"{SD}.p[1]: must be a finite number"),
        (SD, {"p": []}, f"{SD}.p: "),
        (SD, {}, f"{SD}.p: is required"),
    ],
)
def test_faults_of_the_policy(check: str, parameters: dict[str, Any], said: str):
    attributes = {
        "age": NUMERIC,
        "word": {"role": "quasi_identifier"},
        "grade": {"role": "sensitive", "scale": "ordinal"},
        "level": {"role": "sensitive", "scale": "ordinal", "order": ["low", "high"]},
        "name": {"role": "identifier", "scale": "numeric"},
    }
    policy = {"version": 1, "key": "id", "attributes": attributes, "expect": [{check: parameters}]}
    with pytest.raises(PolicyError) as raised:
        audit(pa.table({"age": [1]}), policy, pa.table({"age": [1]}))
    assert said in str(raised.value)


def test_no_numeric_attribute_is_a_fault():
    policy = {"version": 1, "rows_aligned": True, "attributes": {"a": {"role": "quasi_identifier"}}}
    with pytest.raises(PolicyError, match="no quasi-identifier or sensitive attribute is numeric; declare the scale"):
        audit(pa.table({"a": [1]}), {**policy, "expect": [{SD: {"p": 1}}]}, pa.table({"a": [1]}))


# Sentences


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (
            {"at_most": "0.5"},
            (
                "On average over 'a' and 'b', 75% of the original values of 4 records lie inside the interval, "
                "at p = 1; the policy allows 50%."
            ),
        ),
        (
            {"aggregate": "worst"},
            (
                "In 'a', the worst of 2 columns, 100% of the original values of 4 records lie inside the "
                "interval, at p = 1."
            ),
        ),
        (
            {"aggregate": "joint"},
            "2 of 4 records (50%) lie inside the intervals of 'a' and 'b' at once, at p = 1.",
        ),
        (
            {"aggregate": "joint", "attributes": ["a"]},
            "All 4 records (100%) lie inside the intervals of 'a', at p = 1.",
        ),
    ],
)
def test_sentences(parameters: dict[str, Any], said: str):
    assert detected(SD, HALF, TWO, p=1, **parameters).message == said


# The pure functions


def test_a_missing_code_is_never_inside_nor_around():
    codes = np.array([0, 2, 2, 1], dtype=np.uint8)
    others = np.array([0, 2, 0, 2], dtype=np.uint8)
    counts = np.array([1, 1])
    assert inside_rank_interval(codes, others, counts, Fraction(100)).tolist() == [True, False, False, False]
    values = np.array([1.0, 2.0])
    assert inside_sd_interval(codes, others, values, counts, Fraction(999)).tolist() == [
        True,
        False,
        False,
        False,
    ]
