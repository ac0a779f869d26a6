"""`tcdp-audit dbt` on a project that dbt built in DuckDB; dbt itself runs in tests/clients/test_dbt_client.py."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
import yaml

pytest.importorskip("sqlalchemy")

EXPECT = [{"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 2}}]
POLICY = {
    "version": 1,
    "attributes": {"zip": {"role": "quasi_identifier"}, "illness": {"role": "sensitive"}},
    "expect": EXPECT,
}


def written(models: dict[str, object], states: dict[str, str] | None = None) -> None:
    """The files of a project whose models have these policies, after a run of dbt."""
    nodes = {
        f"model.shop.{name}": {
            "resource_type": "model",
            "name": name,
            "alias": name,
            "database": "shop",
            "schema": "main",
            "original_file_path": f"models/{name}.sql",
            "columns": {},
            "config": {"materialized": "table", "meta": {"tcdp_audit": policy}},
        }
        for name, policy in models.items()
    }
    results = [{"unique_id": f"model.shop.{name}", "status": state} for name, state in (states or {}).items()]
    Path("target").mkdir(exist_ok=True)
    Path("target/manifest.json").write_text(json.dumps({"nodes": nodes}))
    Path("target/run_results.json").write_text(json.dumps({"results": results}))


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with three tables: `fits` keeps the policy, `fails` does not."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DBT_PROFILES_DIR", raising=False)
    Path("dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    output = {"type": "duckdb", "path": "shop.duckdb", "password": "s3cret"}
    Path("profiles.yml").write_text(yaml.safe_dump({"shop": {"target": "dev", "outputs": {"dev": output}}}))
    with duckdb.connect("shop.duckdb") as connection:
        connection.execute("create table fits as select * from (values ('1','flu'),('1','gout')) t(zip, illness)")
        connection.execute("create table fails as select * from (values ('1','flu'),('2','gout')) t(zip, illness)")
    Path("shop.tcdp.yaml").write_text(json.dumps(POLICY))
    return tmp_path


@pytest.mark.parametrize(
    ("models", "states", "code"),
    [
        ({"fits": POLICY}, {}, 0),
        ({"fits": "shop.tcdp.yaml"}, {"fits": "success"}, 0),
        ({"fails": POLICY}, {}, 1),
        ({"fits": POLICY, "fails": POLICY}, {}, 1),
        ({"fits": POLICY, "fails": POLICY}, {"fits": "error"}, 3),
        ({"fits": POLICY, "fails": "nowhere.tcdp.yaml"}, {}, 2),
        ({"fits": POLICY, "no_such_table": POLICY}, {}, 2),
    ],
)
def test_the_worst_model_decides(models, states, code, shop, here):  # noqa: ARG001 - the current folder
    written(models, states)
    assert here("dbt", "--quiet").code == code


def test_models_are_named_by_their_files_and_reported_apart(shop, here):  # noqa: ARG001 - the current folder
    written({"fits": POLICY, "fails": "shop.tcdp.yaml"})
    answer = here("dbt", "--report", "{policy}.json", "--report", "all.openlineage.jsonl", "--report", "all.sarif")
    results = {name: json.loads(Path(f"{name}.json").read_text()) for name in ("fits", "fails")}

    assert answer.code == 1
    assert "models/fits.sql" in answer.out
    assert "models/fails.sql" in answer.out
    assert {name: one["status"] for name, one in results.items()} == {"fits": "passed", "fails": "failed"}
    assert results["fails"]["release"]["uri"].endswith("shop.duckdb?table=main.fails")
    events = [json.loads(line) for line in Path("all.openlineage.jsonl").read_text().splitlines()]
    assert [one["inputs"][0]["name"].rsplit("/", 1)[-1] for one in events] == [
        "shop.duckdb.main.fails",
        "shop.duckdb.main.fits",
    ]
    for path in Path().glob("*.*"):
        assert path.name == "profiles.yml" or b"s3cret" not in path.read_bytes()


def test_only_selected_models_are_audited(shop, here):  # noqa: ARG001 - the current folder
    written({"fits": POLICY, "fails": POLICY})

    assert here("dbt", "--select", "fits", "--quiet").code == 0
    assert here("dbt", "--select", "fails", "--quiet").code == 1
    assert here("dbt", "--select", "other").err == (
        "tcdp-audit: --select other: no model of this name has meta.tcdp_audit; "
        "those that have one are 'fails' and 'fits'\n"
    )


def test_an_address_takes_the_place_of_the_profile(shop, here, monkeypatch):
    Path("profiles.yml").unlink()
    written({"fits": POLICY})

    assert here("dbt", "--quiet", "--database", f"duckdb:///{shop}/shop.duckdb").code == 0
    monkeypatch.setenv("TCDP_AUDIT_DATABASE", f"duckdb:///{shop}/nowhere.duckdb")
    assert here("dbt", "--quiet").code == 2


def test_nothing_to_audit_is_no_pass(shop, here):  # noqa: ARG001 - the current folder
    written({})
    answer = here("dbt")

    assert answer.code == 2
    assert answer.err == "tcdp-audit: dbt_project.yml: no model has meta.tcdp_audit, so there is nothing to audit\n"


def test_a_policy_without_a_demand_is_no_pass(shop, here):  # noqa: ARG001 - the current folder
    written({"fits": {**POLICY, "expect": [{"k_anonymity": {"k": 1}}]}})

    assert here("dbt", "--quiet").code == 3
    assert here("dbt", "--quiet", "--allow-vacuous").code == 0
