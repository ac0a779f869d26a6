"""Joinability: figures of sets as plain Python has them, exact while few, within their intervals beyond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import assume, given, settings, strategies as st
from numpy.typing import ArrayLike

from tcdp_audit import Outcome, PolicyError, Status, audit
from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit_plugins.checks._shared.key_sketch import KeySketch, mixed
from tcdp_audit_plugins.checks.joinability.common_keys import (
    TableKeys,
    common_keys,
    contained,
    jaccard,
    one_to_one,
    records_of,
)

Row = tuple[Any, ...]
GOLDEN = pa.table({"a": range(600)}), pa.table({"a": range(500, 900)})  # 600,000 and 400,000 in thousands


def outcome(
    release: Any, registry: pa.Table, parameters: dict[str, Any], declared: dict[str, Any] | None = None, **policy: Any
) -> Outcome:
    attributes = {name: {"role": "quasi_identifier"} for name in registry.column_names} | (declared or {})
    document = {"version": 1, "attributes": attributes, "expect": [{"joinability": parameters}], **policy}
    with TemporaryDirectory() as folder:
        document["registry"] = f"{folder}/registry.parquet"
        pyarrow.parquet.write_table(registry, document["registry"])
        return audit(release, document).expectations[0]


def table(rows: Sequence[Row]) -> pa.Table:
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate("abc"[: len(rows[0])])})


def plain(release: Sequence[Row], registry: Sequence[Row]) -> dict[str, Any]:
    """The figures by their definition."""
    here, there = (Counter(row for row in rows if None not in row) for rows in (release, registry))
    both = here.keys() & there.keys()
    alone = sum(here[key] == there[key] == 1 for key in both)
    return {
        "share": Fraction(alone, len(release)),
        "contained": Fraction(len(both), len(here)),
        "keys": len(here),
        "registry_keys": len(there),
        "common_keys": len(both),
        "of_registry": Fraction(len(both), len(there)),
        "jaccard": Fraction(len(both), len(here.keys() | there.keys())),
        "without_key": len(release) - here.total(),
        "registry_without_key": len(registry) - there.total(),
    }


def figures(outcome: Outcome) -> dict[str, Any]:
    """The same of an outcome, whose intervals must hold nothing else."""
    details = outcome.details
    assert float(details["share"]) == outcome.observed, outcome.message
    assert details["share"] == details["low"] == details["high"]
    names = {"common_keys": "number", "of_registry": "share", "jaccard": "share", "contained": "share"}
    for name, value in names.items():
        assert details[name][value] == details[name]["low"] == details[name]["high"]
    own = ("share", "keys", "registry_keys", "without_key", "registry_without_key")
    return {**{name: details[name] for name in own}, **{name: details[name][one] for name, one in names.items()}}


CELLS = st.sampled_from([None, "p", "q", "r"])
ROWS = st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=9)


@pytest.mark.long
@settings(max_examples=30)
@given(ROWS, ROWS)
def test_few_keys_are_counted_as_plain_python_does(release: list[Row], registry: list[Row]) -> None:
    columns = [[{row[place] for row in rows} - {None} for rows in (release, registry)] for place in (0, 1)]
    assume(all(here & there for here, there in columns))
    assume(all(any(None not in row for row in rows) for rows in (release, registry)))
    assert figures(outcome(table(release), table(registry), {})) == plain(release, registry)


def test_keys_of_two_columns_are_counted() -> None:
    release = [("p", "q"), ("p", "q"), ("q", "q"), ("r", "p"), ("p", None), (None, "q")]
    registry = [("p", "q"), ("q", "q"), ("r", "q"), ("r", None), ("p", "p"), ("p", "p")]
    assert figures(outcome(table(release), table(registry), {})) == plain(release, registry)


def test_the_golden_tables() -> None:
    result = figures(outcome(*GOLDEN, {}))
    assert (result["contained"], result["of_registry"], result["jaccard"]) == (
        Fraction(1, 6),
        Fraction(1, 4),
        Fraction(1, 9),
    )
    assert (result["keys"], result["registry_keys"], result["common_keys"]) == (600, 400, 100)


@pytest.mark.long
def test_estimates_of_the_golden_tables_are_within_their_errors() -> None:
    for seed in range(4):
        details = outcome(*GOLDEN, {"keys": 64, "seed": seed}).details
        for one, true in (
            (details, 1 / 6),
            (details["of_registry"], 1 / 4),
            (details["jaccard"], 1 / 9),
            (details["contained"], 1 / 6),
        ):
            assert one["low"] < true < one["high"]
            assert one["low"] <= one["share"] <= one["high"]
            assert abs(one["share"] - true) < 4 * np.sqrt(true / 64)
        assert details["common_keys"]["low"] < 100 < details["common_keys"]["high"]
        assert not details["is_exact"]


def sketches(release: ArrayLike, registry: ArrayLike, keep: int) -> list[TableKeys]:
    """Sketches of tables whose keys are their own hashes."""
    tables = []
    for rows, others in ((release, registry), (registry, release)):
        sketch = KeySketch(keep)
        sketch.add(np.asarray(rows, np.uint64), None)
        sketch.merge()
        other = np.asarray(others, np.uint64)
        tables.append(TableKeys(sketch, records_of(sketch.hashes, other, np.ones(len(other), np.int64)), 0))
    return tables


def drawn(records: int, keys: int, seed: int) -> list[TableKeys]:
    """Sketches of tables in the golden proportions: 6 to 4, of which 1 is common."""
    hashes = mixed(np.arange(9 * records, dtype=np.uint64) + np.uint64(10**9 * (seed + 1)))
    return sketches(hashes[: 6 * records], hashes[5 * records :], keys)


def test_estimates_over_seeds() -> None:
    """Their errors are those of simple random samples, and no interval misses."""
    errors = []
    for seed in range(20):
        own = drawn(3_000, 512, seed)
        actual = contained(own[0]), contained(own[1]), jaccard(own), common_keys(own)
        true = 1 / 6, 1 / 4, 1 / 9, 3_000
        assert all(one.low < figure < one.high for one, figure in zip(actual, true, strict=True))
        errors.append([float(one.value) / figure - 1 for one, figure in zip(actual, true, strict=True)])
    theory = np.sqrt([5 / 512, 3 / 512, 8 / 512, 4 / 512])
    of_theory = np.sqrt((np.array(errors) ** 2).mean(axis=0)) / theory
    assert (of_theory > 0.6).all()
    assert (of_theory < 1.4).all()


@pytest.mark.long
@pytest.mark.parametrize(("keys", "error"), [(2048, 0.053), (4096, 0.045), (16384, 0.021)])
def test_errors_of_the_large_golden_tables(keys: int, error: float) -> None:
    """600,000 and 400,000 keys, of which theta sketches miss 0.053, 0.016 and 0.021 over five seeds."""
    numbers = [common_keys(drawn(100_000, keys, seed)) for seed in range(5)]
    assert all(one.low < 100_000 < one.high for one in numbers)
    assert np.mean([abs(float(one.value) / 100_000 - 1) for one in numbers]) <= error


HASHES = st.lists(st.integers(0, 40), min_size=1, max_size=30)


@given(HASHES, HASHES, st.integers(1, 20))
def test_shares_are_those_of_the_smallest_hashes(release: list[int], registry: list[int], keep: int) -> None:
    here, there = Counter(release), Counter(registry)
    own = sketches(release, registry, keep)
    smallest, either = sorted(here)[:keep], sorted(here.keys() | there.keys())
    drawn = either if max(len(here), len(there)) <= keep else either[:keep]

    assert float(contained(own[0]).value) == sum(key in there for key in smallest) / len(smallest)
    assert float(jaccard(own).value) == sum(key in here and key in there for key in drawn) / len(drawn)
    assert contained(own[0]).is_exact == (len(here) <= keep)
    assert jaccard(own).is_exact == (max(len(here), len(there)) <= keep)
    if len(here) <= keep:
        assert one_to_one(own[0], len(release)).value == Fraction(
            sum(here[key] == there[key] == 1 for key in here), len(release)
        )
    if min(len(here), len(there)) <= keep:
        assert common_keys(own).value == len(here.keys() & there.keys())


def test_nothing_joined_in_the_sketch_is_never_nothing_for_certain() -> None:
    release = pa.table({"a": [*range(1_000)]})
    result = outcome(release, pa.table({"a": [*range(999, 1_900)]}), {"keys": 64, "at_most": 0, "contained": 0})
    assert (result.details["share"], result.details["low"]) == (0, 0)
    assert result.details["high"] > 0
    assert result.status is Status.FAILED
    assert result.details["common_keys"]["high"] > 1
    assert result.message.count("where none is allowed") == 2


@pytest.mark.long
def test_a_demand_is_judged_by_the_upper_end() -> None:
    high = outcome(*GOLDEN, {"keys": 64}).observed
    assert high is not None
    assert outcome(*GOLDEN, {"keys": 64, "at_most": high + 1e-6}).status is Status.PASSED
    below = outcome(*GOLDEN, {"keys": 64, "at_most": high - 1e-6})
    assert below.status is Status.FAILED
    assert "With" not in below.message
    assert "is allowed" in below.message


@pytest.mark.parametrize(("threshold", "status"), [("1/6", Status.PASSED), ("0.1666", Status.FAILED)])
def test_an_exact_share_is_compared_exactly(threshold: str, status: Status) -> None:
    for demand in ("at_most", "contained"):
        result = outcome(*GOLDEN, {demand: threshold})
        assert result.status is status
        assert ("is allowed" in result.message) == (status is Status.FAILED)


def test_keys_that_were_stored_are_looked_up_in_the_whole_other_table() -> None:
    """The smaller table's largest hash is beyond what was kept of the larger one, in either role."""
    large, small = pa.table({"a": range(5_000)}), pa.table({"a": range(4_950, 5_050)})
    result = outcome(large, small, {"keys": 100})
    assert (result.details["of_registry"]["low"], result.details["of_registry"]["high"]) == (Fraction(1, 2),) * 2
    assert result.details["common_keys"] == {"number": 50, "low": 50, "high": 50}
    turned = outcome(small, large, {"keys": 100})
    assert (turned.observed, turned.details["is_exact"]) == (0.5, True)
    assert turned.details["contained"]["share"] == Fraction(1, 2)


