"""Adult under six policies: repaired by three remedies, and audited alone from the written file."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import adult
import pyarrow.csv
import pytest

from tcdp_audit import audit, fix
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
CONVENTIONS = ("own_category", "wildcard", "fail")


FURTHER = [("k=5, distinct l=3", "redistribution")]  # which takes long, and has closeness tests of its own


@pytest.mark.parametrize(("name", "remedy"), [*product(adult.POLICIES, ("mondrian", "generalization")), *FURTHER])
def test_the_repaired_release_passes_alone(data: Path, tmp_path: Path, name: str, remedy: str) -> None:
    asked = adult.policy(data, adult.POLICIES[name], {remedy: {}})
    fixed = tmp_path / "fixed.csv"
    done = fix(data / "adult" / "adult.csv", asked, output=fixed, plugins=PLUGINS)
    assert done.passed, done.log.reason
    assert done.written == fixed
    demanded = adult.POLICIES[name][0]["k_anonymity"]["k"]
    with fixed.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with (data / "adult" / "adult.csv").open(encoding="utf-8") as file:
        original = csv.DictReader(file).fieldnames
    assert list(rows[0]) == original
    assert len(rows) == 30_162 - done.log.suppressed
    sizes = Counter(tuple(row[one] for one in adult.QUASI_IDENTIFIERS) for row in rows)
    assert min(sizes.values()) >= demanded
    for convention in CONVENTIONS:
        alone = {**asked, "conventions": {"missing_quasi_identifier": convention}}
        result = audit(fixed, alone, plugins=PLUGINS)
        assert result.passed
        assert result.expectations[0].observed == min(sizes.values())


@pytest.mark.parametrize("demanded", [5, 10])
def test_local_recoding_loses_at_most_half_of_what_the_best_global_one_loses(data: Path, demanded: int) -> None:
    expect = [{"k_anonymity": {"k": demanded}}]
    penalties = {
        remedy: fix(data / "adult" / "adult.csv", adult.policy(data, expect, {remedy: {}}), plugins=PLUGINS).log.loss[
            "certainty_penalty"
        ]["after"]
        for remedy in ("mondrian", "generalization")
    }
    assert penalties["mondrian"] <= penalties["generalization"] / 2


RISK = {"reidentification_risk": {"at_most": 0.2}}


@pytest.mark.parametrize("remedy", ["mondrian", "generalization"])
def test_a_highest_risk_costs_what_its_k_costs(data: Path, remedy: str) -> None:
    by_risk, by_k = (
        fix(data / "adult" / "adult.csv", adult.policy(data, [one], {remedy: {}}), plugins=PLUGINS)
        for one in (RISK, {"k_anonymity": {"k": 5}})
    )
    assert by_risk.passed
    assert by_risk.released.equals(by_k.released)
    assert by_risk.log.loss["total"] == by_k.log.loss["total"]


@pytest.mark.parametrize(
    ("demand", "k"),
    [
        ({"k_map": {"k": 5}}, 5),
        ({"reidentification_risk": {"at_most": 0.1, "scenario": "journalist"}}, 6),
        ({"population_uniqueness": {"at_most": 0.01}}, 2),
    ],
)
def test_what_a_population_decides_is_repaired(data: Path, demand: dict[str, Any], k: int) -> None:
    release, population = (data / "adult" / f"{name}.csv" for name in ("adult_subset", "adult"))
    asked = adult.policy(data, [demand], {"mondrian": {}})
    done = fix(release, asked, population=population, plugins=PLUGINS)
    assert done.passed, done.log.reason
    assert done.log.steps[0].notes["k"] == k
    assert audit(done.released, asked, population=population, plugins=PLUGINS).passed


SURVEY = ("REGION", "SEX", "AGE", "MARSTAT", "KINDPERS", "EDUC1", "ETNI", "POSLABM")


@pytest.mark.parametrize(
    ("demand", "steps"),
    [
        (RISK, [{}]),
        ({"reidentification_risk": {"at_most": 0.1, "measure": "average"}}, [{"k": 8}]),
        ({"reidentification_risk": {"at_most": 0.05, "measure": "share_above", "threshold_risk": 0.2}}, [{"k": 5}]),
        ({"individual_risk": {"at_most": 20, "measure": "expected"}}, [{"k": 2}]),
        ({"individual_risk": {"at_most": 0.05}}, []),
        ({"suda": {"at_most": 0.01}}, [{"k": 2}]),
        ({"sample_uniqueness": {"at_most": 0.05}}, [{}]),
        ({"population_uniqueness": {"at_most": 0.01, "estimator": "zayatz"}}, [{"k": 2}]),
        ({"uniqueness_profile": {"at_most": 0.01, "t": 5}}, [{"k": 5}]),
    ],
)
def test_each_demand_on_risk_is_repaired_in_a_survey(data: Path, demand: dict[str, Any], steps: list[Any]) -> None:
    table = pyarrow.csv.read_csv(data / "casc" / "free1.csv").select([*SURVEY, "WEIGHT"])
    attributes = {name: {"role": "quasi_identifier", "scale": "nominal"} for name in SURVEY}
    attributes |= {"AGE": {"role": "quasi_identifier", "scale": "numeric"}}
    attributes |= {"EDUC1": {"role": "quasi_identifier", "scale": "numeric"}}
    attributes |= {"WEIGHT": {"role": "insensitive", "scale": "numeric"}}
    asked = {"version": 1, "weight": "WEIGHT", "attributes": attributes, "expect": [demand]}
    done = fix(table, asked, plugins=PLUGINS)
    assert done.passed, done.log.reason
    assert [dict(one.parameters) for one in done.log.steps] == steps
    assert audit(done.released, asked, plugins=PLUGINS).passed
