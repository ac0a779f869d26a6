"""Every generated file is up to date, and nothing is left of what is generated no more."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tools.generate import ROOT, TOPICS, generated, leftovers

COMMAND = "python -m tools.generate"
pytestmark = pytest.mark.xdist_group("generated files")  # which one worker makes


@cache
def files() -> dict[str, str]:
    """The texts of all files by their names."""
    return dict(generated())


def test_every_generated_file_is_there_and_up_to_date() -> None:
    there = {name: (ROOT / name).read_text(encoding="utf-8") for name in files() if (ROOT / name).is_file()}

    assert [name for name in files() if name not in there] == [], f"missing: {COMMAND}"
    assert [name for name, text in there.items() if text != files()[name]] == [], f"stale: {COMMAND}"


def test_one_worker_makes_them(request: pytest.FixtureRequest) -> None:
    if getattr(request.config.option, "loadgroup", False):
        assert request.node.nodeid.endswith("@generated files")  # see `pytest_collection_finish` of tests/conftest.py


def test_nothing_is_left_of_what_is_generated_no_more() -> None:
    assert leftovers() == [], COMMAND


def test_a_file_that_is_generated_is_marked_as_such() -> None:
    names = [name for name in files() if name != "README.md"]  # of which only a list is generated
    answer = subprocess.run(
        ["git", "check-attr", "linguist-generated", *names], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if answer.returncode:
        pytest.skip("this is no checkout")
    assert [line for line in answer.stdout.splitlines() if not line.endswith(": set")] == []


@pytest.mark.long
def test_the_command_repairs_any_content_of_a_generated_file(tmp_path: Path) -> None:
    for name in ("tcdp_audit", "plugins", "reports", "tools", "docs", "man"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "README.md", tmp_path)
    broken = [name for name in files() if name.endswith(".json") or name.startswith(TOPICS)]
    for name in broken:
        (tmp_path / name).write_text("<<<<<<< ours\n", encoding="utf-8")
    environment = {"PYTHONPATH": ":".join(str(tmp_path / one) for one in (".", "plugins", "reports"))}

    ran = subprocess.run(
        [sys.executable, "-m", "tools.generate"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert sorted(ran.stdout.splitlines()) == sorted(broken)
