"""Instances of DuckDB are used again, and nothing of their last user remains."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from tcdp_audit.core.engines import duckdb_instances
from tcdp_audit.core.engines.duckdb_instances import MOST_IDLE, Instance, close_idle_instances

MEMORY = 2**28


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The instances that a test starts."""
    connect, instances = duckdb.connect, []

    def noting(**settings: Any) -> Any:
        instances.append(connect(**settings))
        return instances[-1]

    close_idle_instances()
    monkeypatch.setattr(duckdb, "connect", noting)
    yield instances
    close_idle_instances()


def setting(instance: Instance, name: str) -> Any:
    return instance.connection.execute(f"SELECT current_setting('{name}')").fetchall()[0][0]


def test_nothing_remains_with_an_instance_that_is_used_again(started: list[Any], tmp_path: Path) -> None:
    first = Instance(MEMORY, str(tmp_path / "first"))
    first.connection.register("texts", pa.table({"value": ["secret"]}))
    first.connection.execute("SET VARIABLE v0 = 'secret'")
    first.connection.execute("CREATE TEMP TABLE release AS FROM texts")
    first.connection.execute("CREATE TEMP TYPE e0 AS ENUM (SELECT value FROM texts)")
    first.close()

    second = Instance(2 * MEMORY, str(tmp_path / "it's another"))

    assert len(started) == 1
    assert second.connection.execute("SELECT getvariable('v0')").fetchall() == [(None,)]
    for relation in ("release", "texts"):
        with pytest.raises(duckdb.CatalogException):
            second.connection.execute(f"FROM {relation}")
    with pytest.raises(duckdb.CatalogException):
        second.connection.execute("SELECT NULL::e0")
    assert setting(second, "temp_directory") == str(tmp_path / "it's another")
    assert (setting(second, "memory_limit"), setting(second, "enable_progress_bar")) == ("512.0 MiB", False)
    second.close()


def test_an_instance_has_one_user_at_a_time_however_often_it_is_closed(started: list[Any], tmp_path: Path) -> None:
    first = Instance(MEMORY, str(tmp_path))
    first.close()
    first.close()
    users = [Instance(MEMORY, str(tmp_path)) for _ in range(MOST_IDLE + 2)]

    assert len(started) == MOST_IDLE + 2
    assert len({id(one._root) for one in users}) == len(users)
    for one in users:
        one.close()
    assert len(duckdb_instances._idle) == MOST_IDLE


def test_one_that_wrote_temporary_files_is_not_used_again(started: list[Any], tmp_path: Path) -> None:
    first = Instance(2**25, str(tmp_path / "first"))
    first.connection.execute("CREATE TEMP TABLE t AS SELECT md5(range::VARCHAR) AS a FROM range(1000000)")
    assert list((tmp_path / "first").iterdir())
    first.close()

    second = Instance(MEMORY, str(tmp_path / "second"))

    assert len(started) == 2
    assert setting(second, "temp_directory") == str(tmp_path / "second")
    second.close()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems start a new process instead")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_instance_is_idle_in_a_fork(tmp_path: Path) -> None:
    Instance(MEMORY, str(tmp_path)).close()
    assert duckdb_instances._idle
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe()
    child = context.Process(target=lambda: sender.send(len(duckdb_instances._idle)))
    child.start()
    assert receiver.recv() == 0
    child.join(60)
    assert child.exitcode == 0
