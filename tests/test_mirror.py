"""Tests lie where the source lies: a file for every check and every remedy, a folder for every package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tcdp_audit
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins import checks

TESTS = Path(__file__).parent
CHECKS = Path(checks.__file__).parent
CORE = Path(tcdp_audit.__file__).parent
PLUGINS = Plugins.load(external=False)
ELSEWHERE = {"demo": "cli", "testing": "conformance", "plugin": "plugins", "core": "everywhere"}  # of another name


def _home(check: str) -> Path:
    """The file that gives a check its name, from the folder of the checks."""
    named = re.compile(rf'name="{check}"|^ +"{check}",$', re.MULTILINE)
    files = [path for path in CHECKS.rglob("*.py") if path.parent != CHECKS or path.name != "__init__.py"]
    (home,) = [path for path in files if named.search(path.read_text(encoding="utf-8"))]
    return home.relative_to(CHECKS)


@pytest.mark.parametrize("check", sorted(PLUGINS.checks))
def test_a_check_has_a_test_file_of_its_name_or_of_its_modules(check: str) -> None:
    names = {check, *_home(check).with_suffix("").parts}
    files = [TESTS / "checks" / f"test_{name}.py" for name in names]

    assert any(check in path.read_text(encoding="utf-8") for path in files if path.exists())


@pytest.mark.parametrize("remedy", sorted(PLUGINS.remedies))
def test_a_remedy_has_test_files_of_its_name(remedy: str) -> None:
    files = [TESTS / "remedies" / f"test_{remedy}.py", *(TESTS / "remedies").glob(f"test_{remedy}_*.py")]

    assert any(remedy in path.read_text(encoding="utf-8") for path in files if path.exists())


@pytest.mark.parametrize(
    "package", sorted(path.parent.name for root in ("*", "core/*") for path in CORE.glob(f"{root}/__init__.py"))
)
def test_a_package_has_a_folder_of_tests(package: str) -> None:
    assert list((TESTS / ELSEWHERE.get(package, package)).glob("test_*.py"))
