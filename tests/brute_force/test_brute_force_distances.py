"""Distance-based linkage, what an intruder of partial knowledge gets, and closest records with a hold-out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import brute_distances as brute
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from brute_distances import Row
from hypothesis import assume, given, reject, settings, strategies as st

from tcdp_audit import audit
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
GRADES = ["low", "middle", "high"]
NUMERIC, NOMINAL = ("age", "grade"), ("city",)
ATTRIBUTES: dict[str, Any] = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "grade": {"role": "quasi_identifier", "scale": "ordinal", "order": GRADES},
    "city": {"role": "quasi_identifier", "scale": "nominal"},
}
TYPES = {"age": pa.int64(), "grade": pa.string(), "city": pa.string(), "id": pa.int64()}

row = st.fixed_dictionaries(
    {
        "age": st.sampled_from([20, 21, 30, None]),
        "grade": st.sampled_from([0, 1, 2, 2, None]),
        "city": st.sampled_from(["a", "b", "b", None]),
    }
)
in_one_city = st.fixed_dictionaries({"age": st.sampled_from([20, 21]), "grade": st.just(1), "city": st.just("b")})
tables = st.lists(row, min_size=1, max_size=7) | st.lists(in_one_city, min_size=1, max_size=5)
weightings = st.sampled_from([{}, {}, {"city": Fraction(3, 10)}, {"age": Fraction(0), "grade": Fraction(2)}])


def as_table(rows: Sequence[Row], keys: Sequence[int]) -> pa.Table:
    columns = {name: [one[name] for one in rows] for name in ATTRIBUTES}
    columns["grade"] = [None if rank is None else GRADES[rank] for rank in columns["grade"]]
    columns["id"] = list(keys)
    return pa.table({name: pa.array(column, TYPES[name]) for name, column in columns.items()})


Expectation = tuple[str, dict[str, Any]]


def asked(
    released: pa.Table, original: pa.Table, expect: Sequence[Expectation], holdout: pa.Table | None = None
) -> list[Outcome]:
    policy: dict[str, Any] = {
        "version": 1,
        "key": "id",
        "attributes": {**ATTRIBUTES, "id": {"role": "insensitive"}},
        "expect": [{check: given} for check, given in expect],
    }
    with TemporaryDirectory() as folder:
        if holdout is not None:
            pq.write_table(holdout, Path(folder) / "holdout.parquet")
            policy["holdout"] = str(Path(folder) / "holdout.parquet")
        return list(audit(released, policy, original, plugins=PLUGINS).expectations)


def written(weights: dict[str, Fraction]) -> dict[str, Any]:
    return {"weights": {name: str(one) for name, one in weights.items()}} if weights else {}


def links(
    released: Sequence[Row], known: Sequence[Row], partner: dict[int, int], weights: dict[str, Fraction]
) -> dict[str, brute.Linked] | None:
    """Both directions by definition, None where there is nothing to compare by."""
    distances = brute.squares(released, known, NUMERIC, NOMINAL, weights)
    if distances is None:
        return None
    back = {j: i for i, j in partner.items()}
    turned = [list(column) for column in zip(*distances, strict=True)]
    return {"masked_to_original": brute.linked(distances, partner), "original_to_masked": brute.linked(turned, back)}


@pytest.mark.long
@settings(max_examples=20)
@given(tables, tables, weightings, st.data())
def test_distance_linkage_in_both_directions(
    released: list[Row], original: list[Row], weights: dict[str, Fraction], data: st.DataObject
) -> None:
    keys = data.draw(st.permutations(range(max(len(released), len(original)) + 1)))[: len(released)]
    partner = {i: key for i, key in enumerate(keys) if key < len(original)}
    assume(partner)
    expected = links(released, original, partner, weights)
    tables = as_table(released, keys), as_table(original, range(len(original)))
    share = Fraction(0) if expected is None else expected["masked_to_original"].expected
    limits = [one for one in (share - Fraction(1, 10**6), share, share + Fraction(1, 10**6)) if 0 <= one < 1]
    given = [{"at_most": str(limit)} for limit in limits]
    outcome, *limited = asked(
        *tables, [("distance_record_linkage", {**one, **written(weights)}) for one in ({}, *given)]
    )
    if expected is None:
        assert outcome.status is Status.ERROR
        reject()
    assert outcome.details["expected"] == expected["masked_to_original"].expected
    assert outcome.details["rank_of_true_match"]["1"] == expected["masked_to_original"].first
    for direction, one in expected.items():
        actual = outcome.details[direction]
        for name in ("expected", "optimistic", "pessimistic", "attempts", "tied"):
            assert actual[name] == getattr(one, name)
    assert [one.status is Status.FAILED for one in limited] == [share > limit for limit in limits]


def test_a_city_that_is_the_same_in_the_whole_release_still_rules_out_others() -> None:
    """Two of the five lived elsewhere: a released record is sought among three, and 3 · 1/3 of 5 are right."""
    original = [{"age": None, "grade": None, "city": city} for city in "bbbac"]
    released = [{**one, "city": "b"} for one in original]
    (outcome,) = asked(as_table(released, range(5)), as_table(original, range(5)), [("distance_record_linkage", {})])
    assert outcome.details["expected"] == Fraction(1, 5)
    original = [{"age": age, "grade": None, "city": city} for age, city in zip([1, 1, 2, 1, 2], "bbbac", strict=True)]
    released = [{**one, "city": "b"} for one in original]
    (outcome,) = asked(as_table(released, range(5)), as_table(original, range(5)), [("distance_record_linkage", {})])
    assert outcome.details["expected"] == Fraction(2, 5)
    assert outcome.details["without_variance"] == ["grade"]


def test_a_synthetic_record_of_a_city_that_no_original_has_is_at_distance_1() -> None:
    original = as_table([{"age": age, "grade": 0, "city": "a"} for age in (20, 30)], range(2))
    released = as_table([{"age": age, "grade": 0, "city": "b"} for age in (20, 30)], range(2))
    (outcome,) = asked(released, original, [("distance_to_closest_record", {})])
    assert outcome.observed == 1
    assert outcome.details["without_variance"] == ["grade"]


@pytest.mark.long
@settings(max_examples=25)
@given(
    st.lists(row, min_size=2, max_size=5), st.sampled_from(["1/4", "1/2", "3/4", "1"]), st.integers(0, 99), st.data()
)
def test_an_intruder_who_knows_some_links_as_with_one_of_the_possible_choices(
    original: list[Row], fraction: str, seed: int, data: st.DataObject
) -> None:
    keys = data.draw(st.permutations(range(len(original) + 1)))[:3]
    released = data.draw(st.lists(row, min_size=len(keys), max_size=len(keys)))
    known = max(1, round(Fraction(fraction) * len(original)))
    possible: list[tuple[Any, ...]] = []
    for chosen in combinations(range(len(original)), known):
        partner = {i: chosen.index(key) for i, key in enumerate(keys) if key in chosen}
        one = links(released, [original[j] for j in chosen], partner, {}) if partner else None
        possible.append(() if one is None else tuple((vars(one[way]), len(partner)) for way in sorted(one)))
    tables = as_table(released, keys), as_table(original, range(len(original)))
    expect = [("distance_record_linkage", {"known_fraction": fraction, "seed": seed})]
    (outcome,) = asked(*tables, expect)
    if outcome.status is Status.ERROR:
        assert () in possible or not set(keys) & set(range(len(original)))
        reject()
    reported = tuple(
        (
            {
                name: outcome.details[way][name]
                for name in ("expected", "optimistic", "pessimistic", "attempts", "tied")
            },
            outcome.details["matched"],
        )
        for way in ("masked_to_original", "original_to_masked")
    )
    without_first = [
        tuple(({name: figure for name, figure in one.items() if name != "first"}, n) for one, n in choice)
        for choice in possible
    ]
    assert reported in without_first


@pytest.mark.long
def test_every_individual_is_known_to_the_intruder_as_often_as_any_other() -> None:
    """Of four, one is known: each in about a quarter of 200 draws, told by the size of its own tie."""
    original = [{"age": age, "grade": None, "city": None} for age in (10, 20, 30, 40)]
    released = original[:1]
    tables = as_table(released, [0]), as_table(original, range(4))
    given = [{"known_fraction": "1/4", "seed": seed, "attributes": ["city"]} for seed in range(200)]
    outcomes = asked(*tables, [("distance_record_linkage", one) for one in given])
    assert 30 <= sum(one.status is not Status.ERROR for one in outcomes) <= 70  # the others drew nobody who is released


@pytest.mark.long
@settings(max_examples=25)
@given(released=tables, original=tables, holdout=tables, weights=weightings)
def test_closest_records_with_a_holdout(
    released: list[Row], original: list[Row], holdout: list[Row], weights: dict[str, Fraction]
) -> None:
    expected = [brute.squares(released, one, NUMERIC, NOMINAL, weights, original) for one in (original, holdout)]
    tables = [as_table(rows, range(len(rows))) for rows in (released, original, holdout)]
    checks = ("distance_to_closest_record", "nearest_neighbour_distance_ratio")
    outcomes = asked(*tables[:2], [(check, written(weights)) for check in checks], tables[2])
    for check, outcome in zip(checks, outcomes, strict=True):
        ratio = check == "nearest_neighbour_distance_ratio"
        if None in expected or (ratio and min(len(original), len(holdout)) < 2):
            assert outcome.status is Status.ERROR
            continue
        reported = outcome.details, outcome.details["holdout"]
        for match, distances in zip(reported, expected, strict=True):
            by_definition = brute.closest(distances or [], ratio=ratio)
            assert (match["percentile_5"], match["median"]) == pytest.approx(by_definition, abs=1e-7)
        assert outcome.details["holdout"]["records"] == len(holdout)
        assert outcome.observed == outcome.details["percentile_5"]
