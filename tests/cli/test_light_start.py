"""What a command does not need, it does not import."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

pytestmark = pytest.mark.long  # every test starts some processes

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import sys
from tcdp_audit.cli import main
sys.argv = ["tcdp-audit", *sys.argv[1:]]
code = main()
top = sorted({name.split(".")[0] for name in sys.modules})
sys.stderr.write("\\nIMPORTED " + " ".join(top))
sys.exit(code)
"""
FRAMES = {"pandas", "pandera", "great_expectations", "polars", "scipy", "pyspark", "sqlalchemy", "opendp"}
ENGINE = {"numpy", "duckdb", "pyarrow", "pydantic", "jinja2", "rich", "click", "yaml", "pluggy"}


def _imported(folder: Path, *arguments: str | Path) -> set[str]:
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        cwd=folder,
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode in (0, 1), ran.stderr
    return set(ran.stderr.split("\nIMPORTED ")[1].split())


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_the_first_page_imports_no_library_at_all(argument: str, tmp_path: Path):
    assert _imported(tmp_path, argument) & (FRAMES | ENGINE) == set()


@pytest.mark.parametrize("command", ["check", "demo", "explain", "plugins", "schema"])
def test_a_commands_help_imports_neither_numpy_nor_a_library_of_frames(command: str, tmp_path: Path):
    assert _imported(tmp_path, command, "--help") & (FRAMES | ENGINE) <= {"click", "pluggy"}


@pytest.mark.parametrize("arguments", [["plugins"], ["schema"], ["explain"], ["explain", "t_closeness"]])
def test_what_only_tells_imports_no_library_of_frames(arguments: list[str], tmp_path: Path):
    imported = _imported(tmp_path, *arguments)

    assert imported & (FRAMES | {"duckdb", "rich"}) == set()
    assert "tcdp_audit_plugins" in imported


def test_auditing_a_file_imports_no_library_of_frames(tmp_path: Path, papers: Path):
    reports = ["--report", tmp_path / "result.json", "--report", tmp_path / "report.html"]
    imported = _imported(tmp_path, "check", "--policy", papers / "li07_table4.tcdp.yaml", *reports)

    assert imported & FRAMES == set()
    assert "duckdb" not in imported  # the text engine has no need of it
    assert "pyarrow" in imported


def test_the_demonstration_imports_no_library_of_frames(tmp_path: Path):
    assert _imported(tmp_path, "demo") & FRAMES == set()
