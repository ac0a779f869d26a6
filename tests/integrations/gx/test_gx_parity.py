"""Each expectation says what `audit` says, on every engine of Great Expectations, from one audit for all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import gx_hosts
import pyarrow as pa
import pytest
from gx_hosts import from_native, judged, pandas_batches, run, run_unguarded, sql_batches, sqlite_batches
from mariadb_server import MariaDB
from postgres_server import Server
from same_everywhere import frame, native, policy

from tcdp_audit.core.session import inputs
from tcdp_audit.integrations.great_expectations.suites import suite_of

NATIVE = sorted(map(from_native, native()), key=repr)


def _figures(result: Any) -> list[tuple[Any, ...]]:
    ours = [one for one in result.results if one.expectation_config.type != gx_hosts.COLUMNS]
    return sorted(map(judged, ours), key=repr)


@pytest.fixture
def audits(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collects the policy of each audit that runs."""
    seen: list[Any] = []
    evaluation = inputs.evaluation

    def counted(policy: Any, *rest: Any) -> Any:
        seen.append(policy)
        return evaluation(policy, *rest)

    monkeypatch.setattr(inputs, "evaluation", counted)
    return seen


def test_on_pandas(audits: list[Any]):
    result = run(pandas_batches(frame()), suite_of(policy()))

    assert _figures(result) == NATIVE
    assert len(audits) == 1


def test_on_sqlite(audits: list[Any], tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'release.db'}"
    gx_hosts.put(frame(), url)

    result = run(sqlite_batches(url), suite_of(policy()))

    assert _figures(result) == NATIVE
    assert len(audits) == 1


@pytest.fixture
def url(server: Server) -> str:
    """An address of the server, with the release in a table."""
    url = server.url().replace("postgresql://", "postgresql+psycopg://")
    gx_hosts.put(frame(), url)
    return url


def test_on_postgresql(audits: list[Any], url: str):
    result = run(sql_batches(url), suite_of(policy()))

    assert _figures(result) == NATIVE
    assert len(audits) == 1


@pytest.fixture
def duckdb_url(tmp_path: Path) -> str:
    """The address of a DuckDB file with the release."""
    with duckdb.connect(tmp_path / "release.duckdb") as connection:
        connection.register("given", frame())
        connection.execute("CREATE TABLE release AS FROM given")
    return f"duckdb:///{tmp_path / 'release.duckdb'}"


def test_on_duckdb(audits: list[Any], duckdb_url: str):
    result = run(sql_batches(duckdb_url), suite_of(policy()))

    assert _figures(result) == NATIVE
    assert len(audits) == 1


def test_part_of_a_table_on_duckdb(duckdb_url: str):
    assert _figures(run_unguarded(sql_batches(duckdb_url), _of_women())) == _women()


@pytest.fixture
def mariadb_url(mariadb: MariaDB) -> str:
    """The address of MariaDB, with the release in a table."""
    url = mariadb.url().replace("mariadb://", "mariadb+pymysql://")
    gx_hosts.put(frame(), url, "people")  # RELEASE is a word of its SQL, and Great Expectations does not quote it
    return url


def test_on_mariadb(audits: list[Any], mariadb_url: str):
    result = run(sql_batches(mariadb_url, "people"), suite_of(policy()))

    assert _figures(result) == NATIVE
    assert len(audits) == 1


def test_part_of_a_table_on_mariadb_is_refused_in_a_sentence(mariadb_url: str):
    result = run_unguarded(sql_batches(mariadb_url, "people"), _of_women())

    assert not any(one.success for one in result.results)
    assert "not known to mariadb; make a view of it" in json.dumps(result.to_json_dict())


@pytest.mark.parametrize("transport", ["adbc", "sqlalchemy"])
def test_part_of_a_table_on_postgresql(url: str, transport: str, monkeypatch: pytest.MonkeyPatch):
    if transport == "sqlalchemy":
        monkeypatch.setitem(__import__("sys").modules, "adbc_driver_postgresql", None)

    assert _figures(run_unguarded(sql_batches(url), _of_women())) == _women()


