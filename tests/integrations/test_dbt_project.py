"""Projects of dbt: which models have a policy, where their tables are, and that no secret of a profile is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tcdp_audit import DataError, UsageError
from tcdp_audit.integrations.dbt import Model, Profile, Project, with_table

SECRET = "s3cret@/:?%"  # noqa: S105 - of no server
SERVER = {"type": "postgres", "host": "db.example", "user": "an na", "password": SECRET, "dbname": "shop", "port": 5433}
INLINE = {"version": 1, "attributes": {"zip": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {"k": 2}}]}


def node(name: str, meta: Any = None, **more: Any) -> dict[str, Any]:
    """A node of a manifest, as dbt 1.11 writes it."""
    config = {"materialized": "table", "meta": {} if meta is None else {"tcdp_audit": meta}}
    return {
        "resource_type": "model",
        "name": name,
        "alias": name,
        "database": "shop",
        "schema": "main",
        "original_file_path": f"models/{name}.sql",
        "columns": {},
        "config": config,
        **more,
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without a model, as the current folder."""
    for name in ("DBT_TARGET_PATH", "DBT_PROFILES_DIR", "DBT_TARGET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    return tmp_path


def run_of(*nodes: dict[str, Any], states: dict[str, str] | None = None, target: str = "target") -> Project:
    """A project of the current folder after a run that built these nodes."""
    Path(target).mkdir(exist_ok=True)
    named = {f"model.shop.{one['name']}": one for one in nodes}
    (Path(target) / "manifest.json").write_text(json.dumps({"nodes": named}))
    results = [{"unique_id": f"model.shop.{name}", "status": state} for name, state in (states or {}).items()]
    (Path(target) / "run_results.json").write_text(json.dumps({"results": results}))
    return Project.read(Path())


def profile(output: dict[str, Any], **options: Any) -> Profile:
    """The profile of the current folder whose only target is `output`."""
    Path("profiles.yml").write_text(yaml.safe_dump({"shop": {"target": "dev", "outputs": {"dev": output}}}))
    return Profile.read(Project.read(Path()), **options)


def model(**more: Any) -> Model:
    return Model(**{"name": "customers", "path": Path("c.sql"), "policy": {}, "database": "shop",
                    "schema": "main", "table": "customers", **more})  # fmt: skip


def test_models_with_a_policy_are_listed_by_name(folder):  # noqa: ARG001 - the current folder
    project = run_of(
        node("orders"),
        node("visits", "policies/v.tcdp.yaml"),
        node("customers", INLINE, alias="people"),
        {**node("old"), "meta": {"tcdp_audit": "old.tcdp.yaml"}},  # as dbt wrote it before 1.10
        node("a_test", "x.tcdp.yaml", resource_type="test"),
    )
    listed = project.models()

    assert [one.name for one in listed] == ["customers", "old", "visits"]
    assert [one.policy for one in listed] == [INLINE, Path("old.tcdp.yaml"), Path("policies/v.tcdp.yaml")]
    assert (listed[0].place, listed[0].path) == ("main.people", Path("models/customers.sql"))
    assert [one.name for one in project.models(["visits"])] == ["visits"]


def test_columns_may_declare_themselves_in_a_policy_of_a_model(folder):  # noqa: ARG001 - the current folder
    columns = {"age": {"name": "age", "config": {"meta": {"tcdp_audit": {"role": "quasi_identifier"}}}}}
    (made,) = run_of(node("customers", INLINE, columns=columns)).models()

    assert made.policy == {
        **INLINE,
        "attributes": {"zip": {"role": "quasi_identifier"}, "age": {"role": "quasi_identifier"}},
    }
    with pytest.raises(UsageError, match=r"'zip' is declared by its own meta\.tcdp_audit and by that of its model"):
        run_of(node("customers", INLINE, columns={"zip": {**columns["age"], "name": "zip"}})).models()


@pytest.mark.parametrize(
    ("more", "state", "says"),
    [
        ({}, "error", "was not built by the last run of dbt (its state is 'error')"),
        ({}, "skipped", "was not built by the last run of dbt (its state is 'skipped')"),
        ({"config": {"materialized": "ephemeral", "meta": {"tcdp_audit": "p"}}}, "success", "is ephemeral"),
    ],
)
def test_a_model_without_a_new_table_is_not_audited(more, state, says, folder):  # noqa: ARG001 - the current folder
    (made,) = run_of(node("customers", "p.tcdp.yaml", **more), states={"customers": state}).models()

    with pytest.raises(DataError) as caught:
        made.require_built()
    assert str(caught.value).startswith(f"customers: {says}")


@pytest.mark.parametrize("states", [{}, {"customers": "success"}])
def test_a_model_that_the_last_run_built_or_left_alone_is_audited(states, folder):  # noqa: ARG001 - likewise
    (made,) = run_of(node("customers", "p.tcdp.yaml"), states=states).models()
    made.require_built()


@pytest.mark.parametrize(
    ("nodes", "selected", "says"),
    [
        ([node("orders")], (), "no model has meta.tcdp_audit, so there is nothing to audit"),
        ([node("orders", "p")], ("people",), "--select people: no model of this name has meta.tcdp_audit; those that"),
        ([node("orders", 3)], (), "orders: meta.tcdp_audit must be the path of a policy, or a policy itself"),
    ],
)
def test_nothing_to_audit_is_an_error(nodes, selected, says, folder):  # noqa: ARG001 - the current folder
    with pytest.raises(UsageError) as caught:
        run_of(*nodes).models(selected)
    assert says in str(caught.value)


def test_what_dbt_did_not_write_is_asked_for(folder, monkeypatch):
    with pytest.raises(UsageError, match=r"manifest.json: cannot be read .*; run dbt build first"):
        Project.read(folder).models()
    with pytest.raises(UsageError, match=r"dbt_project.yml: cannot be read .*; run this in a dbt project"):
        Project.read(folder / "elsewhere")
    run_of(node("customers", "p"), target="built")
    monkeypatch.setenv("DBT_TARGET_PATH", "built")
    assert [one.name for one in Project.read(Path()).models()] == ["customers"]


def test_addresses_have_what_a_profile_says(folder):
    address = profile({"type": "duckdb", "path": "shop.duckdb"}).address_of(model())
    assert address == f"duckdb:///{folder}/shop.duckdb?table=main.customers"

    output = {**SERVER, "sslmode": "require", "role": "reader", "schema": "public"}
    address = profile(output).address_of(model(schema="public", table="odd.name"))
    assert address == (
        "postgresql://an%20na:s3cret%40%2F%3A%3F%25@db.example:5433/shop?sslmode=require"
        "&options=-c%20role%3Dreader&table=public.%22odd.name%22"
    )


def test_a_server_may_listen_on_a_socket(folder):  # noqa: ARG001 - the current folder
    address = profile({**SERVER, "host": "/run/post gresql"}).address_of(model())

    assert address.endswith("@/shop?host=/run/post%20gresql&port=5433&table=main.customers")


def test_addresses_are_read_as_the_profile_has_them(folder):  # noqa: ARG001 - the current folder
    pytest.importorskip("sqlalchemy")
    from tcdp_audit_plugins.engines.database.address import parse

    read = parse(profile({**SERVER, "role": "reader"}).address_of(model(table='odd."name&')))

    assert (read.url.password, read.url.username, read.url.port) == (SECRET, "an na", 5433)
    assert (read.place.schema, read.place.table) == ("main", 'odd."name&')
    assert SECRET not in read.uri
    assert with_table("snowflake://account/db?warehouse=w", model()).endswith("?warehouse=w&table=main.customers")


@pytest.mark.parametrize(
    ("output", "given", "says"),
    [
        (
            {"type": "snowflake", "password": SECRET},
            {},
            "the profile 'shop' is of the type 'snowflake': give the address",
        ),
        ({"type": "duckdb", "path": ":memory:"}, {}, "the profile 'shop' names no file of DuckDB"),
        ({"type": "duckdb", "path": "md:shop"}, {}, "the profile 'shop' names no file of DuckDB"),
        ({"type": "duckdb", "path": "other.duckdb"}, {}, "customers: is in an attached database"),
        ({**SERVER, "dbname": ""}, {}, "the profile 'shop' lacks host, user or dbname"),
        ({**SERVER, "dbname": "other"}, {}, "customers: is in another database than that of the profile"),
        ({**SERVER, "user": "{{ env_var('NOT_SET') }}"}, {}, "the variable NOT_SET is not set in the environment"),
        ({**SERVER, "user": "{{ var('x') }}"}, {}, "an entry calls what only dbt can answer"),
        (SERVER, {"target": "prod"}, "the profile 'shop' has no target 'prod'"),
        (SERVER, {"name": "other"}, "has no profile 'other'"),
    ],
)
def test_a_profile_that_says_too_little_is_named_without_its_secret(output, given, says, folder):  # noqa: ARG001
    with pytest.raises(UsageError) as caught:
        profile(output, **given).address_of(model())

    assert says in str(caught.value)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_profile_reads_the_environment_as_dbt_does(folder, monkeypatch):  # noqa: ARG001 - the current folder
    monkeypatch.setenv("SHOP_PASSWORD", SECRET)
    monkeypatch.setenv("SHOP_PORT", "6000")
    output = {**SERVER, "password": "{{ env_var('SHOP_PASSWORD') }}", "port": "{{ env_var('SHOP_PORT') | as_number }}"}
    read = profile({**output, "user": "{{ env_var('SHOP_USER', 'nobody') }}"})

    assert (read.output["password"], read.output["port"], read.output["user"]) == (SECRET, "6000", "nobody")
    assert "s3cret" not in repr(read)
    assert "s3cret" not in str(read)


def test_profiles_are_looked_for_where_dbt_does(folder, tmp_path_factory, monkeypatch):  # noqa: ARG001 - likewise
    elsewhere = tmp_path_factory.mktemp("profiles")
    outputs = {"dev": {"type": "duckdb", "path": "a.duckdb"}, "ci": {"type": "duckdb", "path": "b.duckdb"}}
    (elsewhere / "profiles.yml").write_text(yaml.safe_dump({"shop": {"target": "dev", "outputs": outputs}}))
    project = Project.read(Path())

    assert Profile.read(project, elsewhere).output["path"] == "a.duckdb"
    monkeypatch.setenv("DBT_PROFILES_DIR", str(elsewhere))
    assert Profile.read(project, target="ci").output["path"] == "b.duckdb"
    monkeypatch.setenv("DBT_TARGET", "ci")
    assert Profile.read(project).target == "ci"
    monkeypatch.delenv("DBT_PROFILES_DIR")
    monkeypatch.setenv("HOME", str(elsewhere))
    with pytest.raises(UsageError, match=r"profiles.yml: cannot be read .*dbt debug says where dbt looks"):
        Profile.read(project)
