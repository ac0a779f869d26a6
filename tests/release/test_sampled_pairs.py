"""Release and original that outgrow the memory: what is estimated of them, and what is never claimed."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit import Outcome, Status, audit, fix
from tcdp_audit.core.check.table_view import TableView
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.session.registry import Plugins

RECORDS = 1_500
PLUGINS = Plugins.load(external=False)
LITTLE, MUCH = 2**18, 2**30
NUMERIC = {"role": "quasi_identifier", "scale": "numeric"}
ATTRIBUTES = {"age": NUMERIC, "income": NUMERIC, "id": {"role": "identifier"}}
SD = {"sd_interval_disclosure": {"p": 40}}
WORST = {"sd_interval_disclosure": {"p": 40, "aggregate": "worst"}}
RANK = {"rank_interval_disclosure": {"p": 40}}
LINKAGE = {"distance_record_linkage": {}}
LONG_RANK = pytest.param(RANK, marks=pytest.mark.long)


def named(expectation: Mapping[str, Any]) -> str:
    return next(iter(expectation))


@cache
def tables() -> tuple[pa.Table, pa.Table]:
    draw = np.random.default_rng(3)
    age, income = draw.integers(18, 90, RECORDS), draw.lognormal(8, 1, RECORDS).round()
    keys = [f"person {number}" for number in range(RECORDS)]
    original = pa.table({"id": keys, "age": age, "income": income})
    noisy = {"age": age + draw.integers(-8, 9, RECORDS), "income": (income * draw.uniform(0.8, 1.2, RECORDS)).round()}
    release = pa.table({"id": keys, **noisy})
    return release.take(draw.permutation(RECORDS)), original


def asked(expectation: Mapping[str, Any], memory: int, key: str | None = "id", **changes: Any) -> Outcome:
    release, original = changes.pop("tables", tables())
    pairing: dict[str, Any] = {"rows_aligned": True} if key is None else {"key": key}
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": [expectation], **pairing, **changes}
    return audit(release, policy, original, memory=memory).expectations[0]


def demanding(expectation: Mapping[str, Any], at_most: Fraction | float | str) -> dict[str, Any]:
    ((name, parameters),) = expectation.items()
    return {name: {**parameters, "at_most": str(at_most)}}


# What is said


@pytest.mark.parametrize("expectation", [SD, LONG_RANK, LINKAGE], ids=named)
def test_an_estimate_says_what_it_rests_on_and_holds_the_figure_of_all_pairs(expectation: dict[str, Any]) -> None:
    whole, sampled = asked(expectation, MUCH), asked(expectation, LITTLE)
    estimate = sampled.details["estimate"]

    assert "estimate" not in whole.details
    assert sampled.status is Status.MEASURED
    assert estimate["low"] <= whole.observed <= estimate["high"]
    assert estimate["low"] <= sampled.observed <= estimate["high"]
    assert (estimate["of_records"], estimate["seed"], estimate["confidence"]) == (RECORDS, 0, Fraction(99, 100))
    assert sampled.records.total == estimate["pairs"] == sampled.details["matched"] < RECORDS
    assert (
        f"Estimated from {estimate['pairs']:,} of 1,500 released records, drawn by seed 0: with 99%" in sampled.message
    )


@pytest.mark.long
def test_the_seed_of_the_policy_draws() -> None:
    first, again, other = (asked(SD, LITTLE, seed=seed) for seed in (5, 5, 6))

    assert first.as_json() == again.as_json()
    assert first.details["estimate"]["seed"] == 5
    assert first.observed != other.observed


@pytest.mark.long
@pytest.mark.parametrize("key", ["id", None])
@pytest.mark.parametrize("expectation", [SD, RANK, LINKAGE], ids=named)
def test_a_sample_of_all_pairs_has_the_figures_of_all(
    expectation: dict[str, Any], key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = asked(expectation, MUCH, key)
    monkeypatch.setattr("tcdp_audit.core.release.pairing.fit", lambda *_: False)
    sampled = asked(expectation, MUCH, key)

    details = dict(sampled.details)
    assert details.pop("estimate")["pairs"] == RECORDS
    assert (sampled.observed, details) == (whole.observed, whole.details)


def test_rows_that_are_aligned_are_drawn_by_their_position() -> None:
    release, original = tables()
    aligned = (release.sort_by("id"), original.sort_by("id"))

    estimate = asked(SD, 2**16, None, tables=aligned).details["estimate"]

    assert estimate["low"] <= asked(SD, MUCH, tables=aligned).observed <= estimate["high"]
    assert estimate["pairs"] < RECORDS


@pytest.mark.long
@pytest.mark.parametrize("expectation", [WORST, LINKAGE], ids=named)
def test_intervals_hold_the_figure_of_all_pairs_whatever_the_seed(expectation: dict[str, Any]) -> None:
    release, original = tables()
    whole = asked(expectation, MUCH).observed
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": [expectation], "key": "id"}
    held = 0
    with open_engine(release, MUCH) as released, open_engine(original, MUCH) as originals:
        for seed in range(50):
            read = read_policy({**policy, "seed": seed}, PLUGINS)
            (one,) = read.expectations
            figure = one.check.measure(TableView(read, released, {"original": originals}, LITTLE), one.parameters)
            held += figure.estimate.low <= whole <= figure.estimate.high
    assert held == 50


# What is claimed


@pytest.mark.long
@pytest.mark.parametrize("expectation", [SD, LINKAGE], ids=named)
def test_a_demand_between_the_ends_is_not_decided(expectation: dict[str, Any]) -> None:
    estimate = asked(expectation, LITTLE).details["estimate"]
    low, high = Fraction(estimate["low"]), Fraction(estimate["high"])
    beside = (high - low) / 1_000

    def status(at_most: Fraction) -> Status:
        return asked(demanding(expectation, at_most), LITTLE).status

    assert [status(one) for one in (high, high + beside)] == [Status.PASSED] * 2
    assert [status(one) for one in (high - beside, (low + high) / 2, low)] == [Status.ERROR] * 3
    assert status(low - beside) is Status.FAILED


def test_what_cannot_be_decided_says_so_and_still_says_what_was_seen() -> None:
    measured = asked(SD, LITTLE)
    outcome = asked(demanding(SD, Fraction(measured.observed)), LITTLE)

    assert (outcome.status, outcome.observed) == (Status.ERROR, measured.observed)
    assert outcome.details == measured.details
    assert outcome.message.startswith(measured.message.split(" Estimated")[0])
    assert "cannot be decided; give more memory with --memory." in outcome.message
    assert asked(demanding(SD, Fraction(measured.observed)), MUCH).status is not Status.ERROR


@pytest.mark.long
def test_what_no_sample_proves_is_not_passed() -> None:
    """Nothing in the release is near its original, and that is no proof for what was not drawn."""
    release, original = tables()
    far = release.set_column(1, "age", pa.array(np.asarray(release["age"]) + 10_000))
    far = far.set_column(2, "income", pa.array(np.asarray(release["income"]) + 1e9))

    outcome = asked(demanding(SD, 0), LITTLE, tables=(far, original))

    assert (outcome.status, outcome.observed) == (Status.ERROR, 0)


@pytest.mark.long
@pytest.mark.parametrize(
    "check", ["probabilistic_record_linkage", "assignment_record_linkage", "distance_to_closest_record"]
)
def test_checks_without_an_interval_are_refused(check: str) -> None:
    outcome = asked({check: {}}, 2**16)

    assert (outcome.status, outcome.observed) == (Status.ERROR, None)
    assert outcome.message.endswith("give more with --memory")


@pytest.mark.long
def test_a_share_of_known_individuals_is_not_sampled_again() -> None:
    outcome = asked({"distance_record_linkage": {"known_fraction": 0.5}}, 2**16)

    assert outcome.status is Status.ERROR
    assert "it needs every record of release and original at once" in outcome.message


@pytest.mark.long
def test_linkage_needs_the_distinct_rows_of_both_tables() -> None:
    outcome = asked(LINKAGE, 2**14)

    assert outcome.status is Status.ERROR
    assert outcome.message.startswith("it needs the distinct rows of release at once, which take more than the 1 MiB")


# Keys


def altered(side: int, keys: Mapping[int, str | None]) -> tuple[pa.Table, ...]:
    both = list(tables())
    column = both[side]["id"].to_pylist()
    for place, key in keys.items():
        column[place] = key
    both[side] = both[side].set_column(0, "id", pa.array(column, pa.string()))
    return tuple(both)


@pytest.mark.parametrize("side", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({17: None, 1_200: None}, "2 records have no value in the key 'id' of {}; fill it in, or remove them"),
        (
            {17: "another", 1_200: "another"},
            "1 value appears in more than one record in the key 'id' of {}; name a key that is unique",
        ),
    ],
    ids=["missing", "repeated"],
)
def test_a_key_that_is_missing_or_repeated_is_refused_whether_it_is_drawn_or_not(
    side: int, keys: dict[int, str | None], said: str
) -> None:
    outcome = asked(SD, LITTLE, tables=altered(side, keys))

    assert outcome.status is Status.ERROR
    assert outcome.message == "records cannot be paired: " + said.format(("release", "original")[side])


@pytest.mark.long
def test_a_key_that_is_compared_as_a_number_cannot_be_drawn_by() -> None:
    declared = {**ATTRIBUTES, "id": {"role": "insensitive", "scale": "numeric"}}
    numbered = tuple(
        one.set_column(0, "id", pa.array([int(key.split()[1]) for key in one["id"].to_pylist()])) for one in tables()
    )
    outcome = asked(SD, LITTLE, tables=numbered, attributes=declared)

    assert outcome.status is Status.ERROR
    assert "a sample is drawn by the text of the key 'id', which the policy declares with an order" in outcome.message
    assert asked(SD, LITTLE, tables=numbered).status is Status.MEASURED


@pytest.mark.long
def test_records_without_a_partner_are_counted_in_the_sample() -> None:
    release, original = tables()
    outcome = asked(SD, LITTLE, tables=(release, original.slice(0, RECORDS // 2)))

    assert 0 < outcome.details["released_without_original"] < RECORDS / 2
    assert outcome.details["estimate"]["pairs"] == outcome.details["matched"] > 0


def test_an_attribute_without_a_pair_of_values_in_the_sample_is_refused() -> None:
    release, original = tables()
    mostly = pa.array([None] * (RECORDS - 1) + [1.0], pa.float64())  # the last one is not drawn
    outcome = asked(SD, LITTLE, tables=(release.set_column(2, "income", mostly), original))

    assert outcome.status is Status.ERROR
    assert "a sample has no pair with both values of 'income'" in outcome.message


# Without a sample, however large


@pytest.mark.long
def test_a_repair_is_never_judged_by_a_sample() -> None:
    release, original = tables()
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": [SD], "key": "id"}

    outcome = fix(release, policy, original, memory=2**16, keep_failing=True).before.expectations[0]

    assert outcome.status is Status.ERROR
    assert "it needs every record of release and original at once" in outcome.message


def test_copies_are_counted_exactly_in_parts() -> None:
    expectation = {"exact_match_rate": {"attributes": ["age"]}}
    release, original = tables()
    original = original.slice(0, 100)
    whole = asked(expectation, MUCH, tables=(release, original))
    parts = asked(expectation, 2**15, tables=(release, original))

    assert 0 < whole.observed < 1
    assert 0 < whole.details["matches_of_unique_originals"] < whole.details["matches"]
    assert parts.as_json() == whole.as_json()
