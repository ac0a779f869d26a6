"""An installation of bytecode alone: what embeds Python ships no source files."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tcdp_audit
import tcdp_audit_plugins
import tcdp_audit_reports
from tcdp_audit.core.base.lazy import WRITTEN
from tools.generate.public_names import MODULES, public_names

PAPERS = Path(__file__).parents[2] / "examples" / "papers"
PACKAGES = (tcdp_audit, tcdp_audit_plugins, tcdp_audit_reports)
NAMES = f"""
import importlib, json, tcdp_audit
modules = [importlib.import_module(name) for name in {sorted(MODULES)}]
names = {{one.__name__: sorted(name for name in one.__all__ if hasattr(one, name)) for one in modules}}
print(json.dumps({{"from": tcdp_audit.__file__, **names}}))
"""
SOLVER = """
from tcdp_audit_plugins.checks.record_linkage.supervised.mixed_integer import SOLVER
print("found" if SOLVER.is_file() else SOLVER)
"""
REFUSAL = """
from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.base.errors import sentence_about
try:
    FrozenDict({})[1] = 2
except TypeError as error:
    print("found" if "string" in sentence_about(error, "the check") else sentence_about(error, "the check"))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the three packages, without sources; their distribution says what is registered."""
    folder = tmp_path_factory.mktemp("site")
    for package in PACKAGES:
        source = Path(str(package.__file__)).parent
        shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    assert compileall.compile_dir(folder, quiet=1, legacy=True, workers=1)
    for path in [*folder.rglob("*.py")]:
        path.unlink()
    return folder


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=PAPERS, env=environment, capture_output=True, text=True, check=False
    )


def test_the_table_of_names_is_that_of_the_sources() -> None:
    assert WRITTEN.read_text(encoding="utf-8") == public_names(), "run python -m tools.generate"
    assert set(json.loads(public_names())) == set(MODULES)


@pytest.mark.long
def test_every_public_name_is_there(site: Path) -> None:
    ran = run(site, "-c", NAMES)
    assert (ran.returncode, ran.stderr) == (0, "")
    result = json.loads(ran.stdout)
    assert result.pop("from") == str(site / "tcdp_audit" / "__init__.pyc")
    assert result == {module: sorted(names) for module, names in json.loads(public_names()).items()}


@pytest.mark.long
@pytest.mark.parametrize("program", [SOLVER, REFUSAL])
def test_what_asks_for_a_file_of_its_own_finds_it(program: str, site: Path) -> None:
    here, there = run(Path(), "-c", program), run(site, "-c", program)
    assert (there.returncode, there.stdout, there.stderr) == (0, here.stdout, here.stderr)
    assert there.stdout == "found\n"


@pytest.mark.long
def test_a_check_answers_the_same(site: Path) -> None:
    call = ("-c", "from tcdp_audit.cli import entry; entry()", "check", "--policy", "li07_table3.tcdp.yaml", "--json")
    here, there = run(Path(), *call), run(site, *call)
    assert (there.returncode, there.stderr) == (here.returncode, here.stderr) == (1, "")
    assert json.loads(there.stdout)["outcomes"] == json.loads(here.stdout)["outcomes"]