def test_a_record_that_represents_several_joins_no_one_alone() -> None:
    result = outcome(pa.table({"a": ["p", "p", "q"]}), pa.table({"a": ["p", "q", "q", "r"]}), {})
    assert (result.details["contained"]["share"], result.observed) == (1, 0)


def test_numbers_are_joined_by_value_and_suppressed_cells_never() -> None:
    numeric = {"a": {"role": "quasi_identifier", "scale": "numeric"}}
    result = outcome(pa.table({"a": ["39", "40.0", "*"]}), pa.table({"a": [39.0, 40.0, 41.5]}), {}, numeric)
    assert (result.details["contained"]["share"], result.details["without_key"], result.details["keys"]) == (1, 1, 2)
    assert result.details["share"] == Fraction(2, 3)
    starred = outcome(pa.table({"a": ["p", "*"]}), pa.table({"a": ["p", "*"]}), {})
    assert (starred.details["common_keys"]["number"], starred.details["share"]) == (1, Fraction(1, 2))


def test_a_constant_column_joins_everything() -> None:
    result = outcome(pa.table({"a": ["p"] * 3}), pa.table({"a": ["p"] * 2}), {"contained": "0.9"})
    assert (result.status, result.observed, result.details["contained"]["share"]) == (Status.FAILED, 0, 1)
    assert "; 100% of the release's only combination of these is in the registry, too, where" in result.message


