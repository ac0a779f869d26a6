"""k-map and delta-presence: classes of the release and of the population under one key."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from population_tables import Row, outcome, shuffled, table

from tcdp_audit import PolicyError
from tcdp_audit_plugins.checks.population import presence

RELEASE: list[Row] = [("x",), ("y",), ("y",), ("z",)]
POPULATION: list[Row] = [("x",)] * 3 + [("y",)] * 5 + [("z",)] * 4 + [("w",)] * 2

rows = st.lists(st.tuples(st.sampled_from("pqrs"), st.sampled_from("uv")), min_size=1, max_size=15)


@pytest.mark.parametrize(("k", "status", "failing"), [(3, "passed", 0), (4, "failed", 1), (5, "failed", 2)])
def test_k_map_looks_classes_up_in_the_population(k: int, status: str, failing: int):
    result = outcome("k_map", table(RELEASE), table(POPULATION), k=k)

    assert (result.status.value, result.observed) == (status, 3.0)
    assert result.records is not None
    assert (result.records.total, result.records.failing) == (4, failing)
    assert result.details["distribution"] == [[3.0, 1, 1], [4.0, 1, 1], [5.0, 1, 2]]
    assert (result.details["records_at_the_least"], result.details["population_records"]) == (1, 14)


@pytest.mark.parametrize(
    ("bounds", "status"),
    [
        ({"delta_max": "2/5"}, "passed"),
        ({"delta_max": "0.4"}, "passed"),
        ({"delta_max": "0.39999999999999999999"}, "failed"),
        ({"delta_max": 1, "delta_min": 0}, "measured"),
        ({"delta_max": "0.9", "delta_min": 0}, "passed"),
        ({"delta_max": 1, "delta_min": "0.0000001"}, "failed"),
        ({}, "measured"),
    ],
)
def test_delta_is_bounded_from_both_sides(bounds: dict[str, Any], status: str):
    result = outcome("delta_presence", table(RELEASE), table(POPULATION), **bounds)

    assert (result.status.value, result.observed, result.details["least"]) == (status, 0.4, 0)
    assert (result.details["classes_not_released"], result.details["population_records"]) == (1, 14)


def test_classes_that_were_not_released_have_delta_zero():
    result = outcome("delta_presence", table(RELEASE), table(POPULATION[:-2]), delta_max=1, delta_min="1/4")

    assert (result.status.value, result.details["least"], result.details["classes_not_released"]) == (
        "passed",
        Fraction(1, 4),
        0,
    )
    failed = outcome("delta_presence", table(RELEASE), table(POPULATION), delta_max=1, delta_min="1/4")
    assert (failed.status.value, failed.details["least"], failed.classes.failing) == ("failed", 0, 1)


@pytest.mark.long
@settings(max_examples=15, deadline=None)  # an audit takes a while
@given(rows, rows)
def test_both_by_plain_counting(release: list[Row], others: list[Row]):
    sample, population = Counter(release), Counter([*release, *others])
    deltas = [Fraction(sample[one], size) for one, size in population.items()]

    mapped = outcome("k_map", table(release), table([*release, *others]))
    present = outcome("delta_presence", table(release), table([*release, *others]))

    assert mapped.observed == min(population[one] for one in sample)
    assert (present.observed, present.details["least"]) == (float(max(deltas)), min(deltas))


def test_fractions_that_floats_cannot_tell_apart():
    large = 2**62
    _, least, largest = presence(np.array([large - 1, large - 2]), np.array([large, large - 1]))

    assert (least, largest) == (Fraction(large - 2, large - 1), Fraction(large - 1, large))


@pytest.mark.parametrize("check", ["k_map", "delta_presence"])
def test_a_release_that_is_no_part_of_the_population_is_an_error(check: str):
    lacking = outcome(check, table(RELEASE), table(POPULATION[3:]))
    short = outcome(check, table(RELEASE), table([*POPULATION[:3], *POPULATION[7:]]))
    none = outcome(check, table(RELEASE))

    assert [one.status.value for one in (lacking, short, none)] == ["error"] * 3
    assert lacking.message.startswith("the population lacks 1 class of the release, with 1 record; generalise it as")
    assert short.message.startswith("in 1 class the release has more records than the population; name")
    assert none.message == "no population is given; name it in the policy as `population:`"


@pytest.mark.parametrize("check", ["k_map", "delta_presence"])
def test_order_of_records_makes_no_difference(check: str):
    one = outcome(check, table(RELEASE), table(POPULATION))
    other = outcome(check, shuffled(table(RELEASE), 3), shuffled(table(POPULATION), 4))

    assert one == other


@pytest.mark.parametrize(
    ("bounds", "sentence"),
    [
        ({"delta_min": 0}, "also needs a `delta_max`"),
        ({"delta_min": 0.5, "delta_max": 0.4}, "must not be above"),
        ({"delta_max": 1.5}, "must be at most 1"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(bounds: dict[str, float], sentence: str):
    with pytest.raises(PolicyError, match=sentence):
        outcome("delta_presence", table(RELEASE), table(POPULATION), **bounds)
