"""docs/architecture.md names no file that is gone, and every package lists its modules."""

from __future__ import annotations

import ast
import re

import pytest
from imports import ROOT

PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "tcdp_audit"
PACKAGES = sorted(
    str(path.parent.relative_to(PACKAGE)) for root in ("*", "core/*") for path in PACKAGE.glob(f"{root}/__init__.py")
)


@pytest.mark.parametrize("name", PACKAGES)
def test_every_package_lists_its_modules(name: str) -> None:
    modules = {path.stem for path in (PACKAGE / name).glob("*.py")} - {"__init__", "__main__"}
    if len(modules) > 2:
        reported = ast.get_docstring(ast.parse((PACKAGE / name / "__init__.py").read_text(encoding="utf-8"))) or ""
        assert modules <= {word.strip(",") for line in reported.splitlines() for word in line.split()}


def test_every_file_that_the_text_names_is_there() -> None:
    named = re.findall(r"`([^`]+\.(?:py|yaml|json))`", PAGE)
    assert len(named) > 3
    files = {path.name for path in [*PACKAGE.rglob("*"), *(ROOT / "reports").rglob("*")]}

    assert [name for name in named if name.rsplit("/", 1)[-1] not in files] == []
