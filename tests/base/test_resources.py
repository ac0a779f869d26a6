"""Amounts of memory, and files that appear whole or not at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tcdp_audit import UsageError
from tcdp_audit.core.base import resources
from tcdp_audit.core.base.files import require_writable, write_atomically


@pytest.mark.parametrize(
    ("text", "amount"),
    [("1GiB", 2**30), ("1.5 gib", 3 * 2**29), ("800MB", 800_000_000), ("100000000", 10**8), ("2t", 2 * 10**12)],
)
def test_amounts(text, amount):
    assert resources.parse_memory(text) == amount


@pytest.mark.parametrize("text", ["much", "-1GiB", "", "1XB", "1GiB2"])
def test_what_is_no_amount_is_said_so(text):
    with pytest.raises(UsageError, match="is not an amount of memory"):
        resources.parse_memory(text)


def test_too_little_is_refused():
    with pytest.raises(UsageError, match="at least 64MiB"):
        resources.parse_memory("1MB")


def test_the_default_is_three_quarters_of_what_is_free(monkeypatch):
    monkeypatch.setattr(resources, "free_memory", lambda: 4000)
    assert resources.default_memory() == 3000


def test_a_container_s_limit_counts(monkeypatch):
    monkeypatch.setattr(resources, "_proc_available", lambda: 10**9)
    monkeypatch.setattr(resources, "_container_limit", lambda: 10**8)
    assert resources.free_memory() == 10**8


def test_without_either_half_of_the_machine_is_taken(monkeypatch):
    monkeypatch.setattr(resources, "_proc_available", lambda: None)
    monkeypatch.setattr(resources, "_container_limit", lambda: None)
    assert resources.free_memory() == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def read_of(files, monkeypatch):
    def read_text(path, **_):
        if str(path) not in files:
            raise FileNotFoundError
        return files[str(path)]

    monkeypatch.setattr(Path, "read_text", read_text)


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({}, None),
        ({"/sys/fs/cgroup/memory.max": "max\n", "/sys/fs/cgroup/memory.current": "5\n"}, None),
        ({"/sys/fs/cgroup/memory.max": "1000000000\n", "/sys/fs/cgroup/memory.current": "100000000\n"}, 900_000_000),
        ({"/sys/fs/cgroup/memory.max": "100\n", "/sys/fs/cgroup/memory.current": "90\n"}, resources.LEAST),
    ],
)
def test_limits_of_containers(files, limit, monkeypatch):
    read_of(files, monkeypatch)
    assert resources._container_limit() == limit


@pytest.mark.parametrize(
    ("files", "amount"),
    [
        ({}, None),
        ({"/proc/meminfo": "MemTotal: 9 kB\nMemAvailable:    7 kB\n"}, 7168),
        ({"/proc/meminfo": "MemTotal: 9 kB"}, None),
    ],
)
def test_available_memory(files, amount, monkeypatch):
    read_of(files, monkeypatch)
    assert resources._proc_available() == amount


def test_processors_without_affinity(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert resources.processors() == 1


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    write_atomically(path, "after\n")
    assert (path.read_text(), [one.name for one in tmp_path.iterdir()]) == ("after\n", ["report.html"])


def test_an_interrupted_write_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("before")

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "after")
    assert (path.read_text(), [one.name for one in tmp_path.iterdir()]) == ("before", ["report.html"])


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    write_atomically(tmp_path / "written", "x")
    assert (tmp_path / "written").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize(("name", "sentence"), [("absent/x.json", "does not exist"), ("", "is a folder")])
def test_places_that_cannot_be_written_are_refused(tmp_path, name, sentence):
    with pytest.raises(UsageError, match=sentence):
        require_writable(tmp_path / name)
