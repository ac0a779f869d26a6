"""What a command does not need, it does not import."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tcdp_audit.cli import COMMANDS

pytestmark = pytest.mark.long  # every test starts some processes

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import sys
from tcdp_audit.cli import main
sys.argv = ["tcdp-audit", *sys.argv[1:]]
code = main()
top = sorted({name.split(".")[0] for name in sys.modules} | {"numpy.ma"} & set(sys.modules))
sys.stderr.write("\\nIMPORTED " + " ".join(top))
sys.exit(code)
"""
FAMILIES = SCRIPT.replace(
    'name.split(".")[0] for name in sys.modules',
    'name.split(".")[2] for name in sys.modules if name.startswith("tcdp_audit_plugins.checks.")',
)
FRAMES = {"pandas", "pandera", "great_expectations", "polars", "scipy", "pyspark", "sqlalchemy", "opendp"}
FRAMES |= {"cryptography", "securesystemslib"}  # which only attestations need
ENGINE = {"numpy", "duckdb", "pyarrow", "pydantic", "jinja2", "rich", "click", "yaml", "pluggy"}


PYTEST = """
import sys
import pytest
code = pytest.main(["--collect-only", "-p", "no:cacheprovider", *sys.argv[1:]])
top = sorted({name.split(".")[0] for name in sys.modules})
sys.stderr.write("\\nIMPORTED " + " ".join(top))
sys.exit(code)
"""


def _imported(folder: Path, *arguments: str | Path, script: str = SCRIPT) -> set[str]:
    ran = subprocess.run(
        [sys.executable, "-c", script, *arguments],
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


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_a_commands_help_imports_neither_numpy_nor_a_library_of_frames(command: str, tmp_path: Path):
    assert _imported(tmp_path, command, "--help") & (FRAMES | ENGINE) <= {"click", "pluggy"}


@pytest.mark.parametrize("name", ["t_closeness", "mondrian"])
def test_explaining_what_is_built_in_imports_no_library_at_all(name: str, tmp_path: Path):
    imported = _imported(tmp_path, "explain", name)

    assert imported & (FRAMES | ENGINE | {"tcdp_audit_plugins"}) == set()


@pytest.mark.parametrize("arguments", [["plugins"], ["schema"], ["explain"], ["explain", "--markdown", "t_closeness"]])
def test_what_only_reports_imports_no_library_of_frames(arguments: list[str], tmp_path: Path):
    imported = _imported(tmp_path, *arguments)

    assert imported & (FRAMES | {"duckdb", "rich"}) == set()
    assert "tcdp_audit_plugins" in imported


def test_reading_policies_imports_nothing_that_reads_tables(tmp_path: Path, papers: Path):
    imported = _imported(tmp_path, "lint", papers)

    assert imported & (FRAMES | {"duckdb", "rich"}) == set()


def test_auditing_a_file_imports_no_library_of_frames(tmp_path: Path, papers: Path):
    reports = ["--report", tmp_path / "result.json", "--report", tmp_path / "report.html"]
    imported = _imported(tmp_path, "check", "--policy", papers / "li07_table4.tcdp.yaml", *reports)

    assert imported & FRAMES == set()
    assert "duckdb" not in imported  # the text engine has no need of it
    assert "markdown_it" not in imported  # the texts of these checks have code and no emphasis
    assert "numpy.ma" not in imported  # `numpy.unique` imports it, where only the values are asked for
    assert "pyarrow" in imported


def test_auditing_imports_the_families_that_the_policy_names_and_no_other(tmp_path: Path, papers: Path):
    reports = ["--report", tmp_path / "result.json", "--report", tmp_path / "report.html"]
    arguments = ["check", "--policy", papers / "li07_table4.tcdp.yaml", *reports]

    assert _imported(tmp_path, *arguments, script=FAMILIES) - {"_shared"} == {
        "k_anonymity",
        "l_diversity",
        "t_closeness",
    }


def test_auditing_one_table_without_a_unit_imports_nothing_of_histories_or_of_several_tables(
    tmp_path: Path, papers: Path
):
    names = "name for name in sys.modules"
    whole = SCRIPT.replace('name.split(".")[0] for name in sys.modules', names)
    imported = _imported(tmp_path, "check", "--policy", papers / "li07_table4.tcdp.yaml", script=whole)

    assert "tcdp_audit.core.policy.reading" in imported
    assert not [one for one in imported if one.startswith(("tcdp_audit.core.units", "tcdp_audit.core.policy.tables"))]


def test_the_demonstration_imports_no_library_of_frames(tmp_path: Path):
    assert _imported(tmp_path, "demo") & FRAMES == set()


def test_importing_the_package_imports_no_library_at_all(tmp_path: Path):
    script = (
        "import sys, tcdp_audit; sys.stderr.write('\\nIMPORTED ' + ' '.join({n.split('.')[0] for n in sys.modules}))"
    )
    assert _imported(tmp_path, script=script) & (FRAMES | ENGINE) == set()


def test_pytest_imports_the_plugin_and_no_library_of_ours_for_other_peoples_tests(tmp_path: Path):
    (tmp_path / "test_other.py").write_text("def test_nothing_of_ours(): pass\n", encoding="utf-8")
    imported = _imported(tmp_path, "test_other.py", script=PYTEST)

    assert "tcdp_audit" in imported
    assert imported & (FRAMES | ENGINE | {"pyspark"}) <= {"pluggy"}


def test_pytest_collects_a_policy_without_a_library_of_frames(tmp_path: Path, papers: Path):
    imported = _imported(tmp_path, papers / "li07_table4.tcdp.yaml", script=PYTEST)

    assert imported & (FRAMES | {"duckdb", "rich"}) == set()
    assert "tcdp_audit_plugins" in imported
