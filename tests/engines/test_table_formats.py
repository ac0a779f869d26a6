"""Tables of Delta Lake, Iceberg, Hudi and the like are refused, however they are named: rows stand there repeatedly."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from lake_tables import FORMATS, POLICY, TABLE, data_of, written

from tcdp_audit import audit
from tcdp_audit.core.base.errors import UsageError


def refused(location: object) -> str:
    with pytest.raises(UsageError, match=r"holds files of a table of (.+), which keeps the rows of earlier") as caught:
        audit(location, POLICY)
    assert caught.value.__cause__ is None
    return str(caught.value)


def k_of(location: object) -> object:
    return audit(location, POLICY).outcomes[-1].observed


def test_the_same_files_without_a_log_are_three_copies(tmp_path: Path) -> None:
    root = written(tmp_path / "people")
    (root / "_delta_log").rename(tmp_path / "elsewhere")
    assert k_of(root) == 3


@pytest.mark.parametrize("kind", FORMATS)
def test_a_table_is_refused_however_it_is_named(tmp_path: Path, kind: str) -> None:
    root = written(tmp_path / "lake" / "people", kind)
    data = data_of(root, kind)
    (tmp_path / "link").symlink_to(data)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "a.parquet").symlink_to(data / "part-00000.snappy.parquet")
    named = [
        root,
        data,
        f"{data}/",
        data / "*.parquet",
        f"{root}/**/*.parquet",
        tmp_path / "lake",
        f"{tmp_path}/lake/*/**/*.parquet",
        data / "part-00002.snappy.parquet",
        tmp_path / "link",
        tmp_path / "links",
        tmp_path / "links" / "a.parquet",
        f"{tmp_path}/links/../link/*.parquet",
    ]
    for location in named:
        assert refused(location).startswith(f"{str(location).rstrip('/')}: holds files of a table of {kind}")


def test_a_partition_of_a_table_is_refused(tmp_path: Path) -> None:
    root = written(tmp_path / "people", folder="year=2026/month=01")
    for location in (root, root / "year=2026", root / "year=2026" / "month=01", root / "*" / "month=01"):
        refused(location)


def test_a_table_that_is_named_as_a_key_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "r" / "zone=1")
    refused(tmp_path / "r")


def test_a_relative_path_into_a_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = written(tmp_path / "people", "Apache Iceberg")
    monkeypatch.chdir(data_of(root, "Apache Iceberg"))
    for location in (".", "*.parquet", "part-00000.snappy.parquet", "../data"):
        refused(location)


def test_companions_are_refused_too(tmp_path: Path) -> None:
    root = written(tmp_path / "people")
    with pytest.raises(UsageError, match="holds files of a table of Delta Lake"):
        audit(TABLE, POLICY, original=str(root))


def test_plain_files_near_other_metadata_are_read(tmp_path: Path) -> None:
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "dataset.json").write_text("{}")
    pq.write_table(TABLE, tmp_path / "r.parquet")
    assert k_of(tmp_path / "r.parquet") == 1
    written(tmp_path / "data" / "people")
    pyarrow.csv.write_csv(TABLE, tmp_path / "data" / "people" / "r.csv")  # which no such table has
    assert k_of(tmp_path / "data" / "people" / "r.csv") == 1


@pytest.mark.parametrize("kind", FORMATS)
def test_at_a_url(tmp_path: Path, kind: str) -> None:
    root = written(tmp_path / "people", kind)
    store = MemoryFileSystem()
    MemoryFileSystem.store.clear()
    store.put(str(root), "/lake/x/people", recursive=True)
    data = f"memory://lake/x/people/{FORMATS[kind][0]}".rstrip("/")
    for url in (data, f"{data}/part-00000.snappy.parquet", "memory://lake/x/people", "memory://lake"):
        assert f"{url}: holds files of a table of {kind}" in refused(url)
    store.rm("/lake/x/people", recursive=True)
    with store.open("/lake/r.parquet", "wb") as file:
        pq.write_table(pa.concat_tables([TABLE, TABLE]), file)
    assert k_of("memory://lake/r.parquet") == 2
    MemoryFileSystem.store.clear()
