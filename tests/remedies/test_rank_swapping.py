"""Rank swapping: who changes places with whom, what of a column stays, and the weakest percentage that does."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings, strategies as st
from masked import PLUGINS, masked, paired_policy

from tcdp_audit import PolicyError, audit, fix, load_policy
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit_plugins.remedies.rank_swapping import PERCENTS, pairs_by_distribution, pairs_within

AGE = {"age": {"role": "quasi_identifier", "scale": "numeric"}}
LINKAGE = {"distance_record_linkage": {"at_most": 0.1}}


@settings(max_examples=40)
@given(st.integers(0, 60), st.integers(1, 70), st.integers(0, 2**32))
def test_pairs_are_within_reach_and_no_one_is_left_who_could_have_a_partner(count: int, width: int, seed: int) -> None:
    partner = pairs_within(count, width, np.random.default_rng(seed))
    assert partner[partner].tolist() == list(range(count))
    assert all(abs(int(other) - rank) <= width for rank, other in enumerate(partner))
    alone = np.flatnonzero(partner == np.arange(count))
    assert all(later - earlier > width for earlier, later in pairwise(alone))


@settings(max_examples=40)
@given(st.integers(0, 60), st.floats(0.1, 100), st.integers(0, 2**32))
def test_without_a_bound_at_most_one_is_left_alone(count: int, typical: float, seed: int) -> None:
    partner = pairs_by_distribution(count, typical, np.random.default_rng(seed))
    assert partner[partner].tolist() == list(range(count))
    assert int((partner == np.arange(count)).sum()) == count % 2


def test_every_partner_within_reach_is_drawn() -> None:
    drawn = {int(pairs_within(6, 2, np.random.default_rng(seed))[2]) for seed in range(60)}
    assert drawn == {0, 1, 2, 3, 4}  # itself where the four others have found each other


def test_distances_of_plain_pairs_are_spread_evenly_and_those_of_a_distribution_have_a_tail() -> None:
    random = np.random.default_rng(1)
    plain = np.abs(pairs_within(4000, 100, random) - np.arange(4000))
    assert 40 < plain.mean() < 60
    drawn = np.abs(pairs_by_distribution(4000, 50, random) - np.arange(4000))
    assert 45 < drawn.mean() < 70
    assert 0.02 < (drawn > 150).mean() < 0.1


def ranges_of(values: list[Any], sorted_values: list[Any]) -> list[tuple[int, int]]:
    """The first and the last rank of each value."""
    return [(sorted_values.index(v), len(sorted_values) - 1 - sorted_values[::-1].index(v)) for v in values]


@settings(max_examples=3)
@given(
    st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=4, max_size=30).filter(
        lambda ages: sum(age is not None for age in ages) >= 4
    ),
    st.sampled_from([25, 40, 100]),
    st.sampled_from(["plain", "p_distribution"]),
)
def test_a_column_keeps_its_values_and_ranks_keep_near(ages: list[int | None], percent: int, variant: str) -> None:
    table = pa.table({"age": pa.array(ages, pa.int64()), "note": [f"{i:03}" for i in range(len(ages))]})
    attributes = {**AGE, "note": {"role": "insensitive"}}
    done = masked(table, attributes, "rank_swapping", percent=percent, variant=variant, seed=len(ages))
    after = done.column("age")
    assert done.column("note") == table["note"].to_pylist()
    assert [one is None for one in after] == [one is None for one in ages]
    present = [one for one in ages if one is not None]
    assert sorted(one for one in after if one is not None) == sorted(present)
    assert done.notes["swapped"] + done.notes["alone"] == len(present)
    assert done.notes["without_value"] == len(ages) - len(present)
    if variant == "plain":
        released = [one for one in after if one is not None]
        ends = [ranges_of(one, sorted(present)) for one in (present, released)]
        apart = [max(a[0] - b[1], b[0] - a[1], 0) for a, b in zip(*ends, strict=True)]
        assert max(apart) <= percent * len(present) // 100
        assert done.notes["displacement"] <= percent * len(present) // 100


def test_ranks_of_an_order_and_suppressed_cells() -> None:
    cells = ["low", "*", "high", "middle", "low", "*", "high"]
    grade = {"role": "quasi_identifier", "scale": "ordinal", "order": ["low", "middle", "high"]}
    done = masked(pa.table({"grade": cells}), {"grade": grade}, "rank_swapping", percent=100)
    assert [one == "*" for one in done.column("grade")] == [one == "*" for one in cells]
    assert sorted(done.column("grade")) == sorted(cells)
    assert done.column("grade") != cells
    assert done.notes["without_value"] == 2


def test_the_seed_decides_and_every_attribute_is_swapped_by_itself() -> None:
    table = pa.table({"age": list(range(50)), "height": list(range(50))})
    attributes = {"age": "numeric", "height": "numeric"}
    one, two, three = (masked(table, attributes, "rank_swapping", percent=20, seed=seed) for seed in (1, 1, 2))
    assert one.table.equals(two.table)
    assert not one.table.equals(three.table)
    assert one.column("age") != one.column("height")


def test_the_order_of_records_does_not_matter() -> None:
    random = np.random.default_rng(4)
    table = pa.table({"age": random.integers(0, 9, 40), "height": random.integers(150, 200, 40)})
    attributes = {"age": "numeric", "height": "numeric"}
    order = random.permutation(40)
    one = masked(table, attributes, "rank_swapping", percent=20).table.take(order)
    two = masked(table.take(order), attributes, "rank_swapping", percent=20).table
    keys = [("age", "ascending"), ("height", "ascending")]
    assert one.sort_by(keys).equals(two.sort_by(keys))


def test_only_named_attributes_change() -> None:
    table = pa.table({"age": list(range(20)), "wage": list(range(20))})
    attributes = {**AGE, "wage": {"role": "sensitive", "scale": "numeric"}}
    done = masked(table, attributes, "rank_swapping", percent=50, attributes=["wage"])
    assert done.column("age") == list(range(20))
    assert done.column("wage") != list(range(20))
    assert masked(table, attributes, "rank_swapping", percent=50).column("wage") == list(range(20))


@pytest.mark.parametrize(
    ("ages", "parameters", "sentence"),
    [
        (list(range(20)), {"percent": 4}, "4 percent of 20 values of 'age' is less than one rank.*percentage is 5"),
        ([1, None], {"percent": 100}, "100 percent of 1 values of 'age' is less than one rank.*two values are needed"),
        (["[0, 10)", "[5, 15)"], {"percent": 50}, "generalised values of 'age' overlap"),
        (["[0, 10)", "[5, 15)"], {"percent": 50, "attributes": None}, "no quasi-identifier that is numeric or ordinal"),
        (list(range(20)), {}, "compare the release with its original.*nothing fails"),
        ([1, None], {}, "fewer than two records"),
    ],
)
def test_what_cannot_be_done_is_refused(ages: list[Any], parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RemedyError, match=sentence):
        masked(pa.table({"age": ages}), AGE, "rank_swapping", **{"attributes": ["age"], **parameters})


@pytest.mark.parametrize(
    ("attributes", "sentence"),
    [
        (["age", "age"], "named twice"),
        (["name"], "neither a quasi-identifier nor a sensitive attribute"),
        (["town"], "have no order"),
    ],
)
def test_attributes_that_a_policy_cannot_name(attributes: list[str], sentence: str) -> None:
    declared = {**AGE, "town": {"role": "quasi_identifier", "scale": "nominal"}, "name": {"role": "identifier"}}
    policy = paired_policy(declared, LINKAGE, remedy=[{"rank_swapping": {"attributes": attributes}}])
    with pytest.raises(PolicyError, match=sentence):
        load_policy(policy, PLUGINS)


def people(n: int = 120) -> pa.Table:
    random = np.random.default_rng(3)
    return pa.table({"age": random.integers(18, 90, n), "height": random.integers(140, 200, n)})


BOTH = {**AGE, "height": {"role": "quasi_identifier", "scale": "numeric"}}


@pytest.mark.long
def test_a_failing_linkage_is_met_by_the_weakest_percentage_that_does() -> None:
    table = people()
    policy = paired_policy(BOTH, {"distance_record_linkage": {"at_most": 0.2}}, remedy=[{"rank_swapping": {}}])
    done = fix(table, policy, table, plugins=PLUGINS)
    assert done.passed
    percent = done.log.steps[0].notes["percent"]
    assert 1 < percent < 100
    weaker = max(one for one in PERCENTS if one < percent)
    less = {**policy, "remedy": [{"rank_swapping": {"percent": weaker}}]}
    assert not fix(table, less, table, plugins=PLUGINS).passed
    assert fix(done.released, policy, table, plugins=PLUGINS).log.is_unchanged


@pytest.mark.long
def test_no_one_asks_for_it_and_it_is_planned() -> None:
    table = people()
    done = fix(table, paired_policy(BOTH, {"distance_record_linkage": {"at_most": 0.2}}), table, plugins=PLUGINS)
    assert done.passed
    assert done.log.planned
    assert "rank_swapping" in {one.remedy for one in done.log.tried}


@pytest.mark.long
def test_it_runs_once_even_if_another_remedy_goes_on() -> None:
    table = people()
    remedies = [{"rank_swapping": {"percent": 5}}, {"suppression": {"of": "cells"}}]
    expect = [{"distance_record_linkage": {"at_most": 0}}, {"k_anonymity": {"k": 3}}]
    done = fix(table, paired_policy(BOTH, *expect, remedy=remedies), table, plugins=PLUGINS)
    ran = [one.remedy for one in (*done.log.steps, *done.log.tried)]
    assert ran.count("rank_swapping") == 1


@pytest.mark.parametrize(
    ("expect", "sentence"),
    [
        ({"k_anonymity": {"k": 3}}, r"what fails \(k_anonymity\) is judged without the original"),
        (
            {"distance_record_linkage": {"at_most": 0}},
            r"no strength is enough; strength \d+ of 20, .*: distance_record_linkage 0\.\d+, where <= 0 is demanded",
        ),
    ],
)
def test_it_says_what_it_cannot_help(expect: dict[str, Any], sentence: str) -> None:
    table = people()
    done = fix(table, paired_policy(BOTH, expect, remedy=[{"rank_swapping": {}}]), table, plugins=PLUGINS)
    assert not done.passed
    assert re.search(sentence, done.log.tried[0].error)


def test_census_meets_linkage_and_intervals_at_once(data: Path) -> None:
    census = pyarrow.csv.read_csv(data / "casc" / "census.csv")
    attributes = {name: {"role": "quasi_identifier", "scale": "numeric"} for name in census.column_names}
    demands = [LINKAGE, {"rank_interval_disclosure": {"p": 10, "at_most": 0.2}}]
    for variant in ("plain", "p_distribution"):
        policy = paired_policy(attributes, *demands, remedy=[{"rank_swapping": {"variant": variant}}], seed=7)
        done = fix(census, policy, census, plugins=PLUGINS)
        assert done.passed
        assert audit(done.released, policy, census, plugins=PLUGINS).passed
        for name in census.column_names:
            assert sorted(done.released[name].to_pylist()) == sorted(census[name].to_pylist())
