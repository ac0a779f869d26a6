"""Example plugins: what they import, and what the one in examples/plugin provides; it has tests of its own."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tcdp_audit.core.session.registry import Plugins

SOURCE = Path(__file__).parents[2] / "examples" / "plugin" / "src"
TESTS = Path(__file__).parents[1] / "plugins" / "tcdp_audit_example" / "src"
MODULES = sorted([*SOURCE.rglob("*.py"), *TESTS.rglob("*.py")])


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_examples_import_public_names_alone(path: Path) -> None:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    modules = {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    ours = {module for module in modules if module.split(".")[0] == "tcdp_audit"}
    assert modules == set() or ours or "broken" in path.parts
    assert all(re.fullmatch(r"tcdp_audit\.plugin\.[a-z]+", module) for module in ours)


def test_it_provides_a_check_of_each_kind_a_remedy_and_a_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SOURCE))
    import tcdp_audit_office

    plugins = Plugins.load(external=False)
    plugins.register(tcdp_audit_office, "office")
    kinds = {type(plugins.checks[name]).__name__ for name in ("best_guess", "majority", "enough_records")}
    assert kinds == {"ClassCheck", "AttackCheck", "TableCheck"}
    assert "top_coding" in plugins.remedies
    assert "checklist" in plugins.report_sections
    assert not plugins.broken
