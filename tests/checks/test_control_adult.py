"""Attacks beside a hold-out on Adult: what copies, half copies and strangers of 4,000 people give, and how soon."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.csv import read_csv

import tcdp_audit
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
SIZE = 4_000
HELD = ["age", "marital-status", "race", "sex"]
KEY = ["age", "education", "marital-status", "occupation", "sex"]
SECRETS = ("occupation", "salary-class")
# what the definitions print for each release: closest share, area, shares of original and hold-out that are released,
# excess of occupation, of salary and of linkability
PRINTED = {
    "copy": (".895", ".898", "1.000", ".205", ".6625", ".859", ".054"),
    "half": (".698", ".701", ".603", ".201", ".333", ".378", ".0275"),
    "resampled by .3": (".631", ".596", ".300", ".141", ".158", ".212", ".0064"),
    "resampled by .7": (".528", ".513", ".099", ".089", ".006", ".031", ".0001"),
    "strangers": (".497", ".499", ".209", ".210", "-.018", "-.000", "-.00002"),
}
KEYS = {  # that one released record has alone, and how many of them are alone in original and hold-out
    "copy": [2297, 2297, 348],
    "half": [2319, 1130, 354],
    "resampled by .3": [2767, 702, 334],
    "resampled by .7": [2938, 358, 291],
    "strangers": [2286, 365, 350],
}
LIMITS = {"closest_record_share": 0.55, "membership_inference": 0.55, "exact_match_rate": 0.05}
Tables = Mapping[str, pa.Table]


@pytest.fixture(scope="module")
def tables(data: Path) -> Tables:
    """Original, hold-out and releases, of a seeded permutation."""
    adult = read_csv(data / "adult" / "adult.csv")
    random = np.random.default_rng(2024)
    order = random.permutation(len(adult))
    original, holdout, strangers = (adult.take(order[place * SIZE : (place + 1) * SIZE]) for place in range(3))
    half = pa.concat_tables([original[: SIZE // 2], strangers[: SIZE // 2]])
    releases = {"copy": original, "half": half, "strangers": strangers}
    for part in (0.3, 0.7):
        releases[f"resampled by {part}".replace("0.", ".")] = resampled(original, part, random)
    return {"original": original, "holdout": holdout, **releases}


def resampled(table: pa.Table, part: float, random: np.random.Generator) -> pa.Table:
    """A table of which some cells are drawn again, each from its column."""
    columns = {}
    for name in table.column_names:
        values = table[name].to_numpy().copy()
        drawn = random.random(SIZE) < part
        values[drawn] = random.choice(table[name].to_numpy(), drawn.sum())
        columns[name] = values
    return pa.table(columns)


def suite(names: list[str]) -> list[dict[str, Any]]:
    known = {secret: [name for name in names if name != secret] for secret in SECRETS}
    return [
        {"closest_record_share": {}},
        {"membership_inference": {}},
        {"exact_match_rate": {"measure": "originals"}},
        *({"attribute_inference": {"target": secret, "attributes": known[secret]}} for secret in SECRETS),
        {"linkability": {"attributes": HELD, "other_attributes": [name for name in names if name not in HELD]}},
        {"singling_out": {"attributes": KEY}},
        {"membership_inference": {"calibrated": True}},
    ]


def audited(tables: Tables, release: str, folder: Path, expect: list[dict[str, Any]]) -> list[Outcome]:
    pq.write_table(tables["holdout"], folder / "holdout.parquet")
    names = tables["original"].column_names
    attributes: dict[str, Any] = {name: {"role": "quasi_identifier", "scale": "nominal"} for name in names}
    attributes["age"]["scale"] = "numeric"
    policy = {"version": 1, "holdout": str(folder / "holdout.parquet"), "attributes": attributes, "expect": expect}
    return list(tcdp_audit.audit(tables[release], policy, tables["original"], plugins=PLUGINS).expectations)


@pytest.mark.parametrize("release", PRINTED)
def test_figures_are_those_of_the_definitions(tables: Tables, release: str, tmp_path: Path):
    expect = suite(tables["original"].column_names)
    start = process_time()
    closest, member, exact, occupation, salary, linked, single, _ = audited(tables, release, tmp_path, expect)
    assert process_time() - start < 10
    actual = (
        closest.details["share"],
        member.details["area"],
        exact.details["originals_found"],
        exact.details["holdout_found"],
        *(one.details["excess"] for one in (occupation, salary, linked)),
    )
    for value, printed in zip(actual, PRINTED[release], strict=True):
        digits = len(printed.split(".")[1])
        assert float(value) == pytest.approx(float(printed), abs=0.51 * 10**-digits)
    assert [single.details[name] for name in ("attempts", "successes", "control_successes")] == KEYS[release]


def test_a_copy_fails_every_demand_and_strangers_keep_it(tables: Tables, tmp_path: Path):
    expect = [
        {check: {**given, "at_most": LIMITS.get(check, 0.1)}}
        for one in suite(tables["original"].column_names)
        for check, given in one.items()
        if check != "linkability"  # of a copy, too, it is .054: nobody is nearest by four coarse columns alone
    ]
    assert {one.status for one in audited(tables, "copy", tmp_path, expect)} == {Status.FAILED}
    assert {one.status for one in audited(tables, "strangers", tmp_path, expect)} == {Status.PASSED}


def test_calibration_orders_releases_by_what_they_leak(tables: Tables, tmp_path: Path):
    expect = [{"membership_inference": {"calibrated": True}}]
    areas = [float(audited(tables, one, tmp_path, expect)[0].details["area"]) for one in ("copy", "half", "strangers")]
    assert areas == sorted(areas, reverse=True)
    assert areas[0] > 0.8
    assert abs(areas[2] - 0.5) < 4 / (2 * SIZE**0.5)


def test_strangers_are_as_close_to_both_tables(tables: Tables, tmp_path: Path):
    (closest,) = audited(tables, "strangers", tmp_path, [{"closest_record_share": {}}])
    assert abs(closest.details["share"] - 0.5) <= 4 / (2 * SIZE**0.5)
    assert abs(closest.details["deviations"]) <= 4
