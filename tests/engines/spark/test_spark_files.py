"""Parquet files on a cluster: what the file reader refuses is refused, and figures are those of files."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bare_workers import python_without_tcdp_audit
from lake_tables import FORMATS, POLICY, TABLE, data_of, written

from tcdp_audit import audit
from tcdp_audit.cli.run import run
from tcdp_audit.core.base.errors import DataError, UsageError

KEYED: dict[str, Any] = {
    "version": 1,
    "attributes": {"zip": {"role": "quasi_identifier"}, "illness": {"role": "sensitive"}},
    "expect": [{"k_anonymity": {"k": 2}}],
}


def folder_of(path: Path, values: list[str], name: str = "zip") -> Path:
    """Two people in each of some folders of a key, whose value is the folder's."""
    for value in values:
        (path / f"{name}={value}").mkdir(parents=True)
        pq.write_table(pa.table({"illness": ["flu", "cold"]}), path / f"{name}={value}" / "part.parquet")
    return path


def figures(location: Any, policy: dict[str, Any] = KEYED) -> list[Any]:
    outcomes = audit(location, policy).outcomes
    return [(one.check, one.status, one.observed, one.message) for one in outcomes]


def refused(location: Any, policy: dict[str, Any] = POLICY) -> str:
    with pytest.raises(UsageError) as caught:
        audit(location, policy)
    assert caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("kind", FORMATS)
def test_a_table_of_versions_is_refused(tmp_path: Path, kind: str) -> None:
    root = written(tmp_path / "a {b} [c] 100%20,^", kind)
    copy = shutil.copytree(root, tmp_path / "r")
    data = data_of(copy, kind)
    for location in (data, f"file:{data}", f"{data}/*.parquet", f"{data}/part-00000.snappy.parquet"):
        assert f"holds files of a table of {kind}, which keeps the rows of earlier versions" in refused(
            f"spark:{location}"
        )
    escaped = re.sub(r"([{}\[\]^,])", r"\\\1", str(data_of(root, kind)))  # which are signs of a pattern to Spark
    assert "holds files of a table of" in refused(f"spark:{escaped}")


@pytest.mark.parametrize("values", [["01", "1", "02", "2"], ["02139", "2139"], ["a b", "a%2Fb", "1.0", "1"]])
@pytest.mark.usefixtures("spark")
def test_keys_of_folders_are_text(tmp_path: Path, values: list[str]) -> None:
    folder = folder_of(tmp_path / "q", [*values, "__HIVE_DEFAULT_PARTITION__"])
    assert figures(f"spark:{folder}") == figures(folder)
    assert figures(folder)[-1][2] == 2


def test_the_session_keeps_its_setting(spark: Any, tmp_path: Path) -> None:
    name = "spark.sql.sources.partitionColumnTypeInference.enabled"
    folder = folder_of(tmp_path / "q", ["01", "1"])
    audit(f"spark:{folder}", KEYED)
    assert spark.conf.get(name) == "true"


@pytest.mark.usefixtures("spark")
def test_what_spark_would_leave_out_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "q", ["01", "1"])
    said = refused(f"spark:{folder}/*", KEYED)
    assert said.endswith(
        "Spark leaves out the key 'zip' of the folders that this pattern names; name the folder above them"
    )
    pq.write_table(TABLE, folder / "part.parquet")
    assert "folders" in refused(f"spark:{folder}", KEYED)
    nested = tmp_path / "nested"
    (nested / "more").mkdir(parents=True)
    pq.write_table(TABLE, nested / "a.parquet")
    pq.write_table(TABLE, nested / "more" / "b.parquet")
    assert "files lie in folders that Spark leaves out" in refused(f"spark:{nested}")


@pytest.mark.usefixtures("spark")
def test_a_key_that_hides_a_column_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q" / "zip=1").mkdir(parents=True)
    pq.write_table(TABLE, tmp_path / "q" / "zip=1" / "part.parquet")
    sentence = "column 'zip' is in the files and is a key in the names of their folders; leave it out of one"
    assert refused(f"spark:{tmp_path}/q").endswith(sentence)
    assert figures(f"spark:{tmp_path}/q/zip=1", POLICY)[-1][2] == 1  # the folder itself has no key below it


def test_a_frame_and_a_table_over_such_files_are_refused(spark: Any, tmp_path: Path) -> None:
    root = written(tmp_path / "people")
    assert refused(spark.read.parquet(str(root))).startswith("release: holds files of a table of Delta Lake")
    spark.sql(f"CREATE TABLE versions USING parquet LOCATION '{root}'")
    spark.sql("CREATE VIEW of_versions AS SELECT * FROM versions")
    assert "holds files of a table of Delta Lake" in refused("spark:versions")
    assert "holds files of a table of Delta Lake" in refused("spark:of_versions")
    spark.sql("DROP VIEW of_versions")
    spark.sql("DROP TABLE versions")
    assert figures(spark.createDataFrame(TABLE.to_pylist()), POLICY)[-1][2] == 1


def test_a_frame_that_a_format_reads_by_its_log_is_read(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tcdp_audit_plugins.engines.spark import opening

    frame = spark.read.parquet(str(written(tmp_path / "people")))
    monkeypatch.setattr(opening, "_plan", lambda _: "FileScan parquet Location: PreparedDeltaFileIndex(1 paths)")
    assert figures(frame, POLICY)[-1][2] == 3


def test_a_file_that_is_gone_is_said(spark: Any, tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "r.parquet")
    frame = spark.read.parquet(str(tmp_path / "r.parquet"))
    (tmp_path / "r.parquet").unlink()
    with pytest.raises(DataError) as caught:
        audit(frame, POLICY)
    assert str(caught.value) == "release: a file of the table is gone; audit a copy, or a version that stays"


@pytest.mark.usefixtures("spark")
def test_a_table_that_is_not_there_is_a_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:

    (tmp_path / "p.tcdp.yaml").write_text(json.dumps(POLICY), encoding="utf-8")
    for release in ("nosuch_table", f"{tmp_path}/none.parquet"):
        assert run("check", ["--engine", "spark", release, "--policy", str(tmp_path / "p.tcdp.yaml")]) == 2
        assert "no such" in capsys.readouterr().err


@pytest.mark.usefixtures("java")
def test_executors_without_tcdp_audit_are_named_and_nothing_else_is_printed(tmp_path: Path) -> None:

    pq.write_table(TABLE, tmp_path / "r.parquet")
    (tmp_path / "p.tcdp.yaml").write_text(json.dumps(POLICY), encoding="utf-8")
    python = python_without_tcdp_audit(tmp_path)
    command = [
        sys.executable,
        "-m",
        "tcdp_audit",
        "check",
        "--engine",
        "spark",
        "./r.parquet",
        "--policy",
        "p.tcdp.yaml",
    ]

    def ran(worker: Path | str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYSPARK_PYTHON": str(worker)}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    bare = ran(python)
    assert bare.returncode == 3
    assert "a Python worker of the cluster cannot import a module, as a rule tcdp-audit or one of its" in bare.stderr
    right = ran(sys.executable)
    assert right.returncode == 1
    assert "WARN" not in right.stderr
    assert "Spark" not in right.stderr
