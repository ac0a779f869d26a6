"""k-map and delta-presence: classes of the release and of the population under one key."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings, strategies as st
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


TREE = {"any": {"north": ["p", "q"], "south": ["r", "s"]}}
CELLS = {"p": ["p", "north", "any", "{p, r}", "*"], "q": ["q", "north", "any", "*"], "r": ["r", "south", "{p, r}"]}
AGES = {1: ["1", "[1, 3)", "[1, 9]", "*"], 2: ["2", "[1, 3)", "[2, 6)"], 5: ["5", "[3, 9]", "[2, 6)", "*"]}
COVERED = {
    "north": "pq",
    "south": "rs",
    "any": "pqrs",
    "{p, r}": "pr",
    "*": "pqrs",
    "[1, 3)": (1, 2),
    "[1, 9]": (1, 2, 5),
    "[2, 6)": (2, 5),
    "[3, 9]": (5,),
}
PEOPLE = st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from([1, 2, 5])), min_size=1, max_size=12)


def covers(cell: str, value: Any) -> bool:
    return cell == str(value) or cell == "*" or value in COVERED.get(cell, ())


def released(draw: st.DataObject, people: list[Row]) -> list[Row]:
    """Some people, at least one, each with cells that cover their values."""
    count = draw.draw(st.integers(1, len(people)))
    cells = [[draw.draw(st.sampled_from(CELLS[one])), draw.draw(st.sampled_from(AGES[age]))] for one, age in people]
    assume(any(one != ["*", "*"] for one in cells[:count]))  # of which no figure is read
    return [tuple(one) for one in cells[:count]]


@settings(max_examples=3, deadline=None)  # an audit takes a while
@given(PEOPLE, st.data())
def test_people_are_counted_by_the_cells_that_cover_them(people: list[Row], data: st.DataObject):
    counted_by_cells(people, data)


@pytest.mark.long
@settings(max_examples=30, deadline=None)  # an audit takes a while
@given(PEOPLE, st.data())
def test_people_of_many_tables_are_counted_by_the_cells_that_cover_them(people: list[Row], data: st.DataObject):
    counted_by_cells(people, data)


def counted_by_cells(people: list[Row], data: st.DataObject) -> None:
    """Compare with plain counting."""
    rows = released(data, people)
    population = pa.table({"a": [one for one, _ in people], "b": [age for _, age in people]})
    attributes = {
        "a": {"role": "quasi_identifier", "scale": "nominal", "hierarchy": TREE},
        "b": {"role": "quasi_identifier", "scale": "numeric"},
    }
    policy = {"attributes": attributes}
    result = outcome("k_map", table(rows), population, policy)
    exact = outcome("population_uniqueness", table(rows), population, policy)

    matching = {row: sum(all(map(covers, row, one)) for one in people) for row in rows}
    equal = {row: sum(row == tuple(map(str, one)) for one in people) for row in rows}
    if all(equal.values()):
        matching = equal  # the population has every cell, and is read as it is
    counts = Counter(rows)
    if any(counts[row] > size for row, size in matching.items()):
        assert result.status.value == "error"  # a released cell that is in the population as well
        return
    assert result.observed == min(matching.values())
    assert result.details["population_records"] == len(people)
    alone = [row for row in counts if counts[row] == 1]
    assert exact.observed == (sum(matching[row] == 1 for row in alone) / len(alone) if alone else 0)


def test_a_cell_that_covers_no_one_is_no_part_of_the_population():
    policy = {"attributes": {"a": {"role": "quasi_identifier", "scale": "nominal", "hierarchy": TREE}}}
    people = table([("p",), ("q",), ("p",)])

    assert outcome("k_map", table([("north",)]), people, policy).observed == 3
    assert outcome("k_map", table([("north",), ("south",)]), people, policy).message.startswith("the population lacks")
    assert outcome("k_map", table([("elsewhere",)]), people, policy).message.startswith("the population lacks")
    short = outcome("k_map", table([("north",)] * 4), people, policy)
    assert short.message.startswith("in 1 class the release has more records than the population")


def test_presence_in_cells_that_overlap_is_no_figure():
    policy = {"attributes": {"a": {"role": "quasi_identifier", "scale": "nominal", "hierarchy": TREE}}}
    people = table([("p",), ("q",), ("r",), ("r",)])

    apart = outcome("delta_presence", table([("north",), ("south",)]), people, policy)
    over = outcome("delta_presence", table([("north",), ("any",)]), people, policy)
    assert (apart.observed, apart.details["classes_not_released"]) == (0.5, 0)
    assert over.status.value == "error"
    assert over.message.startswith("cells of the release overlap")


def test_a_missing_cell_is_no_cell_that_covers_everyone():
    policy = {"attributes": {"a": {"role": "quasi_identifier", "scale": "nominal", "hierarchy": TREE}}}
    release = pa.table({"a": ["north", None]})

    assert outcome("k_map", release, table([("p",), ("q",)]), policy).status.value == "error"
