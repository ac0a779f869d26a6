"""The core, and what stands on it, know no check, remedy, engine or report format by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tcdp_audit.core.session.registry import Plugins

ROOT = Path(__file__).parents[2] / "tcdp_audit"
PLUGINS = Plugins.load(external=False)
NAMES = {*PLUGINS.checks, *PLUGINS.remedies, *PLUGINS.reporters, *PLUGINS.engines}

ALLOWED = {  # what a file may say, and why
    "cli/terminal.py": ({"k_anonymity"}, "an example of a name, where the policy demands nothing"),
    "core/cells/changes.py": ({"rounding"}, "a key of a table of figures, which is called like a remedy"),
    "core/policy/aggregate_faults.py": (
        {"noise", "rounding"},
        "keys of a table of figures, which are called like remedies",
    ),
    "drafting/drafting.py": (
        {
            *("k_anonymity", "direct_identifiers", "known_events", "unicity"),
            *("cell_frequency", "derivable_small_count", "table_differencing"),
        },
        "what a draft measures until a person edits it",
    ),
}
FOLDERS = {  # applications that consist of names: the demonstration, what the suite audits, names of hosts, of ARX
    "arx",
    "demo",
    "testing",
    "integrations",
}


def texts(path: Path) -> Iterator[str]:
    """Every text of a module but its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    first = (node.body[0] for node in ast.walk(tree) if isinstance(node, documented) and node.body)
    docstrings = {id(one.value) for one in first if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


FILES = [path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] not in FOLDERS]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_names_no_plugin(path: Path) -> None:
    allowed, _ = ALLOWED.get(path.relative_to(ROOT).as_posix(), (set(), ""))
    assert NAMES & {*texts(path)} <= allowed


def test_nothing_is_allowed_that_is_not_there() -> None:
    for name, (allowed, reason) in ALLOWED.items():
        assert allowed <= {*texts(ROOT / name)}, name
        assert reason
