"""Adult under six policies: repaired by three remedies, and audited alone from the written file."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import product
from pathlib import Path

import adult
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
