"""Paths, tables of the catalogue, and what stands in their way; the command line."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import sources
from answers import PLUGINS, answer
from test_same_answer import CONVENTIONS, policy

from tcdp_audit import audit
from tcdp_audit.core.base.errors import UsageError

FIRST = CONVENTIONS[0]
ENVIRONMENT = {**os.environ, "PYSPARK_PYTHON": sys.executable}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Parquet files."""
    path: Path = tmp_path_factory.mktemp("parquet") / "release"
    path.mkdir()
    pq.write_table(sources.ARROW.slice(0, 1000), path / "one.parquet")
    pq.write_table(sources.ARROW.slice(1000), path / "two.parquet")
    return path


def test_a_folder_of_parquet_files_is_read_on_the_cluster(spark: Any, folder: Path) -> None:
    assert answer(f"spark:{folder}", policy(FIRST)) == answer(sources.ARROW, policy(FIRST))
    result = audit(f"spark:{folder}", policy(FIRST), plugins=PLUGINS)
    assert result.as_json()["release"] == {
        "uri": f"spark:{folder}",
        "sha256": None,
        "records": sources.RECORDS,
        "columns": len(sources.ARROW.column_names),
    }
    assert spark.range(3).count() == 3  # the session is the caller's and goes on


def test_a_table_of_the_catalogue_is_read(spark: Any) -> None:
    spark.createDataFrame(sources.ARROW).createOrReplaceTempView("people")
    assert answer("spark:people", policy(FIRST)) == answer(sources.ARROW, policy(FIRST))


@pytest.mark.parametrize(
    ("location", "sentence"),
    [
        ("nowhere/release.parquet", "no such path; name a Parquet file or folder that the cluster can see"),
        ("nowhere", "no such table, and no path either; name a table of the catalogue, or a path with a /"),
    ],
)
@pytest.mark.usefixtures("spark")
def test_what_is_not_there_is_said(location: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        audit(f"spark:{location}", policy(FIRST), plugins=PLUGINS)
    assert str(caught.value) == f"{location}: {sentence}"
    assert caught.value.__context__ is None


@pytest.mark.usefixtures("java")
def test_a_scheme_alone_names_nothing() -> None:
    with pytest.raises(UsageError, match=r"^spark: names no table; write spark:PATH for Parquet files, or spark:TABLE"):
        audit("spark:", policy(FIRST), plugins=PLUGINS)


@pytest.mark.usefixtures("java")
def test_credentials_are_not_shown() -> None:
    from tcdp_audit_plugins.engines.spark.opening import without_credentials

    secret = "s3a://key:secret@bucket/data/release?token=secret#secret"  # noqa: S105 - an example
    assert without_credentials(secret) == "s3a://bucket/data/release"
    assert without_credentials("hdfs://office:9000/data") == "hdfs://office:9000/data"
    assert without_credentials("data/a b?.parquet") == "data/a b?.parquet"


@pytest.mark.parametrize("missing", ["pyspark", "pandas"])
def test_without_spark_the_extra_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr("tcdp_audit_plugins.engines.find_spec", lambda name: None if name == missing else there(name))
    with pytest.raises(UsageError) as caught:
        audit("spark:people", policy(FIRST), plugins=PLUGINS)
    assert str(caught.value) == 'spark: needs Spark; pip install "tcdp-audit[spark]"'


@pytest.mark.usefixtures("java")
def test_the_command_line_audits_on_a_cluster_of_its_own(folder: Path, tmp_path: Path) -> None:
    document = {
        "version": 1,
        "release": os.path.relpath(folder, tmp_path),
        "attributes": {
            "zip": {"role": "quasi_identifier"},
            **{name: {"role": "insensitive"} for name in sources.ARROW.column_names if name != "zip"},
        },
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    (tmp_path / "release.tcdp.yaml").write_text(json.dumps(document), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "tcdp_audit", "check", "--engine", "spark", "--json"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    result = json.loads(ran.stdout)
    local = audit(sources.ARROW, document, plugins=PLUGINS).as_json()
    assert result["outcomes"] == json.loads(json.dumps(local["outcomes"]))
    assert result["release"]["records"] == sources.RECORDS
    assert ran.returncode == {"passed": 0, "failed": 1}[result["status"]]
    assert "Traceback" not in ran.stderr


def test_an_engine_that_is_none_is_refused(tmp_path: Path) -> None:
    document = {"version": 1, "attributes": {"zip": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {}}]}
    (tmp_path / "release.tcdp.yaml").write_text(json.dumps(document), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "tcdp_audit", "check", "release.parquet", "--engine", "sparc"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert "--engine sparc: no engine of this name reads paths; known: delta, iceberg, spark" in ran.stderr
