"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest
from documents import ROOT

SOURCES = {"tcdp_audit": ROOT, "tcdp_audit_plugins": ROOT / "plugins", "tcdp_audit_reports": ROOT / "reports"}


def _modules_with_examples() -> list[str]:
    modules = []
    for package, folder in SOURCES.items():
        for path in sorted((folder / package).rglob("*.py")):
            if ">>> " in path.read_text(encoding="utf-8"):
                parts = path.relative_to(folder).with_suffix("").parts
                modules.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return modules


@pytest.mark.parametrize("name", _modules_with_examples())
def test_examples_in_docstrings(name: str, capsys: pytest.CaptureFixture[str]):
    result = doctest.testmod(import_module(name))

    assert result.attempted > 0
    assert result.failed == 0, capsys.readouterr().out


def test_the_public_calls_have_examples():
    assert {"tcdp_audit.core.repair.audits", "tcdp_audit_plugins.checks.k_anonymity"} <= set(_modules_with_examples())
