"""Several sets of key variables in one policy, as in mu-Argus and sdcMicro: their figures, and plain Python's."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tcdp_audit import Audit, audit

LEVELS = (("REGION",), ("REGION", "SEX", "AGE"), ("REGION", "SEX", "AGE", "MARSTAT", "EDUC1", "ETNI"))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def frequencies(rows: Sequence[dict[str, str]], keys: Sequence[str]) -> list[int]:
    """The number of records with the cells of each record in some columns: fk of sdcMicro."""
    cells = [tuple(row[key] for key in keys) for row in rows]
    counts = Counter(cells)
    return [counts[one] for one in cells]


def audited(rows: Sequence[dict[str, str]], expect: list[dict[str, Any]], **further: Any) -> Audit:
    """The audit of a table whose columns have no role but what expectations say that an intruder knows."""
    attributes: dict[str, Any] = {name: {"role": "insensitive"} for name in rows[0]}
    if "weight" in further:
        attributes[further["weight"]]["scale"] = "numeric"
    return audit(pd.DataFrame(rows), {"version": 1, "attributes": attributes, "expect": expect, **further})


def combinations_of_levels() -> list[tuple[str, ...]]:
    """The sets that mu-Argus counts with three levels of identification: one column of each level, none twice."""
    sets = {frozenset({one, two, three}) for one in LEVELS[0] for two in LEVELS[1] for three in LEVELS[2]}
    return [tuple(sorted(one)) for one in sorted(sets, key=sorted) if len(one) == len(LEVELS)]


def test_mu_argus_counts_one_column_of_each_level() -> None:
    assert combinations_of_levels() == [
        ("AGE", "EDUC1", "REGION"),
        ("AGE", "ETNI", "REGION"),
        ("AGE", "MARSTAT", "REGION"),
        ("AGE", "REGION", "SEX"),
        ("EDUC1", "REGION", "SEX"),
        ("ETNI", "REGION", "SEX"),
        ("MARSTAT", "REGION", "SEX"),
    ]


def test_every_combination_has_its_own_unsafe_records_and_the_union_counts_each_once(data: Path) -> None:
    rows, k = rows_of(data / "casc/free1.csv"), 3
    sets = combinations_of_levels()
    result = audited(rows, [{"k_anonymity": {"k": k, "knows": list(one)}} for one in sets])

    unsafe = {one: [count < k for count in frequencies(rows, one)] for one in sets}
    assert [one.observed for one in result.expectations] == [min(frequencies(rows, one)) for one in sets]
    tallies = [one.records.failing for one in result.expectations if one.records is not None]
    assert tallies == [sum(unsafe[one]) for one in sets]
    assert result.exposed is not None
    assert result.exposed.records == sum(map(any, zip(*unsafe.values(), strict=True)))
    assert result.exposed.records < sum(tallies)


def test_all_sets_of_up_to_three_keys_are_scenarios_of_one_policy(data: Path) -> None:
    rows = rows_of(data / "casc/free1.csv")
    keys = LEVELS[2]
    sets = {"_".join(one): one for size in (1, 2, 3) for one in combinations(keys, size)}
    scenarios = {name: {"knows": list(one)} for name, one in sets.items()}
    result = audited(rows, [{"k_anonymity": {"k": 2}}], scenarios=scenarios)

    alone = {name: sum(count == 1 for count in frequencies(rows, one)) for name, one in sets.items()}
    assert {one.scenario: one.records.failing for one in result.expectations if one.records is not None} == alone
    assert len(alone) == 41


@pytest.mark.parametrize(("name", "file"), [("francdat", "francdat"), ("free1_w", "free1")])
def test_a_set_of_keys_has_the_figures_of_sdcmicro(data: Path, name: str, file: str) -> None:
    truth = json.loads((data / "truth/individual_risk.json").read_text(encoding="utf-8"))[name]
    rows, keys = rows_of(data / f"casc/{file}.csv"), truth["keyVars"]
    expect: list[dict[str, Any]] = [
        {"k_anonymity": {"k": 2}},
        {"reidentification_risk": {"measure": "average"}},
        {"individual_risk": {"measure": "expected"}},
    ]
    scenarios = {"sdcmicro": {"knows": keys}, "fewer": {"knows": keys[:2]}, "other": {"knows": keys[2:]}}
    result = audited(rows, expect, weight=truth["weight"], scenarios=scenarios)
    of_scenario = {one.check: one for one in result.expectations if one.scenario == "sdcmicro"}

    assert Counter(frequencies(rows, keys)) == Counter(dict(truth["fk_record_histogram"]))
    assert of_scenario["k_anonymity"].observed == truth["min_fk"]
    assert of_scenario["k_anonymity"].records is not None
    assert of_scenario["k_anonymity"].records.failing == truth["n1_records_fk1"]
    assert of_scenario["reidentification_risk"].observed == truth["sum_1_over_fk"] / truth["rows"]
    assert of_scenario["individual_risk"].observed == pytest.approx(truth["indivRisk_approx"]["sum"], rel=1e-9)
    for other in ("fewer", "other"):
        counts = frequencies(rows, scenarios[other]["knows"])
        average = sum((Fraction(1, count) for count in counts), Fraction(0)) / len(counts)
        assert [one.observed for one in result.expectations if one.scenario == other][:2] == [
            min(counts),
            float(average),
        ]


def test_missing_keys_match_every_value_as_in_sdcmicro(data: Path) -> None:
    truth = json.loads((data / "truth/individual_risk.json").read_text(encoding="utf-8"))["francdat_missing_alpha1"]
    rows = [{key: "" if cell == "NA" else str(cell) for key, cell in one.items()} for one in truth["keys"]]
    expect: list[dict[str, Any]] = [
        {"k_anonymity": {"k": 3, "knows": ["Key1", "Key2", "Key3", "Key4"]}},
        {"reidentification_risk": {"measure": "average", "knows": ["Key1", "Key2", "Key3", "Key4"]}},
    ]
    result = audited(rows, expect, conventions={"missing_quasi_identifier": "wildcard"})
    average = sum((Fraction(1, count) for count in truth["fk"]), Fraction(0)) / len(rows)

    assert [one.observed for one in result.expectations] == [min(truth["fk"]), float(average)]
    assert result.exposed is not None
    assert result.exposed.records == sum(count < 3 for count in truth["fk"])