def test_part_of_a_table_on_pandas():
    assert _figures(run_unguarded(pandas_batches(frame()), _of_women())) == _women()


def test_part_of_a_table_on_sqlite(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'release.db'}"
    gx_hosts.put(frame(), url)

    assert _figures(run_unguarded(sqlite_batches(url), _of_women())) == _women()


def test_a_query_is_a_batch(url: str):
    source = sql_batches(url)[0].data_asset.datasource
    asset = source.add_query_asset("some", query=f"SELECT * FROM release WHERE sex = '{WOMAN}'")

    result = run((asset.add_batch_definition_whole_table("query"), {}), suite_of(policy()))

    assert _figures(result) == _women()


WOMAN = min(frame()["sex"].unique())


def _of_women() -> Any:
    return gx_hosts.with_condition(suite_of(policy()), gx_hosts.column("sex") == WOMAN)


def _women() -> list[tuple[Any, ...]]:
    import tcdp_audit

    release = frame()
    part = release[release["sex"] == WOMAN]
    assert 0 < len(part) < len(release)
    return sorted(map(from_native, tcdp_audit.audit(part, policy()).expectations), key=repr)


def test_two_tables_are_two_audits_and_a_second_run_reads_again(audits: list[Any]):
    whole, _ = pandas_batches()
    definition = gx_hosts.definition(whole, suite_of(policy()))
    small = frame().head(100)

    first = definition.run(batch_parameters={"dataframe": frame()}, result_format="COMPLETE")
    second = definition.run(batch_parameters={"dataframe": small}, result_format="COMPLETE")
    third = definition.run(batch_parameters={"dataframe": frame()}, result_format="COMPLETE")

    assert _figures(first) == _figures(third) == NATIVE
    assert {one[-1].total for one in _figures(second) if one[-1]} == {100}
    assert len(audits) == 3


def test_a_configuration_that_is_given_twice_has_the_table_read_twice(audits: list[Any]):
    from great_expectations.execution_engine import PandasExecutionEngine
    from great_expectations.validator.validator import Validator

    runtime = {"result_format": "BASIC"}
    configurations = [one.configuration for one in suite_of(policy()).expectations]
    for records in (8000, 100):
        engine = PandasExecutionEngine(batch_data_dict={"release": frame().head(records)})
        results = Validator(engine).graph_validate(configurations=configurations, runtime_configuration=runtime)
        assert {one.result.get("element_count", records) for one in results} == {records}
    assert len(audits) == 2


def test_expectations_that_set_the_table_up_in_another_way_are_audited_apart(audits: list[Any]):
    known = ["age", "sex", "postcode", "admission_month"]
    expectations = [
        gx_hosts.ours.ExpectTableToBeKAnonymous(quasi_identifiers=known, k=4),
        gx_hosts.ours.ExpectTableToBeKAnonymous(quasi_identifiers=known[:2], k=4),
        gx_hosts.ours.ExpectColumnToBeTClose(
            quasi_identifiers=known, column="cost", scale="numeric", distance="ordered", t=0.5
        ),
        gx_hosts.ours.ExpectColumnToBeDistinctLDiverse(quasi_identifiers=known, column="cost", l=2),
    ]

    result = run(pandas_batches(frame()), expectations)

    assert len(audits) == 3
    smallest = frame().groupby(known[:2]).size().min()
    assert {one.result["observed_value"] for one in result.results if "k" in one.expectation_config.kwargs} == {
        4,
        smallest,
    }


def test_types_of_postgresql_do_not_matter(server: Server):
    table = pa.table({"age": pa.array([1, 1, 2, 2]), "ill": ["a", "b", "a", None]})
    url = server.url().replace("postgresql://", "postgresql+psycopg://")
    gx_hosts.put(table.to_pandas(), url, "small")
    asked = [gx_hosts.ours.ExpectColumnToBeDistinctLDiverse(quasi_identifiers="age", column="ill", l=2)]

    (one,) = run(sql_batches(url, "small"), asked).results

    assert (one.success, one.result["observed_value"], one.result["unexpected_count"]) == (False, 1, 2)
