"""docs/plugins.md is true: it names every hook with its signature, and its example runs and conforms."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pytest

from tcdp_audit import Status, audit, hookspecs
from tcdp_audit.cli import options
from tcdp_audit.plugin_manager import Plugins

PAGE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
HOOKS = [name for name, one in vars(hookspecs).items() if inspect.isfunction(one) and name.startswith("tcdp_audit_")]


def code(pattern: str) -> str:
    found = re.search(pattern, PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The page's two Python files, in a folder that modules are imported from."""
    (tmp_path / "dominance.py").write_text(code(r"<!-- example: dominance.py -->\n```python\n(.*?)```"))
    (tmp_path / "page_test.py").write_text(code(r"```python\n(from tcdp_audit.testing .*?)```"))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in ("dominance", "page_test"):
        sys.modules.pop(name, None)


def test_there_are_hooks_to_document():
    assert HOOKS == ["tcdp_audit_checks", "tcdp_audit_remedies", "tcdp_audit_reporters"]


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_is_documented_with_its_signature(name: str):
    hook = getattr(hookspecs, name)
    assert f"| `{name}{inspect.signature(hook)}` |".replace("'", "") in PAGE


@pytest.mark.parametrize("option", ["--no-external-plugins", "-p no:NAME"])
def test_every_option_is_documented(option: str):
    assert f"| `{option}` |" in PAGE
    assert option.split(" ", maxsplit=1)[0] in inspect.getsource(options)


@pytest.mark.usefixtures("written")
def test_the_example_runs():
    plugins = Plugins.load(external=False)
    plugins.register(import_module("dominance"), "dominance")
    table = pa.table({"zip": ["a", "a", "a", "b"], "disease": ["x", "x", "y", "z"]})
    policy = {
        "version": 1,
        "attributes": {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}},
        "expect": [{"dominance": {"at_most": "2/3"}}],
    }
    outcome = audit(table, policy, plugins=plugins).expectations[0]
    assert (outcome.observed, outcome.status, outcome.classes.failing) == (1, Status.FAILED, 1)


@pytest.mark.usefixtures("written")
def test_the_example_conforms_by_the_test_of_the_page():
    import_module("page_test").test_dominance_conforms()