NUMERIC = {"a": {"role": "quasi_identifier", "scale": "numeric"}}
TREE = {"a": {"role": "quasi_identifier", "hierarchy": {"*": {"warm": ["red", "pink"], "cold": ["blue"]}}}}


@pytest.mark.parametrize(
    ("release", "registry", "declared", "sentence"),
    [
        pytest.param(["p"], [], {}, "no value", marks=pytest.mark.long),
        pytest.param([None, None], ["p"], {}, "column 'a' has no value in", marks=pytest.mark.long),
        (["p"], ["*", None], {}, "column 'a' has no value in"),
        (["p"], ["q"], {}, "has no value that"),
        pytest.param([nan, nan], [1.0], NUMERIC, "column 'a' has no value in", marks=pytest.mark.long),
        pytest.param(
            ["[1, 3)", "7"], ["7", "2"], NUMERIC, "holds 1 value, of 1 record, for what", marks=pytest.mark.long
        ),
        (["[1, 3)", "7"], ["7", "2", "[4, 6)"], NUMERIC, "holds 1 value, of 1 record, for what"),
        pytest.param(
            ["warm", "warm", "blue"],
            ["blue", "red"],
            TREE,
            "holds 1 value, of 2 records, for what",
            marks=pytest.mark.long,
        ),
        (["red", "blue"], ["blue", "warm"], TREE, "writes in another way"),
        pytest.param(
            ["{blue, red}", "pink"], ["blue", "red", "pink"], {}, "generalise both tables alike", marks=pytest.mark.long
        ),
    ],
)
def test_what_cannot_be_joined_is_an_error_and_no_pass(
    release: list[Any], registry: list[Any], declared: dict[str, Any], sentence: str
) -> None:
    kind = pa.float64() if registry == [1.0] else pa.string()
    tables = pa.table({"a": pa.array(release, kind)}), pa.table({"a": pa.array(registry, kind)})
    result = outcome(*tables, {"at_most": "0.9"}, declared)
    assert result.status is Status.ERROR, result.message
    assert sentence in result.message


