"""What has another name or another place on Windows and macOS: paths, memory, private folders."""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tcdp_audit import audit
from tcdp_audit.cli.configuration import _shown
from tcdp_audit.core.base import resources, scratch
from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.files import has_secret, resolve_location, scheme_of
from tcdp_audit.core.base.scratch import LOCK, Scratch, sweep
from tcdp_audit.drafting.draft import located_from

STALE = "tcdp-audit-0123456789abcdef.tmp"


def another_drive(*_: Any) -> str:
    raise ValueError("path is on mount 'D:', start on mount 'C:'")


@pytest.mark.parametrize("path", ["C:\\x.csv", "C:/x.csv", "d:x.csv", "C:\\a b\\x.csv", "\\\\server\\share\\x.csv"])
def test_a_drive_is_no_scheme(path: str, tmp_path: Path) -> None:
    assert (scheme_of(path), has_secret(path)) == ("", False)
    assert resolve_location(path, tmp_path) == str(tmp_path / path)
    if path[1] == ":" and path[2] != "x":
        assert str(PureWindowsPath("E:\\policies") / path) == str(PureWindowsPath(path))


def test_a_table_on_another_drive_is_named_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os.path, "relpath", another_drive)
    assert located_from("release.csv", Path("policy.tcdp.yaml")) == str(tmp_path / "release.csv")
    assert _shown(tmp_path) == tmp_path


def test_the_free_memory_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(state: Any) -> int:
        assert state._obj.dwLength == 64  # the size that Windows asks for
        state._obj.ullAvailPhys = 3 * 2**30
        return 1

    windll = SimpleNamespace(kernel32=SimpleNamespace(GlobalMemoryStatusEx=fill))
    monkeypatch.setattr(ctypes, "windll", windll, raising=False)
    monkeypatch.setattr(resources, "_proc_available", lambda: None)
    monkeypatch.setattr(resources, "_container_limit", lambda: None)
    assert resources.free_memory() == 3 * 2**30


def test_memory_that_nothing_measures_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "_proc_available", lambda: None)
    monkeypatch.setattr(resources, "_container_limit", lambda: None)
    monkeypatch.delattr(os, "sysconf")
    with pytest.raises(UsageError, match="give --memory, such as 2GiB"):
        resources.default_memory()


@pytest.fixture
def as_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders are not opened, users not compared, and no file is removed that some part of the process has open."""
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("Windows is imitated on Linux")
    unlink = os.unlink

    def is_open(path: Any) -> bool:
        numbers = Path("/proc/self/fd").iterdir()
        return any(os.path.realpath(number) == os.path.realpath(path) for number in numbers)

    def refusing(path: Any, *others: Any, **options: Any) -> None:
        if is_open(path):
            raise PermissionError(13, "The process cannot access the file", str(path))
        unlink(path, *others, **options)

    monkeypatch.setattr(os, "unlink", refusing)
    monkeypatch.setattr(scratch, "IS_POSIX", False)
    for name in ("O_DIRECTORY", "O_NOFOLLOW", "getuid"):
        monkeypatch.delattr(os, name)


def abandoned(parent: Path, name: str = STALE) -> Path:
    (parent / name).mkdir()
    for file in (LOCK, "codes"):
        (parent / name / file).touch()
    return parent / name


@pytest.mark.usefixtures("as_on_windows")
def test_private_folders_go_though_their_lock_was_open(tmp_path: Path) -> None:
    with Scratch(tmp_path) as mine:
        (mine / "codes").touch()
        abandoned(tmp_path)
        sweep(tmp_path)
        assert sorted(path.name for path in mine.iterdir()) == ["codes", LOCK]
        assert list(tmp_path.iterdir()) == [mine]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("as_on_windows")
def test_an_interrupted_folder_goes_at_the_end(tmp_path: Path) -> None:
    with scratch.leaving_nothing():
        Scratch(tmp_path)._removal.detach()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("as_on_windows")
def test_a_folder_with_an_open_file_goes_when_that_is_closed(tmp_path: Path) -> None:
    with scratch.leaving_nothing():
        folder = Scratch(tmp_path)
        with (folder.path / "codes").open("wb"), contextlib.suppress(PermissionError):
            folder.cleanup()
        assert folder.path.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_needs_a_link_is_refused_where_links_need_a_privilege(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(1314, "A required privilege is not held by the client")

    path = tmp_path / "release[1].parquet"
    parquet.write_table(pa.table({"age": [1, 2]}), path)
    monkeypatch.setattr(Path, "symlink_to", refuse)
    with pytest.raises(UsageError, match="its path has a bracket or a brace; rename what has it"):
        audit(
            str(path),
            policy={
                "version": 1,
                "attributes": {"age": {"role": "quasi_identifier"}},
                "expect": [{"k_anonymity": {"k": 2}}],
            },
        )


@pytest.mark.usefixtures("as_on_windows")
def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    precious = abandoned(tmp_path / "other")
    (tmp_path / STALE).symlink_to(precious, target_is_directory=True)
    linking = tmp_path / STALE.replace("0", "1")
    linking.mkdir()
    (linking / LOCK).symlink_to(precious / LOCK)
    sweep(tmp_path)
    assert sorted(path.name for path in precious.iterdir()) == ["codes", LOCK]


@pytest.mark.usefixtures("as_on_windows")
def test_a_junction_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = abandoned(tmp_path)
    lstat = Path.lstat

    def junction(path: Path) -> Any:
        return SimpleNamespace(st_mode=lstat(path).st_mode, st_file_attributes=scratch.REPARSE_POINT | 0x10)

    monkeypatch.setattr(Path, "lstat", junction)
    sweep(tmp_path)
    assert (folder / "codes").exists()
