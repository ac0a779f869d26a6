"""The same records in a file, a frame and every database: the same answer to the last digit, but for provenance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import adult_release
import pyarrow as pa
import pytest
import sources
from answers import PLUGINS, answer
from loaded import Loaded, into_mariadb, into_postgresql
from mariadb_server import MariaDB
from postgres_server import Server

from tcdp_audit import load_policy
from tcdp_audit.core.policy.policy import Policy

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


def policy(convention: dict[str, Any], **changes: Any) -> Policy:
    document = {"version": 1, "attributes": ATTRIBUTES, "expect": EXPECT, "conventions": convention, **changes}
    return load_policy(document, PLUGINS)


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


@pytest.mark.parametrize("convention", CONVENTIONS, ids=lambda one: one["missing_quasi_identifier"])
@pytest.mark.parametrize("dialect", ["mariadb", "mysql"])
def test_mariadb(dialect: str, convention: dict[str, Any], mariadb: MariaDB) -> None:
    address = into_mariadb(mariadb, sources.ARROW, "release").replace("mariadb:", f"{dialect}:")
    for unit in ({}, {"unit": "person"}):
        asked = policy(convention, **unit)
        assert answer(address, asked) == answer(sources.ARROW, asked)


SCENARIOS = {  # they share no column, and two of them know what is at stake in another
    "neighbour": {"knows": ["age", "sex"]},
    "insurer": {"knows": ["zip", "severity"], "attempt": 0.5},
    "colleague": {"knows": ["disease"], "at_stake": ["cost"]},
}


@pytest.mark.parametrize("convention", CONVENTIONS, ids=lambda one: one["missing_quasi_identifier"])
@pytest.mark.usefixtures("transport")
def test_scenarios_in_postgresql(convention: dict[str, Any], server: Server, loaded: Loaded) -> None:
    asked = policy(convention, scenarios=SCENARIOS)
    expected = answer(sources.ARROW, asked)
    assert {one.get("scenario") for one in expected["outcomes"]} == {None, *SCENARIOS}
    assert answer(into_postgresql(server, sources.ARROW, "release"), asked) == expected
    assert answer(loaded.duckdb(sources.ARROW), asked) == expected


def with_units(convention: dict[str, Any], **changes: Any) -> Policy:
    """Demands on rows, or on a unit, and the same on people."""
    asked = [{name: {**given, "unit": "person"}} for one in EXPECT[:3] for name, given in one.items()]
    return policy(convention, expect=[*EXPECT[:3], *asked], **changes)


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_units_of_demands(database: str, loaded: Loaded) -> None:
    address = getattr(loaded, database)(sources.ARROW)
    for convention in CONVENTIONS:
        asked = with_units(convention)
        expected = answer(sources.ARROW, asked)
        assert answer(address, asked) == expected
        assert answer(sources.ARROW, asked, shards=7) == expected


@pytest.mark.usefixtures("transport")
def test_units_of_demands_in_postgresql(server: Server) -> None:
    asked = with_units(CONVENTIONS[0], unit="note")
    address = into_postgresql(server, sources.ARROW, "release")
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
def truth_of_adult(data: Path) -> dict[str, Any]:
    return answer(adult_release.file(data), adult_release.policy(data))


@pytest.mark.parametrize("form", ["frame", "sqlite", "duckdb"])
def test_adult(form: str, data: Path, truth_of_adult: dict[str, Any], loaded: Loaded) -> None:
    table = adult_release.table(data)
    release = table.to_pandas() if form == "frame" else getattr(loaded, form)(table)
    assert answer(release, adult_release.policy(data)) == truth_of_adult


@pytest.mark.usefixtures("transport")
def test_adult_in_postgresql(data: Path, truth_of_adult: dict[str, Any], server: Server) -> None:
    address = into_postgresql(server, adult_release.table(data), "adult")
    assert answer(address, adult_release.policy(data)) == truth_of_adult
    assert answer(address, adult_release.policy(data), shards=16) == truth_of_adult


def test_adult_in_mariadb(data: Path, truth_of_adult: dict[str, Any], mariadb: MariaDB) -> None:
    address = into_mariadb(mariadb, adult_release.table(data), "adult")
    assert answer(address, adult_release.policy(data)) == truth_of_adult
