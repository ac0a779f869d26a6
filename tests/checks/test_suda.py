"""SUDA: minimal sample uniques against plain Python, scores and contributions against sdcMicro."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import factorial
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest
from hypothesis import given, strategies as st
from population_tables import NAMES, Row, outcome, shuffled, table

from tcdp_audit import CheckError, PolicyError
from tcdp_audit_plugins.checks.suda import dis_suda, minimal_uniques

rows = st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=14)


def plain(release: list[Row], max_size: int) -> list[list[tuple[int, ...]]]:
    """The minimal sample uniques of each record, from their definition."""
    attributes = range(len(release[0]))
    subsets = [one for size in range(1, len(attributes) + 1) for one in combinations(attributes, size)]
    counts = {subset: Counter(tuple(row[i] for i in subset) for row in release) for subset in subsets}

    def unique(row: Row, subset: tuple[int, ...]) -> bool:
        return counts[subset][tuple(row[i] for i in subset)] == 1

    return [
        [
            subset
            for subset in subsets
            if len(subset) <= max_size
            and unique(row, subset)
            and not any(unique(row, other) for other in subsets if set(other) < set(subset))
        ]
        for row in release
    ]


@given(rows, st.integers(1, 5))
def test_minimal_uniques_by_definition(release: list[Row], max_size: int):
    result = minimal_uniques(list(np.array(release).T), [3] * 4, max_size)
    expected = plain(release, max_size)

    for size, counts in enumerate(result.by_size, 1):
        assert counts.tolist() == [sum(len(one) == size for one in sets) for sets in expected]
    assert result.scores.tolist() == [sum(factorial(4 - len(one)) for one in sets) for sets in expected]
    assert result.by_attribute.tolist() == [
        sum(factorial(4 - len(one)) for sets in expected for one in sets if attribute in one) for attribute in range(4)
    ]


def test_large_codes_are_sorted_and_small_ones_counted():
    codes = np.array([0, 7, 7, 3, 3, 9])

    wide = minimal_uniques([codes * 10**9, codes], [10**10, 10], 2)
    narrow = minimal_uniques([codes, codes], [10, 10], 2)

    assert wide.by_size.tolist() == narrow.by_size.tolist() == [[2, 0, 0, 0, 0, 2], [0] * 6]


def test_scores_of_many_attributes_do_not_overflow():
    columns = [np.array([0, 1])] * 24

    result = minimal_uniques(columns, [2] * 24, 1)

    assert result.scores.tolist() == [24 * factorial(23)] * 2


def test_a_record_is_as_special_as_its_smallest_set():
    release = table([("x", 1, 5), ("y", 1, 6), ("y", 2, 6), ("y", 2, 5), ("y", 1, 5)])
    result = outcome("suda", release, max_size=2, at_most="3/5")

    # x alone; (1, 6) and (2, 6), (2, 5) as pairs; the last needs all three
    assert (result.status.value, result.observed) == ("failed", 0.8)
    assert result.details["minimal_sample_uniques"] == {"1": 1, "2": 3}
    assert (result.details["records_singled_out"], result.details["sum_of_scores"]) == (4, 2 + 3)
    assert result.details["contributions"] == {"a": Fraction(2, 5), "b": Fraction(3, 5), "c": Fraction(3, 5)}
    whole = outcome("suda", release, at_most=1)
    assert (whole.status.value, whole.observed, whole.details["highest_score"]) == ("measured", 1.0, 2)


def test_no_one_is_singled_out():
    result = outcome("suda", table([("x", 1)] * 2), at_most=0, dis_fraction=0.1)

    assert (result.status.value, result.observed) == ("passed", 0.0)
    assert result.details["contributions"] == {"a": 0, "b": 0}
    assert "dis" not in result.details


def test_dis_scores_follow_the_declared_fraction():
    release = table([("x", 1), ("y", 1), ("y", 2), ("z", 2), ("z", 2)])

    declared = outcome("suda", release, policy={"sampling_fraction": 0.5}).details
    given_ = outcome("suda", release, dis_fraction=0.25).details
    neither = outcome("suda", release).details

    # three uniques, one pair: 3 p / (3 p + 2 (1 - p))
    assert (declared["dis"], given_["dis"]) == (
        pytest.approx(0.6, rel=1e-15),
        pytest.approx(1 / 3, rel=1e-15),
    )
    assert "dis" not in neither
    assert declared["sum_of_dis_scores"] > given_["sum_of_dis_scores"]


def test_equal_scores_share_the_probability_equally():
    assert dis_suda(np.array([3, 3, 0]), 0.2, 2, 5).tolist() == pytest.approx([0.2, 0.2, 0.0], rel=1e-14)


def test_order_of_records_makes_no_difference():
    release = table([("x", i % 3, i % 5) for i in range(20)] + [("y", 1, 1)])

    assert outcome("suda", shuffled(release), dis_fraction=0.1) == outcome("suda", release, dis_fraction=0.1)


def test_wildcards_are_refused():
    with pytest.raises(PolicyError, match="must not overlap"):
        outcome("suda", table([("x",)]), policy={"conventions": {"missing_quasi_identifier": "wildcard"}})


@pytest.mark.parametrize(("name", "file"), [("francdat", "francdat"), ("free1_w", "free1")])
def test_sdcmicro_agrees(data: Path, name: str, file: str):
    whole = json.loads((data / "truth/individual_risk.json").read_text(encoding="utf-8"))[name]
    truth, names = whole["suda2"]["elliot"], dict(zip(whole["keyVars"], NAMES, strict=False))
    release = pyarrow.csv.read_csv(data / f"casc/{file}.csv").select(list(names)).rename_columns(list(names.values()))

    actual = outcome("suda", release, max_size=len(names), dis_fraction=0.01).details

    assert (actual["sum_of_scores"], actual["highest_score"]) == (truth["sum_score"], truth["max_score"])
    assert actual["records_singled_out"] == truth["n_score_gt0"]
    for one in truth["attribute_contributions"]:
        share = actual["contributions"][names[one["variable"]]]
        assert float(share) == pytest.approx(one["contribution"] / 100, rel=1e-12)
    # the tool keeps the fraction as a 32-bit float
    assert actual["highest_dis_score"] == pytest.approx(truth["max_dis"], rel=1e-7)
    assert actual["sum_of_dis_scores"] == pytest.approx(truth["sum_dis"], rel=1e-7)


def test_more_sets_than_can_be_looked_at_are_an_error():
    columns = [np.array([0, 1])] * 30

    with pytest.raises(CheckError, match="768,211 sets of at most 6 of 30 quasi-identifiers are too many"):
        minimal_uniques(columns, [2] * 30, 6)
