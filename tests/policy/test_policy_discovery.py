"""Which policy is meant when none is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcdp_audit import UsageError
from tcdp_audit.core.policy.discovery import discover, named_policies


@pytest.mark.parametrize("name", ["release.tcdp.yaml", "release.tcdp.yml", ".tcdp.yaml"])
def test_the_single_policy_of_a_folder_is_detected(tmp_path: Path, name: str) -> None:
    for other in (name, "other.yaml", "tcdp.yaml.txt"):
        (tmp_path / other).touch()
    assert discover(tmp_path) == tmp_path / name


def test_no_policy_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").touch()
    with pytest.raises(UsageError) as caught:
        discover(tmp_path)
    assert str(caught.value) == (
        "no policy: name one with --policy, or put one `*.tcdp.yaml` file into this folder or one above it; "
        "one is drafted by `tcdp-audit init TABLE`"
    )


def test_several_policies_are_listed_in_order(tmp_path: Path) -> None:
    for name in ("b.tcdp.yaml", "a.tcdp.yml"):
        (tmp_path / name).touch()
    with pytest.raises(UsageError) as caught:
        discover(tmp_path)
    assert str(caught.value) == ("2 policies in this folder (a.tcdp.yml, b.tcdp.yaml): choose one with --policy")


def test_a_folder_of_that_name_is_no_policy(tmp_path: Path) -> None:
    (tmp_path / "folder.tcdp.yaml").mkdir()
    (tmp_path / "release.tcdp.yaml").touch()
    assert discover(tmp_path) == tmp_path / "release.tcdp.yaml"


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_folders_above_are_searched_up_to_the_repositorys_root(tmp_path: Path, depth: int) -> None:
    (tmp_path / "outside.tcdp.yaml").touch()
    deep = tmp_path.joinpath("repository", *["x"] * depth)
    deep.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    with pytest.raises(UsageError, match=r"^no policy: "):
        discover(deep)
    (tmp_path / "repository" / "a.tcdp.yaml").touch()
    assert discover(deep).resolve() == tmp_path / "repository" / "a.tcdp.yaml"


def test_several_policies_above_are_listed_with_their_folder(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    for name in ("a.tcdp.yaml", "b.tcdp.yaml"):
        (tmp_path / name).touch()
    with pytest.raises(UsageError, match=r"^2 policies in .*x/\.\. \(a.tcdp.yaml, b.tcdp.yaml\): choose one"):
        discover(tmp_path / "x")


NAMES = ("b/z.tcdp.yaml", "b/c/a.tcdp.yml", "b/.venv/x.tcdp.yaml", "b/notes.yaml", "a.tcdp.yaml", "[x].tcdp.yaml")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["b"], ["b/c/a.tcdp.yml", "b/z.tcdp.yaml"]),
        (["*.tcdp.yaml"], ["[x].tcdp.yaml", "a.tcdp.yaml"]),
        (["**/z*.yaml", "b", "a.tcdp.yaml"], ["b/z.tcdp.yaml", "b/c/a.tcdp.yml", "a.tcdp.yaml"]),
        (["[x].tcdp.yaml"], ["[x].tcdp.yaml"]),  # a file of that name, and no pattern
        (["nowhere.tcdp.yaml", "./a.tcdp.yaml", "a.tcdp.yaml"], ["nowhere.tcdp.yaml", "a.tcdp.yaml"]),
    ],
    ids=str,
)
def test_names_stand_for_files_folders_and_patterns(tmp_path: Path, names: list[str], expected: list[str]) -> None:
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [path.relative_to(tmp_path).as_posix() for path in named_policies(names, tmp_path)] == expected


@pytest.mark.parametrize("name", ["empty", "*.txt", "empty/**"])
def test_a_name_that_represents_nothing_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"no policy \(|no file matches"):
        named_policies([name], tmp_path)
