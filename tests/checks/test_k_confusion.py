"""k-confusion: the least number of candidates that an attack leaves, whichever attack it is."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from attacked_tables import attacked

import tcdp_audit
from tcdp_audit.core.base.outcome import Outcome, Status

CONFUSION = "k_confusion"
SWAP = "rank_swap_attack"


@pytest.mark.parametrize(("attributes", "least"), [(3, 3), (5, 1)])
def test_census_swapped_within_fifteen_percent(data: Path, attributes: int, least: int):
    census = pd.read_csv(data / "casc/census.csv")
    masked = pd.read_csv(data / "casc/census_masked/rankswap_P15.csv")
    names = list(census)[:attributes]
    attack = {SWAP: {"p": 15, "closure": False}}
    outcome = attacked(CONFUSION, masked[names], census[names], attack=attack, k=2)
    assert (outcome.observed, outcome.status) == (least, Status.PASSED if least > 1 else Status.FAILED)


KNOWN = {"a": [1, 2, 3, 4], "b": [1, 3, 2, 4]}
SWAPPED = {"a": [2, 1, 4, 3], "b": [1, 3, 2, 4]}


def test_candidates_are_those_of_the_attack():
    before = {SWAP: {"displacement": 1, "closure": False}}
    outcome = attacked(CONFUSION, SWAPPED, KNOWN, attack=before, k=2)  # sets {1}, {2, 4}, {1, 3}, {4}
    assert (outcome.observed, outcome.status) == (1, Status.FAILED)
    assert (outcome.details["at_the_least"], outcome.details["alone"]) == (2, 2)
    assert outcome.details["mean_candidates"] == 1.5
    assert [tuple(row) for row in outcome.details["distribution"]] == [(1, 2, 2), (2, 2, 2)]
    assert outcome.records is not None
    assert outcome.records.failing == 2
    assert outcome.parameters["attack"] == before
    after = attacked(CONFUSION, SWAPPED, KNOWN, attack={SWAP: {"displacement": 1}})
    assert (after.details["alone"], after.status) == (4, Status.MEASURED)


def test_groups_are_candidates_and_columns_of_blocks_are_known():
    groups = {"microaggregation_attack": {"method": "known_groups", "blocks": [["b"], ["a"]]}}
    outcome = attacked(CONFUSION, {"a": [2, 2, 5], "b": [7, 7, 7]}, {"a": [1, 3, 5], "b": [6, 7, 8]}, attack=groups)
    assert (outcome.observed, outcome.details["mean_candidates"]) == (1, 5 / 3)
    assert outcome.known == ("a", "b")


def test_an_attack_that_is_wrong_is_an_error_with_and_without_a_demand():
    for demand in ({}, {"k": 2}):
        outcome = attacked(CONFUSION, SWAPPED, KNOWN, attack={SWAP: {"displacement": 0}}, **demand)
        assert outcome.status is Status.ERROR
        assert "wrong about 4 of 4 records" in outcome.message


def randomised(**parameters: Any) -> Outcome:
    """Three people, whose values were kept with probability 1/2 and otherwise became one of two others."""
    policy = {
        "version": 1,
        "rows_aligned": True,
        "attributes": {"a": {"role": "quasi_identifier", "scale": "nominal"}},
        "expect": [{CONFUSION: {"attack": {"pram_attack": {"retention": {"a": "1/2"}}}, **parameters}}],
    }
    table = pa.table({"a": ["x", "y", "z"]})
    return tcdp_audit.audit(table, policy, table).expectations[0]


@pytest.mark.parametrize(("probability", "least"), [(0, 3), ("1/5", 3), ("1/4", 1), ("1/3", 1), ("1/2", 3), ("3/5", 3)])
def test_a_probability_leaves_out_who_is_unlikely(probability, least):
    # posteriors 1/2, 1/4, 1/4; above 1/2 there is nobody, so that all three are alike
    outcome = randomised(probability=probability)
    assert (outcome.observed, outcome.parameters["probability"]) == (least, Fraction(probability))


@pytest.mark.parametrize(("probability", "least"), [(0, 3), ("1/10", 2), ("3/5", 3)])
def test_noise_leaves_anyone_near(probability, least):
    # one standard deviation of the noise from each to the next: 0.57, 0.35, 0.08 at the ends, 0.27, 0.45, 0.27 between
    policy = {
        "version": 1,
        "rows_aligned": True,
        "attributes": {"a": {"role": "quasi_identifier", "scale": "numeric"}},
        "expect": [{CONFUSION: {"attack": {"noise_attack": {"sd": 100}}, "probability": probability}}],
    }
    table = pa.table({"a": [0, 10, 20]})
    assert tcdp_audit.audit(table, policy, table).expectations[0].observed == least


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"attack": {}}, "name one attack: rank_swap_attack"),
        ({"attack": {SWAP: {}, "microaggregation_attack": {}}}, "name one attack"),
        ({"attack": {SWAP: {"at_most": 0}}}, "`at_most` of rank_swap_attack says nothing here"),
        ({"attack": {SWAP: {"attributes": ["c"]}}}, "attributes: the policy declares no attribute 'c'"),
        ({"attack": {SWAP: {}}, "k": 3, "probability": "1/2"}, "give at most 1/3"),
    ],
)
def test_what_contradicts_itself_is_a_fault_of_the_policy(parameters: dict[str, Any], sentence: str):
    with pytest.raises(tcdp_audit.PolicyError, match=sentence):
        attacked(CONFUSION, SWAPPED, KNOWN, **parameters)


def test_a_fault_of_the_whole_attack_is_reported():
    policy = {
        "version": 1,
        "rows_aligned": True,
        "attributes": {"a": {"role": "quasi_identifier", "scale": "nominal"}},
        "expect": [{CONFUSION: {"attack": {SWAP: {}}}}],
    }
    table = pa.table({"a": ["x", "y"]})
    with pytest.raises(tcdp_audit.PolicyError, match="attack: no quasi-identifier is numeric"):
        tcdp_audit.audit(table, policy, table)
