"""The same records in a file, a frame and every database: the same answer to the last digit, but for provenance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
import sources
from loaded import Loaded, into_postgresql
from postgres_server import Server

from tcdp_audit import audit, load_policy
from tcdp_audit.policy import Policy
from tcdp_audit.registry import Plugins

PLUGINS = Plugins.load(external=False)
PROVENANCE = ("audited_at", "tool", "plugins", "release", "policy", "companions")
MEMORY = 2**28
CONVENTIONS = [
    {"missing_quasi_identifier": "own_category", "missing_sensitive": "excluded"},
    {"missing_quasi_identifier": "wildcard", "missing_sensitive": "own_category", "suppressed": "counted"},
    {"missing_quasi_identifier": "fail", "missing_sensitive": "fail"},
]
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "zip": {"role": "quasi_identifier"},
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "sex": {"role": "quasi_identifier"},
    "disease": {"role": "sensitive"},
    "cost": {"role": "sensitive", "scale": "numeric"},
    "severity": {"role": "sensitive", "scale": "ordinal", "order": ["*", "low", "middle", "high"]},
    "person": {"role": "insensitive", "scale": "numeric"},
    "note": {"role": "insensitive"},
}
EXPECT: list[dict[str, Any]] = [
    {"k_anonymity": {"k": 5}},
    {"distinct_l_diversity": {"l": 2}},
    {"t_closeness": {"t": 0.2, "attribute": "cost", "distance": "ordered"}},
    {"entropy_l_diversity": {}},
    {"sample_uniqueness": {}},
]
CLASS_CHECKS: list[dict[str, Any]] = [
    {"alpha_k_anonymity": {}},
    {"background_knowledge": {}},
    {"basic_beta_likeness": {}},
    {"delta_disclosure": {}},
    {"distinct_l_diversity": {"l": 3}},
    {"enhanced_beta_likeness": {}},
    {"entropy_l_diversity": {}},
    {"expected_t_closeness": {"epsilon": 1}},
    {"homogeneity": {}},
    {"implied_epsilon": {}},
    {"individual_risk": {}},
    {"k_anonymity": {"k": 5}},
    {"p_sensitive_k_anonymity": {}},
    {"population_uniqueness": {"estimator": "pitman"}},
    {"recursive_cl_diversity": {"l": 2}},
    {"reidentification_risk": {}},
    {"sample_uniqueness": {}},
    {"skewness": {}},
    {"suda": {}},
    {"t_closeness": {"t": "1/5", "distance": "equal"}},
    {"t_closeness": {"t": "1/5", "distance": "hierarchical"}},
    {"t_from_epsilon": {"epsilon": 1}},
]
QUASI_IDENTIFIERS = ("age", "education", "marital-status", "race", "sex", "native-country", "workclass")


def policy(convention: dict[str, Any], **changes: Any) -> Policy:
    document = {"version": 1, "attributes": ATTRIBUTES, "expect": EXPECT, "conventions": convention, **changes}
    return load_policy(document, PLUGINS)


def answer(release: Any, asked: Policy, **options: Any) -> dict[str, Any]:
    result = audit(release, asked, plugins=PLUGINS, memory=MEMORY, **options).as_json()
    return {name: value for name, value in result.items() if name not in PROVENANCE}


@pytest.mark.parametrize("convention", CONVENTIONS, ids=lambda one: one["missing_quasi_identifier"])
@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_files_of_databases(database: str, convention: dict[str, Any], loaded: Loaded) -> None:
    address = getattr(loaded, database)(sources.ARROW)
    for unit in ({}, {"unit": "person"}):
        asked = policy(convention, **unit)
        assert answer(address, asked) == answer(sources.ARROW, asked)


@pytest.mark.parametrize("convention", CONVENTIONS, ids=lambda one: one["missing_quasi_identifier"])
@pytest.mark.usefixtures("transport")
def test_postgresql(convention: dict[str, Any], server: Server) -> None:
    address = into_postgresql(server, sources.ARROW, "release")
    for unit in ({}, {"unit": "person"}):
        asked = policy(convention, **unit)
        assert answer(address, asked) == answer(sources.ARROW, asked)


def test_shards_change_nothing(loaded: Loaded) -> None:
    asked = policy(CONVENTIONS[0])
    assert answer(loaded.sqlite(sources.ARROW), asked, shards=7) == answer(sources.ARROW, asked)


def test_the_original_lives_in_the_database_as_well(loaded: Loaded, tmp_path: Path) -> None:
    half = sources.ARROW.slice(0, 1000)
    release, original = loaded.sqlite(half), loaded.sqlite(sources.ARROW, "original")
    changes: dict[str, Any] = {"conventions": {"reference": "original"}, "expect": [{"t_closeness": {}}]}
    asked = policy({}, **changes)
    expected = answer(half, asked, original=sources.ARROW)
    assert answer(release, asked, original=original) == expected
    named = tmp_path / "p.tcdp.yaml"
    named.write_text(
        "version: 1\nattributes:\n"
        "  zip: {role: quasi_identifier}\n  disease: {role: sensitive}\n"
        f"release: {release!r}\noriginal: {original!r}\n"
        "conventions: {reference: original}\nexpect:\n  - t_closeness: {}\n"
    )
    by_name = load_policy(named, PLUGINS)
    assert answer(None, by_name) == answer(half, by_name, original=sources.ARROW)


@pytest.mark.parametrize("check", ["exact_match_rate", "distance_record_linkage"])
def test_checks_of_pairs(check: str, loaded: Loaded) -> None:
    table = sources.ARROW.slice(0, 400).append_column("id", pa.array(range(400)))
    attributes = {
        "id": {"role": "insensitive"},
        **{name: {"role": "quasi_identifier", "scale": "nominal"} for name in ("zip", "sex", "disease")},
    }
    attributes |= {name: {"role": "insensitive"} for name in ("age", "cost", "severity", "person", "note")}
    asked = load_policy({"version": 1, "key": "id", "attributes": attributes, "expect": [{check: {}}]}, PLUGINS)
    expected = answer(table, asked, original=table)
    assert {one["status"] for one in expected["outcomes"]} <= {"measured", "passed", "failed"}
    assert answer(loaded.sqlite(table), asked, original=loaded.sqlite(table, "original")) == expected


@pytest.fixture(scope="module")
def adult(data: Path) -> tuple[pa.Table, Path]:
    path = data / "adult" / "adult.csv"
    return pyarrow.csv.read_csv(path), path


@pytest.fixture(scope="module")
def asked_of_adult(data: Path) -> Policy:
    attributes: dict[str, Any] = {name: {"role": "quasi_identifier"} for name in QUASI_IDENTIFIERS}
    attributes["age"]["scale"] = "numeric"
    hierarchy = str(data / "adult" / "hierarchies" / "occupation.csv")
    attributes |= {"occupation": {"role": "sensitive", "hierarchy": hierarchy}, "salary-class": {"role": "sensitive"}}
    expect = [one for one in CLASS_CHECKS if "hierarchical" not in str(one)]
    expect.append({"t_closeness": {"t": "1/5", "distance": "hierarchical", "attribute": "occupation"}})
    document = {"version": 1, "sampling_fraction": "1/100", "attributes": attributes, "expect": expect}
    return load_policy(document, PLUGINS)


@pytest.fixture(scope="module")
def truth_of_adult(adult: tuple[pa.Table, Path], asked_of_adult: Policy) -> dict[str, Any]:
    expected = answer(adult[1], asked_of_adult)
    outcomes = [one for one in expected["outcomes"] if not one["source"].startswith("tcdp-audit")]
    assert [one["message"] for one in outcomes if one["status"] == "error"] == []
    assert {one["check"] for one in outcomes} == {name for one in CLASS_CHECKS for name in one}
    return expected


@pytest.mark.parametrize("form", ["frame", "sqlite", "duckdb"])
def test_all_class_checks_on_adult(
    form: str, adult: tuple[pa.Table, Path], asked_of_adult: Policy, truth_of_adult: dict[str, Any], loaded: Loaded
) -> None:
    table = adult[0]
    release = table.to_pandas() if form == "frame" else getattr(loaded, form)(table)
    assert answer(release, asked_of_adult) == truth_of_adult


@pytest.mark.usefixtures("transport")
def test_all_class_checks_on_adult_in_postgresql(
    adult: tuple[pa.Table, Path], asked_of_adult: Policy, truth_of_adult: dict[str, Any], server: Server
) -> None:
    address = into_postgresql(server, adult[0], "adult")
    assert answer(address, asked_of_adult) == truth_of_adult
    assert answer(address, asked_of_adult, shards=16) == truth_of_adult
