"""Which policies files, folders and patterns stand for: none that is there is left out without a word."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.policy.discovery import discover, named_policies


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a", "b", "all"):
        (tmp_path / name).mkdir()
    (tmp_path / "a" / "p.tcdp.yaml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*given: str) -> list[str]:
    return [path.as_posix() for path in named_policies(given)]


@pytest.mark.usefixtures("folder")
def test_a_policy_that_is_linked_into_another_folder_is_another():
    Path("b/p.tcdp.yaml").symlink_to("../a/p.tcdp.yaml")  # its release is that of its own folder
    Path("a/again.tcdp.yaml").symlink_to("p.tcdp.yaml")
    assert names("a/p.tcdp.yaml", "b/p.tcdp.yaml", "./a/p.tcdp.yaml", "a/again.tcdp.yaml") == [
        "a/p.tcdp.yaml",
        "b/p.tcdp.yaml",
    ]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["a", "a/*.tcdp.yaml"])
def test_a_link_that_leads_nowhere_is_a_policy(name: str):
    Path("a/q.tcdp.yaml").symlink_to("nowhere.tcdp.yaml")
    assert names(name) == ["a/p.tcdp.yaml", "a/q.tcdp.yaml"]


def test_a_link_that_leads_nowhere_hides_no_policy_above(folder: Path):
    (folder / "p.tcdp.yaml").touch()
    Path("b/q.tcdp.yaml").symlink_to("nowhere.tcdp.yaml")
    assert discover(folder / "b").name == "q.tcdp.yaml"


@pytest.mark.usefixtures("folder")
def test_linked_folders_are_entered_once():
    Path("all/a").symlink_to("../a")
    Path("all/loop").symlink_to("..")
    Path("a/.venv").mkdir()
    Path("a/.venv/tool.tcdp.yaml").touch()
    assert names("all") == ["all/a/p.tcdp.yaml"]


@pytest.mark.usefixtures("folder")
def test_a_folder_that_cannot_be_read_is_no_empty_one(monkeypatch: pytest.MonkeyPatch):
    listed = os.scandir

    def refused(place: str) -> object:
        if Path(place).name == "b":
            raise PermissionError(13, "Permission denied", place)
        return listed(place)

    monkeypatch.setattr("os.scandir", refused)
    with pytest.raises(UsageError, match=r"b: cannot be read: Permission denied; a policy may be in it"):
        names(".")


@pytest.mark.usefixtures("folder")
def test_an_empty_name_represents_nothing():
    with pytest.raises(UsageError, match="the name of a policy is empty"):
        names("")


@pytest.mark.usefixtures("folder")
def test_a_folder_that_a_pattern_matches_represents_its_policies():
    Path("b/deep").mkdir()
    Path("b/q.tcdp.yaml").touch()
    Path("b/deep/r.tcdp.yaml").touch()
    assert names("b/*") == ["b/deep/r.tcdp.yaml", "b/q.tcdp.yaml"]
    with pytest.raises(UsageError, match="no file matches this pattern"):
        names("al*")