def test_bands_that_only_one_table_needs_are_no_other_words() -> None:
    result = outcome(pa.table({"a": ["[1, 3)", "[3, 9)"]}), pa.table({"a": ["[1, 3)", "[9, 12)"]}), {}, NUMERIC)
    assert result.details["contained"]["share"] == Fraction(1, 2)


def test_columns_that_are_never_filled_together_are_an_error() -> None:
    rows = table([("p", None), (None, "q")])
    result = outcome(rows, table([("p", "q")]), {"at_most": "0.9"})
    assert result.status is Status.ERROR
    assert "has a value in all of 'a' and 'b'" in result.message


@pytest.mark.parametrize(
    ("parameters", "further", "sentence"),
    [
        ({"attributes": ["colour"]}, {}, "declares no attribute 'colour'"),
        ({"attributes": ["a", "a"]}, {}, "named twice"),
        ({}, {"conventions": {"missing_quasi_identifier": "wildcard"}}, "joined with nothing here"),
        ({"keys": 8}, {}, "must be at least 16"),
    ],
)
def test_what_it_cannot_measure_is_a_fault(parameters: dict[str, Any], further: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError, match=sentence):
        outcome(*GOLDEN, parameters, **further)


def test_without_a_registry_it_is_an_error() -> None:
    document = {"version": 1, "attributes": {"a": {"role": "quasi_identifier"}}, "expect": [{"joinability": {}}]}
    (actual,) = audit(GOLDEN[0], document).expectations
    assert (actual.status, "no registry is given" in actual.message) == (Status.ERROR, True)


def test_sketches_that_outgrow_the_memory_are_refused(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(GOLDEN[1], tmp_path / "registry.parquet")
    attributes = {"a": {"role": "quasi_identifier"}}
    document = {"version": 1, "registry": str(tmp_path / "registry.parquet"), "attributes": attributes}
    (actual,) = audit(GOLDEN[0], {**document, "expect": [{"joinability": {"keys": 10**9}}]}, memory=2**30).expectations
    assert actual.status is Status.ERROR
    assert "two sketches need about" in actual.message


@pytest.mark.long
def test_every_format_and_order_gives_the_same(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    release = pa.table({"a": draw.integers(0, 90, 3_000), "b": draw.integers(0, 60, 3_000)})
    registry = pa.table({"a": draw.integers(30, 120, 4_000), "b": draw.integers(0, 60, 4_000)})
    pyarrow.csv.write_csv(release, tmp_path / "release.csv")
    pyarrow.parquet.write_table(release, tmp_path / "release.parquet", row_group_size=500)
    texts = pa.table({name: release[name].cast(pa.string()) for name in release.column_names})
    shuffled = release.take(draw.permutation(release.num_rows))
    first = outcome(release, registry, {"keys": 128}).details
    for other in (shuffled, texts, tmp_path / "release.csv", tmp_path / "release.parquet"):
        assert outcome(other, registry, {"keys": 128}).details == first
    assert outcome(release, registry, {"keys": 128, "seed": 1}).details["share"] != first["share"]
    assert {type(one) for one in first.values()} <= {int, float, Fraction, bool, FrozenDict}
