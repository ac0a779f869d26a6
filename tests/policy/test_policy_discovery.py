"""Which policy is meant when none is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcdp_audit import UsageError
from tcdp_audit.policy import discover


@pytest.mark.parametrize("name", ["release.tcdp.yaml", "release.tcdp.yml", ".tcdp.yaml"])
def test_the_single_policy_of_a_folder_is_found(tmp_path: Path, name: str) -> None:
    for other in (name, "other.yaml", "tcdp.yaml.txt"):
        (tmp_path / other).touch()
    assert discover(tmp_path) == tmp_path / name


def test_no_policy_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").touch()
    with pytest.raises(UsageError) as caught:
        discover(tmp_path)
    assert str(caught.value) == (
        "no policy: name one with --policy, or put one `*.tcdp.yaml` file into this folder or one above it"
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
