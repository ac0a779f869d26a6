"""Distance-based linkage against independent figures, against exact arithmetic, and what it promises to keep."""

from __future__ import annotations

import json
from decimal import Decimal, getcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st

import tcdp_audit
from tcdp_audit.core.base.outcome import Outcome, Status

MASKED = ["mdav_k3", "mdav_k5", "mdav_k10", "addnoise_additive_5", "addnoise_additive_20"]
MASKED += ["rankswap_P1", "rankswap_P5", "rankswap_P15"]
DIRECTIONS = ("masked_to_original", "original_to_masked")


def linked(released: pd.DataFrame, original: pd.DataFrame, scales: dict[str, Any], **parameters: Any) -> Outcome:
    attributes: dict[str, Any] = {
        name: {"role": "quasi_identifier", **(scale if isinstance(scale, dict) else {"scale": scale})}
        for name, scale in scales.items()
    }
    attributes["id"] = {"role": "insensitive"}
    policy = {
        "version": 1,
        "key": "id",
        "attributes": attributes,
        "expect": [{"distance_record_linkage": parameters}],
    }
    (outcome,) = tcdp_audit.audit(released, policy, original).expectations
    return outcome


def keyed(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(columns).assign(id=lambda table: range(len(table)))


ORIGINAL, RELEASED = keyed(v=[1, 2, 3, 10, 11, 12]), keyed(v=[2, 2, 2, 11, 11, 11])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_six_values_give_a_third_in_any_order_of_rows(seed: int, direction: str):
    released, original = (
        RELEASED.sample(frac=1, random_state=seed),
        ORIGINAL.sample(frac=1, random_state=seed + 50),
    )
    outcome = linked(released, original, {"v": "numeric"}, direction=direction)
    assert outcome.details["expected"] == Fraction(1, 3)
    assert outcome.details["random_baseline"] == Fraction(1, 6)


def test_ties_are_reported_from_both_ends():
    details = linked(RELEASED, ORIGINAL, {"v": "numeric"}).details
    to_original, to_masked = (details[name] for name in DIRECTIONS)
    assert (to_original["optimistic"], to_original["pessimistic"]) == (Fraction(1, 3), Fraction(1, 3))
    assert (to_masked["optimistic"], to_masked["pessimistic"], to_masked["tied"]) == (1, 0, 6)


def test_the_threshold_is_compared_exactly():
    assert linked(RELEASED, ORIGINAL, {"v": "numeric"}, at_most="1/3").status is Status.PASSED
    failed = linked(RELEASED, ORIGINAL, {"v": "numeric"}, at_most=0.3333333333333333)
    assert failed.status is Status.FAILED
    assert failed.message == (
        "An intruder who knows 'v' and links each released record to the nearest known one finds the "
        "right person for 2 of 6 records (33.333333333333330%), where at most 33.33333333333333% is "
        "allowed; guessing finds 16.7%."
    )


@pytest.fixture(scope="session")
def census(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "casc/census.csv")


@pytest.mark.parametrize("name", MASKED)
def test_census_agrees_with_independent_figures(data: Path, census: pd.DataFrame, name: str):
    masked = pd.read_csv(data / f"casc/census_masked/{name}.csv")
    truth = json.loads((data / "truth/census_disclosure_and_linkage.json").read_text())[name]["dbrl"][
        "std_each_by_itself"
    ]
    ids = range(len(census))
    shuffled = masked.assign(id=ids).sample(frac=1, random_state=1)
    outcomes = [
        linked(released, census.assign(id=ids), dict.fromkeys(census, "numeric"))
        for released in (masked.assign(id=ids), shuffled)
    ]
    assert outcomes[0] == outcomes[1]
    details = outcomes[0].details
    for direction in DIRECTIONS:
        actual, expected = details[direction], truth[direction]
        assert float(actual["expected_correct"]) == pytest.approx(expected["expected_correct"], abs=1e-9)
        assert actual["optimistic"] * 1080 == expected["correct_incl_ties"]
        assert actual["pessimistic"] * 1080 == expected["correct_unique"]
        assert actual["tied"] == expected["records_with_ties"]
    assert details["rank_of_true_match"]["2"] == truth["masked_to_original"]["exact_one_closer"]
    assert details["ranks_examined"] == 1080


def in_decimals(released: list[tuple[int, ...]], original: list[tuple[int, ...]]) -> Fraction:
    """Expected share by 60-digit arithmetic over all pairs; distances within 1e-40 are equal."""
    getcontext().prec = 60

    def standardised(rows: list[tuple[int, ...]]) -> list[list[Decimal]]:
        columns = []
        for column in zip(*rows, strict=True):
            mean = Decimal(sum(column)) / len(rows)
            variance = sum((value - mean) ** 2 for value in column) / (len(rows) - 1)
            columns.append([(value - mean) / variance.sqrt() if variance else None for value in column])
        return [list(row) for row in zip(*columns, strict=True)]

    a, b = standardised(released), standardised(original)
    earned = Fraction(0)
    for i, own in enumerate(a):
        squares = [
            sum((x - y) ** 2 for x, y in zip(own, other, strict=True) if x is not None and y is not None) for other in b
        ]
        tied = [j for j, square in enumerate(squares) if square - min(squares) < Decimal("1e-40")]
        earned += Fraction(i in tied, len(tied))
    return earned / len(a)


rows = st.lists(st.tuples(*[st.integers(0, 4)] * 4), min_size=3, max_size=12).filter(
    lambda table: len({row[:2] for row in table}) > 1 and len({row[2:] for row in table}) > 1
)


@pytest.mark.long
@settings(max_examples=30, deadline=None)
@given(rows, st.randoms(use_true_random=False))
def test_linkage_is_that_of_sixty_digits_in_any_order(table: list[tuple[int, ...]], random: Any):
    released, original = [row[:2] for row in table], [row[2:] for row in table]
    usable = [j for j in (0, 1) if min(len({row[j] for row in side}) for side in (released, original)) > 1]
    assume(usable)
    frames = [keyed(**{f"v{j}": [row[j] for row in side] for j in (0, 1)}) for side in (released, original)]
    expected = in_decimals(*([tuple(row[j] for j in usable) for row in side] for side in (released, original)))
    shuffled = [frame.iloc[random.sample(range(len(frame)), len(frame))] for frame in frames]
    outcomes = [linked(*some, {"v0": "numeric", "v1": "numeric"}) for some in (frames, shuffled)]
    assert outcomes[0].details["expected"] == expected
    assert outcomes[0] == outcomes[1]


def test_nominal_ordinal_and_numeric_attributes_together():
    original = keyed(city=["a", "a", "b", "b"], grade=["low", "mid", "mid", "high"], age=[20, 30, 40, 50])
    released = original.assign(city=["a", "a", "b", "a"])
    order = {"scale": "ordinal", "order": ["low", "mid", "high"]}
    outcome = linked(released, original, {"city": "nominal", "grade": order, "age": "numeric"})
    # the last record, moved to another city, still is nearest to itself: 1 against (2 ranks / sd)^2 and more
    assert outcome.details["expected"] == 1
    assert linked(released, original, {"city": "nominal"}).details["expected"] == Fraction(3, 2 * 4)


def test_weights_decide_which_attribute_counts():
    original = keyed(x=[0, 0, 1, 1], y=[0, 1, 0, 1])
    released = original.assign(y=[1, 0, 1, 0])
    scales = {"x": "nominal", "y": "nominal"}
    assert linked(released, original, scales).details["expected"] == 0
    assert linked(released, original, scales, weights={"y": 0}).details["expected"] == Fraction(1, 2)


def test_a_missing_cell_neither_attracts_nor_repels():
    original = keyed(x=[0.0, 1.0, 2.0, 3.0], y=[0, 1, 2, 3])
    released = original.assign(x=[0.0, 1.0, 2.0, None])
    outcome = linked(released, original, {"x": "numeric", "y": "numeric"})
    assert outcome.details["missing_cells"] == 1
    alone = linked(released, original, {"x": "numeric"})
    # x of the release is standardised to -1, 0, 1, that of the original to -1.16, -0.39, 0.39, 1.16
    assert alone.details["expected_correct"] == 1 + Fraction(1, 2) + 0 + Fraction(1, 4)
    assert outcome.details["expected_correct"] > alone.details["expected_correct"]


def test_attributes_with_one_value_weigh_nothing_and_are_named():
    outcome = linked(RELEASED.assign(w=7), ORIGINAL.assign(w=range(6)), {"v": "numeric", "w": "numeric"})
    assert outcome.details["without_variance"] == ["w"]
    assert outcome.details["expected"] == Fraction(1, 3)
    nothing = linked(RELEASED.assign(v=7), ORIGINAL, {"v": "numeric"})
    assert nothing.status is Status.ERROR
    assert "varies in both tables" in nothing.message


def test_suppressed_and_unpaired_records_are_counted():
    released = pd.DataFrame({"v": [2, 11, 500], "id": [0, 4, 99]})
    outcome = linked(released, ORIGINAL, {"v": "numeric"})
    reported = {
        name: outcome.details[name] for name in ("matched", "released_without_original", "originals_not_released")
    }
    assert reported == {"matched": 2, "released_without_original": 1, "originals_not_released": 4}
    assert outcome.records is not None
    assert outcome.records.total == 2


def test_an_intruder_who_knows_some_individuals():
    rng = np.random.default_rng(3)
    original = keyed(v=rng.normal(size=400), w=rng.normal(size=400))
    released = original.assign(v=original["v"] + rng.normal(scale=0.3, size=400))
    scales = {"v": "numeric", "w": "numeric"}
    some = linked(released, original, scales, known_fraction=0.25, seed=7)
    again = linked(
        released.sample(frac=1, random_state=1),
        original.sample(frac=1, random_state=2),
        scales,
        known_fraction=0.25,
        seed=7,
    )
    assert some == again
    assert some.parameters["seed"] == 7
    assert some.details["attempts"] == some.details["matched"] == 100
    low, high = some.details["confidence_interval"]
    assert 0 <= low < some.observed < high <= 1
    assert high - low == pytest.approx(2 * 1.96 * (some.observed * (1 - some.observed) / 100) ** 0.5, rel=0.1)
    assert (
        some.details["expected"] != linked(released, original, scales, known_fraction=0.25, seed=8).details["expected"]
    )


@pytest.mark.parametrize(
    ("attributes", "parameters", "sentence"),
    [
        ({"v": {"role": "quasi_identifier"}}, {}, "'v' has no scale"),
        ({"v": {"role": "quasi_identifier", "scale": "ordinal"}}, {}, "declare its `order"),
        (
            {"v": {"role": "quasi_identifier", "scale": "numeric"}},
            {"weights": {"w": 1}},
            "'w' is weighed but not compared",
        ),
        ({"v": {"role": "quasi_identifier", "scale": "numeric"}}, {"attributes": ["id"]}, "'id' is the key"),
        ({"v": {"role": "quasi_identifier", "scale": "numeric"}}, {"attributes": ["x"]}, "no attribute 'x'"),
    ],
)
def test_what_cannot_be_compared_is_a_fault_of_the_policy(attributes: dict[str, Any], parameters: Any, sentence: str):
    policy = {
        "version": 1,
        "key": "id",
        "attributes": {**attributes, "id": {"role": "insensitive"}},
        "expect": [{"distance_record_linkage": parameters}],
    }
    with pytest.raises(tcdp_audit.PolicyError, match=sentence):
        tcdp_audit.audit(RELEASED, policy, ORIGINAL)


def test_repeated_keys_are_an_error_without_a_figure():
    outcome = linked(RELEASED.assign(id=[0, 0, 1, 2, 3, 4]), ORIGINAL, {"v": "numeric"})
    assert outcome.status is Status.ERROR
    assert outcome.observed is None
    assert "appears in more than one record" in outcome.message
