"""docs/plugins.md is true: it names every hook with its signature, and its examples run and conform."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import Status, audit, fix
from tcdp_audit.cli import options
from tcdp_audit.core.session import hookspecs
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing import check_conforms
from tcdp_audit.testing.releases import ROLES

PAGE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
HOOKS = [name for name, one in vars(hookspecs).items() if inspect.isfunction(one) and name.startswith("tcdp_audit_")]
EXAMPLES = ("dominance", "lonely_records", "rare_classes")


def code(pattern: str) -> str:
    found = re.search(pattern, PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The page's Python files, in a folder that modules are imported from."""
    for name in EXAMPLES:
        (tmp_path / f"{name}.py").write_text(code(rf"<!-- example: {name}.py -->\n```python\n(.*?)```"))
    (tmp_path / "page_test.py").write_text(code(r"```python\n(from tcdp_audit.testing .*?)```"))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in (*EXAMPLES, "page_test"):
        sys.modules.pop(name, None)


def test_there_are_hooks_to_document():
    assert HOOKS == [
        "tcdp_audit_checks",
        "tcdp_audit_remedies",
        "tcdp_audit_reporters",
        "tcdp_audit_report_sections",
        "tcdp_audit_engines",
        "tcdp_audit_detectors",
    ]


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_is_documented_with_its_signature(name: str):
    hook = getattr(hookspecs, name)
    assert f"| `{name}{inspect.signature(hook)}` |".replace("'", "") in PAGE


@pytest.mark.parametrize("option", ["--no-external-plugins", "-p no:NAME"])
def test_every_option_is_documented(option: str):
    assert f"| `{option}` |" in PAGE
    assert option.split(" ", maxsplit=1)[0] in inspect.getsource(options)


@pytest.mark.usefixtures("written")
def test_the_example_of_a_check_runs():
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
@pytest.mark.parametrize("remedies", [{"remedy": [{"rare_classes": {"k": 2}}]}, {}], ids=["named", "planned"])
def test_the_example_of_a_remedy_runs(remedies: dict[str, Any]):
    plugins = Plugins.load(external=False, blocked=["remedies"])
    plugins.register(import_module("rare_classes"), "rare_classes")
    table = pa.table({"zip": ["a", "a", "a", "b"], "disease": ["x", "x", "y", "z"]})
    policy = {
        "version": 1,
        "attributes": {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}},
        "expect": [{"k_anonymity": {"k": 2}}],
        **remedies,
    }
    remediation = fix(table, policy, plugins=plugins)
    assert remediation.passed
    assert sorted(remediation.released["disease"].to_pylist()) == ["x", "x", "y"]
    assert remediation.log.steps[0].notes == {"classes": 1}
    demanding = {**policy, "expect": [{"k_anonymity": {"k": 4}}], "remedy": [{"rare_classes": {"k": 4}}]}
    unattainable = fix(table, demanding, plugins=plugins)
    assert unattainable.log.tried[0].error == "no equivalence class has 4 records; the largest has 3"


@pytest.mark.long
@pytest.mark.usefixtures("written")
def test_the_examples_conform_by_the_test_of_the_page():
    marked = import_module("page_test").test_it_conforms
    (items,) = (mark.args[1] for mark in marked.pytestmark)
    for item in items:
        marked(*item.values)
    assert {item.id.split("-")[0] for item in items} == {"dominance", "lonely_records"}
    check_conforms(import_module("rare_classes").RARE_CLASSES)


@pytest.mark.usefixtures("written")
def test_the_example_of_a_check_on_tables_runs():
    plugins = Plugins.load(external=False)
    plugins.register(import_module("lonely_records"), "lonely_records")
    table = pa.table({"zip": ["a", "a", "a", "b"], "disease": ["x", "x", "y", "z"]})
    attributes = {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}}
    policy = {"version": 1, "attributes": attributes, "expect": [{"lonely_records": {"at_most": "1/8"}}]}
    outcome = audit(table, policy, plugins=plugins).expectations[0]
    assert (outcome.observed, outcome.status, outcome.records.failing) == (0.25, Status.FAILED, 1)


@pytest.mark.parametrize("name", ROLES)
def test_the_columns_of_the_suites_releases_are_told(name: str):
    assert f"`{name}`" in PAGE
