"""The estimated profile: exact while few, right within its errors beyond, the same of every format and order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, strategies as st

from tcdp_audit import Outcome, PolicyError, Status, audit
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit_plugins.checks import uniqueness_profile
from tcdp_audit_plugins.checks._shared.key_sketch import (
    KeyFigures,
    KeySketch,
    column_hashes,
    distinct_keys,
    figures_of,
    keys_between,
    mixed,
    sets_hashed,
)

Rows = list[tuple[int, ...]]


def outcome(release: Any, parameters: dict[str, Any], names: str = "abc", **policy: Any) -> Outcome:
    attributes = {name: {"role": "quasi_identifier"} for name in names}
    document = {"version": 1, "attributes": attributes, "expect": [{"uniqueness_profile": parameters}], **policy}
    return audit(release, document).expectations[0]


def table(rows: Rows) -> pa.Table:
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate("abc"[: len(rows[0])])})


def large(records: int) -> pa.Table:
    """Sets of all columns that have more combinations than could be counted one by one."""
    generator = np.random.default_rng(5)
    spread = (generator.pareto(1.1, records) * 40).astype(int) % 3_000
    return pa.table({"a": spread, "b": generator.integers(0, 70, records), "c": generator.integers(0, 25, records)})


def plain(release: pa.Table, t: int, order: int) -> dict[str, tuple[int, Fraction, Fraction, Fraction]]:
    """Keys, unique keys, unique records and records in rare keys of every set, by definition."""
    columns = {name: release[name].to_pylist() for name in sorted(release.column_names)}
    actual = {}
    for size in range(1, order + 1):
        for chosen in combinations(columns, size):
            held = Counter(zip(*(columns[name] for name in chosen), strict=True))
            alone = sum(one == 1 for one in held.values())
            rare = sum(one for one in held.values() if one < t)
            shares = Fraction(alone, len(held)), Fraction(alone, release.num_rows), Fraction(rare, release.num_rows)
            actual[" × ".join(chosen)] = (len(held), *shares)
    return actual


@pytest.mark.long
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=40), st.integers(2, 5), st.integers(1, 3))
def test_few_combinations_are_exact(rows: Rows, t: int, order: int):
    actual = outcome(table(rows), {"t": t, "max_order": order}).details
    for name, (keys, of_keys, alone, rare) in plain(table(rows), t, order).items():
        entry = actual["profile"][name]
        assert (entry["keys"], entry["unique_keys"], entry["unique_records"]) == (keys, of_keys, alone)
        assert entry["small_records"] == entry["low"] == entry["high"] == rare
    assert actual["exact_sets"] == actual["sets"]


def test_the_toy():
    assert distinct_keys(4, 0.22) == pytest.approx(13.636, abs=0.001)
    sketch = KeySketch(4)
    part = np.array([0.11, 0.05, 0.22, 0.31, 0.11, 0.05, 0.44, 0.18]) * 2.0**64
    sketch.add(part.astype(np.uint64), None)
    sketch.add(part[-2:].astype(np.uint64), np.array([3, 4]))
    sketch.merge()
    assert (sketch.records.tolist(), sketch.is_complete) == ([2, 2, 5, 1], False)
    assert figures_of(sketch, 15, 2, 0.01).keys == 14
    assert figures_of(sketch, 15, 2, 0.01).unique_keys == 0.25


def test_the_mix_is_that_of_splitmix64():
    state = (np.arange(1, 4, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    assert [f"{one:016x}" for one in mixed(state).tolist()] == [  # the first numbers of seed 0
        "e220a8397b1dcdaf",
        "6e789e6aa1b965f4",
        "06c45d188009454f",
    ]


@pytest.mark.parametrize("keys", [64, 300])
def test_a_sketch_is_exact_up_to_as_many_keys_as_it_keeps(keys: int):
    hashes = np.random.default_rng(1).integers(0, 2**63, 300, dtype=np.uint64)
    sketch = KeySketch(keys)
    for start in range(0, 1_200, 100):
        sketch.add(hashes[np.arange(start, start + 100) % 300], None)
    sketch.merge()
    assert sketch.is_complete == (keys == 300)
    assert (len(sketch.hashes), set(sketch.records.tolist())) == (keys, {4})
    assert sketch.hashes.tolist() == sorted(hashes.tolist())[:keys]


def estimates(release: pa.Table, keep: int, seed: int, t: int = 5) -> KeyFigures:
    columns = []
    for name in release.column_names:
        values, codes = np.unique(release[name].to_numpy(), return_inverse=True)
        domain = Domain(name, values, np.bincount(codes), 0, np.arange(len(values)))
        columns.append(column_hashes(domain, seed)[codes])
    ((_, hashed),) = sets_hashed(columns, [(0, 1, 2)])
    sketch = KeySketch(keep)
    for start in range(0, len(hashed), 2**14):
        sketch.add(hashed[start : start + 2**14], None)
    return figures_of(sketch, release.num_rows, t, 0.01)


@pytest.mark.parametrize(
    ("records", "keep", "seeds"), [(20_000, 512, 4), pytest.param(300_000, 2_048, 20, marks=pytest.mark.long)]
)
def test_estimates_over_seeds(records: int, keep: int, seeds: int):
    release = large(records)
    true = plain(release, 5, 3)["a × b × c"]
    actual = [estimates(release, keep, seed) for seed in range(seeds)]
    values = np.array([[one.keys, one.unique_keys, one.unique_records, one.small_records] for one in actual], float)
    errors = [
        [one.keys_error, one.unique_keys_error, one.unique_records_error, one.small_records_error] for one in actual
    ]
    scores = (values - np.array([float(one) for one in true])) / np.array(errors)

    assert np.abs(scores).max() < 4
    assert (sqrt(1 / 3) / 2 < np.sqrt((scores**2).mean(axis=0))).all() or seeds < 20  # errors are not exaggerated
    assert (np.sqrt((scores**2).mean(axis=0)) < 2).all()
    assert all(one.low <= true[3] <= one.high for one in actual)
    assert len({one.keys for one in actual}) > 1


def test_no_hash_can_be_read_from_a_result():
    figures = estimates(large(20_000), 512, 0)
    assert figures.keys % 10 ** (len(str(figures.keys)) - 3) == 0
    actual = outcome(large(5_000), {"keys": 64}).details
    assert actual["profile"].keys() == {"a", "b", "c", "a × b", "a × c", "b × c", "a × b × c"}
    assert {type(one) for entry in actual["profile"].values() for one in entry.values()} <= {int, float, Fraction}
    assert "hash" not in str(actual)


def test_nothing_unique_is_never_nothing_for_certain(monkeypatch: pytest.MonkeyPatch):
    """Where no key of the sketch is alone, one that was not kept may be."""
    monkeypatch.setattr(uniqueness_profile, "FEW", 100)
    twice = pa.table({"a": [*range(1_000)] * 2})
    result = outcome(twice, {"keys": 64, "at_most": 0}, "a")
    assert (result.details["share"], result.details["low"]) == (0, 0)
    assert result.details["high"] > 0
    assert result.status is Status.FAILED
    exact = outcome(twice, {"keys": 1_000, "at_most": 0}, "a")
    assert (exact.status, exact.observed, exact.details["is_exact"]) == (Status.PASSED, 0, True)


def test_a_demand_is_judged_by_the_upper_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(uniqueness_profile, "FEW", 100)
    release, given = large(20_000), {"keys": 512, "attributes": ["a", "c"], "max_order": 2}
    high = outcome(release, given).observed
    assert high is not None
    assert outcome(release, given).details["share"] < high < 1
    assert outcome(release, {**given, "at_most": high}).status is Status.PASSED
    below = outcome(release, {**given, "at_most": high - 1e-6})
    assert below.status is Status.FAILED
    assert "with 99% confidence" in below.message


@pytest.mark.long
def test_every_format_and_order_gives_the_same(tmp_path: Path):
    release = large(3_000)
    pyarrow.csv.write_csv(release, tmp_path / "release.csv")
    pyarrow.parquet.write_table(release, tmp_path / "release.parquet", row_group_size=500)
    texts = pa.table({name: release[name].cast(pa.string()) for name in release.column_names})
    shuffled = release.take(np.random.default_rng(2).permutation(release.num_rows))
    first: Mapping[str, Any] = outcome(release, {"keys": 128}).details
    for other in (shuffled, texts, tmp_path / "release.csv", tmp_path / "release.parquet"):
        assert outcome(other, {"keys": 128}).details == first
    assert outcome(release, {"keys": 128, "seed": 1}).details["profile"] != first["profile"]


def test_rows_that_stand_for_several_records_count_as_these():
    rows = large(4_000)
    counted, times = KeySketch(100), KeySketch(100)
    hashes = np.random.default_rng(1).integers(0, 2**63, rows.num_rows, dtype=np.uint64)
    counted.add(np.repeat(hashes, 3), None)
    for start in range(0, len(hashes), 500):
        part = hashes[start : start + 500]
        times.add(part, np.full(len(part), 3))
    counted.merge()
    times.merge()
    assert (counted.hashes.tolist(), counted.records.tolist()) == (times.hashes.tolist(), times.records.tolist())


def test_a_missing_value_is_a_value_of_its_own():
    actual = outcome(pa.table({"a": ["1", "1", None, None, ""]}), {}, "a").details["profile"]["a"]
    assert (actual["keys"], actual["unique_records"]) == (2, 0)


def test_the_number_of_keys_has_an_interval_that_is_right_for_few_and_many():
    low, high = keys_between(100, 0.05, 0.01)
    assert 1_300 < low < 2_000 < high < 2_900
    assert keys_between(20, 0.99, 0.5)[0] == 20


@pytest.mark.parametrize(
    ("parameters", "further", "sentence"),
    [
        ({"attributes": ["colour"]}, {}, "declares no attribute 'colour'"),
        ({"attributes": ["a", "a"]}, {}, "named twice"),
        ({}, {"conventions": {"missing_quasi_identifier": "wildcard"}}, "must not overlap"),
        ({"t": 1}, {}, "must be at least 2"),
    ],
)
def test_what_it_cannot_measure_is_a_fault(parameters: dict[str, Any], further: dict[str, Any], sentence: str):
    with pytest.raises(PolicyError, match=sentence):
        outcome(large(10), parameters, **further)


def test_sketches_that_outgrow_the_memory_are_refused():
    attributes = {name: {"role": "quasi_identifier"} for name in "abc"}
    document = {"version": 1, "attributes": attributes, "expect": [{"uniqueness_profile": {"keys": 10**9}}]}
    (actual,) = audit(large(50), document, memory=2**30).expectations
    assert actual.status is Status.ERROR
    assert "the sketches of 7 sets need about" in actual.message
